//! What a command line runs in: its environment, its three streams, and the terminal that they lead to.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader, IsTerminal, Read, Write};
use std::path::Path;
use std::process::{Command, ExitStatus, Output, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::termios::tcgetwinsize;

use super::STANDARD;
use super::output::visible;
use crate::error::Error;

/// What a command line runs in.
#[derive(Debug)]
pub struct Surroundings {
    /// The environment.
    pub env: BTreeMap<String, String>,
    /// The streams.
    pub streams: Arc<Streams>,
}

impl Surroundings {
    /// Those of this process. Variables that are no UTF-8 are left out: none of ours can be meant by them.
    pub fn of_process() -> Self {
        let variables = std::env::vars_os();
        let env = variables.filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
        Self { env: env.collect(), streams: Arc::new(Streams::of_process()) }
    }
}

/// Which streams lead to a terminal, and how large it is.
#[derive(Clone, Copy, Debug, Default)]
pub struct Terminal {
    /// Standard input.
    pub is_stdin: bool,
    /// Standard output.
    pub is_stdout: bool,
    /// Standard error.
    pub is_stderr: bool,
    /// Its columns and rows, where it tells.
    pub size: Option<(u16, u16)>,
}

/// The three streams.
pub struct Streams {
    /// `None` once somebody reads it to its end.
    stdin: Mutex<Option<Box<dyn BufRead + Send>>>,
    stdout: Mutex<Box<dyn Write + Send>>,
    stderr: Mutex<Box<dyn Write + Send>>,
    pub(super) terminal: Terminal,
    /// Whether they are the process's own: then it may become a pager, and progress may be drawn.
    pub(super) is_of_process: bool,
}

impl Streams {
    /// Streams of the caller.
    pub fn new(
        stdin: impl Read + Send + 'static,
        stdout: impl Write + Send + 'static,
        stderr: impl Write + Send + 'static,
        terminal: Terminal,
    ) -> Self {
        Self {
            stdin: Mutex::new(Some(Box::new(BufReader::new(stdin)))),
            stdout: Mutex::new(Box::new(stdout)),
            stderr: Mutex::new(Box::new(stderr)),
            terminal,
            is_of_process: false,
        }
    }

    fn of_process() -> Self {
        let (stdin, stdout, stderr) = (io::stdin(), io::stdout(), io::stderr());
        let size = tcgetwinsize(&stdout).ok().filter(|size| size.ws_col > 0);
        let terminal = Terminal {
            is_stdin: stdin.is_terminal(),
            is_stdout: stdout.is_terminal(),
            is_stderr: stderr.is_terminal(),
            size: size.map(|size| (size.ws_col, size.ws_row)),
        };
        Self { is_of_process: true, ..Self::new(stdin, stdout, stderr, terminal) }
    }

    /// Streams that nobody writes into and nobody reads.
    pub(super) fn closed() -> Self {
        Self::new(io::empty(), io::sink(), io::sink(), Terminal::default())
    }

    /// Writes to standard output.
    pub(super) fn print(&self, data: &[u8]) -> io::Result<()> {
        let mut stdout = locked(&self.stdout);
        stdout.write_all(data).and_then(|()| stdout.flush())
    }

    /// Writes to standard error. Nothing can be done where it is closed.
    pub(super) fn complain(&self, text: &str) {
        let mut stderr = locked(&self.stderr);
        let _ = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
    }

    /// A line or more on standard error. Its text may come from a server.
    pub(super) fn say(&self, label: &str, text: &str) {
        self.complain(&format!("{label}{}\n", visible::block(text)));
    }

    /// The next line of standard input; an empty one at its end.
    pub(super) fn line(&self) -> io::Result<String> {
        let mut line = String::new();
        if let Some(stdin) = locked(&self.stdin).as_mut() {
            stdin.read_line(&mut line)?;
        }
        Ok(line)
    }

    /// Standard input, which only the first caller can read.
    pub(super) fn stdin(&self) -> io::Result<Box<dyn BufRead + Send>> {
        let taken = || io::Error::other("it was read before, for another option; name a file");
        locked(&self.stdin).take().ok_or_else(taken)
    }

    /// How messages name a file, and the file: standard input for `-`.
    pub(super) fn input<'p>(&self, path: &'p Path) -> (&'p Path, io::Result<Box<dyn Read>>) {
        if path.as_os_str() == STANDARD {
            (Path::new("standard input"), self.stdin().map(|stdin| Box::new(stdin) as _))
        } else {
            (path, File::open(path).map(|file| Box::new(file) as _))
        }
    }

    /// Runs a program on these streams. It reads standard input only if that is the process's own.
    pub(super) fn run(&self, program: &mut Command) -> io::Result<ExitStatus> {
        if self.is_of_process {
            return program.status();
        }
        let Output { status, stdout, stderr } = program.stdin(Stdio::null()).output()?;
        self.complain(&String::from_utf8_lossy(&stderr));
        self.print(&stdout).map(|()| status)
    }

    /// How messages name a file, and its octets, of which there are at most `octets_max`: standard input for `-`.
    pub(super) fn small_file(&self, path: &Path, octets_max: u64) -> Result<(String, Vec<u8>), Error> {
        let (path, file) = self.input(path);
        let (name, mut octets) = (path.display().to_string(), Vec::new());
        file.and_then(|file| file.take(octets_max + 1).read_to_end(&mut octets))
            .map_err(|error| Error::usage(format!("{name}: {error}")))?;
        if octets.len() as u64 > octets_max {
            return Err(Error::usage(format!("{name}: it is longer than {octets_max} octets")));
        }
        Ok((name, octets))
    }
}

impl fmt::Debug for Streams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Streams").field("terminal", &self.terminal).finish_non_exhaustive()
    }
}

/// A stream whose user has panicked is used on.
fn locked<S>(stream: &Mutex<S>) -> MutexGuard<'_, S> {
    stream.lock().unwrap_or_else(PoisonError::into_inner)
}
