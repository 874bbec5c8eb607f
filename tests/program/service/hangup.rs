//! What SIGHUP says in the log.
//! Promise: it outlives the code below it.

use std::fs;

use rustix::process::Signal;

use crate::support::certificates::Pair;
use crate::support::program::Program;

#[test]
fn sighup_names_what_was_reloaded_and_what_needs_a_restart() {
    let dir = tempfile::tempdir().expect("directory");
    let files = Pair::fresh().write(dir.path());
    let file = dir.path().join("own.toml");
    let settings = |more: &str| {
        let cert = files.certificate.display();
        fs::write(&file, format!("tls-cert = '{cert}'\ntls-key = 'key.pem'\n{more}")).expect("write");
    };
    settings("retention = '30m'\nmax-domains = 9\n");
    let binary = Program::serve(dir.path(), &["--config", file.to_str().expect("UTF-8"), "--max-domains", "7"]);
    binary.signal(Signal::HUP);
    assert_eq!(binary.logged("SIGHUP: no setting has changed")["reloaded"], "the certificate");

    // A flag still wins over the file.
    settings("retention = '1h'\nmax-domains = 10\nsubaddressing = 'strip'\n");
    binary.signal(Signal::HUP);
    let line = binary.logged("SIGHUP: settings have changed that need a restart");
    assert_eq!(
        (&line["reloaded"], &line["needs_restart"]),
        (&"the certificate".into(), &"retention, subaddressing".into())
    );

    fs::write(&files.certificate, "nothing").expect("write");
    settings("retention = 'soon'\n");
    binary.signal(Signal::HUP);
    let line = binary.logged("SIGHUP: a start with the settings as they are now would fail");
    assert_eq!(line["reloaded"], "nothing");
    assert!(line["faults"].as_str().is_some_and(|text| text.contains("own.toml:3: retention: 'soon'")), "{line}");
    binary.stop();
}
