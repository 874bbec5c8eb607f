//! `tempmail inbox`
//! Promise: it outlives the code below it.

use serde_json::{Value, json};

use super::{Service, TO, domain};
use crate::support::front::Answer;

/// A service with two mails. The front shows a page of so many, and a tab in the newest subject, where this service shows a
/// blank.
async fn two_mails(limit: u64) -> Service {
    let service = Service::with_mails(&["first", "second"]).await;
    let mut page = service.server.get(&format!("/api/mail/messages?to={TO}&limit={limit}")).await.json();
    page["emails"][0]["subject"] = "tab\there".into();
    service.answers("GET /api/mail/messages", Answer::json(&page));
    service
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pipe_gets_a_line_per_mail_newest_first() {
    let service = two_mails(20).await;
    let outcome = service.run(&["inbox", TO]).await;
    let ids = service.ids(TO).await;
    let line = |id: &String, subject| format!("{id}\t2023-11-14T22:13:20Z\tann@sender.test\t{subject}\n");
    assert_eq!(outcome.stdout, line(&ids[0], "tab here") + &line(&ids[1], "first"));
    assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(0), ""));
}

#[tokio::test(flavor = "multi_thread")]
async fn json_has_the_fields_of_the_interface() {
    let outcome = two_mails(1).await.run(&["inbox", TO, "--json", "--limit", "1"]).await;
    let page: Value = outcome.json();
    assert_eq!(
        (&page["total"], &page["page"], &page["limit"], &page["pages"]),
        (&2.into(), &1.into(), &1.into(), &2.into())
    );
    let names: Vec<&String> = page["emails"][0].as_object().expect("email").keys().collect();
    assert_eq!(names, ["id", "recipient", "from", "subject", "message", "receivedAt"]);
    assert_eq!(page["emails"][0]["subject"], "tab\there");
}

#[tokio::test(flavor = "multi_thread")]
async fn ids_and_ndjson_are_a_line_per_mail() {
    let service = two_mails(20).await;
    let ids = service.ids(TO).await;
    assert_eq!(service.run(&["inbox", TO, "-o", "id"]).await.stdout, format!("{}\n{}\n", ids[0], ids[1]));
    let ndjson = service.run(&["inbox", TO, "-o", "ndjson"]).await.stdout;
    let subjects: Vec<Value> =
        ndjson.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON")["subject"].clone()).collect();
    assert_eq!(subjects, ["tab\there", "first"]);
    let decoded = Service::with_mails(&["=?utf-8?Q?tab=09here?="]).await;
    assert_eq!(decoded.emails(TO).await[0]["subject"], "tab here");
}

#[tokio::test(flavor = "multi_thread")]
async fn page_and_limit_reach_the_service_and_a_page_past_the_end_is_said() {
    let service = Service::with_mails(&["first", "second"]).await;
    let outcome = service.run(&["inbox", TO, "--page", "3", "--limit", "1"]).await;
    assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(0), ""));
    assert!(outcome.stderr.contains("past the end"), "{}", outcome.stderr);
    let fields = "id%2Crecipient%2Cfrom%2Csubject%2CreceivedAt";
    let asked = format!("GET /api/mail/messages?to=hello%40example.test&fields={fields}&page=3&limit=1");
    assert_eq!(service.noted().requests, [asked]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plus_stays_a_plus() {
    let service = Service::start().await;
    service.send("a+b@example.test", "tagged").await;
    assert!(service.run(&["inbox", "a+b@example.test"]).await.stdout.contains("tagged"));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_inbox_of_a_domain_not_served_is_empty_with_a_hint() {
    let service = Service::start().await;
    let domains = json!([domain("*.wild.test", "active"), domain("gone.test", "deactivated")]);
    service.answers("GET /api/domains", Answer::json(&domains));
    for (address, hint) in [
        ("a@example.test", "no mail is received for example.test"),
        ("a@gone.test", "gone.test is deactivated"),
        ("a@x.wild.test", ""),
    ] {
        let outcome = service.run(&["inbox", address]).await;
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(0), ""), "{address}");
        assert!(outcome.stderr.contains(hint) && outcome.stderr.is_empty() == hint.is_empty(), "{}", outcome.stderr);
    }
    assert_eq!(service.run(&["-q", "inbox", "a@example.test"]).await.stderr, "");
}
