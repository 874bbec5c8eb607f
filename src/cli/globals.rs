//! The flags that every command knows, and the values that follow from them.

#![allow(clippy::doc_markdown, reason = "the comments on the flags are their help")]

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, Command, FromArgMatches, ValueEnum};
use serde_json::Value;

use super::output::Format;
use super::{STANDARD, Streams, removed};
use crate::client::{Access, Destination, ServerUrl, Token, authorities};
use crate::config::{ServeArgs, Sources, user_config_file};
use crate::error::Error;

const HEADING: &str = "Global options";
/// The longest token in a file, in octets.
const TOKEN_OCTETS_MAX: u64 = 4096;
/// The largest file with certificates, in octets.
const AUTHORITIES_OCTETS_MAX: u64 = 1 << 20;
/// The variable that named a server and a token.
const CONTEXT: &str = "TEMPMAIL_CONTEXT";
/// The file, beside the user's configuration, that had the contexts and the one in use.
const CONTEXTS_FILE: &str = "contexts.json";

/// When output is coloured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ColorChoice {
    /// On a terminal, unless NO_COLOR is set or TERM is `dumb`.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// The flags that every command knows.
#[derive(Args, Clone, Debug, Default)]
pub struct Globals {
    /// Ask the server at this address instead of this machine [env: TEMPMAIL_SERVER]
    #[arg(long, global = true, value_name = "URL", help_heading = HEADING)]
    pub server: Option<String>,

    /// File with certificates in PEM, one of which vouches for --server, - for standard input [env: TEMPMAIL_CA_FILE]
    #[arg(long, global = true, value_name = "FILE|-", help_heading = HEADING)]
    pub ca_file: Option<PathBuf>,

    /// File with a token for --server, - for standard input; see `tempmail token` [env: TEMPMAIL_TOKEN holds the token itself]
    #[arg(long, global = true, value_name = "FILE|-", help_heading = HEADING)]
    pub token_file: Option<PathBuf>,

    /// Data directory [env: TEMPMAIL_DATA_DIR] [default: $XDG_DATA_HOME/tempmail, under systemd $STATE_DIRECTORY]
    #[arg(long, global = true, value_name = "DIR", help_heading = HEADING)]
    pub data_dir: Option<PathBuf>,

    /// Configuration file [env: TEMPMAIL_CONFIG] [default: $XDG_CONFIG_HOME/tempmail/config.toml, then /etc/tempmail/config.toml]
    #[arg(long, global = true, value_name = "FILE", help_heading = HEADING)]
    pub config: Option<PathBuf>,

    /// Form of the output [default: for people on a terminal, tab-separated lines in a pipe]
    #[arg(short, long, global = true, value_name = "FORM", help_heading = HEADING)]
    pub output: Option<Format>,

    /// Same as --output json: the fields of the HTTP interface
    #[arg(long, global = true, help_heading = HEADING)]
    pub json: bool,

    /// No hints on standard error, only errors; for serve also warnings
    #[arg(short, long, global = true, help_heading = HEADING)]
    pub quiet: bool,

    /// Say more on standard error, for example which way the service was reached; twice for more
    #[arg(short, long, global = true, action = clap::ArgAction::Count, help_heading = HEADING)]
    pub verbose: u8,

    /// When to colour
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", help_heading = HEADING)]
    pub color: ColorChoice,

    /// Do not ask before deleting
    #[arg(long, global = true, help_heading = HEADING)]
    pub yes: bool,
}

impl Globals {
    /// What the flags of every command say among words that are no command line as a whole.
    pub fn among(words: &[OsString]) -> Self {
        let command = alone();
        let (mut own, mut rest) = (Vec::new(), words);
        while rest.first().is_some_and(|word| word != "--") {
            let of_flag = flag_at(&command, rest);
            own.extend_from_slice(&rest[..of_flag]);
            rest = &rest[of_flag.max(1)..];
        }
        let matches = command.try_get_matches_from(&own).ok();
        matches.and_then(|matches| Self::from_arg_matches(&matches).ok()).unwrap_or_default()
    }

    /// Whether a program reads what is said.
    pub fn is_json(&self) -> bool {
        self.json || matches!(self.output, Some(Format::Json | Format::Ndjson))
    }

    /// The form asked for; `None` leaves it to the command.
    pub fn format(&self) -> Result<Option<Format>, Error> {
        match (self.output, self.json) {
            (Some(format), true) if format != Format::Json => {
                Err(Error::usage("--json and --output say different things").hint("give one of them"))
            }
            (_, true) => Ok(Some(Format::Json)),
            (output, false) => Ok(output),
        }
    }

    /// Where the command is to be carried out: flags first, then the environment.
    pub fn target(&self, env: &BTreeMap<String, String>, streams: &Arc<Streams>) -> Result<Destination, Error> {
        if self.server.is_some() && self.data_dir.is_some() {
            return Err(Error::usage("--server and --data-dir exclude each other")
                .hint("--server asks a service elsewhere; --data-dir names the one on this machine"));
        }
        let of_env = || variable(env, "TEMPMAIL_SERVER").filter(|_| self.data_dir.is_none());
        let Some(server) = self.server.as_ref().or_else(of_env) else {
            self.refuse_contexts(env)?;
            return Ok(Destination::Local(self.sources(ServeArgs::default(), env)));
        };
        let server: ServerUrl = server.parse().map_err(Error::usage)?;
        let ca_file = self.ca_file.clone().or_else(|| variable(env, "TEMPMAIL_CA_FILE").map(PathBuf::from));
        let is_standard = |file: &Option<PathBuf>| file.as_deref() == Some(Path::new(STANDARD));
        if is_standard(&self.token_file) && is_standard(&ca_file) {
            return Err(Error::usage("--token-file and --ca-file cannot both be standard input").hint("name a file"));
        }
        let of_file = |file: &PathBuf| {
            let (name, pem) = streams.small_file(file, AUTHORITIES_OCTETS_MAX)?;
            authorities(&name, &pem)
        };
        let authorities = ca_file.as_ref().map(of_file).transpose()?.unwrap_or_default();
        let token = match (&self.token_file, variable(env, "TEMPMAIL_TOKEN")) {
            (Some(file), _) => {
                Some(Token::new(&String::from_utf8_lossy(&streams.small_file(file, TOKEN_OCTETS_MAX)?.1))?)
            }
            (None, Some(token)) => Some(Token::new(token)?),
            (None, None) => None,
        };
        Ok(Destination::Server(server, Access { token, authorities }))
    }

    /// A context chose a server and a token, so a command must not go elsewhere where one would have been in use.
    fn refuse_contexts(&self, env: &BTreeMap<String, String>) -> Result<(), Error> {
        if self.data_dir.is_some() {
            return Ok(());
        }
        if variable(env, CONTEXT).is_some() {
            return Err(Error::usage(removed::sentence(CONTEXT, removed::CONTEXTS)));
        }
        let is_here = self.config.is_some()
            || ["TEMPMAIL_DATA_DIR", "STATE_DIRECTORY"].iter().any(|name| variable(env, name).is_some());
        let Some(file) = user_config_file(env).map(|path| path.with_file_name(CONTEXTS_FILE)) else { return Ok(()) };
        let text = match std::fs::read(&file) {
            _ if is_here => return Ok(()),
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            text => text.unwrap_or_default(),
        };
        // One that cannot be read may have chosen a server.
        match serde_json::from_slice::<Value>(&text) {
            Ok(contexts) if contexts["current"].is_null() => Ok(()),
            _ => Err(Error::usage(removed::sentence(&file.display().to_string(), removed::CONTEXTS))
                .hint("remove the file, once its tokens are where you need them")),
        }
    }

    /// What the configuration is read from; `args` are those of `serve`, or none.
    pub fn sources(&self, args: ServeArgs, env: &BTreeMap<String, String>) -> Sources {
        Sources { data_dir: self.data_dir.clone(), config_file: self.config.clone(), args, env: env.clone() }
    }
}

/// A command with these flags and nothing else.
fn alone() -> Command {
    let command = Globals::augment_args(Command::new("tempmail").no_binary_name(true).args_override_self(true));
    command.disable_help_flag(true).disable_version_flag(true)
}

/// How many words the flag at the beginning of `words` takes, with its value; 0 if they begin with something else.
fn flag_at(command: &Command, words: &[OsString]) -> usize {
    let is_whole =
        |count: usize| words.get(..count).is_some_and(|flag| command.clone().try_get_matches_from(flag).is_ok());
    [1, 2].into_iter().find(|count| is_whole(*count)).unwrap_or(0)
}

/// A variable that is set; an empty one is not.
fn variable<'a>(env: &'a BTreeMap<String, String>, name: &str) -> Option<&'a String> {
    env.get(name).filter(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Exit;

    fn streams() -> Arc<Streams> {
        Arc::new(Streams::closed())
    }

    fn env(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn a_flag_goes_before_the_environment() {
        let both = env(&[("TEMPMAIL_SERVER", "http://b.test"), ("TEMPMAIL_DATA_DIR", "/d")]);
        let flag = Globals { server: Some("http://a.test".into()), ..Globals::default() };
        assert!(
            matches!(flag.target(&both, &streams()), Ok(Destination::Server(url, _)) if url.base() == "http://a.test")
        );
        let none = Globals::default();
        assert!(
            matches!(none.target(&both, &streams()), Ok(Destination::Server(url, _)) if url.base() == "http://b.test")
        );
        let local = Globals { data_dir: Some("/here".into()), ..Globals::default() };
        assert!(matches!(local.target(&both, &streams()), Ok(Destination::Local(_))));
        assert!(matches!(none.target(&env(&[]), &streams()), Ok(Destination::Local(_))));
    }

    #[test]
    fn flags_are_known_among_words_that_are_wrong() {
        let among = |line: &str| Globals::among(&line.split(' ').map(OsString::from).collect::<Vec<_>>());
        for line in
            ["inbox --json", "-o json x", "-ojson", "-qo json", "--no-such --output=ndjson", "-o x --output ndjson"]
        {
            assert!(among(line).is_json(), "{line}");
        }
        for line in ["inbox", "-o tsv json", "x -- --json", "-o", "--json-lines"] {
            assert!(!among(line).is_json(), "{line}");
        }
        let globals = among("--server http://a.test -v domain --server=http://b.test rm --data-dir");
        assert_eq!((globals.server.as_deref(), globals.data_dir), (Some("http://b.test"), None));
    }

    #[test]
    fn contradictions_are_usage_errors() {
        let both = Globals { server: Some("http://a.test".into()), data_dir: Some("/d".into()), ..Globals::default() };
        assert_eq!(both.target(&env(&[]), &streams()).expect_err("both").exit(), Exit::Usage);
        let forms = Globals { output: Some(Format::Tsv), json: true, ..Globals::default() };
        assert_eq!(forms.format().expect_err("both").exit(), Exit::Usage);
    }

    #[test]
    fn a_token_comes_from_the_environment_or_a_file() {
        let server = Globals { server: Some("http://a.test".into()), ..Globals::default() };
        let target = server.target(&env(&[("TEMPMAIL_TOKEN", "secret")]), &streams());
        assert!(matches!(target, Ok(Destination::Server(_, Access { token: Some(_), .. }))));
        let missing = Globals { token_file: Some("/does/not/exist".into()), ..server };
        assert_eq!(missing.target(&env(&[]), &streams()).expect_err("no file").exit(), Exit::Usage);
    }
}
