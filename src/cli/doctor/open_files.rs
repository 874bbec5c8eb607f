//! The limit of open files, against the limits of connections.

use std::path::Path;

use super::finding::Finding;
use crate::config::Config;
use crate::process;

const CHECK: &str = "open-files";

/// Compares with the limit of the daemon, or with the one that `serve` would have here.
pub(super) fn check(config: &Config, has_daemon: bool) -> Vec<Finding> {
    let of_daemon = || process::open_files_limit_of(process_of(&config.data_dir)?);
    let limit = if has_daemon { of_daemon() } else { None };
    vec![verdict(limit.unwrap_or_else(process::hard_open_files_limit), config)]
}

/// The process that holds the data directory, as it has written into its lock.
fn process_of(data_dir: &Path) -> Option<u32> {
    std::fs::read_to_string(data_dir.join("lock")).ok()?.trim().parse().ok()
}

/// `None` is no limit.
fn verdict(limit: Option<u64>, config: &Config) -> Finding {
    match process::open_files_warning(limit, config) {
        None => {
            let shown = limit.map_or_else(|| "any number of".to_owned(), |limit| format!("{limit}"));
            Finding::ok(
                CHECK,
                format!("{shown} files can be open, enough for all connections that the settings permit"),
            )
        }
        Some(warning) => {
            let (found, advice) = warning.rsplit_once(": ").unwrap_or((&warning, "raise the limit"));
            Finding::warning(CHECK, found, advice)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::finding::Verdict;
    use super::*;
    use crate::config::Revision;

    #[test]
    fn too_few_files_for_the_connections_are_a_warning_with_advice() {
        let config = Config::of_revision(Revision::Two, "/nonexistent".into());
        assert_eq!(verdict(None, &config).verdict, Verdict::Ok);
        assert_eq!(verdict(Some(1 << 20), &config).verdict, Verdict::Ok);
        let few = verdict(Some(1024), &config);
        assert_eq!(few.verdict, Verdict::Warning);
        assert!(few.advice.as_deref().is_some_and(|text| text.starts_with("raise the limit (ulimit")), "{few:?}");
    }
}
