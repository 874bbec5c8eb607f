use proptest::prelude::*;

use super::*;

use crate::connections::Purpose;

const PLAIN: Dialect = Dialect { purpose: Purpose::Smtp, offers_tls: false, offers_auth: false };

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
        ("MAIL FROM:<> SIZE=00000000000000000005", "", Some(5)),
        ("MAIL FROM:<> size=0000000000000000000000000000307200", "", Some(307_200)),
        ("MAIL FROM:<> SIZE=00000000000000000000", "", None),
        ("MAIL FROM:<> SIZE=099999999999999999999", "", Some(u64::MAX)),
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
        ("\x0cNOOP", Reply::UNKNOWN_COMMAND),
        ("RSET\x0c", Reply::UNKNOWN_COMMAND),
        ("\u{fc}", Reply::UNKNOWN_COMMAND),
        ("LHLO client.test", Reply::UNKNOWN_COMMAND.without_status()),
        ("GET / HTTP/1.1", Reply::NOT_HTTP),
        ("POST /x?y HTTP/1.1", Reply::NOT_HTTP),
        ("GET /", Reply::UNKNOWN_COMMAND),
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
        ("MAIL FROM:\x0c<a@example.test>", Reply::SENDER_SYNTAX),
        ("MAIL FROM:<a@example.test> AUTH=a\0b", Reply::PARAMETER_VALUE),
        ("MAIL FROM:<a@example.test> SIZE=5\x0c", Reply::PARAMETER_VALUE),
        ("MAIL FROM:<> SIZE", Reply::PARAMETER_UNKNOWN),
        ("MAIL FROM:<> SIZE=", Reply::PARAMETER_VALUE),
        ("MAIL FROM:<> SIZE=1x", Reply::PARAMETER_VALUE),
        ("MAIL FROM:<> SIZE=00000000000000000000x", Reply::PARAMETER_VALUE),
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
fn the_size_of_a_chunk_is_read_strictly() {
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
    for line in
        ["BDAT", "BDAT LAST", "BDAT -1", "BDAT +1", "BDAT 1x", "BDAT 0x10", "BDAT 5 LASTS", "BDAT 5 LAST x", "BDAT 5 5"]
    {
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
fn each_dialect_has_its_greetings_and_extensions() {
    let lmtp = Dialect { purpose: Purpose::Lmtp, ..PLAIN };
    let lhlo = Command::Greeting(Greeting::Lhlo, "client.test".into());
    assert_eq!(super::parse(b"LHLO client.test", lmtp), Ok(lhlo));
    assert_eq!(super::parse(b"LHLO", lmtp), Err(Reply::HELO_NAME));
    assert_eq!(parse(b"LHLO"), Err(Reply::UNKNOWN_COMMAND.without_status()));
    for line in ["HELO client.test", "EHLO client.test", "HELO", "EHLO"] {
        let unknown = Reply::UNKNOWN_COMMAND.without_status();
        assert_eq!(super::parse(line.as_bytes(), lmtp), Err(unknown), "{line}");
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
