//! `tempmail inbox`
//! Promise: it outlives the code below it.

use serde_json::Value;

use super::service::{Service, domain, email, id_of};

const TO: &str = "hello@example.test";

fn two_mails() -> Service {
    let service = Service::start();
    service.contents().emails = vec![email(2, TO, "tab\there"), email(1, TO, "first")];
    service
}

#[test]
fn a_pipe_gets_a_line_per_mail_newest_first() {
    let outcome = two_mails().run(&["inbox", TO]);
    let line = |id, subject| format!("{}\t2023-11-14T22:13:20Z\tann@sender.test\t{subject}\n", id_of(id));
    assert_eq!(outcome.stdout, line(2, "tab here") + &line(1, "first"));
    assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(0), ""));
}

#[test]
fn json_has_the_fields_of_the_interface() {
    let outcome = two_mails().run(&["inbox", TO, "--json", "--limit", "1"]);
    let page: Value = outcome.json();
    assert_eq!(
        (&page["total"], &page["page"], &page["limit"], &page["pages"]),
        (&2.into(), &1.into(), &1.into(), &2.into())
    );
    let names: Vec<&String> = page["emails"][0].as_object().expect("email").keys().collect();
    assert_eq!(names, ["id", "recipient", "from", "subject", "message", "receivedAt"]);
    assert_eq!(page["emails"][0]["subject"], "tab\there");
}

#[test]
fn ids_and_ndjson_are_a_line_per_mail() {
    let service = two_mails();
    assert_eq!(service.run(&["inbox", TO, "-o", "id"]).stdout, format!("{}\n{}\n", id_of(2), id_of(1)));
    let ndjson = service.run(&["inbox", TO, "-o", "ndjson"]).stdout;
    let subjects: Vec<Value> =
        ndjson.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON")["subject"].clone()).collect();
    assert_eq!(subjects, ["tab\there", "first"]);
}

#[test]
fn page_and_limit_reach_the_service_and_a_page_past_the_end_is_said() {
    let service = two_mails();
    let outcome = service.run(&["inbox", TO, "--page", "3", "--limit", "1"]);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(0), ""));
    assert!(outcome.stderr.contains("past the end"), "{}", outcome.stderr);
    let fields = "id%2Crecipient%2Cfrom%2Csubject%2CreceivedAt";
    let asked = format!("GET /api/mail/messages?to=hello%40example.test&fields={fields}&page=3&limit=1");
    assert_eq!(service.contents().requests, [asked]);
}

#[test]
fn a_plus_stays_a_plus() {
    let service = Service::start();
    service.contents().emails = vec![email(1, "a+b@example.test", "tagged")];
    assert!(service.run(&["inbox", "a+b@example.test"]).stdout.contains("tagged"));
}

#[test]
fn an_inbox_of_a_domain_not_served_is_empty_with_a_hint() {
    let service = Service::start();
    service.contents().domains = vec![domain("*.wild.test", "active"), domain("gone.test", "deactivated")];
    for (address, hint) in [
        ("a@example.test", "no mail is received for example.test"),
        ("a@gone.test", "gone.test is deactivated"),
        ("a@x.wild.test", ""),
    ] {
        let outcome = service.run(&["inbox", address]);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(0), ""), "{address}");
        assert!(outcome.stderr.contains(hint) && outcome.stderr.is_empty() == hint.is_empty(), "{}", outcome.stderr);
    }
    assert_eq!(service.run(&["-q", "inbox", "a@example.test"]).stderr, "");
}
