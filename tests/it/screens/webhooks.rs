//! Lists of webhooks with content that is wide, hostile or missing, at three widths and in each form.
//! Promise: it outlives the code below it.

use std::path::Path;

use serde_json::{Value, json};

use super::{SNAPSHOTS, mails::TO};
use crate::support::front::{Answer, Front};
use crate::support::in_process::CommandLine;
use crate::support::test_server::TestServer;
use crate::support::transcript::Transcript;

/// The snapshots, each with its command.
const LISTS: [(&str, &[&str]); 3] = [
    ("list_webhook", &["webhook", "ls", TO]),
    ("list_webhook_all", &["webhook", "ls", "--all"]),
    ("list_webhook_deliveries", &["webhook", "deliveries", "0190b6a5-7c3e-4d2f-8a4b-1c5d9e0f2a01"]),
];
/// The snapshot of what is shown where there is nothing.
const EMPTY: &str = "list_empty";

/// The names of the snapshots.
pub(super) fn names() -> impl Iterator<Item = String> {
    LISTS.iter().map(|(name, _)| *name).chain([EMPTY]).map(str::to_owned)
}

/// The id that ends with `id`.
fn webhook_id(id: u8) -> String {
    format!("0190b6a5-7c3e-4d2f-8a4b-1c5d9e0f2a{id:02x}")
}

/// A webhook as everybody sees it.
fn webhook(id: u8, recipient: &str, url: &str) -> Value {
    json!({
        "id": webhook_id(id), "recipient": recipient, "url": url, "signed": true, "status": "active",
        "createdAt": "2023-11-14 22:13:20", "lastDeliveryAt": null, "failures": 0, "dropped": 0,
    })
}

/// A webhook as the administrator sees it, or everybody.
fn shown(webhook: &Value, is_administrator: bool) -> Value {
    let mut shown = webhook.clone();
    let members = shown.as_object_mut().expect("an object");
    if is_administrator {
        members.entry("registeredBy").or_insert(Value::Null);
    } else {
        members.remove("registeredBy");
    }
    shown
}

/// An attempt as the log shows it.
fn delivery(result: &str, status: Option<u16>) -> Value {
    let error = if result == "delivered" { None } else { Some(status.map_or("timeout", |_| "http_status")) };
    json!({
        "event": webhook_id(0xee), "email": null, "attempt": 1, "at": "2023-11-14 22:13:20", "durationMillis": 12,
        "status": status, "error": error, "response": "a\tb\n", "result": result,
        "nextAttemptAt": if result == "retry" { Some("2023-11-14 22:13:25") } else { None },
    })
}

#[test]
fn each_list_of_webhooks_at_each_width_and_in_each_form() {
    let mut disabled = webhook(2, TO, "http://漢字.example/\u{202e}");
    disabled["status"] = "disabled".into();
    disabled["disabledReason"] = "no answer for 5 days: the name in its URL does not resolve".into();
    (disabled["failures"], disabled["dropped"]) = (12_345.into(), 1_234_567.into());
    disabled["lastDeliveryAt"] = "2023-11-14 22:13:20".into();
    disabled["registeredBy"] = "2001:db8:1234:5678::/64".into();
    let url = "https://hooks.example/mail/with/a/path/that/does/not/end/soon?token=secret";
    let last = webhook(3, "漢字かな交じり文@example.test", url);
    let all = vec![webhook(1, TO, "https://hooks.example/x"), disabled, last];
    let mut hostile = delivery("retry", Some(503));
    hostile["response"] = "<html>\u{1b}[2J漢字かな交じり文の答え\u{202e}".into();
    let attempts =
        json!([delivery("delivered", Some(200)), hostile, delivery("retry", None), delivery("given_up", None)]);
    let front = Front::alone();
    let seen_by = |is_administrator: bool, all: &[Value]| {
        all.iter().map(|webhook| shown(webhook, is_administrator)).collect::<Value>()
    };
    front.answers("GET /api/webhooks", Answer::json(&seen_by(false, &all[..2])));
    let page = json!({ "webhooks": seen_by(true, &all), "next": null });
    front.answers("GET /api/admin/webhooks", Answer::json(&page));
    front.answers("GET /api/admin/webhooks/{id}/deliveries", Answer::json(&attempts));
    for (name, args) in LISTS {
        Transcript::of_each_form(front.dir(), args).check(SNAPSHOTS, name);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_without_anything_says_so() {
    let server = TestServer::start().await;
    let dir = server.dir().to_owned();
    tokio::task::spawn_blocking(move || without_anything(&dir)).await.expect("the snapshot");
    server.stop().await;
}

fn without_anything(dir: &Path) {
    let mut transcript = Transcript::default();
    for args in [
        &["inbox", TO][..],
        &["inbox"],
        &["inbox", "--mailboxes"],
        &["domain", "ls"],
        &["token", "ls"],
        &["fault", "ls"],
        &["webhook", "ls", TO],
        &["webhook", "ls", "--all"],
    ] {
        transcript.on_terminal(80, args, CommandLine::on_data(dir, args));
        for form in ["tsv", "json"] {
            let args = [args, &["-o", form]].concat();
            transcript.add(&args, &CommandLine::on_data(dir, &args).run());
        }
    }
    transcript.check(SNAPSHOTS, EMPTY);
}
