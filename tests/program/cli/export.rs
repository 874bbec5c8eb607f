//! `tempmail export`, and what `tempmail import` makes of it.
//! Mechanism: it goes with `export`.

use std::path::Path;

use super::Outcome;
use crate::support::command::{fed, on_data};
use crate::support::http;
use crate::support::program::Program;

const ANN: &str = "ann@example.test";
const BOB: &str = "bob@example.test";

/// Messages that an archive could spoil.
const MAILS: [&[u8]; 6] = [
    b"Subject: plain\r\n\r\nFrom here\r\n>From there\r\n\r\nFrom afar\r\n.\r\n",
    b"Subject: ends empty\r\n\r\ntext\r\n\r\n\r\n",
    b"Subject: bare\r\n\r\na bare \n and \r alone\r\n",
    b"\r\n\tno header\r\n",
    b"Delivered-To: other@example.test\r\nSubject: own field\r\n\r\ntext\r\n",
    b"Subject: octets\r\n\r\n\x00\xff\xfe\r\n",
];

fn import(data_dir: &Path, args: &[&str], input: &[u8]) -> Outcome {
    fed(on_data(data_dir, &["import"]).args(args), input)
}

/// The messages of an inbox as received, the oldest first, each behind its sender.
async fn contents(daemon: &Program, to: &str) -> Vec<(String, Vec<u8>)> {
    let page = http::inbox(daemon.http, to).await;
    let mut contents = Vec::new();
    for email in page["emails"].as_array().expect("emails").iter().rev() {
        let id = email["id"].as_str().expect("id");
        let raw = http::raw(daemon.http, id).await.expect("raw");
        let (_, detail) = http::get(daemon.http, &format!("/api/mail/messages/{id}")).await;
        let size = usize::try_from(detail["size"].as_u64().expect("size")).expect("size");
        let sender = String::from_utf8_lossy(&raw).lines().next().unwrap_or_default().to_owned();
        contents.push((sender, raw[raw.len() - size..].to_vec()));
    }
    contents
}

fn path<'a>(dir: &'a Path, name: &str, keep: &'a mut Vec<std::path::PathBuf>) -> String {
    keep.push(dir.join(name));
    keep.last().expect("path").to_str().expect("text").to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_exported_is_imported_elsewhere_to_the_octet() {
    let (here, there, files) = (tempfile::tempdir(), tempfile::tempdir(), tempfile::tempdir());
    let (here, there, files) = (here.expect("directory"), there.expect("directory"), files.expect("directory"));
    let daemon = Program::serve(here.path(), &[]);
    for (number, mail) in MAILS.iter().enumerate() {
        let to = if number % 2 == 0 { &[ANN, "--from", "me@x.test"][..] } else { &[ANN, BOB] };
        import(here.path(), to, mail).ok();
    }
    let mut keep = Vec::new();
    let (mbox, maildir) = (path(files.path(), "all.mbox", &mut keep), path(files.path(), "Maildir", &mut keep));
    let number = |count: &str| format!("expired\t0\nexported\t{count}\n");
    assert_eq!(daemon.tempmail(&["export", "--all", "--mbox", &mbox]).stdout, number("9"));
    assert_eq!(daemon.tempmail(&["export", ANN, "--maildir", &maildir]).stdout, number("6"));
    let expected = [contents(&daemon, ANN).await, contents(&daemon, BOB).await];
    assert_eq!(expected[0].iter().map(|(_, octets)| octets.as_slice()).collect::<Vec<_>>(), MAILS);

    let other = Program::serve(there.path(), &[]);
    let outcome = other.tempmail(&["import", "--mbox", &mbox, "--json"]);
    assert_eq!(outcome.json()["imported"], 9, "{}", outcome.stderr);
    assert_eq!([contents(&other, ANN).await, contents(&other, BOB).await], expected);
    other.tempmail(&["import", "cat@example.test", "--maildir", &maildir]).ok();
    let mut copies = contents(&other, "cat@example.test").await;
    let mut originals = expected[0].clone();
    copies.sort();
    originals.sort();
    assert_eq!(copies, originals);
    daemon.stop();
    other.stop();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_replaced_and_a_maildir_gets_what_it_lacks() {
    let (dir, files) = (tempfile::tempdir().expect("directory"), tempfile::tempdir().expect("directory"));
    let daemon = Program::serve(dir.path(), &[]);
    import(dir.path(), &[ANN], MAILS[0]);
    let mut keep = Vec::new();
    let (mbox, maildir) = (path(files.path(), "a.mbox", &mut keep), path(files.path(), "Maildir", &mut keep));
    std::fs::write(&mbox, "mine").expect("a file");
    let refused = daemon.tempmail(&["export", ANN, "--mbox", &mbox]);
    assert_eq!((refused.code, refused.stdout.as_str()), (Some(2), ""), "{}", refused.stderr);
    assert_eq!(std::fs::read(&mbox).expect("file"), b"mine");
    daemon.tempmail(&["export", ANN, "--mbox", &mbox, "--yes"]).ok();
    assert!(std::fs::read(&mbox).expect("file").starts_with(b"From MAILER-DAEMON "));
    assert_eq!(std::fs::read_dir(files.path()).expect("directory").count(), 1, "no unfinished file stays");

    assert!(daemon.tempmail(&["export", ANN, "--maildir", &maildir]).stdout.ends_with("exported\t1\n"));
    let new = Path::new(&maildir).join("new");
    let name = std::fs::read_dir(&new).expect("new").next().expect("a file").expect("a file").file_name();
    let mut seen = name.clone();
    seen.push(":2,S");
    std::fs::rename(new.join(&name), Path::new(&maildir).join("cur").join(seen)).expect("read");
    import(dir.path(), &[ANN], MAILS[1]);
    assert!(daemon.tempmail(&["export", ANN, "--maildir", &maildir]).stdout.ends_with("exported\t1\n"));
    assert_eq!(std::fs::read_dir(&new).expect("new").count(), 1);
    assert_eq!(std::fs::read_dir(Path::new(&maildir).join("tmp")).expect("tmp").count(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_that_is_refused_does_not_stop_the_others() {
    let (dir, files) = (tempfile::tempdir().expect("directory"), tempfile::tempdir().expect("directory"));
    let daemon = Program::serve(dir.path(), &["--max-message-size", "2KB"]);
    let mut keep = Vec::new();
    let mbox = path(files.path(), "a.mbox", &mut keep);
    let large = "x".repeat(4_000);
    let file = format!(
        "From a\nDelivered-To: {ANN}\n\n1\n\nFrom a\nDelivered-To: x@unknown.test\n\n2\n\n\
         From a\nDelivered-To: {ANN}\n\n{large}\n\nFrom a\nSubject: none\n\n4\n\nFrom a\nX-Original-To: {ANN}\n\n5\n"
    );
    std::fs::write(&mbox, file).expect("a file");
    let outcome = daemon.tempmail(&["import", "--mbox", &mbox]);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(3), "imported\t2\nrefused\t3\n"), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("message 2 of ") && outcome.stderr.contains("unknown.test"), "{}", outcome.stderr);
    assert_eq!(http::total(daemon.http, ANN).await, 2);
    std::fs::write(&mbox, "Subject: no mbox\n\ntext\n").expect("a file");
    assert_eq!(daemon.tempmail(&["import", "--mbox", &mbox]).code, Some(2));
    assert_eq!(daemon.tempmail(&["import", "--maildir", files.path().to_str().expect("path")]).code, Some(2));
}
