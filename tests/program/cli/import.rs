//! `tempmail import`

use crate::support::command::tempmail;
use crate::support::http;
use crate::support::program::Program;

const RAW: &str = "Subject: imported\r\n\r\ntext\r\n";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_from_standard_input_or_a_file_is_in_each_inbox() {
    let dir = tempfile::tempdir().expect("directory");
    let daemon = Program::serve(dir.path(), &[]);
    let run = |args: &[&str], input: &str| {
        let mut command = tempmail();
        command.arg("--data-dir").arg(dir.path()).arg("import").args(args).write_stdin(input.to_owned());
        command.output().expect("run")
    };
    let piped = run(&["ann@example.test", "bob@example.test", "--from", "me@sender.test"], RAW);
    assert!(piped.status.success(), "{piped:?}");
    let lines = String::from_utf8(piped.stdout).expect("text");
    let id = lines.split('\t').next().expect("an id").to_owned();
    assert_eq!(
        lines.lines().map(|line| line.split('\t').nth(1)).collect::<Vec<_>>(),
        [Some("ann@example.test"), Some("bob@example.test")]
    );
    let raw = http::raw(daemon.http, &id).await.expect("the message");
    assert!(raw.starts_with(b"Return-Path: <me@sender.test>") && raw.ends_with(RAW.as_bytes()));

    let file = dir.path().join("mail.eml");
    std::fs::write(&file, RAW).expect("a file");
    let read = run(&["ann@example.test", "--file", file.to_str().expect("path")], "");
    assert!(read.status.success(), "{read:?}");
    assert_eq!(http::total(daemon.http, "ann@example.test").await, 2);

    let unknown = run(&["ann@unknown.test"], RAW);
    assert_eq!(unknown.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&unknown.stderr).contains("unknown.test"), "{unknown:?}");
    let missing = run(&["ann@example.test", "--file", "/no/such/file"], "");
    assert_eq!(missing.status.code(), Some(2));
    daemon.stop();
}
