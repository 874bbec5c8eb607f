//! Commands made by the grammar of RFC 5321 are understood, and what comes of changing them is answered.
//! Promise: it outlives the code below it.

use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::TestCaseResult;
use smtp_proto::Request;
use tempmail::smtp::Message;

use crate::corpus;
use crate::input;
use crate::play::{play, read_replies, settings};

/// A path by RFC 5321 section 4.1.2 and what it must be read as.
#[derive(Clone, Debug)]
struct Path {
    text: String,
    mailbox: String,
}

fn label() -> impl Strategy<Value = String> {
    // Hyphens in the third and fourth place are for IDNA alone.
    "[a-zA-Z0-9]([a-zA-Z0-9]{0,10}|[a-zA-Z0-9]{2,4}-[a-z0-9]{1,5})"
}

fn domain() -> impl Strategy<Value = String> {
    (proptest::collection::vec(label(), 0..4), "[a-z]{2,8}")
        .prop_map(|(labels, top)| labels.into_iter().chain([top]).collect::<Vec<_>>().join("."))
}

fn local_part() -> impl Strategy<Value = String> {
    let atom = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]{1,12}";
    prop_oneof![
        proptest::collection::vec(atom, 1..4).prop_map(|atoms| atoms.join(".")),
        // quoted-string: qtextSMTP and quoted-pairSMTP.
        "\"([ !#-\\[\\]-~]|\\\\[ -~]){1,20}\"",
    ]
}

fn path() -> impl Strategy<Value = Path> {
    let route = proptest::collection::vec(domain(), 0..3);
    (local_part(), domain(), route).prop_map(|(local_part, domain, route)| {
        let hops: Vec<String> = route.iter().map(|hop| format!("@{hop}")).collect();
        let route = if hops.is_empty() { String::new() } else { format!("{}:", hops.join(",")) };
        let mailbox = format!("{local_part}@{domain}");
        Path { text: format!("<{route}{mailbox}>"), mailbox }
    })
}

fn parameters() -> impl Strategy<Value = String> {
    let parameter = select(vec![" SIZE=0", " SIZE=2000", " size=1", " BODY=7BIT", " BODY=8BITMIME", " body=8bitmime"]);
    // Each keyword at most once.
    proptest::collection::vec(parameter, 0..3).prop_map(|words| {
        let mut kept: Vec<&str> = Vec::new();
        for word in words {
            if !kept.iter().any(|other| other[..5].eq_ignore_ascii_case(&word[..5])) {
                kept.push(word);
            }
        }
        kept.concat()
    })
}

/// A whole transaction by the grammar.
#[derive(Clone, Debug)]
struct Transaction {
    greeting: String,
    sender: Option<Path>,
    parameters: String,
    recipients: Vec<Path>,
    is_lower_case: bool,
}

impl Transaction {
    fn dialog(&self) -> String {
        let case = |verb: &str| if self.is_lower_case { verb.to_lowercase() } else { verb.to_owned() };
        let sender = self.sender.as_ref().map_or("<>", |path| &path.text);
        let greeting = format!("{} {}\r\n", case("EHLO"), self.greeting);
        let mail = format!("{}{sender}{}\r\n", case("MAIL FROM:"), self.parameters);
        let rcpt = |path: &Path| format!("{}{}\r\n", case("RCPT TO:"), path.text);
        let recipients: Vec<String> = self.recipients.iter().map(rcpt).collect();
        [greeting, mail, recipients.concat(), case("DATA\r\n.\r\nQUIT\r\n")].concat()
    }
}

fn transaction() -> impl Strategy<Value = Transaction> {
    let greeting = prop_oneof![domain(), Just("[192.0.2.1]".to_owned()), Just("[IPv6:2001:db8::1]".to_owned())];
    (greeting, proptest::option::of(path()), parameters(), proptest::collection::vec(path(), 1..4), any::<bool>())
        .prop_map(|(greeting, sender, parameters, recipients, is_lower_case)| Transaction {
            greeting,
            sender,
            parameters,
            recipients,
            is_lower_case,
        })
}

fn same_domain_in_any_case(read: &str, written: &str) -> bool {
    let split =
        |text: &str| text.rsplit_once('@').map(|(local, domain)| (local.to_owned(), domain.to_ascii_lowercase()));
    split(read) == split(written)
}

#[test]
fn what_the_grammar_makes_is_understood() {
    let check = |transaction: &Transaction| {
        let played = play(settings(), &[transaction.dialog().as_bytes()]);
        let shown = String::from_utf8_lossy(&played.replies).into_owned();
        let [Message { reverse_path, recipients, helo, .. }] = &played.messages[..] else {
            return Err(TestCaseError::fail(shown));
        };
        prop_assert_eq!(helo, &transaction.greeting);
        prop_assert_eq!(reverse_path, transaction.sender.as_ref().map_or("", |path| &path.mailbox));
        prop_assert_eq!(recipients.len(), transaction.recipients.len());
        for (recipient, path) in recipients.iter().zip(&transaction.recipients) {
            prop_assert!(same_domain_in_any_case(&recipient.to_string(), &path.mailbox), "{recipient} for {path:?}");
        }
        Ok(())
    };
    let of_seed = |_| Transaction {
        greeting: "client.test".into(),
        sender: None,
        parameters: String::new(),
        recipients: vec![Path { text: "<b@example.test>".into(), mailbox: "b@example.test".into() }],
        is_lower_case: false,
    };
    corpus::run("command", transaction(), check, of_seed);
}

/// One line in each state of a session gets one well-formed reply, and a path with a control character never passes.
fn check_line(line: &[u8]) -> TestCaseResult {
    let line: Vec<u8> = line.iter().copied().filter(|octet| !b"\r\n".contains(octet)).take(2046).collect();
    for before in ["", "EHLO c\r\n", "EHLO c\r\nMAIL FROM:<>\r\n"] {
        let dialog = [before.as_bytes(), &line, b"\r\nRSET\r\n"].concat();
        let played = play(settings(), &[&dialog]);
        let codes = read_replies(&played.replies).map_err(TestCaseError::fail)?;
        let expected = 1 + before.lines().count() + 2;
        let verb = line.trim_ascii_start();
        // QUIT, and a request of HTTP.
        let is_quit = matches!(codes.last(), Some(221 | 554));
        // What follows may be the chunk that was announced.
        let is_chunk = verb.len() > 4 && verb[..4].eq_ignore_ascii_case(b"BDAT") && codes.len() < expected;
        let shown = dialog.escape_ascii().to_string();
        prop_assert!(codes.len() == expected || is_quit || is_chunk, "{codes:?} to {shown:?}");
        let is_accepted = codes.get(expected - 2).is_some_and(|code| *code < 300);
        let has_path = verb.len() > 4 && [b"MAIL", b"RCPT"].iter().any(|name| verb[..4].eq_ignore_ascii_case(*name));
        let is_bare = |octet: &u8| octet.is_ascii_control() && *octet != b'\t';
        prop_assert!(!(is_accepted && has_path && line.iter().any(is_bare)), "a control character passed");
    }
    Ok(())
}

#[test]
fn whatever_a_line_holds_it_gets_one_reply() {
    let seeds: Vec<Vec<u8>> = corpus::seeds("command").into_iter().map(|(_, octets)| octets).collect();
    let made =
        transaction().prop_map(|transaction| transaction.dialog().lines().nth(1).unwrap_or("").as_bytes().to_vec());
    let lines = prop_oneof![3 => input::mutated(seeds), 1 => made, 1 => proptest::collection::vec(any::<u8>(), 0..80)];
    corpus::run("command", lines, |line| check_line(line), |octets| octets);
}

/// Parameters of MAIL, and those of which smtp-proto thinks otherwise: it takes more extensions than are announced here, and
/// numbers only up to 19 digits.
#[test]
fn smtp_proto_takes_and_refuses_the_same_commands() {
    let lines = [
        "HELO client.test",
        "EHLO [192.0.2.1]",
        "EHLO",
        "NOOP",
        "NOOP x",
        "RSET",
        "DATA",
        "QUIT",
        "VRFY x",
        "VRFY",
        "HELP",
        "FOO",
        "QUITX",
        "MAILFROM:<a@b.test>",
        "MAIL",
        "MAIL FROM:<a@b.test>",
        "MAIL FROM:<>",
        "MAIL FROM:<a@b.test",
        "MAIL TO:<a@b.test>",
    ];
    let parameters = [
        "SIZE=0",
        "size=307",
        "SIZE=",
        "SIZE=x",
        "SIZE=1x",
        "SIZE=-1",
        "SIZE=1 SIZE=2",
        "BODY=7BIT",
        "body=8bitmime",
        "BODY=BINARYMIME",
        "BODY=",
        "BODY=9BIT",
        "BODY",
        "SMTPUTF8",
        "SMTPUTF8=1",
        "smtputf8 BODY=7BIT",
        "X-NEW=1",
        "!",
        "SIZE=1 !",
    ];
    let with_parameters = parameters.map(|parameter| format!("MAIL FROM:<a@b.test> {parameter}"));
    for line in lines.iter().map(|line| (*line).to_owned()).chain(with_parameters) {
        let dialog = format!("EHLO c\r\n{line}\r\n");
        let codes = read_replies(&play(settings(), &[dialog.as_bytes()]).replies).expect("replies");
        // 503 comes after the grammar.
        let is_taken = codes[2] < 500 || codes[2] == 503;
        let read = Request::parse(&mut format!("{line}\n").into_bytes().iter()).is_ok();
        assert_eq!(is_taken, read, "{line}: {codes:?}");
    }
}
