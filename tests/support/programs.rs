//! Other programs that some tests run. `cargo test` needs none of them. With `CI=true` all of them must be installed.

use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::thread;

use memchr::memmem;

/// The path of a program. If it is missing, this prints what is skipped, or fails with `CI=true`.
pub(crate) fn find(program: &str, test: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    // The directories of Postfix's programs are not in every PATH, and that of git's commands is in none.
    let system = ["/usr/sbin", "/sbin", "/usr/lib/git-core"].map(PathBuf::from);
    let found = std::env::split_paths(&path).chain(system).map(|dir| dir.join(program)).find(|file| file.is_file());
    if found.is_none() {
        skip(test, program);
    }
    found
}

/// Whether the user is root. If not, this prints what is skipped, or fails with `CI=true`.
pub(crate) fn is_root(test: &str) -> bool {
    let is_root = rustix::process::geteuid().is_root();
    if !is_root {
        skip(test, "root");
    }
    is_root
}

/// The text of a file that `tests/web/install.sh` installs. If it is missing, this prints what is skipped, or fails with
/// `CI=true`.
pub(crate) fn installed_by_npm(path: &str, test: &str) -> Option<String> {
    let modules = concat!(env!("CARGO_MANIFEST_DIR"), "/target/npm/node_modules");
    let found = std::fs::read_to_string(PathBuf::from(modules).join(path)).ok();
    if found.is_none() {
        skip(test, "tests/web/install.sh");
    }
    found
}

/// Prints that the test is skipped for want of `need`, or fails with `CI=true`.
pub(super) fn skip(test: &str, need: &str) {
    assert!(std::env::var("CI").as_deref() != Ok("true"), "{test} needs {need}");
    println!("skipped: {test} needs {need}");
}

/// Runs a program with `input`. It must succeed.
pub(crate) fn run(command: &mut Command, input: &str) -> Output {
    run_after("", command, input)
}

/// Runs a program that gets `input` after it has printed `prompt`, as from a person. It must succeed.
pub(crate) fn run_after(prompt: &str, command: &mut Command, input: &str) -> Output {
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program");
    let mut stdout = child.stdout.take().expect("stdout");
    let (mut said, mut piece) = (Vec::new(), [0; 1024]);
    while memmem::find(&said, prompt.as_bytes()).is_none() {
        let octets = stdout.read(&mut piece).expect("read");
        assert!(octets > 0, "{command:?} does not say {prompt:?}: {}", String::from_utf8_lossy(&said));
        said.extend_from_slice(&piece[..octets]);
    }
    // A program that reads nothing may have ended by now. Its output is read while the input is written.
    let (mut stdin, input) = (child.stdin.take().expect("stdin"), input.to_owned());
    let writing = thread::spawn(move || drop(stdin.write_all(input.as_bytes())));
    stdout.read_to_end(&mut said).expect("read");
    writing.join().expect("its end");
    let output = Output { stdout: said, ..child.wait_with_output().expect("its end") };
    assert!(output.status.success(), "{command:?}: {output:?}");
    output
}
