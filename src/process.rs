//! Limits that the system puts on the process.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::admission::CALLS_MAX;
use crate::config::{Config, Revision};

/// Open files besides connections: listeners, segments, registry, lock, DNS sockets, the runtime's own, and some to spare.
const OTHER_FILES: u64 = 128;

/// Raises the soft limit of open files to the hard one and returns the limit then in effect; `None` is no limit.
///
/// A refusal leaves the limit as it was; [`open_files_warning`] says what to do about it.
pub fn raise_open_files_limit() -> Option<u64> {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
    getrlimit(Resource::Nofile).current
}

/// The warning for the operator when `limit` open files (`None`: no limit) are fewer than the connection limits need.
pub fn open_files_warning(limit: Option<u64>, config: &Config) -> Option<String> {
    let limit = limit?;
    let (smtp, http) = (config.smtp.connections_max, config.http.connections_max);
    let webhooks = match config.revision {
        Revision::One => 0,
        // A name with addresses of both families can be dialled at both for a moment.
        Revision::Two => 2 * CALLS_MAX,
    };
    let needed = [smtp as u64, http as u64, webhooks].into_iter().fold(OTHER_FILES, u64::saturating_add);
    (needed > limit).then(|| {
        format!(
            "at most {limit} files can be open, but max-smtp-connections ({smtp}), \
             max-http-connections ({http}), \
             {webhooks} for webhooks and {OTHER_FILES} others need {needed}: raise the limit (ulimit -Hn, LimitNOFILE=) or lower max-smtp-connections and max-http-connections"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_soft_limit_becomes_the_hard_one() {
        let hard = getrlimit(Resource::Nofile).maximum;
        assert_eq!(raise_open_files_limit(), hard);
        assert_eq!(getrlimit(Resource::Nofile).current, hard);
    }

    #[test]
    fn too_few_files_for_the_connections_are_warned_about() {
        let mut config = Config::of_revision(Revision::Two, "/nonexistent".into());
        (config.smtp.connections_max, config.http.connections_max) = (600, 364);
        assert_eq!(open_files_warning(None, &config), None);
        assert_eq!(open_files_warning(Some(1860), &config), None);
        let warning = open_files_warning(Some(1859), &config).expect("a warning");
        assert!(warning.contains("1859") && warning.contains("1860"), "{warning}");
        config.revision = Revision::One;
        assert_eq!(open_files_warning(Some(1092), &config), None, "it calls nobody");
        assert!(open_files_warning(Some(1091), &config).is_some());
    }
}
