//! Reads command lines (RFC 5321 section 4.1, RFC 2033, RFC 3030, RFC 4954).
//!
//! Any blanks may separate the words. A command without parameters refuses parameters, and a parameter of an extension that
//! was not announced is not recognized.

use super::Dialect;
use super::auth::{self, Progress};
use super::line::{BDAT, is_blank, trim_blanks, trim_blanks_start};
use super::path::{self, ForwardPath};
use super::reply::Reply;
use crate::model::Greeting;

/// The longest name in HELO, EHLO or LHLO in octets (RFC 5321 section 4.5.3.1.2).
const NAME_OCTETS_MAX: usize = 255;

/// A well-formed command that the dialect offers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Command {
    /// HELO, EHLO or LHLO with the client's name.
    Greeting(Greeting, String),
    /// MAIL.
    Mail(Mail),
    /// RCPT.
    Rcpt {
        /// The recipient.
        path: ForwardPath,
        /// The path is in ASCII.
        is_ascii: bool,
    },
    /// DATA.
    Data,
    /// BDAT.
    Bdat {
        /// The size of the chunk.
        octets: u64,
        /// The message ends with this chunk.
        is_last: bool,
    },
    /// BDAT whose size cannot be read.
    BdatOfUnknownSize,
    /// STARTTLS.
    StartTls,
    /// AUTH and its first step.
    Auth(Result<Progress, Reply>),
    /// RSET.
    Rset,
    /// NOOP, with or without a parameter.
    Noop,
    /// QUIT.
    Quit,
    /// VRFY of any string.
    Vrfy,
    /// HELP, with or without a parameter.
    Help,
}

/// The parameters of MAIL.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Mail {
    /// The sender without brackets and source route; empty for the null sender.
    pub(super) reverse_path: String,
    /// The size that SIZE announces, in octets.
    pub(super) size_octets: Option<u64>,
    /// Whether SMTPUTF8 is there (RFC 6531).
    pub(super) is_utf8: bool,
    /// Whether BODY is BINARYMIME (RFC 3030 section 3).
    pub(super) is_binary: bool,
}

impl Command {
    /// Its verb.
    pub(super) const fn as_str(&self) -> &'static str {
        match self {
            Self::Greeting(Greeting::Helo, _) => "HELO",
            Self::Greeting(Greeting::Lhlo, _) => "LHLO",
            Self::Greeting(..) => "EHLO",
            Self::Mail(_) => "MAIL",
            Self::Rcpt { .. } => "RCPT",
            Self::Data => "DATA",
            Self::Bdat { .. } | Self::BdatOfUnknownSize => "BDAT",
            Self::StartTls => "STARTTLS",
            Self::Auth(_) => "AUTH",
            Self::Rset => "RSET",
            Self::Noop => "NOOP",
            Self::Quit => "QUIT",
            Self::Vrfy => "VRFY",
            Self::Help => "HELP",
        }
    }
}

/// Reads a line without its CRLF; the error is the reply to it.
pub(super) fn parse(line: &[u8], dialect: Dialect) -> Result<Command, Reply> {
    let (verb, argument) = split_word(trim_blanks(line));
    if verb.eq_ignore_ascii_case(b"MAIL") {
        mail(argument, dialect).map(Command::Mail)
    } else if verb.eq_ignore_ascii_case(b"RCPT") {
        rcpt(argument)
    } else if verb.eq_ignore_ascii_case(BDAT) {
        Ok(bdat(argument))
    } else if is_bdat(verb.trim_ascii_start()) {
        Ok(Command::BdatOfUnknownSize)
    } else if verb.eq_ignore_ascii_case(b"AUTH") {
        auth(argument, dialect)
    } else {
        other(verb, argument, dialect).map_err(|reply| of_greeting(reply, verb))
    }
}

/// Reads the beginning of a line that is too long.
pub(super) fn of_too_long(beginning: &[u8]) -> Result<Command, Reply> {
    let (verb, _) = split_word(beginning.trim_ascii());
    if is_bdat(verb) { Ok(Command::BdatOfUnknownSize) } else { Err(of_greeting(Reply::LINE_TOO_LONG, verb)) }
}

/// Reads the beginning of a line with a bare CR or LF.
pub(super) fn of_bare_end(beginning: &[u8]) -> Result<Command, Reply> {
    let (verb, _) = split_word(beginning.trim_ascii());
    if is_bdat(verb) {
        return Ok(Command::BdatOfUnknownSize);
    }
    let has_path = verb.eq_ignore_ascii_case(b"MAIL") || verb.eq_ignore_ascii_case(b"RCPT");
    Err(if has_path { Reply::BARE_IN_PATH } else { of_greeting(Reply::BARE_LINE_END, verb) })
}

/// The reply without its enhanced status code, if `verb` is a greeting (RFC 2034 section 4; for LHLO RFC 2033 section 4.1).
fn of_greeting(reply: Reply, verb: &[u8]) -> Reply {
    let is_greeting = [&b"HELO"[..], b"EHLO", b"LHLO"].iter().any(|greeting| verb.eq_ignore_ascii_case(greeting));
    if is_greeting { reply.without_status() } else { reply }
}

/// Whether some client may mean BDAT by it. Then octets follow that must not be taken for commands.
fn is_bdat(text: &[u8]) -> bool {
    text.get(..BDAT.len()).is_some_and(|verb| verb.eq_ignore_ascii_case(BDAT))
}

fn mail(argument: &[u8], dialect: Dialect) -> Result<Mail, Reply> {
    let argument = after_keyword(argument, b"FROM")
        .ok_or(const { Reply::syntax("Syntax: MAIL FROM:<reverse-path> [parameters]") })?;
    let (reverse_path, parameters) = path::split(argument).ok_or(Reply::SENDER_SYNTAX)?;
    if !path::is_reverse_path(reverse_path) {
        return Err(Reply::SENDER_SYNTAX);
    }
    // RFC 5321 section 4.1.2 forbids them in a value.
    if parameters.iter().any(|&octet| octet.is_ascii_control() && !is_blank(octet)) {
        return Err(Reply::PARAMETER_VALUE);
    }
    let mut mail = Mail { reverse_path: reverse_path.to_owned(), ..Mail::default() };
    for word in words(parameters) {
        mail.take_parameter(word, dialect)?;
    }
    let is_ascii = argument[..argument.len() - parameters.len()].is_ascii();
    if is_ascii || mail.is_utf8 { Ok(mail) } else { Err(Reply::NEEDS_SMTPUTF8) }
}

impl Mail {
    /// Takes a parameter: `keyword` or `keyword=value`.
    fn take_parameter(&mut self, word: &[u8], dialect: Dialect) -> Result<(), Reply> {
        let mut parts = word.splitn(2, |&octet| octet == b'=');
        let keyword = parts.next().unwrap_or_default().to_ascii_uppercase();
        match (&keyword[..], parts.next()) {
            (b"SIZE", Some(digits)) => {
                // A size of 0 says nothing (RFC 1870 section 3).
                self.size_octets = Some(number(digits).ok_or(Reply::PARAMETER_VALUE)?).filter(|&size| size > 0);
            }
            (b"BODY", Some(body)) => {
                self.is_binary = match &body.to_ascii_uppercase()[..] {
                    b"BINARYMIME" => true,
                    b"7BIT" | b"8BITMIME" => false,
                    _ => return Err(Reply::PARAMETER_VALUE),
                };
            }
            (b"SMTPUTF8", None) => self.is_utf8 = true,
            (b"AUTH", Some(b"")) if dialect.offers_auth => return Err(Reply::PARAMETER_VALUE),
            (b"AUTH", Some(_)) if dialect.offers_auth => {}
            (keyword, _) if is_keyword(keyword) => return Err(Reply::PARAMETER_UNKNOWN),
            _ => return Err(Reply::PARAMETER_VALUE),
        }
        Ok(())
    }
}

fn rcpt(argument: &[u8]) -> Result<Command, Reply> {
    let argument = after_keyword(argument, b"TO").ok_or(const { Reply::syntax("Syntax: RCPT TO:<forward-path>") })?;
    let (forward_path, parameters) = path::split(argument).ok_or(Reply::RECIPIENT_SYNTAX)?;
    let is_ascii = argument[..argument.len() - parameters.len()].is_ascii();
    let path = path::forward_path(forward_path).ok_or(Reply::RECIPIENT_SYNTAX)?;
    // No announced extension has parameters for RCPT.
    if words(parameters).next().is_some() {
        return Err(Reply::PARAMETER_UNKNOWN);
    }
    Ok(Command::Rcpt { path, is_ascii })
}

/// Reads the parameters of BDAT strictly: the octets behind a misread BDAT would be taken for commands. A size beyond the
/// largest number becomes the largest number, which never arrives completely.
fn bdat(argument: &[u8]) -> Command {
    let mut words = words(argument);
    let octets = words.next().and_then(number);
    let (octets, is_last) = match (octets, words.next()) {
        (Some(octets), None) => (octets, false),
        (Some(octets), Some(last)) if last.eq_ignore_ascii_case(b"LAST") => (octets, true),
        _ => return Command::BdatOfUnknownSize,
    };
    if words.next().is_some() { Command::BdatOfUnknownSize } else { Command::Bdat { octets, is_last } }
}

/// A number in digits; beyond the largest it is the largest.
fn number(digits: &[u8]) -> Option<u64> {
    let digit = |number: u64, digit: &u8| number.saturating_mul(10).saturating_add(u64::from(digit - b'0'));
    (!digits.is_empty() && digits.iter().all(u8::is_ascii_digit)).then(|| digits.iter().fold(0, digit))
}

/// Whether this may be the keyword of an extension (RFC 5321 section 4.1.2: `esmtp-keyword`).
fn is_keyword(text: &[u8]) -> bool {
    text.first().is_some_and(u8::is_ascii_alphanumeric)
        && text.iter().all(|&octet| octet.is_ascii_alphanumeric() || octet == b'-')
}

/// Reads AUTH. Its credentials go no further than this.
fn auth(argument: &[u8], dialect: Dialect) -> Result<Command, Reply> {
    if !dialect.offers_auth {
        return Err(Reply::NOT_OFFERED);
    }
    let mut words = words(argument);
    match (words.next(), words.next(), words.next()) {
        (Some(mechanism), initial, None) => Ok(Command::Auth(auth::begin(mechanism, initial))),
        _ => Err(const { Reply::syntax("Syntax: AUTH mechanism [initial-response]") }),
    }
}

fn other(verb: &[u8], argument: &[u8], dialect: Dialect) -> Result<Command, Reply> {
    let bare = |command| if argument.is_empty() { Ok(command) } else { Err(Reply::NO_PARAMETERS) };
    let greeting = |greeting| name(argument).map(|name| Command::Greeting(greeting, name));
    match &verb.to_ascii_uppercase()[..] {
        // RFC 2033 section 4.1: SMTP has no LHLO, and LMTP has neither HELO nor EHLO.
        b"HELO" if !dialect.is_lmtp() => greeting(Greeting::Helo),
        b"EHLO" if !dialect.is_lmtp() => greeting(Greeting::Ehlo),
        b"LHLO" if dialect.is_lmtp() => greeting(Greeting::Lhlo),
        b"DATA" => bare(Command::Data),
        b"RSET" => bare(Command::Rset),
        b"QUIT" => bare(Command::Quit),
        b"STARTTLS" => bare(Command::StartTls),
        b"NOOP" => Ok(Command::Noop),
        b"HELP" => Ok(Command::Help),
        b"VRFY" if argument.is_empty() => Err(const { Reply::syntax("Syntax: VRFY string") }),
        b"VRFY" => Ok(Command::Vrfy),
        b"EXPN" | b"ETRN" | b"ATRN" | b"BURL" => Err(Reply::NOT_OFFERED),
        // A page in a browser may send this, with commands behind it.
        _ if argument.ends_with(b"HTTP/1.1") => Err(Reply::NOT_HTTP),
        _ => Err(Reply::UNKNOWN_COMMAND),
    }
}

/// Checks the name of a client. It becomes a part of a header field, so it must not hold anything that could end one.
fn name(argument: &[u8]) -> Result<String, Reply> {
    let is_name = (1..=NAME_OCTETS_MAX).contains(&argument.len()) && argument.iter().all(u8::is_ascii_graphic);
    if is_name { Ok(String::from_utf8_lossy(argument).into_owned()) } else { Err(Reply::HELO_NAME) }
}

fn words(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|&octet| is_blank(octet)).filter(|word| !word.is_empty())
}

/// The first word, and what follows the blanks behind it.
fn split_word(text: &[u8]) -> (&[u8], &[u8]) {
    let end = text.iter().position(|&octet| is_blank(octet)).unwrap_or(text.len());
    (&text[..end], trim_blanks_start(&text[end..]))
}

/// The text behind `keyword` and a colon. Blanks before the colon are allowed.
fn after_keyword<'a>(text: &'a [u8], keyword: &[u8]) -> Option<&'a [u8]> {
    let (word, rest) = text.split_at_checked(keyword.len())?;
    if !word.eq_ignore_ascii_case(keyword) {
        return None;
    }
    trim_blanks_start(rest).strip_prefix(b":")
}

#[cfg(test)]
mod tests;
