//! `tempmail import`
//! Mechanism: it goes with `import`.

use crate::support::command::{fed, on_data};
use crate::support::http;
use crate::support::program::Program;

const RAW: &str = "Subject: imported\r\n\r\ntext\r\n";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_from_standard_input_or_a_file_is_in_each_inbox() {
    let daemon = Program::fresh(&[]);
    let run = |args: &[&str], input: &str| fed(on_data(daemon.dir(), &["import"]).args(args), input);
    let piped = run(&["ann@example.test", "bob@example.test", "--from", "me@sender.test"], RAW).ok();
    let lines = piped.stdout;
    let id = lines.split('\t').next().expect("an id").to_owned();
    assert_eq!(
        lines.lines().map(|line| line.split('\t').nth(1)).collect::<Vec<_>>(),
        [Some("ann@example.test"), Some("bob@example.test")]
    );
    let raw = http::raw(daemon.http, &id).await.expect("the message");
    assert!(raw.starts_with(b"Return-Path: <me@sender.test>") && raw.ends_with(RAW.as_bytes()));

    let file = daemon.dir().join("mail.eml");
    std::fs::write(&file, RAW).expect("a file");
    run(&["ann@example.test", "--file", file.to_str().expect("path")], "").ok();
    assert_eq!(http::total(daemon.http, "ann@example.test").await, 2);

    let unknown = run(&["ann@unknown.test"], RAW);
    assert!(unknown.code == Some(3) && unknown.stderr.contains("unknown.test"), "{unknown:?}");
    let missing = run(&["ann@example.test", "--file", "/no/such/file"], "");
    assert_eq!(missing.code, Some(2));
}
