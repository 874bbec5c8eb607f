//! `tempmail db`, over the real binary and real files.

mod backup;
mod check;
mod refusals;
mod retention;

use std::path::{Path, PathBuf};

use crate::support::program::Program;
use crate::support::smtp_peer::SmtpPeer;

fn serve(dir: &Path) -> Program {
    serve_with(dir, &[])
}

/// A daemon with more settings.
fn serve_with(dir: &Path, args: &[&str]) -> Program {
    Program::serve(dir, &[&["--max-message-size", "64KB"], args].concat())
}

async fn send(daemon: &Program, to: &str, message: &str) {
    SmtpPeer::greeted(daemon.smtp).await.deliver(to, message).await;
}

/// The segments, the oldest first.
fn segments(dir: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(dir.join("store")).expect("directory").map(|entry| entry.expect("entry").path());
    let is_segment =
        |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("journal-"));
    let mut segments: Vec<PathBuf> = entries.filter(is_segment).collect();
    segments.sort();
    segments
}

/// Every file of a directory with its octets, except the lock.
fn files(dir: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let entries = |dir: &Path| std::fs::read_dir(dir).into_iter().flatten().map(|entry| entry.expect("entry").path());
    let mut files: Vec<_> = entries(dir)
        .chain(entries(&dir.join("store")))
        .filter(|path| path.is_file() && !path.ends_with("lock"))
        .map(|path| (path.clone(), std::fs::read(path).expect("octets")))
        .collect();
    files.sort();
    files
}

/// Changes the octets at the place of a text in one of the segments.
fn damage(dir: &Path, text: &[u8]) {
    for path in segments(dir) {
        let mut octets = std::fs::read(&path).expect("octets");
        if let Some(at) = octets.windows(text.len()).position(|window| window == text) {
            octets[at] ^= 1;
            std::fs::write(&path, octets).expect("write");
            return;
        }
    }
    panic!("the text is in no segment");
}
