//! Command lines in the process of the test, which know nothing of who runs the tests.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::{self, Cursor, PipeReader, PipeWriter, Read, Write, pipe};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

use tempmail::cli::{Streams, Surroundings, Terminal, run};

use super::command::Outcome;
use super::terminal::Screen;

/// The height of a terminal.
const ROWS: u16 = 24;

/// A command line, and what it runs in: nothing on standard input, and of the caller's environment only PATH.
pub(crate) struct CommandLine {
    args: Vec<OsString>,
    env: BTreeMap<String, String>,
    input: Vec<u8>,
}

impl CommandLine {
    /// A command whose configuration and data are in `home`.
    pub(crate) fn new(home: &Path, args: &[impl AsRef<OsStr>]) -> Self {
        let words = args.iter().map(|word| word.as_ref().to_owned());
        let home = home.to_str().expect("UTF-8").to_owned();
        let mut env: BTreeMap<String, String> =
            ["HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"].map(|name| (name.to_owned(), home.clone())).into();
        env.insert("PATH".to_owned(), std::env::var("PATH").unwrap_or_default());
        Self { args: std::iter::once("tempmail".into()).chain(words).collect(), env, input: Vec::new() }
    }

    /// A command on a data directory, whose configuration is in the same directory.
    pub(crate) fn on_data(data_dir: &Path, args: &[impl AsRef<OsStr>]) -> Self {
        Self::new(data_dir, args).env("TEMPMAIL_DATA_DIR", data_dir.to_str().expect("UTF-8"))
    }

    /// Calls the program by another name.
    pub(crate) fn called(mut self, program: &str) -> Self {
        self.args[0] = program.into();
        self
    }

    /// Sets a variable.
    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.env.insert(name.to_owned(), value.to_owned());
        self
    }

    /// Gives it something on standard input.
    pub(crate) fn fed(mut self, input: impl Into<Vec<u8>>) -> Self {
        self.input = input.into();
        self
    }

    /// Runs it with streams that are no terminal.
    pub(crate) fn run(self) -> Outcome {
        let stdout = Shared::default();
        let (code, stderr) = self.run_into(stdout.clone());
        Outcome { code: Some(code), stdout: stdout.text(), stderr }
    }

    /// What it prints, octet by octet.
    pub(crate) fn printed(self) -> Vec<u8> {
        let stdout = Shared::default();
        self.run_into(stdout.clone());
        stdout.bytes()
    }

    /// Runs it with this for standard output. Its exit code, and what it says on standard error.
    pub(crate) fn run_into(self, stdout: impl Write + Send + 'static) -> (i32, String) {
        let stderr = Shared::default();
        let code = self.carry_out(stdout, stderr.clone(), Terminal::default());
        (code, stderr.text())
    }

    /// Runs it with its output on a terminal of so many columns, without colours.
    pub(crate) fn on_terminal(self, columns: u16) -> Screen {
        let screen = Shared::default();
        let terminal = Terminal { is_stdin: true, is_stdout: true, is_stderr: true, size: Some((columns, ROWS)) };
        let code = self.env("NO_COLOR", "1").carry_out(screen.clone(), screen.clone(), terminal);
        Screen { code: Some(code), text: screen.text() }
    }

    /// Runs it beside the test: its standard input, its standard output, and its exit code to come.
    pub(crate) fn beside(self) -> (PipeWriter, PipeReader, JoinHandle<i32>) {
        let ((input, to_input), (from_output, output)) = (pipe().expect("a pipe"), pipe().expect("a pipe"));
        let running = thread::spawn(|| self.between(input, output, io::sink(), Terminal::default()));
        (to_input, from_output, running)
    }

    fn carry_out(
        mut self,
        stdout: impl Write + Send + 'static,
        stderr: impl Write + Send + 'static,
        terminal: Terminal,
    ) -> i32 {
        let input = Cursor::new(std::mem::take(&mut self.input));
        self.between(input, stdout, stderr, terminal)
    }

    fn between(
        self,
        stdin: impl Read + Send + 'static,
        stdout: impl Write + Send + 'static,
        stderr: impl Write + Send + 'static,
        terminal: Terminal,
    ) -> i32 {
        let streams = Streams::new(stdin, stdout, stderr, terminal);
        let exit = run(self.args, Surroundings { env: self.env, streams: Arc::new(streams) });
        exit.code().into()
    }
}

/// What is written by one and read by another.
#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Shared {
    fn bytes(&self) -> Vec<u8> {
        self.0.lock().expect("the output").clone()
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes()).into_owned()
    }
}

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("the output").write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
