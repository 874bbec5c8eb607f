//! `tempmail webhook`
//! Promise: it outlives the code below it.

use serde_json::{Value, json};

use super::TO;
use super::service::Service;
use super::service::webhooks::{delivery, webhook, webhook_id};
use crate::support::command::fed;
use crate::support::program::{Program, on_terminal};

const URL: &str = "https://hooks.example/path";

#[test]
fn a_webhook_is_added_once() {
    let service = Service::start();
    let first = service.run(&["webhook", "add", "Hello@Example.test.", URL]);
    assert_eq!((first.code, first.stdout), (Some(0), format!("{}\tok\n", webhook_id(1))), "{}", first.stderr);
    assert_eq!(first.stderr, "");
    assert_eq!(service.contents().webhooks[0]["recipient"], "Hello@example.test");
    let again = service.run_local(&["webhook", "add", TO, URL, "--json"]);
    let answer: Value = again.json();
    assert_eq!(answer, json!({ "id": webhook_id(1), "status": "ok" }));
    assert!(again.stderr.contains("registered before"), "{}", again.stderr);
    assert_eq!(service.contents().secrets, [Value::Null, Value::Null]);
    service.contents().webhooks.clear();
    let local = service.run_local(&["webhook", "add", TO, URL, "-o", "id"]);
    assert_eq!(local.stdout, format!("{}\n", webhook_id(1)));
    assert!(local.stderr.contains("tempmail webhook test"), "{}", local.stderr);
}

#[test]
fn a_secret_comes_from_a_file_or_standard_input_and_is_never_shown() {
    let service = Service::start();
    let file = tempfile::NamedTempFile::new().expect("file");
    std::fs::write(file.path(), "s3cret\n").expect("write");
    let path = file.path().to_str().expect("path");
    let outcome = service.run(&["-vv", "webhook", "add", TO, URL, "--secret-file", path]).ok();
    let mut piped = service.command(&["webhook", "add", TO, URL, "--secret-file", "-"]);
    assert_eq!(fed(&mut piped, "s3cret").code, Some(0));
    assert_eq!(service.contents().secrets, ["s3cret", "s3cret"]);
    assert!(!format!("{}{}", outcome.stdout, outcome.stderr).contains("s3cret"));

    std::fs::write(file.path(), "\n").expect("write");
    for bad in [path, "/does/not/exist"] {
        let outcome = service.run(&["webhook", "add", TO, URL, "--secret-file", bad]);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(2), ""), "{bad}");
        assert!(outcome.stderr.contains(bad), "{}", outcome.stderr);
    }
    assert_eq!(service.contents().secrets.len(), 2);
}

#[test]
fn a_secret_that_only_looks_like_base64_is_said_to_be_the_key_itself() {
    let service = Service::start();
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
        let outcome = service.run(&["webhook", "add", TO, URL, "--secret-file", path]).ok();
        assert_eq!(outcome.stderr.contains("the text itself is the key"), is_odd, "{secret:?}: {}", outcome.stderr);
        assert!(!is_odd || outcome.stderr.contains("openssl rand -base64"), "{}", outcome.stderr);
        assert!(secret == "whsec_" || !outcome.stderr.contains(secret.trim_end()), "{}", outcome.stderr);
    }
    assert_eq!(service.contents().secrets, cases.map(|(secret, _)| secret.trim_end()), "each is accepted");
}

#[test]
fn a_url_that_is_refused_gets_the_hint_that_helps() {
    let daemon = Program::fresh(&[]);
    let own = |host: &str| format!("http://{host}:{}/x", daemon.http.port());
    for (url, detail, hint) in [
        ("http://127.0.0.1/".to_owned(), "not a public address", "webhook-allow"),
        ("https://[fd00::1]:8443/".to_owned(), "not a public address", "webhook-allow"),
        (own("localhost"), "this service itself", "no setting"),
        (own("127.0.0.1"), "this service itself", "no setting"),
        ("https://x.example:25/".to_owned(), "port 25", "another port"),
        ("https://x.example:465/".to_owned(), "port 465", "25, 465 and 587"),
    ] {
        let outcome = daemon.tempmail(&["webhook", "add", TO, &url]);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(2), ""), "{url}");
        assert!(outcome.stderr.contains(detail) && outcome.stderr.contains(hint), "{url}: {}", outcome.stderr);
        let names_setting = outcome.stderr.contains("webhook-allow");
        assert_eq!(names_setting, hint == "webhook-allow", "{url}: {}", outcome.stderr);
    }
}

#[test]
fn webhooks_are_listed() {
    let service = Service::start();
    let mut disabled = webhook(2, TO, "https://b.example");
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
    service.contents().webhooks =
        vec![webhook(1, TO, "https://a.example"), disabled.clone(), webhook(3, "other@example.test", URL)];
    let outcome = service.run(&["webhook", "list", TO]);
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
    let json = service.run(&["webhook", "ls", TO, "--json"]).stdout;
    assert_eq!(serde_json::from_str::<Value>(&json).expect("JSON")[1], disabled);
    let none = service.run(&["webhook", "ls", "nobody@example.test"]);
    assert_eq!((none.code, none.stdout.as_str()), (Some(0), ""));
    assert!(none.stderr.contains("webhook add"), "{}", none.stderr);
}

#[test]
fn removing_demands_yes_without_a_terminal_and_knows_its_ids() {
    let service = Service::start();
    service.contents().webhooks = vec![webhook(1, TO, URL), webhook(2, TO, URL)];
    let refused = service.run(&["webhook", "remove", &webhook_id(1)]);
    assert_eq!((refused.code, refused.stdout.as_str()), (Some(2), ""));
    assert!(refused.stderr.contains("--yes") && service.contents().requests.is_empty(), "{}", refused.stderr);
    let some = service.run(&["webhook", "rm", "--yes", &webhook_id(1), &webhook_id(9)]);
    assert_eq!((some.code, some.stdout), (Some(3), format!("{}\t1\n{}\t0\n", webhook_id(1), webhook_id(9))));
    assert!(some.stderr.contains(&webhook_id(9)), "{}", some.stderr);
    let json = service.run(&["webhook", "rm", "--yes", &webhook_id(2), "--json"]);
    assert_eq!((json.code, json.stdout.as_str()), (Some(0), "{\n  \"deleted\": 1\n}\n"));
    for args in [&["webhook", "rm", "--yes"][..], &["webhook", "rm", "--yes", "x"]] {
        assert_eq!(service.run(args).code, Some(2), "{args:?}");
    }
}

#[test]
fn a_dry_run_says_what_would_go() {
    let service = Service::start();
    service.contents().webhooks = vec![webhook(1, TO, URL), webhook(2, TO, URL)];
    let known = service.run_local(&["webhook", "rm", "--dry-run", &webhook_id(1)]);
    assert_eq!((known.code, known.stdout), (Some(0), format!("{}\t1\n", webhook_id(1))), "{}", known.stderr);
    let unknown = service.run_local(&["webhook", "rm", "--dry-run", &webhook_id(9)]);
    assert_eq!((unknown.code, unknown.stdout), (Some(3), format!("{}\t0\n", webhook_id(9))), "{}", unknown.stderr);
    let all = service.run_local(&["webhook", "rm", "--dry-run", "--origin", "https://hooks.example", "--json"]);
    assert_eq!(all.stdout, "{\n  \"wouldDelete\": 2\n}\n");
    assert_eq!(service.contents().webhooks.len(), 2);
}

#[test]
fn those_of_all_addresses_are_one_object() {
    let service = Service::start();
    service.contents().webhooks = vec![webhook(1, TO, URL), webhook(2, "other@example.test", URL)];
    for args in [&["webhook", "ls"][..], &["webhook", "ls", "--all"]] {
        let listed: Value = service.run_local(&[args, &["--json"]].concat()).json();
        assert_eq!(listed["webhooks"].as_array().map(Vec::len), Some(2), "{args:?}: {listed}");
    }
    assert_eq!(service.run(&["webhook", "ls"]).code, Some(4));
}

#[test]
fn removing_is_asked_for_on_a_terminal() {
    let service = Service::start();
    service.contents().webhooks = vec![webhook(1, TO, URL)];
    for (answer, said, left) in [("n\n", "nothing was deleted", 1), ("y\n", "with its secret and pending events?", 0)] {
        let screen = on_terminal(service.data_dir(), 80, answer, &["webhook", "rm", &webhook_id(1)]);
        assert_eq!((screen.code, service.contents().webhooks.len()), (Some(0), left), "{screen:?}");
        assert!(screen.text.contains(said), "{screen:?}");
    }
}

#[test]
fn the_log_is_a_line_per_attempt() {
    let service = Service::start();
    service.contents().deliveries = vec![delivery("delivered", Some(204)), delivery("retry", None)];
    assert_eq!(service.run(&["webhook", "deliveries", &webhook_id(1)]).code, Some(4));
    let outcome = service.run_local(&["webhook", "deliveries", &webhook_id(1), "--limit", "5"]);
    let event = webhook_id(0xee);
    assert_eq!(
        outcome.stdout,
        format!(
            "2023-11-14T22:13:20Z\t{event}\t1\tdelivered\t204\t12\t\t\ta b \n\
             2023-11-14T22:13:20Z\t{event}\t1\tretry\t\t12\ttimeout\t2023-11-14T22:13:25Z\ta b \n"
        )
    );
    let asked = service.contents().requests.last().cloned();
    assert_eq!(asked, Some(format!("GET /api/admin/webhooks/{}/deliveries?limit=5", webhook_id(1))));
    assert_eq!(service.run_local(&["webhook", "deliveries", &webhook_id(2)]).code, Some(3));
}

#[test]
fn a_replay_names_events_or_what_they_have_in_common() {
    let service = Service::start();
    let (id, event, gone) = (webhook_id(1), webhook_id(0xee), "00000000-0000-0000-0000-000000000000");
    let failed = service.run_local(&["webhook", "replay", &id, "--failed"]);
    assert_eq!((failed.code, failed.stdout.as_str()), (Some(0), "replayed\t3\nnoRoom\t0\n"), "{}", failed.stderr);
    service.run_local(&["webhook", "replay", &id, "--since", "2023-11-14 22:13:20"]);
    let some = service.run_local(&["webhook", "replay", &id, &event, gone, "--json"]);
    assert_eq!((some.code, some.stdout.as_str()), (Some(3), "{\n  \"replayed\": 3,\n  \"noRoom\": 0\n}\n"));
    assert!(some.stderr.contains(gone) && some.stderr.contains("a test"), "{}", some.stderr);
    assert_eq!(
        service.contents().replays,
        [
            json!({ "failed": true }),
            json!({ "since": "2023-11-14T22:13:20Z" }),
            json!({ "event": event }),
            json!({ "event": gone }),
        ]
    );
    for args in [&[][..], &["--failed", "--since", "2h"], &["--failed", &event], &["--since", "soon"], &["x"]] {
        assert_eq!(service.run_local(&[&["webhook", "replay", &id], args].concat()).code, Some(2), "{args:?}");
    }
}

#[test]
fn a_replay_that_finds_no_room_says_what_to_do() {
    let service = Service::start();
    let (id, event) = (webhook_id(1), webhook_id(0xee));
    let (gone, full) = ("00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff");
    let some = service.run_local(&["webhook", "replay", &id, &event, full]);
    assert_eq!((some.code, some.stdout.as_str()), (Some(5), "replayed\t3\nnoRoom\t1\n"));
    assert!(some.stderr.contains("when pending events have ended") && !some.stderr.contains(full), "{}", some.stderr);
    let both = service.run_local(&["webhook", "replay", &id, full, gone]);
    assert_eq!((both.code, both.stdout.as_str()), (Some(3), "replayed\t0\nnoRoom\t1\n"));
    assert!(both.stderr.contains("when pending events have ended") && both.stderr.contains(gone), "{}", both.stderr);
}

#[test]
fn a_test_shows_its_attempt_and_fails_when_it_does() {
    let service = Service::start();
    let test = ["webhook", "test", &webhook_id(1)];
    service.contents().deliveries = vec![delivery("delivered", Some(200))];
    let good = service.run_local(&test);
    let event = webhook_id(0xee);
    assert_eq!(
        (good.code, good.stdout),
        (
            Some(0),
            format!("event\t{event}\nresult\tdelivered\nstatus\t200\ndurationMillis\t12\nerror\t\nresponse\ta b \n")
        )
    );
    service.contents().deliveries = vec![delivery("given_up", Some(500))];
    let bad = service.run_local(&[&test[..], &["--json"]].concat());
    assert_eq!(bad.code, Some(8));
    assert_eq!(bad.json(), delivery("given_up", Some(500)));
    assert!(bad.stderr.contains("answered 500"), "{}", bad.stderr);
    service.contents().deliveries = vec![delivery("given_up", None)];
    let none = service.run_local(&test);
    assert!(none.code == Some(8) && none.stderr.contains("timeout"), "{none:?}");
}

#[test]
fn a_service_of_revision_1_says_why() {
    let service = Service::start();
    service.contents().has_no_webhooks = true;
    for args in [&["webhook", "add", TO, URL][..], &["webhook", "list", TO]] {
        let outcome = service.run(args);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(3), ""), "{args:?}");
        assert!(outcome.stderr.contains("revision 1"), "{}", outcome.stderr);
    }
}
