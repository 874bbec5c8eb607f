//! Commands whose store is in a cluster that nobody reaches, and what needs no cluster.
//! Promise: it outlives the code below it.

use std::path::Path;

use super::Outcome;
use crate::support::command::{outcome, tempmail};
use crate::support::program::{Program, local_with, refused};

/// Nothing listens there.
const DEAD: &str = "cassandra://127.0.0.1:1/tempmail";

/// What the binary says that has the store, and the one that has not.
const CODE: i32 = if cfg!(feature = "cassandra") { 6 } else { 78 };
const SAID: [&str; 2] = if cfg!(feature = "cassandra") {
    ["the cluster cannot be used: ", "see that the nodes in store run"]
} else {
    ["has no store in a cluster", "cargo install --locked --features cassandra --path ."]
};

fn assert_unreached(outcome: &Outcome) {
    assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(CODE), ""), "{}", outcome.stderr);
    for words in SAID {
        assert!(outcome.stderr.contains(words), "{words}: {}", outcome.stderr);
    }
}

fn names(dir: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(dir).expect("directory");
    entries.map(|entry| entry.expect("entry").file_name().to_string_lossy().into_owned()).collect()
}

#[test]
fn a_daemon_without_its_cluster_ends_in_time_and_makes_no_store() {
    let dir = tempfile::tempdir().expect("directory");
    let data = dir.path().join("data");
    assert_unreached(&refused(&data, &["--store", DEAD]));
    assert_eq!(names(&data), ["lock"]);
}

#[test]
fn two_daemons_share_no_data_directory_wherever_the_mail_is() {
    let daemon = Program::fresh(&[]);
    let ended = refused(daemon.dir(), &["--store", DEAD]);
    assert_eq!(ended.code, Some(75), "{}", ended.stderr);
    assert!(ended.stderr.contains("is in use by process"), "{}", ended.stderr);
}

#[test]
fn a_command_finds_the_cluster_in_the_environment_and_in_the_file() {
    let dir = tempfile::tempdir().expect("directory");
    let data = dir.path().join("data");
    let of_environment = local_with(&data, &[("TEMPMAIL_STORE", DEAD)], &["db", "backup", "-"]);
    assert_unreached(&of_environment);
    let file = dir.path().join("tempmail/config.toml");
    std::fs::create_dir(file.parent().expect("a parent")).expect("directory");
    std::fs::write(&file, format!("store = '{DEAD}'\ndata-dir = '{}'", data.display())).expect("write");
    for args in [&["db", "backup", "-"], &["db", "check"][..]] {
        assert_unreached(&outcome(tempmail(dir.path()).args(args)));
    }
    assert!(!data.exists(), "a command made the data directory");
}

#[test]
fn a_daemon_that_runs_goes_before_the_cluster() {
    let daemon = Program::fresh(&[]);
    local_with(daemon.dir(), &[("TEMPMAIL_STORE", DEAD)], &["inbox", "a@example.test"]).ok();
}

#[test]
fn work_on_files_is_refused_for_a_cluster_with_what_to_do_instead() {
    let dir = tempfile::tempdir().expect("directory");
    let refused = local_with(dir.path(), &[("TEMPMAIL_STORE", DEAD)], &["db", "check", "--salvage", "--yes"]);
    assert_eq!((refused.code, refused.stdout.as_str()), (Some(2), ""), "{}", refused.stderr);
    for words in ["mail is kept in cassandra://127.0.0.1:1/tempmail", "`nodetool repair` brings back"] {
        assert!(refused.stderr.contains(words), "{words}: {}", refused.stderr);
    }
    assert_eq!(names(dir.path()), [""; 0]);
}

/// The file is read before the cluster is asked.
#[cfg(feature = "cassandra")]
#[test]
fn a_password_that_others_may_read_is_a_bad_configuration() {
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;

    let dir = tempfile::tempdir().expect("directory");
    let password = dir.path().join("password");
    std::fs::write(&password, "secret\n").expect("write");
    std::fs::set_permissions(&password, Permissions::from_mode(0o644)).expect("mode");
    let store = format!("{DEAD}?user=ann&password-file={}", password.display());
    let refused = local_with(dir.path(), &[("TEMPMAIL_STORE", &store)], &["db", "check"]);
    assert_eq!(refused.code, Some(78), "{}", refused.stderr);
    assert!(refused.stderr.contains("password-file: /"), "{}", refused.stderr);
    assert!(refused.stderr.contains("chmod o="), "{}", refused.stderr);
}
