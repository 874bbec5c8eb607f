//! Reads command lines (RFC 5321 section 4.1, RFC 2033, RFC 3030, RFC 4954).
//!
//! smtp-proto reads most verbs and the parameters. This module adds what it does not do:
//!
//! - Paths are read by [`path`], and any blanks may separate the words.
//! - A command without parameters refuses parameters.
//! - A number may have any length. From 20 digits on smtp-proto refuses it or overflows.
//! - A parameter of an extension that was not announced is not recognized.

use std::borrow::Cow;

use smtp_proto::{Error, MAIL_BODY_BINARYMIME, MAIL_SMTPUTF8, Request};

use super::Dialect;
use super::auth::{self, Progress};
use super::line::{BDAT, is_blank, trim_blanks, trim_blanks_start};
use super::path::{self, ForwardPath};
use super::reply::Reply;
use crate::model::Greeting;

/// The most digits of a SIZE that smtp-proto reads exactly.
const SIZE_DIGITS_MAX: usize = 19;
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
    // RFC 5321 section 4.1.2 forbids them in a value; smtp-proto accepts them in some.
    if parameters.iter().any(|&octet| octet.is_ascii_control() && !is_blank(octet)) {
        return Err(Reply::PARAMETER_VALUE);
    }
    let is_ascii = argument[..argument.len() - parameters.len()].is_ascii();
    let mut text = b"MAIL FROM:<>".to_vec();
    let mut size_octets = None;
    for word in words(parameters) {
        text.push(b' ');
        match word.split_at_checked(5) {
            Some((name, digits)) if name.eq_ignore_ascii_case(b"SIZE=") => {
                let digits = without_zeros(digits);
                if is_huge(digits) {
                    size_octets = Some(u64::MAX);
                } else {
                    text.extend_from_slice(name);
                    text.extend_from_slice(digits);
                }
            }
            _ => text.extend_from_slice(word),
        }
    }
    text.push(b'\n');
    let request = Request::parse(&mut text.iter()).map_err(|error| refusal(&error))?;
    let Request::Mail { from } = request else { return Err(Reply::PARAMETER_VALUE) };
    let announced = [&b"SIZE"[..], b"BODY", b"SMTPUTF8"].into_iter().chain(dialect.offers_auth.then_some(&b"AUTH"[..]));
    if !words(parameters).all(|word| announced.clone().any(|name| is_parameter(word, name))) {
        return Err(Reply::PARAMETER_UNKNOWN);
    }
    let is_utf8 = from.flags & MAIL_SMTPUTF8 != 0;
    if !is_ascii && !is_utf8 {
        return Err(Reply::NEEDS_SMTPUTF8);
    }
    Ok(Mail {
        reverse_path: reverse_path.to_owned(),
        size_octets: size_octets.or_else(|| u64::try_from(from.size).ok().filter(|&size| size > 0)),
        is_utf8,
        is_binary: from.flags & MAIL_BODY_BINARYMIME != 0,
    })
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
    let octets = words.next().filter(|digits| digits.iter().all(u8::is_ascii_digit));
    let (octets, is_last) = match (octets, words.next()) {
        (Some(octets), None) => (octets, false),
        (Some(octets), Some(last)) if last.eq_ignore_ascii_case(b"LAST") => (octets, true),
        _ => return Command::BdatOfUnknownSize,
    };
    if words.next().is_some() {
        return Command::BdatOfUnknownSize;
    }
    let digit = |octets: u64, digit: &u8| octets.saturating_mul(10).saturating_add(u64::from(digit - b'0'));
    Command::Bdat { octets: octets.iter().fold(0, digit), is_last }
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
    // smtp-proto accepts form feed as a blank.
    if !verb.iter().all(u8::is_ascii_graphic) {
        return Err(Reply::UNKNOWN_COMMAND);
    }
    let mut text = if argument.is_empty() { verb.to_vec() } else { [verb, b" ", argument].concat() };
    text.push(b'\n');
    let bare = |command| if argument.is_empty() { Ok(command) } else { Err(Reply::NO_PARAMETERS) };
    match Request::parse(&mut text.iter()) {
        // RFC 2033 section 4.1: SMTP has no LHLO, and LMTP has neither HELO nor EHLO.
        Ok(Request::Helo { .. } | Request::Ehlo { .. }) if dialect.is_lmtp() => Err(Reply::UNKNOWN_COMMAND),
        Ok(Request::Lhlo { .. }) if !dialect.is_lmtp() => Err(Reply::UNKNOWN_COMMAND),
        Ok(Request::Helo { host }) => name(host).map(|name| Command::Greeting(Greeting::Helo, name)),
        Ok(Request::Ehlo { host }) => name(host).map(|name| Command::Greeting(Greeting::Ehlo, name)),
        Ok(Request::Lhlo { host }) => name(host).map(|name| Command::Greeting(Greeting::Lhlo, name)),
        Ok(Request::Data) => bare(Command::Data),
        Ok(Request::Rset) => bare(Command::Rset),
        Ok(Request::Quit) => bare(Command::Quit),
        Ok(Request::StartTls) => bare(Command::StartTls),
        Ok(Request::Noop { .. }) => Ok(Command::Noop),
        Ok(Request::Help { .. }) => Ok(Command::Help),
        Ok(Request::Vrfy { .. }) => Ok(Command::Vrfy),
        Ok(
            Request::Mail { .. }
            | Request::Rcpt { .. }
            | Request::Bdat { .. }
            | Request::Auth { .. }
            | Request::Expn { .. }
            | Request::Etrn { .. }
            | Request::Atrn { .. }
            | Request::Burl { .. },
        ) => Err(Reply::NOT_OFFERED),
        Err(error) => Err(refusal_in(&error, dialect)),
    }
}

/// The reply to an error of smtp-proto. A greeting that the dialect does not have is an unknown command.
fn refusal_in(error: &Error, dialect: Dialect) -> Reply {
    let Error::SyntaxError { syntax } = error else { return refusal(error) };
    match (syntax.split(' ').next(), dialect.is_lmtp()) {
        (Some("HELO" | "EHLO"), true) | (Some("LHLO"), false) => Reply::UNKNOWN_COMMAND,
        _ => refusal(error),
    }
}

fn refusal(error: &Error) -> Reply {
    match error {
        Error::UnknownCommand => Reply::UNKNOWN_COMMAND,
        Error::InvalidParameter { param: "SIZE" | "BODY" | "AUTH" } => Reply::PARAMETER_VALUE,
        Error::InvalidParameter { .. } | Error::UnsupportedParameter { .. } => Reply::PARAMETER_UNKNOWN,
        Error::SyntaxError { syntax } => match syntax.split(' ').next() {
            Some("HELO" | "EHLO" | "LHLO") => Reply::HELO_NAME,
            Some("VRFY") => const { Reply::syntax("Syntax: VRFY string") },
            Some("MAIL" | "RCPT") => Reply::PARAMETER_VALUE,
            _ => Reply::NOT_OFFERED,
        },
        _ => Reply::PARAMETER_VALUE,
    }
}

/// Checks the name of a client. It becomes a part of a header field, so it must not hold anything that could end one.
fn name(host: Cow<'_, str>) -> Result<String, Reply> {
    let is_name = host.len() <= NAME_OCTETS_MAX && host.bytes().all(|octet| octet.is_ascii_graphic());
    if is_name { Ok(host.into_owned()) } else { Err(Reply::HELO_NAME) }
}

/// Removes leading zeros.
fn without_zeros(digits: &[u8]) -> &[u8] {
    let zeros = digits.iter().take_while(|&&digit| digit == b'0').count();
    &digits[zeros.min(digits.len().saturating_sub(1))..]
}

fn is_huge(digits: &[u8]) -> bool {
    digits.len() > SIZE_DIGITS_MAX && digits.iter().all(u8::is_ascii_digit)
}

fn is_parameter(word: &[u8], name: &[u8]) -> bool {
    word.split(|&octet| octet == b'=').next().is_some_and(|keyword| keyword.eq_ignore_ascii_case(name))
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
