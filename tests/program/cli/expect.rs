//! `tempmail expect`, against a daemon.
//! Promise: it outlives the code below it.

use rustix::process::Signal;
use serde_json::Value;

use super::{Outcome, TO, deliver, send, until_waiting};
use crate::support::command::{Running, on_data, on_server};
use crate::support::program::{Program, local, remote};

const MAIL: &str = concat!(
    "From: App <no-reply@app.test>\r\nSubject: Your code for App\r\nMIME-Version: 1.0\r\n",
    "Content-Type: multipart/mixed; boundary=m\r\n\r\n",
    "--m\r\nContent-Type: multipart/alternative; boundary=a\r\n\r\n",
    "--a\r\nContent-Type: text/plain\r\n\r\nHello Ann,\r\nyour verification code is 482913.\r\nIt ends soon.\r\n",
    "--a\r\nContent-Type: text/html\r\n\r\n<p>Your verification code is <b>482913</b>.</p>",
    "<a class=\"button\" href=\"https://www.app.test/verify?a=1\">Verify</a> <a href=\"https://cdn.test/\">Help</a>\r\n",
    "--a--\r\n",
    "--m\r\nContent-Type: application/pdf\r\nContent-Disposition: attachment; filename=\"invoice-7.pdf\"\r\n\r\nx\r\n",
    "--m--"
);

fn expect(daemon: &Program, args: &[&str]) -> Outcome {
    daemon.tempmail(&[&["expect", TO], args].concat())
}

/// Expects of the mail that is there.
fn expect_now(daemon: &Program, args: &[&str]) -> Outcome {
    expect(daemon, &[&["--timeout", "0s"], args].concat())
}

/// The ids in the inbox, the oldest first.
fn ids(daemon: &Program) -> Vec<String> {
    daemon.tempmail(&["inbox", TO, "-o", "id"]).stdout.lines().rev().map(str::to_owned).collect()
}

#[test]
fn each_assertion_holds_or_is_shown_with_what_was_there() {
    let daemon = Program::fresh(&[]);
    deliver(&daemon, TO, MAIL);
    let id = ids(&daemon)[0].clone() + "\n";
    for (args, diff) in [
        (&[][..], ""),
        (&["--from", "APP.test"], ""),
        (&["--from", "other"], "its sender does not contain \"other\": \"no-reply@app.test\""),
        (&["--subject", "your CODE"], ""),
        (&["--subject", "welcome"], "its subject does not contain \"welcome\": \"Your code for App\""),
        (&["--text", "your verification CODE is 482913."], ""),
        (
            &["--text", "code is 48291300"],
            "its text does not contain \"code is 48291300\": \"Hello Ann, your verification code is 482913. It ends soon.\"",
        ),
        (&["--link-host", "app.test"], ""),
        (&["--link-host", "www.app.test", "--link-host", "cdn.test"], ""),
        (&["--link-host", "pp.test"], "no link leads to pp.test, but \"www.app.test\", \"cdn.test\""),
        (&["--attachment", "INVOICE-7"], ""),
        (&["--attachment", "invoice.pdf"], "no file is named \"invoice.pdf\", but \"invoice-7.pdf\""),
        (&["--has", "code"], ""),
        (&["--has", "attachment"], ""),
    ] {
        let outcome = expect_now(&daemon, args);
        if diff.is_empty() {
            assert_eq!((outcome.code, &outcome.stdout, outcome.stderr.as_str()), (Some(0), &id, ""), "{args:?}");
        } else {
            assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(8), ""), "{args:?}");
            assert!(outcome.stderr.contains(&format!("\n    {diff}\nhint: ")), "{}", outcome.stderr);
        }
    }
    let code = expect_now(&daemon, &["--code", "--from", "app.test"]);
    assert_eq!((code.code, code.stdout.as_str()), (Some(0), "482913\n"), "{}", code.stderr);
    let link = expect_now(&daemon, &["--link"]);
    assert_eq!((link.code, link.stdout.as_str()), (Some(0), "https://www.app.test/verify?a=1\n"), "{}", link.stderr);
    let json: Value = serde_json::from_str(&expect_now(&daemon, &["--code", "--json"]).stdout).expect("JSON");
    assert_eq!((&json["subject"], &json["codes"][0]["code"]), (&"Your code for App".into(), &"482913".into()));
}

#[test]
fn mail_that_is_not_as_expected_is_passed_over_and_said_to_lack_what_it_lacks() {
    let daemon = Program::fresh(&[]);
    let none = expect(&daemon, &["--timeout", "100ms", "--code"]);
    assert_eq!((none.code, none.stdout.as_str()), (Some(124), ""), "{}", none.stderr);
    assert!(none.stderr.contains("no mail for hello@example.test within 100ms"), "{}", none.stderr);

    send(&daemon, "first offer");
    send(&daemon, "second offer");
    send(&daemon, "news");
    let args = ["--subject", "offer", "--from", "sender.test", "--text", "code"];
    // Long enough to look at all three.
    let outcome = expect(&daemon, &[&["--timeout", "5s"], &args[..]].concat());
    let [first, second, third] = ids(&daemon).try_into().expect("three mails");
    let expected = format!(
        "error: 3 mails came for {TO} within 5s, none of them as expected\n  \
         {first} from ann@sender.test with subject \"first offer\"\n    \
         its text does not contain \"code\": \"text of first offer\"\n  \
         {second} from ann@sender.test with subject \"second offer\"\n    \
         its text does not contain \"code\": \"text of second offer\"\n  \
         {third} from ann@sender.test with subject \"news\"\n    \
         its subject does not contain \"offer\": \"news\"\n    \
         its text does not contain \"code\": \"text of news\"\n\
         hint: `tempmail read {third}` shows the last\n"
    );
    assert_eq!((outcome.code, outcome.stdout.as_str(), outcome.stderr), (Some(8), "", expected));

    let args = ["expect", TO, "--since", "now", "--subject", "your code", "--code"];
    for mut command in [on_data(daemon.dir(), &args), on_server(daemon.http, &args)] {
        let waiting = Running::start(&mut command);
        until_waiting(&daemon, 1);
        send(&daemon, "your code of conduct");
        deliver(&daemon, TO, MAIL);
        let outcome = waiting.end();
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(0), "482913\n"), "{}", outcome.stderr);
    }
}

#[test]
fn a_number_of_mails_is_exact() {
    let daemon = Program::fresh(&[]);
    assert_eq!(expect_now(&daemon, &["--count", "1"]).code, Some(124));
    send(&daemon, "reminder 1");
    send(&daemon, "news");
    let waiting = daemon.beside(&["expect", TO, "--count", "2", "--subject", "reminder"]);
    until_waiting(&daemon, 1);
    send(&daemon, "reminder 2");
    let outcome = waiting.end();
    let ids = ids(&daemon);
    assert_eq!((outcome.code, outcome.stdout), (Some(0), format!("{}\n{}\n", ids[0], ids[2])), "{}", outcome.stderr);

    let surplus = expect_now(&daemon, &["--count", "1", "--subject", "reminder"]);
    assert_eq!((surplus.code, surplus.stdout.as_str()), (Some(8), ""));
    assert!(
        surplus.stderr.contains("2 mails for hello@example.test are as expected within 0s, not 1\n"),
        "{}",
        surplus.stderr
    );
    assert!(surplus.stderr.contains(&format!("\n  {} from ann@sender.test with subject \"reminder 2\"\n", ids[2])));
    let few = expect_now(&daemon, &["--count", "3", "--subject", "reminder"]);
    assert_eq!(few.code, Some(8));
    assert!(
        few.stderr.contains("as expected within 0s, not 3")
            && few.stderr.contains("with subject \"news\"\n    its subject does not contain"),
        "{}",
        few.stderr
    );
    let json = expect_now(&daemon, &["--count", "2", "--subject", "reminder", "--json"]).stdout;
    let json: Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!((&json[1]["subject"], json.as_array().map(Vec::len)), (&"reminder 2".into(), Some(2)));
}

#[test]
fn mail_that_is_not_to_come_is_named() {
    let daemon = Program::fresh(&[]);
    send(&daemon, "news");
    let args = ["--subject", "invoice", "--no-mail-within", "100ms"];
    let outcome = expect(&daemon, &args);
    assert_eq!((outcome.code, outcome.stdout.as_str(), outcome.stderr.as_str()), (Some(0), "", ""));
    // The one before may still have its place.
    until_waiting(&daemon, 0);
    let waiting = daemon.beside(&["expect", TO, "--subject", "invoice", "--no-mail-within", "1h"]);
    until_waiting(&daemon, 1);
    send(&daemon, "news");
    send(&daemon, "your invoice");
    let outcome = waiting.end();
    assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(8), ""));
    let named = format!("\n  {} from ann@sender.test with subject \"your invoice\"\n", ids(&daemon)[2]);
    assert!(outcome.stderr.contains(&named), "{}", outcome.stderr);
    assert_eq!(expect(&daemon, &["--no-mail-within", "0s"]).code, Some(8));
    assert_eq!(expect(&daemon, &["--no-mail-within", "0s", "--since", "now"]).code, Some(0));
}

#[test]
fn long_hostile_html_is_judged_whole_and_in_little_time() {
    let daemon = Program::fresh(&[]);
    let html = format!("{}\r\n", "<div><p a=b>".repeat(20)).repeat(1_200);
    let hostile = format!("Subject: s\r\nMIME-Version: 1.0\r\nContent-Type: text/html\r\n\r\n{html}<a class=go>x</a>");
    for _ in 0..3 {
        deliver(&daemon, TO, &hostile);
    }
    assert_eq!(expect(&daemon, &["--text", "x", "--no-mail-within", "0s"]).code, Some(8));
    expect(&daemon, &["--text", "y", "--no-mail-within", "0s"]).ok();
    expect_now(&daemon, &["--text", "x", "--count", "3"]).ok();
}

#[test]
fn a_restart_of_the_daemon_ends_no_expectation() {
    let dir = tempfile::tempdir().expect("directory");
    let daemon = Program::serve(dir.path(), &[]);
    send(&daemon, "before");
    let running = |args: &[&str]| daemon.beside(&[&["expect", TO], args].concat());
    let waiting = [
        running(&["--subject", "after", "--timeout", "2m"]),
        running(&["--count", "2", "--timeout", "2m"]),
        running(&["--no-mail-within", "2m", "--subject", "after"]),
    ];
    until_waiting(&daemon, 3);
    daemon.stop();
    let daemon = Program::serve(dir.path(), &[]);
    send(&daemon, "after");
    let codes = waiting.map(|waiting| {
        let outcome = waiting.end();
        assert!(outcome.stderr.contains("trying again"), "{}", outcome.stderr);
        outcome.code
    });
    assert_eq!(codes, [Some(0), Some(0), Some(8)]);
}

/// That no mail came can't be said by a service that is away.
#[test]
fn without_a_daemon_nothing_is_certain() {
    let dir = tempfile::tempdir().expect("directory");
    let daemon = Program::serve(dir.path(), &[]);
    let http = daemon.http;
    let waiting = Running::start(&mut on_server(http, &["expect", TO, "--no-mail-within", "5s"]));
    until_waiting(&daemon, 1);
    daemon.stop();
    assert_eq!(waiting.end().code, Some(6));
    let outcome = local(dir.path(), &["expect", TO]);
    assert!(outcome.code == Some(6) && outcome.stderr.contains("no daemon runs"), "{outcome:?}");
    assert_eq!(remote(http, &["expect", TO]).code, Some(6));
}

#[test]
fn a_wrong_value_is_refused_before_anything_is_waited_for() {
    let dir = tempfile::tempdir().expect("directory");
    for (args, said) in [
        (&["--link-host", "https://app.test/"][..], "give a host alone"),
        (&["--count", "0"], "1..=100"),
        (&["--count", "1", "--no-mail-within", "1s"], "cannot be used with"),
        (&["--timeout", "1s", "--no-mail-within", "1s"], "cannot be used with"),
        // They were patterns once.
        (&["--text", r"code is \d{6}"], "give a part of the text"),
        (&["--attachment", "invoice-*.pdf"], "give a part of the text"),
    ] {
        let outcome = local(dir.path(), &[&["expect", TO], args].concat());
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(2), ""), "{args:?}: {}", outcome.stderr);
        assert!(outcome.stderr.contains(said), "{args:?}: {}", outcome.stderr);
    }
}

#[test]
fn a_failure_has_nothing_that_a_terminal_would_act_on() {
    let daemon = Program::fresh(&[]);
    let head = "From: Ann <ann@sender.test>\r\nSubject: a\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n";
    deliver(&daemon, TO, &format!("{head}x \u{1}\u{8}\u{1b}[2J\u{9b}\u{ffff}\u{202e} &amp;\r\n"));
    let outcome = expect_now(&daemon, &["--text", "code"]);
    assert_eq!(outcome.code, Some(8));
    assert!(!outcome.stderr.contains(|c: char| c.is_control() && c != '\n'), "{:?}", outcome.stderr);
    assert!(outcome.stderr.contains("<U+202E>"), "{}", outcome.stderr);
}

#[test]
fn a_signal_ends_an_expectation() {
    let daemon = Program::fresh(&[]);
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let waiting = daemon.beside(&["expect", TO]);
        until_waiting(&daemon, 1);
        waiting.signal(signal);
        let outcome = waiting.end();
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(code), ""));
        until_waiting(&daemon, 0);
    }
}
