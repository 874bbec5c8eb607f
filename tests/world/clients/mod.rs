//! Programs that others wrote, against the program: they send mail to it, or stand in front of it.

mod application;
mod differential;
mod postfix;
mod proxies;
mod senders;
mod sendmail;
mod shells;
mod table;
mod tls_keys;

use tempfile::TempDir;

use crate::support::http;
use crate::support::program::Program;

/// The program with these flags, on a directory of its own.
fn serve(flags: &[&str]) -> (TempDir, Program) {
    let dir = tempfile::tempdir().expect("directory");
    let daemon = Program::serve(dir.path(), flags);
    (dir, daemon)
}

/// The one mail of an inbox, with its trace.
async fn only_mail(daemon: &Program, to: &str) -> String {
    let page = http::inbox(daemon.http, to).await;
    assert_eq!(page["total"], 1, "{to}: {page}");
    let raw = http::raw(daemon.http, page["emails"][0]["id"].as_str().expect("id")).await;
    String::from_utf8(raw.expect("its octets")).expect("UTF-8")
}
