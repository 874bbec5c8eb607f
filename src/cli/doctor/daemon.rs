//! The daemon: whether it takes mail, and whether it is of this version.

use super::finding::Finding;
use super::subject::Running;

pub(super) fn check(daemon: Option<&Running>) -> Vec<Finding> {
    let Some(Running { status, .. }) = daemon else { return Vec::new() };
    vec![accepting(status.accepts_mail, status.cause.as_deref()), version(&status.version, env!("CARGO_PKG_VERSION"))]
}

fn accepting(accepts: Option<bool>, cause: Option<&str>) -> Finding {
    match accepts {
        Some(false) => {
            let cause = cause.map_or_else(String::new, |cause| format!(": {cause}"));
            Finding::failure("daemon", format!("it runs and accepts no mail{cause}"), "its log says more")
        }
        _ => Finding::ok("daemon", "it runs and accepts mail"),
    }
}

fn version(of_daemon: &str, of_binary: &str) -> Finding {
    if of_daemon == of_binary {
        return Finding::ok("version", format!("daemon and this program are both {of_binary}"));
    }
    let found = format!("the daemon is {of_daemon}, this program is {of_binary}");
    Finding::warning("version", found, "restart the daemon with the program that is installed")
}

#[cfg(test)]
mod tests {
    use super::super::finding::Verdict;
    use super::*;

    #[test]
    fn a_daemon_of_another_version_is_a_warning() {
        assert_eq!(version("1.2.3", "1.2.3").verdict, Verdict::Ok);
        let other = version("1.2.3", "1.3.0");
        assert_eq!(other.verdict, Verdict::Warning);
        assert!(other.found.contains("1.2.3") && other.found.contains("1.3.0"), "{other:?}");
    }

    #[test]
    fn a_daemon_that_takes_no_mail_is_a_failure() {
        assert_eq!(accepting(Some(true), None).verdict, Verdict::Ok);
        assert_eq!(accepting(None, None).verdict, Verdict::Ok);
        let full = accepting(Some(false), Some("storage_full"));
        assert_eq!(
            (full.verdict, full.found.as_str()),
            (Verdict::Failure, "it runs and accepts no mail: storage_full")
        );
    }
}
