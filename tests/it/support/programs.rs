//! Programs of others that some tests drive. `cargo test` needs none of them; with `CI=true` all of them must be there.

use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::thread;

use memchr::memmem;

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
    run_after("", command, input)
}

/// The same; it gets its input once it has said `prompt`, as from somebody who reads what it says.
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
    // A program that reads nothing may be gone by now. Who says much is read while it is written to.
    let (mut stdin, input) = (child.stdin.take().expect("stdin"), input.to_owned());
    let writing = thread::spawn(move || drop(stdin.write_all(input.as_bytes())));
    stdout.read_to_end(&mut said).expect("read");
    writing.join().expect("its end");
    let output = Output { stdout: said, ..child.wait_with_output().expect("its end") };
    assert!(output.status.success(), "{command:?}: {output:?}");
    output
}
