//! Programs of others that some tests drive. `cargo test` needs none of them; with `CI=true` all of them must be there.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

/// The path of a program, or `None` after saying what is skipped. With `CI=true` a missing program is a failure.
pub(crate) fn find(program: &str, test: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    // Postfix's programs are where not every PATH leads.
    let system = ["/usr/sbin", "/sbin"].map(PathBuf::from);
    let found = std::env::split_paths(&path).chain(system).map(|dir| dir.join(program)).find(|file| file.is_file());
    if found.is_none() {
        skip(test, program);
    }
    found
}

/// Whether this is root, or `false` after saying what is skipped. With `CI=true` anyone else is a failure.
pub(crate) fn is_root(test: &str) -> bool {
    let is_root = rustix::process::geteuid().is_root();
    if !is_root {
        skip(test, "root");
    }
    is_root
}

fn skip(test: &str, need: &str) {
    assert!(std::env::var("CI").as_deref() != Ok("true"), "{test} needs {need}");
    println!("skipped: {test} needs {need}");
}

/// Runs a program with `input`; it must succeed.
pub(crate) fn run(command: &mut Command, input: &str) -> Output {
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program");
    // A program that reads nothing may be gone by now.
    let _ = child.stdin.take().expect("stdin").write_all(input.as_bytes());
    let output = child.wait_with_output().expect("its end");
    assert!(output.status.success(), "{command:?}: {output:?}");
    output
}
