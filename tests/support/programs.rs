//! Other programs that some tests run. Such a test is ignored unless it is asked for, and fails if a program is missing.

use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::thread;

use memchr::memmem;

/// The path of a program, which must be installed.
pub(crate) fn find(program: &str) -> PathBuf {
    installed(program).unwrap_or_else(|| panic!("this test needs the program {program}"))
}

/// The path of a program, if it is installed.
pub(crate) fn installed(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    // The directories of Postfix's programs are not in every PATH, and that of git's commands is in none.
    let system = ["/usr/sbin", "/sbin", "/usr/lib/git-core"].map(PathBuf::from);
    std::env::split_paths(&path).chain(system).map(|dir| dir.join(program)).find(|file| file.is_file())
}

/// Fails unless the user is root.
pub(crate) fn need_root() {
    assert!(rustix::process::geteuid().is_root(), "this test needs root");
}

/// The text of a file that `tests/web/install.sh` installs.
pub(crate) fn installed_by_npm(path: &str) -> String {
    let modules = concat!(env!("CARGO_MANIFEST_DIR"), "/target/npm/node_modules");
    let found = std::fs::read_to_string(PathBuf::from(modules).join(path));
    found.unwrap_or_else(|error| panic!("this test needs tests/web/install.sh: {path}: {error}"))
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
