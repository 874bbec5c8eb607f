//! The context of every command: the flags, the connection to the service, and the three streams.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use serde_json::Value;
use tokio::sync::OnceCell;

use super::globals::{ColorChoice, Globals};
use super::output::{self, Column, Format, Style, pager, visible};
use super::{Streams, Surroundings};
use crate::client::{Access, Client, Destination, ServerUrl};
use crate::clock::{Clock, SystemClock};
use crate::error::{Error, Exit};
use crate::model::Timestamp;

/// What is said when a key has left its file.
pub(super) const KEY_LAPSED: &str =
    "your private inboxes at this service have ended, so their key is no longer valid and was forgotten";
/// Columns assumed where a terminal does not tell.
const WIDTH_DEFAULT: u16 = 80;
/// Less than this holds no table.
const WIDTH_MIN: u16 = 20;

/// What every command is given.
#[derive(Debug)]
pub struct Context {
    /// The flags that every command knows.
    pub globals: Globals,
    /// The environment.
    pub env: BTreeMap<String, String>,
    /// The three streams.
    pub streams: Arc<Streams>,
    /// What standard output is and how it is used.
    pub style: Style,
    client: OnceCell<Client>,
    destination: OnceLock<Destination>,
}

impl Context {
    /// The context of a command.
    pub fn new(globals: Globals, surroundings: Surroundings) -> Result<Self, Error> {
        let Surroundings { env, streams } = surroundings;
        let is_terminal = streams.terminal.is_stdout;
        let style = Style {
            is_terminal,
            is_colored: is_colored(globals.color, is_terminal, &env),
            width: is_terminal.then(|| width(&env, &streams).unwrap_or(WIDTH_DEFAULT).max(WIDTH_MIN)),
            format: globals.format()?,
        };
        Ok(Self { globals, env, streams, style, client: OnceCell::new(), destination: OnceLock::new() })
    }

    /// The client; the service is looked for at the first call.
    pub async fn client(&self) -> Result<&Client, Error> {
        self.client
            .get_or_try_init(|| async {
                let (streams, is_quiet) = (Arc::clone(&self.streams), self.globals.quiet);
                let on_lapse = move || {
                    if !is_quiet {
                        streams.say("", KEY_LAPSED);
                    }
                };
                let client = Client::connect(&self.destination()?, &self.env, on_lapse)?;
                let transport = client.transport();
                let place = if transport.is_local() { "the daemon through" } else { "the server at" };
                self.verbose(&format!("asking {place} {}", transport.shown()));
                if let Some(file) = client.key_file() {
                    self.warn_of_readers("key", file.path());
                }
                Ok(client)
            })
            .await
    }

    /// Where the command is to be carried out. A token that others can read, in its file or on its way, is warned of.
    pub fn destination(&self) -> Result<Destination, Error> {
        if let Some(known) = self.destination.get() {
            return Ok(known.clone());
        }
        // Once, since a token may be on standard input.
        let target = self.globals.target(&self.env, &self.streams)?;
        if let Destination::Server(server, access) = &target {
            self.warn_of_exposure(server, access);
        }
        Ok(self.destination.get_or_init(|| target).clone())
    }

    fn warn_of_exposure(&self, server: &ServerUrl, access: &Access) {
        if access.token.is_some() && server.is_exposed() {
            let server = server.base();
            self.hint(&format!("warning: the token goes to {server} without encryption; use https"));
        }
        if let Some(file) = &self.globals.token_file {
            self.warn_of_readers("token", file);
        }
    }

    fn warn_of_readers(&self, what: &str, file: &Path) {
        if std::fs::metadata(file).is_ok_and(|found| found.mode() & 0o077 != 0) {
            let file = file.display();
            self.hint(&format!("warning: others can read the {what} in {file}; `chmod 600 {file}` keeps it yours"));
        }
    }

    /// The time of day.
    pub fn now(&self) -> Timestamp {
        SystemClock.now()
    }

    /// Writes data to standard output.
    pub fn print(&self, data: impl AsRef<[u8]>) -> Result<(), Error> {
        self.streams.print(data.as_ref()).map_err(|error| match error.kind() {
            // The reader of the output has seen enough.
            ErrorKind::BrokenPipe => Error::ending(Exit::Ok),
            _ => Error::new(Exit::Failure, format!("standard output: {error}")),
        })
    }

    /// Prints a list; `whole` is what JSON shows.
    pub fn list(&self, columns: &[Column], rows: &[Value], whole: &Value) -> Result<(), Error> {
        self.print(output::list(self.style, columns, rows, whole, self.now()))
    }

    /// Prints the fields of one thing; `whole` is what JSON shows.
    pub fn document(&self, shown: &Value, whole: &Value) -> Result<(), Error> {
        self.print(output::document(self.style, shown, whole, self.now()))
    }

    /// Prints what an answer comes to on a line of its own, or with JSON all of it.
    pub fn answer(&self, whole: &Value, line: &str) -> Result<(), Error> {
        self.print(match self.style.format {
            Some(Format::Json | Format::Ndjson) => output::json(whole),
            _ => format!("{}\n", visible::line(line)),
        })
    }

    /// Fails where nobody can be asked whether to do `what` and no `--yes` says so.
    pub fn must_ask(&self, what: &str, hint: &str) -> Result<(), Error> {
        let can_ask = self.streams.terminal.is_stdin && self.streams.terminal.is_stderr;
        if self.globals.yes || can_ask {
            return Ok(());
        }
        Err(Error::usage(format!("{what} without a terminal to ask on needs --yes")).hint(hint))
    }

    /// Goes on if `--yes` or the user agrees. A no is said to have `done` nothing, and ends the command.
    pub async fn agreed(&self, question: &str, done: &str) -> Result<(), Error> {
        if self.globals.yes || self.ask(question).await? {
            return Ok(());
        }
        self.hint(&format!("nothing was {done}"));
        Err(Error::ending(Exit::Ok))
    }

    /// Writes text for people, the last that a command does: through the pager where it is longer than the terminal.
    pub fn show(&self, text: &str) -> Result<(), Error> {
        let is_longer = |(columns, rows)| pager::is_longer(text, columns, rows);
        let is_long = self.style.is_terminal && self.streams.terminal.size.is_some_and(is_longer);
        if is_long { self.page(text) } else { self.print(text) }
    }

    /// Ends the process with the pager, which shows text for people. Writes it as it is where there is no pager.
    pub fn page(&self, text: &str) -> Result<(), Error> {
        if self.streams.is_of_process {
            pager::hand_over(text, &self.env);
        }
        self.print(text)
    }

    /// A hint for a person, on standard error; nothing with `--quiet`.
    pub fn hint(&self, text: &str) {
        if !self.globals.quiet {
            self.streams.say("", text);
        }
    }

    /// A hint for who looks at the output on a terminal.
    pub fn hint_on_terminal(&self, text: &str) {
        if self.style.is_terminal {
            self.hint(text);
        }
    }

    /// What only `--verbose` shows, on standard error.
    pub fn verbose(&self, text: &str) {
        if self.globals.verbose > 0 {
            self.streams.say("", text);
        }
    }

    /// Whether progress is shown: a person watches the terminal.
    pub fn shows_progress(&self) -> bool {
        !self.globals.quiet && self.streams.is_of_process && self.streams.terminal.is_stderr
    }

    /// Asks a question on the terminal; only `y` and `yes` are a yes.
    pub async fn ask(&self, question: &str) -> Result<bool, Error> {
        self.streams.complain(&format!("{} [y/N] ", visible::line(question)));
        let streams = Arc::clone(&self.streams);
        let read = tokio::task::spawn_blocking(move || streams.line());
        let failed = |error: String| Error::new(Exit::Failure, format!("standard input: {error}"));
        let answer =
            read.await.map_err(|error| failed(error.to_string()))?.map_err(|error| failed(error.to_string()))?;
        Ok(matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
    }
}

/// Whether a stream is coloured.
pub(super) fn is_colored(choice: ColorChoice, is_terminal: bool, env: &BTreeMap<String, String>) -> bool {
    let is_set = |name: &str| env.get(name).is_some_and(|value| !value.is_empty());
    match choice {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto => is_terminal && !is_set("NO_COLOR") && env.get("TERM").is_none_or(|term| term != "dumb"),
    }
}

/// The columns of the terminal, or those that the environment names.
pub(super) fn width(env: &BTreeMap<String, String>, streams: &Streams) -> Option<u16> {
    let of_terminal = streams.terminal.size.map(|(columns, _)| columns);
    of_terminal.or_else(|| env.get("COLUMNS")?.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_follow_the_flag_then_the_environment() {
        let env = |name: &str, value: &str| BTreeMap::from([(name.to_owned(), value.to_owned())]);
        let none = BTreeMap::new();
        assert!(is_colored(ColorChoice::Auto, true, &none));
        assert!(!is_colored(ColorChoice::Auto, false, &none));
        assert!(!is_colored(ColorChoice::Auto, true, &env("NO_COLOR", "1")));
        assert!(is_colored(ColorChoice::Auto, true, &env("NO_COLOR", "")));
        assert!(!is_colored(ColorChoice::Auto, true, &env("TERM", "dumb")));
        assert!(is_colored(ColorChoice::Always, false, &env("NO_COLOR", "1")));
        assert!(!is_colored(ColorChoice::Never, true, &none));
    }
}
