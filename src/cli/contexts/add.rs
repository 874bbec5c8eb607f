//! `tempmail context add`

use std::io::{Read, stdin};
use std::path::Path;

use super::super::Context;
use super::{Contexts, NamedServer};
use crate::client::{ServerUrl, Token};
use crate::error::{Error, Exit};

/// The longest name in octets.
const NAME_OCTETS_MAX: usize = 64;
/// The longest token in octets, with what stands around it.
const TOKEN_OCTETS_MAX: u64 = 4_096;

/// Add a server, or replace the one of this name
///
/// The token comes from --token-file, where - is standard input, and is kept in a file that only its owner can read.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  tempmail context add work --server https://mail.example.org \\
    --token-file token.txt
  pass mail/token | tempmail context add work \\
    --server https://mail.example.org --token-file -")]
pub(super) struct Add {
    /// Letters, digits, dots, hyphens and underscores, at most 64
    #[arg(value_name = "NAME", value_parser = name)]
    name: String,
}

fn name(text: &str) -> Result<String, String> {
    let is_sound = text.bytes().all(|octet| octet.is_ascii_alphanumeric() || b"._-".contains(&octet));
    if is_sound && (1..=NAME_OCTETS_MAX).contains(&text.len()) && !text.starts_with('-') {
        return Ok(text.to_owned());
    }
    Err(format!("a name has letters, digits, dots, hyphens and underscores, at most {NAME_OCTETS_MAX}"))
}

impl Add {
    pub(super) fn run(self, cx: &Context) -> Result<Exit, Error> {
        let server = cx.globals.server.as_deref().ok_or_else(|| Error::usage("--server names no server"))?;
        let server: ServerUrl = server.parse().map_err(Error::usage)?;
        let token = cx.globals.token_file.as_deref().map(token).transpose()?;
        let mut contexts = Contexts::read(&cx.env)?;
        contexts.contexts.insert(self.name.clone(), NamedServer { server: server.base().to_owned(), token });
        contexts.write(&cx.env)?;
        cx.hint(&format!("`tempmail context use {}` makes it the one that is used", self.name));
        Ok(Exit::Ok)
    }
}

/// The token in a file or from standard input; only one that can be sent.
fn token(path: &Path) -> Result<String, Error> {
    let name = path.display();
    let mut text = String::new();
    let read = if path.as_os_str() == "-" {
        stdin().lock().take(TOKEN_OCTETS_MAX).read_to_string(&mut text)
    } else {
        std::fs::File::open(path).and_then(|file| file.take(TOKEN_OCTETS_MAX).read_to_string(&mut text))
    };
    read.map_err(|error| Error::usage(format!("{name}: {error}")))?;
    Token::new(&text)?;
    Ok(text.trim().to_owned())
}
