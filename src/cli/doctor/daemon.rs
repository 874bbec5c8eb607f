//! The daemon: whether it takes mail, and whether it is of this version.

use serde_json::Value;

use super::finding::Finding;
use super::subject::Running;

/// A cluster that takes longer for a row makes senders wait.
const CLUSTER_SLOW_MILLIS: u64 = 250;

pub(super) fn check(daemon: Option<&Running>) -> Vec<Finding> {
    let Some(Running { status, .. }) = daemon else { return Vec::new() };
    let daemon =
        [accepting(status.accepts_mail, status.cause.as_deref()), version(&status.version, env!("CARGO_PKG_VERSION"))];
    daemon.into_iter().chain(status.other.get("cluster").map(cluster)).collect()
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

/// The cluster as the daemon knows it.
fn cluster(status: &Value) -> Finding {
    let number = |name: &str| status[name].as_u64().unwrap_or(0);
    let millis = number("answerMicros").div_ceil(1000);
    let nodes = number("livingNodes");
    let nodes = if nodes == 1 { "1 node lives".to_owned() } else { format!("{nodes} nodes live") };
    let found = format!("{nodes}, and the cluster answered in {millis} ms");
    if millis > CLUSTER_SLOW_MILLIS {
        return Finding::warning("cluster", found, "look at the load of its servers and at the network to them");
    }
    Finding::ok("cluster", found)
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
    use serde_json::json;

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
    fn a_cluster_that_answers_slowly_is_a_warning() {
        let of = |nodes: u64, micros: u64| cluster(&json!({ "livingNodes": nodes, "answerMicros": micros }));
        assert_eq!(
            (of(3, 4_200).verdict, &*of(3, 4_200).found),
            (Verdict::Ok, "3 nodes live, and the cluster answered in 5 ms")
        );
        assert_eq!(of(1, 251_000).verdict, Verdict::Warning);
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
