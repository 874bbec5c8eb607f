//! Command lines and what they mean (RFC 5321 section 4.1, RFC 2033, RFC 3030, RFC 4954).
//!
//! smtp-proto knows most verbs and the parameters. Around it: paths are read by [`path`]; commands that take no
//! parameters are held to that; blanks between the words do not matter; a number of any length keeps its meaning (from 20
//! digits on smtp-proto refuses it or begins anew); a parameter of an extension that was not announced is not recognized.

use std::borrow::Cow;

use smtp_proto::{Error, MAIL_BODY_BINARYMIME, MAIL_SMTPUTF8, Request};

use super::Dialect;
use super::auth::{self, Progress};
use super::path::{self, ForwardPath};
use super::reply::Reply;
use crate::model::Greeting;

/// The most digits of a SIZE that smtp-proto reads exactly.
const SIZE_DIGITS_MAX: usize = 19;
/// The longest name in HELO, EHLO or LHLO in octets (RFC 5321 section 4.5.3.1.2).
const NAME_OCTETS_MAX: usize = 255;

/// A command that is well-formed and that the dialect has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Command {
    /// HELO, EHLO or LHLO with the client's name.
    Greeting(Greeting, String),
    /// MAIL.
    Mail(Mail),
    /// RCPT.
    Rcpt {
        /// Who the message is for.
        path: ForwardPath,
        /// The path was sent in ASCII.
        is_ascii: bool,
    },
    /// DATA.
    Data,
    /// BDAT.
    Bdat {
        /// The size of the chunk.
        octets: u64,
        /// The message ends with it.
        is_last: bool,
    },
    /// BDAT from which the size of its chunk cannot be told.
    BdatOfUnknownSize,
    /// STARTTLS.
    StartTls,
    /// AUTH with how it begins.
    Auth(Result<Progress, Reply>),
    /// RSET.
    Rset,
    /// NOOP with or without a word.
    Noop,
    /// QUIT.
    Quit,
    /// VRFY of anything.
    Vrfy,
    /// HELP with or without a word.
    Help,
}

/// What MAIL says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Mail {
    /// Without brackets and source route; empty for the null sender.
    pub(super) reverse_path: String,
    /// What SIZE says, in octets.
    pub(super) size_octets: Option<u64>,
    /// SMTPUTF8 is there (RFC 6531).
    pub(super) is_utf8: bool,
    /// BODY is BINARYMIME (RFC 3030 section 3).
    pub(super) is_binary: bool,
}

/// Reads a line without its CRLF; the error is the reply to it.
pub(super) fn parse(line: &[u8], dialect: Dialect) -> Result<Command, Reply> {
    let (verb, argument) = split_word(line.trim_ascii());
    if verb.eq_ignore_ascii_case(b"MAIL") {
        mail(argument, dialect).map(Command::Mail)
    } else if verb.eq_ignore_ascii_case(b"RCPT") {
        rcpt(argument)
    } else if verb.eq_ignore_ascii_case(b"BDAT") {
        Ok(bdat(argument))
    } else if verb.eq_ignore_ascii_case(b"AUTH") {
        auth(argument, dialect)
    } else {
        other(verb, argument, dialect)
    }
}

fn mail(argument: &[u8], dialect: Dialect) -> Result<Mail, Reply> {
    let argument = after_keyword(argument, b"FROM")
        .ok_or(const { Reply::syntax("Syntax: MAIL FROM:<reverse-path> [parameters]") })?;
    let (reverse_path, parameters) = path::split(argument).ok_or(Reply::SENDER_SYNTAX)?;
    if !path::is_reverse_path(reverse_path) {
        return Err(Reply::SENDER_SYNTAX);
    }
    let is_ascii = argument[..argument.len() - parameters.len()].is_ascii();
    let mut text = b"MAIL FROM:<>".to_vec();
    let mut size_octets = None;
    for word in words(parameters) {
        text.push(b' ');
        match word.split_at_checked(5) {
            Some((name, digits)) if name.eq_ignore_ascii_case(b"SIZE=") && is_huge(digits) => {
                size_octets = Some(u64::MAX);
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
    // No extension that has parameters for RCPT is announced.
    if words(parameters).next().is_some() {
        return Err(Reply::PARAMETER_UNKNOWN);
    }
    Ok(Command::Rcpt { path, is_ascii })
}

/// What follows a BDAT that is not understood would be taken for commands, so nothing in it may be misread. More octets than
/// a number can say never come to an end.
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

/// The credentials are read here and go no further.
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
    let mut text = [verb, b" ", argument].concat();
    text.truncate(text.trim_ascii_end().len());
    text.push(b'\n');
    let bare = |command| if argument.is_empty() { Ok(command) } else { Err(Reply::NO_PARAMETERS) };
    match Request::parse(&mut text.iter()) {
        // RFC 2033 section 4.1: LHLO is no command of SMTP, the others are none of LMTP.
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

/// The refusal of a greeting that the dialect has not is that of any unknown word.
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

/// The name becomes part of a header field, so it must hold nothing that could end one.
fn name(host: Cow<'_, str>) -> Result<String, Reply> {
    let is_name = host.len() <= NAME_OCTETS_MAX && host.bytes().all(|octet| octet.is_ascii_graphic());
    if is_name { Ok(host.into_owned()) } else { Err(Reply::HELO_NAME) }
}

fn is_huge(digits: &[u8]) -> bool {
    digits.len() > SIZE_DIGITS_MAX && digits.iter().all(u8::is_ascii_digit)
}

fn is_parameter(word: &[u8], name: &[u8]) -> bool {
    word.split(|&octet| octet == b'=').next().is_some_and(|keyword| keyword.eq_ignore_ascii_case(name))
}

fn is_blank(octet: u8) -> bool {
    matches!(octet, b' ' | b'\t')
}

fn words(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|&octet| is_blank(octet)).filter(|word| !word.is_empty())
}

/// The first word and what follows it, without the blanks between.
fn split_word(text: &[u8]) -> (&[u8], &[u8]) {
    let end = text.iter().position(|&octet| is_blank(octet)).unwrap_or(text.len());
    (&text[..end], text[end..].trim_ascii_start())
}

/// What follows `keyword` and a colon, with or without blanks before the colon.
fn after_keyword<'a>(text: &'a [u8], keyword: &[u8]) -> Option<&'a [u8]> {
    let (word, rest) = text.split_at_checked(keyword.len())?;
    if !word.eq_ignore_ascii_case(keyword) {
        return None;
    }
    rest.trim_ascii_start().strip_prefix(b":")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    use crate::smtp::Service;

    const PLAIN: Dialect = Dialect { service: Service::Smtp, offers_tls: false, offers_auth: false };

    fn parse(line: &[u8]) -> Result<Command, Reply> {
        super::parse(line, PLAIN)
    }

    fn mail_of(line: &str) -> (String, Option<u64>) {
        match parse(line.as_bytes()) {
            Ok(Command::Mail(Mail { reverse_path, size_octets, .. })) => (reverse_path, size_octets),
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn mail_is_read_with_its_size() {
        for (line, reverse_path, size_octets) in [
            ("MAIL FROM:<>", "", None),
            ("mail from:<Ann@Example.TEST>", "Ann@Example.TEST", None),
            ("MAIL FROM: <ann@example.test>", "ann@example.test", None),
            ("MAIL  FROM : <ann@example.test>  ", "ann@example.test", None),
            ("MAIL FROM:ann@example.test", "ann@example.test", None),
            ("MAIL FROM:<@a.test:ann@example.test>", "ann@example.test", None),
            ("MAIL FROM:<\"a b\"@example.test> SIZE=5", "\"a b\"@example.test", Some(5)),
            ("MAIL FROM:<ann@[127.0.0.1]> BODY=8BITMIME", "ann@[127.0.0.1]", None),
            ("MAIL FROM:<> SIZE=0 BODY=7BIT", "", None),
            ("MAIL FROM:<>  body=8bitmime\tsize=307200", "", Some(307_200)),
            ("MAIL FROM:<> SIZE=99999999999999999999", "", Some(u64::MAX)),
            ("MAIL FROM:<> SIZE=999999999999999999999999999999 BODY=7BIT", "", Some(u64::MAX)),
        ] {
            assert_eq!(mail_of(line), (reverse_path.to_owned(), size_octets), "{line}");
        }
    }

    #[test]
    fn each_malformed_command_has_its_reply() {
        for (line, reply) in [
            ("", Reply::UNKNOWN_COMMAND),
            ("   ", Reply::UNKNOWN_COMMAND),
            ("FOO", Reply::UNKNOWN_COMMAND),
            ("MAILFROM:<a@example.test>", Reply::UNKNOWN_COMMAND),
            ("QUITX", Reply::UNKNOWN_COMMAND),
            ("STARTTLSX", Reply::UNKNOWN_COMMAND),
            ("NOOP\0", Reply::UNKNOWN_COMMAND),
            ("\u{fc}", Reply::UNKNOWN_COMMAND),
            ("LHLO client.test", Reply::UNKNOWN_COMMAND),
            ("GET / HTTP/1.1", Reply::UNKNOWN_COMMAND),
            ("HELO", Reply::HELO_NAME),
            ("EHLO", Reply::HELO_NAME),
            ("EHLO a\0b", Reply::HELO_NAME),
            ("EHLO b\u{fc}cher", Reply::HELO_NAME),
            ("MAIL", Reply::syntax("Syntax: MAIL FROM:<reverse-path> [parameters]")),
            ("MAIL TO:<a@example.test>", Reply::syntax("Syntax: MAIL FROM:<reverse-path> [parameters]")),
            ("MAIL FROM <a@example.test>", Reply::syntax("Syntax: MAIL FROM:<reverse-path> [parameters]")),
            ("MAIL FROM:", Reply::SENDER_SYNTAX),
            ("MAIL FROM:<a", Reply::SENDER_SYNTAX),
            ("MAIL FROM:<a>", Reply::SENDER_SYNTAX),
            ("MAIL FROM:Ann <a@example.test>", Reply::SENDER_SYNTAX),
            ("MAIL FROM:<a@example.test>SIZE=1", Reply::SENDER_SYNTAX),
            ("MAIL FROM:<a\0@example.test>", Reply::SENDER_SYNTAX),
            ("MAIL FROM:<> SIZE", Reply::PARAMETER_UNKNOWN),
            ("MAIL FROM:<> SIZE=", Reply::PARAMETER_VALUE),
            ("MAIL FROM:<> SIZE=1x", Reply::PARAMETER_VALUE),
            ("MAIL FROM:<> SIZE=-1", Reply::PARAMETER_VALUE),
            ("MAIL FROM:<> BODY=9BIT", Reply::PARAMETER_VALUE),
            ("MAIL FROM:<> SMTPUTF8=1", Reply::PARAMETER_UNKNOWN),
            ("MAIL FROM:<j\u{f5}@example.test>", Reply::NEEDS_SMTPUTF8),
            ("MAIL FROM:<ann@b\u{fc}cher.test> SIZE=1", Reply::NEEDS_SMTPUTF8),
            ("MAIL FROM:<@b\u{fc}cher.test:ann@example.test>", Reply::NEEDS_SMTPUTF8),
            ("MAIL FROM:<j\u{85}@example.test> SMTPUTF8", Reply::SENDER_SYNTAX),
            ("RCPT TO:<ann@example.test> SMTPUTF8", Reply::PARAMETER_UNKNOWN),
            ("MAIL FROM:<> AUTH=<>", Reply::PARAMETER_UNKNOWN),
            ("MAIL FROM:<> RET=BAD", Reply::PARAMETER_UNKNOWN),
            ("MAIL FROM:<> MT-PRIORITY=0", Reply::PARAMETER_UNKNOWN),
            ("MAIL FROM:<> X-NEW=1", Reply::PARAMETER_UNKNOWN),
            ("MAIL FROM:<> !", Reply::PARAMETER_VALUE),
            ("RCPT", Reply::syntax("Syntax: RCPT TO:<forward-path>")),
            ("RCPT FROM:<a@example.test>", Reply::syntax("Syntax: RCPT TO:<forward-path>")),
            ("RCPT TO:<>", Reply::RECIPIENT_SYNTAX),
            ("RCPT TO:<ann>", Reply::RECIPIENT_SYNTAX),
            ("RCPT TO:<ann@example.test> NOTIFY=NEVER", Reply::PARAMETER_UNKNOWN),
            ("RCPT TO:<ann@example.test> SIZE=1", Reply::PARAMETER_UNKNOWN),
            ("DATA now", Reply::NO_PARAMETERS),
            ("RSET now", Reply::NO_PARAMETERS),
            ("QUIT now", Reply::NO_PARAMETERS),
            ("VRFY", Reply::syntax("Syntax: VRFY string")),
            ("EXPN", Reply::NOT_OFFERED),
            ("EXPN list", Reply::NOT_OFFERED),
            ("STARTTLS now", Reply::NO_PARAMETERS),
            ("AUTH", Reply::NOT_OFFERED),
            ("AUTH PLAIN AGEAYg==", Reply::NOT_OFFERED),
            ("AUTH NO!SUCH", Reply::NOT_OFFERED),
            ("ETRN example.test", Reply::NOT_OFFERED),
        ] {
            assert_eq!(parse(line.as_bytes()), Err(reply), "{line:?}");
        }
    }

    #[test]
    fn the_other_commands_are_read() {
        let rcpt = |path| Command::Rcpt { path, is_ascii: true };
        for (line, command) in [
            ("HELO client.test", Command::Greeting(Greeting::Helo, "client.test".into())),
            ("ehlo   [127.0.0.1]  ", Command::Greeting(Greeting::Ehlo, "[127.0.0.1]".into())),
            ("EHLO my_host", Command::Greeting(Greeting::Ehlo, "my_host".into())),
            ("EHLO\tclient.test", Command::Greeting(Greeting::Ehlo, "client.test".into())),
            ("DATA ", Command::Data),
            ("rset", Command::Rset),
            ("StartTLS", Command::StartTls),
            ("NOOP", Command::Noop),
            ("NOOP anything at all", Command::Noop),
            ("quit", Command::Quit),
            ("VRFY ann", Command::Vrfy),
            ("HELP", Command::Help),
            ("HELP MAIL", Command::Help),
            ("RCPT TO:<postmaster>", rcpt(ForwardPath::Postmaster("postmaster".into()))),
            ("RCPT TO: ann@example.test", rcpt(ForwardPath::Address("ann@example.test".parse().unwrap()))),
        ] {
            assert_eq!(parse(line.as_bytes()), Ok(command), "{line}");
        }
    }

    #[test]
    fn the_size_of_a_chunk_is_read_whole_or_not_at_all() {
        for (line, octets, is_last) in [
            ("BDAT 0", 0, false),
            ("bdat 5 last", 5, true),
            ("BDAT  0010\tLAST ", 10, true),
            ("BDAT 18446744073709551615", u64::MAX, false),
            ("BDAT 18446744073709551616", u64::MAX, false),
            ("BDAT 99999999999999999999999999999999 LAST", u64::MAX, true),
        ] {
            assert_eq!(parse(line.as_bytes()), Ok(Command::Bdat { octets, is_last }), "{line}");
        }
        for line in [
            "BDAT",
            "BDAT LAST",
            "BDAT -1",
            "BDAT +1",
            "BDAT 1x",
            "BDAT 0x10",
            "BDAT 5 LASTS",
            "BDAT 5 LAST x",
            "BDAT 5 5",
        ] {
            assert_eq!(parse(line.as_bytes()), Ok(Command::BdatOfUnknownSize), "{line}");
        }
    }

    #[test]
    fn parameters_of_extensions_are_read() {
        let with = |line: &str| match parse(line.as_bytes()) {
            Ok(Command::Mail(mail)) => (mail.is_utf8, mail.is_binary),
            other => panic!("{line}: {other:?}"),
        };
        assert_eq!(with("MAIL FROM:<j\u{f5}@b\u{fc}cher.test> smtputf8"), (true, false));
        assert_eq!(with("MAIL FROM:<> BODY=BINARYMIME SMTPUTF8 SIZE=5"), (true, true));
        assert_eq!(with("MAIL FROM:<> BODY=8BITMIME"), (false, false));
        let rcpt = "RCPT TO:<j\u{f5}@example.test>";
        assert!(matches!(parse(rcpt.as_bytes()), Ok(Command::Rcpt { is_ascii: false, .. })));
    }

    #[test]
    fn each_dialect_has_its_greetings_and_what_it_offers() {
        let lmtp = Dialect { service: Service::Lmtp, ..PLAIN };
        let lhlo = Command::Greeting(Greeting::Lhlo, "client.test".into());
        assert_eq!(super::parse(b"LHLO client.test", lmtp), Ok(lhlo));
        assert_eq!(super::parse(b"LHLO", lmtp), Err(Reply::HELO_NAME));
        assert_eq!(parse(b"LHLO"), Err(Reply::UNKNOWN_COMMAND));
        for line in ["HELO client.test", "EHLO client.test", "HELO", "EHLO"] {
            assert_eq!(super::parse(line.as_bytes(), lmtp), Err(Reply::UNKNOWN_COMMAND), "{line}");
        }
        let auth = Dialect { offers_auth: true, ..PLAIN };
        assert!(super::parse(b"MAIL FROM:<> AUTH=<>", auth).is_ok());
        assert!(super::parse(b"MAIL FROM:<> AUTH=e+3Dmc2@example.test", auth).is_ok());
        assert_eq!(super::parse(b"MAIL FROM:<> AUTH=", auth), Err(Reply::PARAMETER_VALUE));
        assert_eq!(super::parse(b"AUTH PLAIN AGEAYg==", auth), Ok(Command::Auth(Ok(Progress::Succeeded))));
        assert_eq!(super::parse(b"AUTH GSSAPI", auth), Ok(Command::Auth(Err(Reply::MECHANISM_UNKNOWN))));
        let syntax = Reply::syntax("Syntax: AUTH mechanism [initial-response]");
        assert_eq!(super::parse(b"AUTH", auth), Err(syntax.clone()));
        assert_eq!(super::parse(b"AUTH PLAIN a b", auth), Err(syntax));
    }

    #[test]
    fn a_command_line_of_512_octets_is_read() {
        let route = ["@hop.example.test"; 26].join(",");
        let line = format!("MAIL FROM:<{route}:ann@example.test>");
        assert!(line.len() > 470 && line.len() <= 510, "{}", line.len());
        assert_eq!(mail_of(&line).0, "ann@example.test");
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn any_octets_are_a_command_or_an_error(
            start in prop_oneof![Just(""), Just("MAIL FROM:<"), Just("RCPT TO:<"), Just("MAIL FROM:<> "), Just("EHLO "), Just("AUTH "), Just("BDAT ")],
            rest in proptest::collection::vec(any::<u8>(), 0..60),
        ) {
            let line = [start.as_bytes(), &rest].concat();
            let _ = parse(&line);
        }

        #[test]
        fn any_text_is_a_command_or_an_error(line in "(MAIL FROM:|RCPT TO:)[<>@\"\\\\a-c:, .=\\[\\]]{0,30}") {
            if let Ok(Command::Mail(Mail { reverse_path, .. })) = parse(line.as_bytes()) {
                prop_assert!(reverse_path.is_empty() || reverse_path.contains('@'));
            }
        }
    }
}
