//! A daemon whose values a shell completes, and what it is asked for them.

use std::fmt::from_fn;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use super::command::{Outcome, isolate, outcome, tempmail};
use super::program::Program;
use super::until::blocking;

/// A subject that shells and terminals would act on.
pub(crate) const HOSTILE: &str = "$(touch pwned) `touch pwned` \"'\\ %F{red};|&<>*~ \u{202e}pwned";
/// A local part that shells would act on. SMTP permits it.
pub(crate) const HOSTILE_LOCAL: &str = "an`touch`$HOME|b&c!{d}";

/// A daemon with mail, and an empty home of its user.
pub(crate) struct Machine {
    pub(crate) daemon: Program,
    pub(crate) data_dir: TempDir,
    pub(crate) home: TempDir,
}

impl Machine {
    pub(crate) fn start() -> Self {
        let data_dir = tempfile::tempdir().expect("directory");
        let flags = ["--domain", "example.test", "--domain", "example.org", "--webhook-allow", "127.0.0.0/8"];
        let machine = Self {
            daemon: Program::serve(data_dir.path(), &flags),
            data_dir,
            home: tempfile::tempdir().expect("directory"),
        };
        for (to, subject) in [
            ("ann@example.test", HOSTILE),
            (&format!("{HOSTILE_LOCAL}@example.test"), "hello"),
            ("bob@example.test", "first"),
            ("bob@example.test", "second"),
        ] {
            machine.gets(to, subject);
        }
        machine
    }

    pub(crate) fn gets(&self, to: &str, subject: &str) {
        let file = self.home.path().join("mail.eml");
        std::fs::write(&file, format!("From: stranger@sender.test\r\nSubject: {subject}\r\n\r\nHello\r\n"))
            .expect("write");
        let outcome = self.daemon.tempmail(&["send-test", to, "--file", file.to_str().expect("path")]);
        assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
        std::fs::remove_file(file).expect("remove");
    }

    /// The ends of the ids of an address's mail, the newest first.
    pub(crate) fn ids(&self, address: &str) -> Vec<String> {
        let listed = self.daemon.tempmail(&["inbox", address, "-o", "id"]).stdout;
        listed.lines().map(|id| id[id.len() - 8..].to_owned()).collect()
    }

    /// What may stand at the end of `line`, as the scripts of the shells get it.
    pub(crate) fn complete(&self, line: &str) -> Outcome {
        complete(self.home.path(), &[("TEMPMAIL_DATA_DIR", self.data_dir.path().to_str().expect("path"))], line)
    }

    /// These values may stand at the end of `line`.
    pub(crate) fn offers<S: AsRef<str>>(&self, line: &str, expected: &[S]) {
        offers(|| self.complete(line), line, expected);
    }

    /// A command with this home, on the data directory, that finds the binary first.
    pub(crate) fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        isolate(&mut command, self.home.path());
        let binary = Path::new(env!("CARGO_BIN_EXE_tempmail")).parent().expect("its directory").to_owned();
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path = std::env::join_paths([binary].into_iter().chain(std::env::split_paths(&path))).expect("directories");
        command.env("PATH", path).env("LC_ALL", "C.UTF-8").env("INPUTRC", "/dev/null");
        command.env("TEMPMAIL_DATA_DIR", self.data_dir.path()).current_dir(self.home.path());
        command
    }
}

/// What may stand at the end of `line` for a user with this home. It is never an error and never a text for people.
pub(crate) fn complete(home: &Path, env: &[(&str, &str)], line: &str) -> Outcome {
    let outcome = outcome(tempmail(home).envs(env.iter().copied()).args(["__complete", line]));
    assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(0), ""), "{line}");
    outcome
}

/// `ask` gets these values. Asks again, because on a busy machine the daemon may answer too late.
pub(crate) fn offers<S: AsRef<str>>(ask: impl Fn() -> Outcome, line: &str, expected: &[S]) {
    let expected: Vec<_> = expected.iter().map(AsRef::as_ref).collect();
    let what = from_fn(|f| write!(f, "{expected:?} for {line:?}: {:?}", ask()));
    blocking::until(what, || {
        ask().stdout.lines().map(|line| line.split('\t').next().unwrap_or_default()).eq(expected.iter().copied())
    });
}

/// `ask` gets this text for `line`. Asks again like [`offers`].
pub(crate) fn gives(mut ask: impl FnMut() -> String, line: &str, text: &str) {
    blocking::until(format!("{text:?} for {line:?}"), || ask() == text);
}
