//! `tempmail webhook`
//! Promise: it outlives the code below it.

use serde_json::{Value, json};

use super::{Service, TO, UNKNOWN, on_terminal, run};
use crate::support::front::Answer;

const URL: &str = "https://hooks.example/path";

/// The id that ends with `id`.
fn webhook_id(id: u8) -> String {
    format!("0190b6a5-7c3e-4d2f-8a4b-1c5d9e0f2a{id:02x}")
}

/// A webhook as everybody sees it.
fn webhook(id: u8, url: &str) -> Value {
    json!({
        "id": webhook_id(id), "recipient": TO, "url": url, "signed": true, "status": "active",
        "createdAt": "2023-11-14 22:13:20", "lastDeliveryAt": null, "failures": 0, "dropped": 0,
    })
}

/// An attempt as the log shows it.
pub(super) fn delivery(result: &str, status: Option<u16>) -> Value {
    let error = if result == "delivered" { None } else { Some(status.map_or("timeout", |_| "http_status")) };
    json!({
        "event": webhook_id(0xee), "email": null, "attempt": 1, "at": "2023-11-14 22:13:20", "durationMillis": 12,
        "status": status, "error": error, "response": "a\tb\n", "result": result,
        "nextAttemptAt": if result == "retry" { Some("2023-11-14 22:13:25") } else { None },
    })
}

/// Registers a webhook; its id.
pub(super) async fn registered(service: &Service, to: &str, url: &str) -> String {
    service.run_local(&["webhook", "add", to, url, "-o", "id"]).await.ok().stdout.trim_end().to_owned()
}

/// The secrets of all registrations until now.
fn secrets(service: &Service) -> Vec<Value> {
    service.noted().bodies.iter().map(|body| body["secret"].clone()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_webhook_is_added_once() {
    let service = Service::start().await;
    let first = service.run(&["webhook", "add", "Hello@Example.test.", URL]).await;
    let all = service.server.admin_get("/api/admin/webhooks").await["webhooks"].clone();
    let id = all[0]["id"].as_str().expect("an id");
    assert_eq!((first.code, first.stdout), (Some(0), format!("{id}\tok\n")), "{}", first.stderr);
    assert_eq!(first.stderr, "");
    assert_eq!(all[0]["recipient"], "Hello@example.test");
    let again = service.run_local(&["webhook", "add", "Hello@example.test", URL, "--json"]).await;
    let answer: Value = again.json();
    assert_eq!(answer, json!({ "id": id, "status": "ok" }));
    assert!(again.stderr.contains("registered before"), "{}", again.stderr);
    assert_eq!(secrets(&service), [Value::Null, Value::Null]);
    let local = service.run_local(&["webhook", "add", "other@example.test", URL, "-o", "id"]).await;
    let all = service.server.admin_get("/api/admin/webhooks").await["webhooks"].clone();
    let mut all = all.as_array().expect("webhooks").iter();
    let other = all.find(|webhook| webhook["recipient"] == "other@example.test").expect("the other one");
    assert_eq!(local.stdout, format!("{}\n", other["id"].as_str().expect("an id")));
    assert!(local.stderr.contains("tempmail webhook test"), "{}", local.stderr);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_secret_comes_from_a_file_or_standard_input_and_is_never_shown() {
    let service = Service::start().await;
    let file = tempfile::NamedTempFile::new().expect("file");
    std::fs::write(file.path(), "s3cret\n").expect("write");
    let path = file.path().to_str().expect("path");
    let outcome = service.run(&["-vv", "webhook", "add", TO, URL, "--secret-file", path]).await.ok();
    let piped = service.line(&["webhook", "add", TO, URL, "--secret-file", "-"]);
    assert_eq!(run(piped.fed("s3cret")).await.code, Some(0));
    assert_eq!(secrets(&service), ["s3cret", "s3cret"]);
    assert!(!format!("{}{}", outcome.stdout, outcome.stderr).contains("s3cret"));

    let long = "x".repeat(5_000);
    for (bad, text) in [(path, "\n"), (path, long.as_str()), ("/does/not/exist", "")] {
        std::fs::write(file.path(), text).expect("write");
        let outcome = service.run(&["webhook", "add", TO, URL, "--secret-file", bad]).await;
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(2), ""), "{bad}");
        assert!(outcome.stderr.starts_with(&format!("error: {bad}: ")), "{}", outcome.stderr);
    }
    assert_eq!(secrets(&service).len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_secret_that_only_looks_like_base64_is_said_to_be_the_key_itself() {
    let service = Service::start().await;
    let file = tempfile::NamedTempFile::new().expect("file");
    let path = file.path().to_str().expect("path");
    let cases = [
        ("whsec_-_abcdefgh1234", true),
        ("whsec_c2Vj cmV0", true),
        ("whsec_", true),
        ("whsec_c2VjcmV0MR", false),
        ("whsec_c2VjcmV0MQ==\n", false),
        ("s3cret", false),
    ];
    for (secret, is_odd) in cases {
        std::fs::write(file.path(), secret).expect("write");
        let outcome = service.run(&["webhook", "add", TO, URL, "--secret-file", path]).await.ok();
        assert_eq!(outcome.stderr.contains("the text itself is the key"), is_odd, "{secret:?}: {}", outcome.stderr);
        assert!(!is_odd || outcome.stderr.contains("openssl rand -base64"), "{}", outcome.stderr);
        assert!(secret == "whsec_" || !outcome.stderr.contains(secret.trim_end()), "{}", outcome.stderr);
    }
    assert_eq!(secrets(&service), cases.map(|(secret, _)| secret.trim_end()), "each is accepted");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_url_that_is_refused_gets_the_hint_that_helps() {
    let service = Service::start().await;
    let own = |host: &str| format!("http://{host}:{}/x", service.server.http().port());
    for (url, detail, hint) in [
        ("http://127.0.0.1/".to_owned(), "not a public address", "webhook-allow"),
        ("https://[fd00::1]:8443/".to_owned(), "not a public address", "webhook-allow"),
        (own("localhost"), "this service itself", "no setting"),
        (own("127.0.0.1"), "this service itself", "no setting"),
        ("https://x.example:25/".to_owned(), "port 25", "another port"),
        ("https://x.example:465/".to_owned(), "port 465", "25, 465 and 587"),
    ] {
        let outcome = service.run_local(&["webhook", "add", TO, &url]).await;
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(2), ""), "{url}");
        assert!(outcome.stderr.contains(detail) && outcome.stderr.contains(hint), "{url}: {}", outcome.stderr);
        let names_setting = outcome.stderr.contains("webhook-allow");
        assert_eq!(names_setting, hint == "webhook-allow", "{url}: {}", outcome.stderr);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn webhooks_are_listed() {
    let service = Service::start().await;
    let mut disabled = webhook(2, "https://b.example");
    for (name, value) in [
        ("status", json!("disabled")),
        ("signed", json!(false)),
        ("failures", json!(7)),
        ("dropped", json!(12)),
        ("lastDeliveryAt", json!("2023-11-14 22:13:20")),
        ("disabledReason", json!("410 Gone")),
    ] {
        disabled[name] = value;
    }
    let all = json!([webhook(1, "https://a.example"), disabled]);
    service.answers("GET /api/webhooks", Answer::json(&all));
    let outcome = service.run(&["webhook", "list", TO]).await;
    assert_eq!(
        (outcome.code, outcome.stdout),
        (
            Some(0),
            format!(
                "{}\tactive\thttps://a.example\tsigned\t\t0\t0\t\n\
                 {}\tdisabled\thttps://b.example\tunsigned\t2023-11-14T22:13:20Z\t7\t12\t410 Gone\n",
                webhook_id(1),
                webhook_id(2)
            )
        )
    );
    assert_eq!(service.noted().requests, ["GET /api/webhooks?recipient=hello%40example.test"]);
    let json = service.run(&["webhook", "ls", TO, "--json"]).await.stdout;
    assert_eq!(serde_json::from_str::<Value>(&json).expect("JSON")[1], disabled);
    service.answers("GET /api/webhooks", Answer::json(&json!([])));
    let none = service.run(&["webhook", "ls", "nobody@example.test"]).await;
    assert_eq!((none.code, none.stdout.as_str()), (Some(0), ""));
    assert!(none.stderr.contains("webhook add"), "{}", none.stderr);
}

#[tokio::test(flavor = "multi_thread")]
async fn removing_demands_yes_without_a_terminal_and_knows_its_ids() {
    let service = Service::start().await;
    let ids = [registered(&service, TO, URL).await, registered(&service, "other@example.test", URL).await];
    service.noted().requests.clear();
    let refused = service.run(&["webhook", "remove", &ids[0]]).await;
    assert_eq!((refused.code, refused.stdout.as_str()), (Some(2), ""));
    assert!(refused.stderr.contains("--yes") && service.noted().requests.is_empty(), "{}", refused.stderr);
    let some = service.run(&["webhook", "rm", "--yes", &ids[0], UNKNOWN]).await;
    assert_eq!((some.code, some.stdout), (Some(3), format!("{}\t1\n{UNKNOWN}\t0\n", ids[0])));
    assert!(some.stderr.contains(UNKNOWN), "{}", some.stderr);
    let json = service.run(&["webhook", "rm", "--yes", &ids[1], "--json"]).await;
    assert_eq!((json.code, json.stdout.as_str()), (Some(0), "{\"deleted\":1}\n"));
    for args in [&["webhook", "rm", "--yes"][..], &["webhook", "rm", "--yes", "x"]] {
        assert_eq!(service.run(args).await.code, Some(2), "{args:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dry_run_says_what_would_go() {
    let service = Service::start().await;
    let id = registered(&service, TO, URL).await;
    registered(&service, "other@example.test", URL).await;
    let known = service.run_local(&["webhook", "rm", "--dry-run", &id]).await;
    assert_eq!((known.code, known.stdout), (Some(0), format!("{id}\t1\n")), "{}", known.stderr);
    let unknown = service.run_local(&["webhook", "rm", "--dry-run", UNKNOWN]).await;
    assert_eq!((unknown.code, unknown.stdout), (Some(3), format!("{UNKNOWN}\t0\n")), "{}", unknown.stderr);
    let all = service.run_local(&["webhook", "rm", "--dry-run", "--origin", "https://hooks.example", "--json"]).await;
    assert_eq!(all.stdout, "{\"wouldDelete\":2}\n");
    let left = service.server.admin_get("/api/admin/webhooks").await["webhooks"].clone();
    assert_eq!(left.as_array().map(Vec::len), Some(2), "{left}");
}

#[tokio::test(flavor = "multi_thread")]
async fn those_of_all_addresses_are_one_object() {
    let service = Service::start().await;
    for to in [TO, "other@example.test"] {
        registered(&service, to, URL).await;
    }
    for args in [&["webhook", "ls"][..], &["webhook", "ls", "--all"]] {
        let listed: Value = service.run_local(&[args, &["--json"]].concat()).await.json();
        assert_eq!(listed["webhooks"].as_array().map(Vec::len), Some(2), "{args:?}: {listed}");
    }
    assert_eq!(service.run(&["webhook", "ls"]).await.code, Some(4));
}

#[tokio::test(flavor = "multi_thread")]
async fn removing_is_asked_for_on_a_terminal() {
    let service = Service::start().await;
    let id = registered(&service, TO, URL).await;
    for (answer, said, left) in [("n\n", "nothing was deleted", 1), ("y\n", "with its secret and pending events?", 0)] {
        let screen = on_terminal(&service, answer, &["webhook", "rm", &id]).await;
        let all = service.server.admin_get("/api/admin/webhooks").await;
        let count = all["webhooks"].as_array().expect("webhooks").len();
        assert_eq!((screen.code, count), (Some(0), left), "{screen:?}");
        assert!(screen.text.contains(said), "{screen:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_log_is_a_line_per_attempt() {
    let service = Service::start().await;
    assert_eq!(service.run(&["webhook", "deliveries", &webhook_id(1)]).await.code, Some(4));
    assert_eq!(service.run_local(&["webhook", "deliveries", &webhook_id(2)]).await.code, Some(3));
    let log = json!([delivery("delivered", Some(204)), delivery("retry", None)]);
    service.answers("GET /api/admin/webhooks/{id}/deliveries", Answer::json(&log));
    let outcome = service.run_local(&["webhook", "deliveries", &webhook_id(1), "--limit", "5"]).await;
    let event = webhook_id(0xee);
    assert_eq!(
        outcome.stdout,
        format!(
            "2023-11-14T22:13:20Z\t{event}\t1\tdelivered\t204\t12\t\t\ta b \n\
             2023-11-14T22:13:20Z\t{event}\t1\tretry\t\t12\ttimeout\t2023-11-14T22:13:25Z\ta b \n"
        )
    );
    let asked = service.noted().requests.last().cloned();
    assert_eq!(asked, Some(format!("GET /api/admin/webhooks/{}/deliveries?limit=5", webhook_id(1))));
}

/// What the service answers to a replay: how many events it sends again, and for how many it has no room.
fn replayed(replayed: u64, no_room: u64) -> Answer {
    Answer::json(&json!({ "replayed": replayed, "noRoom": no_room }))
}

/// The operation of a replay.
const REPLAY: &str = "POST /api/admin/webhooks/{id}/replay";

#[tokio::test(flavor = "multi_thread")]
async fn a_replay_names_events_or_what_they_have_in_common() {
    let service = Service::start().await;
    let (id, event, gone) = (webhook_id(1), webhook_id(0xee), "00000000-0000-0000-0000-000000000000");
    service.answers_in_turn(REPLAY, vec![replayed(3, 0), replayed(3, 0), replayed(3, 0), replayed(0, 0)]);
    let failed = service.run_local(&["webhook", "replay", &id, "--failed"]).await;
    assert_eq!((failed.code, failed.stdout.as_str()), (Some(0), "replayed\t3\nnoRoom\t0\n"), "{}", failed.stderr);
    service.run_local(&["webhook", "replay", &id, "--since", "2023-11-14 22:13:20"]).await;
    let some = service.run_local(&["webhook", "replay", &id, &event, gone, "--json"]).await;
    assert_eq!((some.code, some.stdout.as_str()), (Some(3), "{\"replayed\":3,\"noRoom\":0}\n"));
    assert!(some.stderr.contains(gone) && some.stderr.contains("a test"), "{}", some.stderr);
    assert_eq!(
        service.noted().bodies,
        [
            json!({ "failed": true }),
            json!({ "since": "2023-11-14T22:13:20Z" }),
            json!({ "event": event }),
            json!({ "event": gone }),
        ]
    );
    let asked = format!("POST /api/admin/webhooks/{id}/replay");
    assert_eq!(service.noted().requests, [asked.as_str(); 4]);
    for args in [&[][..], &["--failed", "--since", "2h"], &["--failed", &event], &["--since", "soon"], &["x"]] {
        assert_eq!(service.run_local(&[&["webhook", "replay", &id], args].concat()).await.code, Some(2), "{args:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replay_that_finds_no_room_says_what_to_do() {
    let service = Service::start().await;
    let (id, event) = (webhook_id(1), webhook_id(0xee));
    let (gone, full) = ("00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff");
    service.answers_in_turn(REPLAY, vec![replayed(3, 0), replayed(0, 1), replayed(0, 1), replayed(0, 0)]);
    let some = service.run_local(&["webhook", "replay", &id, &event, full]).await;
    assert_eq!((some.code, some.stdout.as_str()), (Some(5), "replayed\t3\nnoRoom\t1\n"));
    assert!(some.stderr.contains("when pending events have ended") && !some.stderr.contains(full), "{}", some.stderr);
    let both = service.run_local(&["webhook", "replay", &id, full, gone]).await;
    assert_eq!((both.code, both.stdout.as_str()), (Some(3), "replayed\t0\nnoRoom\t1\n"));
    assert!(both.stderr.contains("when pending events have ended") && both.stderr.contains(gone), "{}", both.stderr);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_test_shows_its_attempt_and_fails_when_it_does() {
    const TEST: &str = "POST /api/admin/webhooks/{id}/test";
    let service = Service::start().await;
    let test = ["webhook", "test", &webhook_id(1)];
    service.answers(TEST, Answer::json(&delivery("delivered", Some(200))));
    let good = service.run_local(&test).await;
    let event = webhook_id(0xee);
    assert_eq!(
        (good.code, good.stdout),
        (
            Some(0),
            format!("event\t{event}\nresult\tdelivered\nstatus\t200\ndurationMillis\t12\nerror\t\nresponse\ta b \n")
        )
    );
    let asked = service.noted().requests.last().cloned();
    assert_eq!(asked, Some(format!("POST /api/admin/webhooks/{}/test", webhook_id(1))));
    service.answers(TEST, Answer::json(&delivery("given_up", Some(500))));
    let bad = service.run_local(&[&test[..], &["--json"]].concat()).await;
    assert_eq!(bad.code, Some(8));
    assert_eq!(bad.json(), delivery("given_up", Some(500)));
    assert!(bad.stderr.contains("answered 500"), "{}", bad.stderr);
    service.answers(TEST, Answer::json(&delivery("given_up", None)));
    let none = service.run_local(&test).await;
    assert!(none.code == Some(8) && none.stderr.contains("timeout"), "{none:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_of_revision_1_says_why() {
    let service = Service::with("revision = 1").await;
    for args in [&["webhook", "add", TO, URL][..], &["webhook", "list", TO]] {
        let outcome = service.run(args).await;
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(3), ""), "{args:?}");
        assert!(outcome.stderr.contains("revision 1"), "{}", outcome.stderr);
    }
}
