//! Answers that no service of ours gives: nothing of them is taken for a success, and nothing of them steers a terminal.
//! Promise: it outlives the code below it.

use serde_json::{Value, json};

use super::{Service, TO, UNKNOWN, alone};
use crate::support::front::{Answer, Front};

const OTHER: &str = "0190b6a5-7c3e-4d2f-8a4b-1c5d9e0f2a98";
const WAIT: &str = "GET /api/mail/wait";
const LIST: &str = "GET /api/mail/messages";
const READ: &str = "GET /api/mail/messages/{id}";
const DELETE: &str = "DELETE /api/mail/delete";

/// An answer that need not be as the interface is described.
fn any(body: &Value) -> Answer {
    Answer::of("text/plain", body.to_string())
}

/// A mail with these members, some of which may be damaged.
fn mail(id: &str, members: Value) -> Value {
    let mut mail = json!({"id": id, "recipient": TO, "from": "ann@sender.test", "subject": "Hi", "message": ""});
    mail.as_object_mut().expect("an object").extend(members.as_object().expect("members").clone());
    mail
}

#[test]
fn an_answer_that_cannot_be_understood_is_no_success() {
    let dir = tempfile::tempdir().expect("directory");
    let saved = dir.path().join("saved");
    let save_all = ["read", UNKNOWN, "--save-all", saved.to_str().expect("UTF-8")];
    let page = |mail: Value| json!({"emails": [mail], "total": 1});
    let delete = ["delete", "--yes", "--id", UNKNOWN, OTHER];
    for (operation, body, args, said) in [
        (READ, mail(UNKNOWN, json!({"attachments": [{"filename": "a"}]})), &save_all[..], "number of an attachment"),
        (READ, mail(UNKNOWN, json!({"attachments": [{"index": "0"}]})), &save_all, "number of an attachment"),
        (LIST, page(json!({"subject": "no id"})), &["read", TO, "--latest"], "'id'"),
        (LIST, page(json!({"id": "../../x"})), &["read", TO, "--latest"], "'id'"),
        (LIST, page(json!({"id": ""})), &["wait", TO, "--since", "now"], "'id'"),
        (DELETE, Value::Null, &delete, "missing"),
        (DELETE, json!([]), &delete, "missing"),
        (DELETE, json!({"missing": "none"}), &delete, "missing"),
        (DELETE, json!({"deleted": 2, "missing": null}), &delete, "missing"),
        (WAIT, json!({"subject": "no id"}), &["wait", TO], "'id'"),
        (WAIT, mail(UNKNOWN, json!({})), &["wait", TO, "--since", UNKNOWN, "--timeout", "0"], "again"),
    ] {
        let front = Front::alone();
        front.answers(operation, any(&body));
        let outcome = alone(&[&["--server", &front.url()], args].concat());
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(6), ""), "{args:?} {body}: {outcome:?}");
        assert!(outcome.stderr.contains(said), "{args:?} {body}: {}", outcome.stderr);
    }
    assert!(!saved.exists());
}

#[test]
fn a_code_or_a_link_without_its_value_is_none() {
    for (members, flags) in [
        (json!({"codes": [{"confidence": 1.0}]}), &["--code"][..]),
        (json!({"codes": [{"code": 482_913}]}), &["--has", "code"]),
        (json!({"links": [{"kind": "reset"}]}), &["--link"]),
        (json!({"links": [{"kind": "reset", "url": ""}]}), &["--link", "reset"]),
        (json!({"links": [{"url": null}]}), &["--has", "link"]),
    ] {
        let front = Front::alone();
        let came = any(&mail(UNKNOWN, members.clone()));
        front.answers_in_turn(WAIT, vec![came.clone(), any(&Value::Null), came]);
        let line = ["--server", &front.url(), "wait", TO, "--timeout", "0"];
        let outcome = alone(&[&line, flags].concat());
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(124), ""), "{members}: {outcome:?}");
    }
}

#[test]
fn a_number_that_is_a_text_does_not_reach_a_terminal() {
    let steering = "0\u{9b}2J\u{202e}";
    let front = Front::alone();
    front.answers(READ, any(&mail(UNKNOWN, json!({"attachments": [{"index": steering, "size": steering}, {}]}))));
    let outcome = alone(&["--server", &front.url(), "read", UNKNOWN]).ok();
    assert!(outcome.stdout.ends_with("Attachments:\n  -  (no name)    0 B\n  -  (no name)    0 B\n"), "{outcome:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_daemon_without_a_status_does_not_count_as_one_that_runs() {
    let service = Service::start().await;
    for status in [json!({}), Value::Null, json!({"version": "9.9.9"})] {
        service.answers("GET /api/admin/status", any(&status));
        let outcome = service.run_local(&["doctor"]).await;
        assert_eq!(outcome.code, Some(8), "{outcome:?}");
        assert!(outcome.stdout.contains("failure\tdaemon\t") && !outcome.stdout.contains("it runs"), "{outcome:?}");
        assert_eq!(service.run_local(&["status"]).await.code, Some(6));
    }
}

#[test]
fn mail_that_is_given_again_is_not_asked_for_without_a_pause() {
    let both = format!("{UNKNOWN}\n{OTHER}\n");
    for (args, times, code, printed) in [
        (&["inbox", TO, "--watch", "-o", "id"][..], 2, 2, both.as_str()),
        (&["wait", TO, "--text", "nothing"], 2, 2, ""),
        (&["expect", TO, "--text", "nothing"], 2, 2, ""),
        // They look once more at what is there, and that has an end.
        (&["wait", TO, "--text", "nothing", "--timeout", "0"], 9, 124, ""),
        (&["expect", TO, "--text", "nothing", "--timeout", "0"], 9, 8, ""),
    ] {
        let front = Front::alone();
        front.answers(LIST, any(&json!({"emails": [], "total": 0})));
        let mut answers = vec![Answer::problem(400, "parameter_invalid")];
        for _ in 0..times {
            answers.splice(..0, [UNKNOWN, OTHER].map(|id| any(&mail(id, json!({})))));
        }
        front.answers_in_turn(WAIT, answers);
        let begun = std::time::Instant::now();
        let outcome = alone(&[&["--server", &front.url()], args].concat());
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(code), printed), "{args:?}: {}", outcome.stderr);
        assert!(begun.elapsed() >= std::time::Duration::from_millis(400), "{args:?}");
    }
}

#[test]
fn what_a_later_service_adds_is_shown_as_json_and_does_no_harm_else() {
    let front = Front::alone();
    let later = mail(UNKNOWN, json!({"verdict": {"spam": 0.5}, "attachments": [{"index": 0, "hash": "x"}]}));
    let page = json!({"emails": [later], "total": 1, "shard": 7});
    front.answers(READ, any(&later));
    front.answers(LIST, any(&page));
    let run = |args: &[&str]| alone(&[&["--server", &front.url()], args].concat()).ok();
    assert_eq!(run(&["read", UNKNOWN, "--json"]).json(), later);
    assert_eq!(run(&["inbox", TO, "--json"]).json(), page);
    assert_eq!(run(&["inbox", TO, "--all", "--json"]).json()["emails"], page["emails"]);
    assert!(run(&["read", UNKNOWN]).stdout.contains("Subject: Hi\n"));
    assert_eq!(run(&["inbox", TO, "-o", "id"]).stdout, format!("{UNKNOWN}\n"));
}

#[test]
fn an_empty_page_among_several_leaves_one_json_object() {
    let front = Front::alone();
    let page = |emails: Value, next: Option<&str>| any(&json!({"emails": emails, "total": 2, "nextCursor": next}));
    let [one, two] = [UNKNOWN, OTHER].map(|id| mail(id, json!({})));
    let pages = [page(json!([]), Some("1")), page(json!([one]), Some("2")), page(json!([]), Some("3"))];
    front.answers_in_turn(LIST, pages.into_iter().chain([page(json!([two]), None)]).collect());
    let outcome = alone(&["--server", &front.url(), "inbox", TO, "--all", "--json"]).ok();
    assert_eq!(outcome.json(), json!({"emails": [one, two], "total": 2}), "{}", outcome.stdout);
}
