//! `DELETE /api/mail/delete`: what it names goes, nothing else does, and a refusal deletes nothing.
//! Promise: it outlives the code below it.

use std::time::Duration;

use serde_json::json;
use tokio::time::timeout;

use super::TestServer;
use crate::support::test_disk::{Kind, TestDisk};
use crate::support::until::until;

const UNKNOWN: &str = "0190b6a5-7c3e-7d2f-8a4b-1c5d9e0f2a3b";

#[tokio::test]
async fn one_message_goes_by_its_id() {
    let api = TestServer::start().await;
    let id = api.receive(&["ann@example.test"], "").await.remove(0);
    let target = format!("/api/mail/delete?id={id}");
    let answer = api.delete(&target).await;
    assert_eq!((answer.status.as_u16(), answer.json()), (200, json!({ "deleted": 1 })));
    assert_eq!(api.delete(&target).await.json(), json!({ "deleted": 0 }));
}

#[tokio::test]
async fn all_messages_of_an_address_go_and_no_others() {
    let api = TestServer::start().await;
    api.receive(&["ann@example.test", "bob@example.test"], "").await;
    api.receive(&["ann@example.test"], "").await;
    assert_eq!(api.delete("/api/mail/delete?to=ANN@example.test").await.json(), json!({ "deleted": 2 }));
    assert_eq!(api.delete("/api/mail/delete?to=ann@example.test").await.json(), json!({ "deleted": 0 }));
    assert_eq!(api.get("/api/mail/messages?to=bob@example.test").await.json()["total"], 1);
}

#[tokio::test]
async fn what_a_walk_has_shown_stays_when_the_rest_goes() {
    let api = TestServer::start().await;
    for number in 1..=5 {
        api.receive(&["ann@example.test"], &format!("Subject: mail {number}\r\n\r\n")).await;
    }
    let page = api.get("/api/mail/messages?to=ann@example.test&limit=2&cursor=").await.json();
    api.receive(&["ann@example.test"], "Subject: mail 6\r\n\r\n").await;
    let cursor = page["nextCursor"].as_str().expect("a cursor");
    let target = format!("/api/mail/delete?to=ann@example.test&cursor={cursor}");
    assert_eq!(api.delete(&format!("{target}&subject=mail 1").replace(' ', "%20")).await.json()["deleted"], 1);
    assert_eq!(api.delete(&target).await.json(), json!({ "deleted": 2 }));
    let left = api.get("/api/mail/messages?to=ann@example.test&fields=subject").await.json();
    let left: Vec<_> = left["emails"].as_array().expect("a list").iter().map(|email| &email["subject"]).collect();
    assert_eq!(left, ["mail 6", "mail 5", "mail 4"]);
}

#[tokio::test]
async fn exactly_one_of_the_parameters_is_wanted() {
    let api = TestServer::start().await;
    for (query, code) in [
        (String::new(), "parameter_missing"),
        (format!("?to=a@example.test&id={UNKNOWN}"), "parameter_invalid"),
        (format!("?to=&id={UNKNOWN}"), "parameter_invalid"),
        (format!("?id={UNKNOWN}&id=1"), "id_invalid"),
        (format!("?to=ann@example.test&to=ann@example.test&id={UNKNOWN}"), "parameter_invalid"),
        ("?id=1".into(), "id_invalid"),
        ("?id=".into(), "id_invalid"),
        ("?to=ann".into(), "address_invalid"),
        ("?to=ann@example.test&cursor=".into(), "parameter_invalid"),
        ("?to=ann@example.test&cursor=x".into(), "parameter_invalid"),
    ] {
        let answer = api.delete(&format!("/api/mail/delete{query}")).await;
        assert_eq!((answer.status.as_u16(), answer.problem().as_str()), (400, code), "{query}");
    }
    assert_eq!(api.delete(&format!("/api/mail/delete?id={UNKNOWN}")).await.json(), json!({ "deleted": 0 }));
}

#[tokio::test]
async fn only_the_administrator_deletes_mail_of_role_addresses() {
    let api = TestServer::with("domain = ['example.com']").await;
    let id = api.receive(&["abuse@example.com"], "").await.remove(0);
    for target in ["/api/mail/delete?to=abuse@example.com".to_owned(), format!("/api/mail/delete?id={id}")] {
        let answer = api.delete(&target).await;
        assert_eq!((answer.status.as_u16(), answer.problem().as_str()), (403, "role_address"), "{target}");
    }
    let answer = api.administrator("DELETE", &format!("/api/mail/delete?id={id}"), "").await;
    assert_eq!(answer.json(), json!({ "deleted": 1 }));
}

#[tokio::test]
async fn several_ids_go_together_and_the_missing_ones_are_named() {
    let api = TestServer::start().await;
    let ids = api.receive(&["ann@example.test", "bob@example.test"], "").await;
    let answer = api.delete(&format!("/api/mail/delete?id={}&id={UNKNOWN}&id={}", ids[0], ids[1])).await;
    assert_eq!(answer.json(), json!({ "deleted": 2, "missing": [UNKNOWN] }));
}

#[tokio::test]
async fn if_one_of_several_ids_is_refused_all_stay() {
    let api = TestServer::with("domain = ['example.com']").await;
    let mut ids = Vec::new();
    // Many before the one that is refused, so that some would be gone by then.
    for _ in 0..40 {
        ids.push(api.receive(&["ann@example.com"], "").await.remove(0));
    }
    ids.push(api.receive(&["abuse@example.com"], "").await.remove(0));
    let query: Vec<String> = ids.iter().map(|id| format!("id={id}")).collect();
    let answer = api.delete(&format!("/api/mail/delete?{}", query.join("&"))).await;
    assert_eq!((answer.status.as_u16(), answer.problem().as_str()), (403, "role_address"));
    assert_eq!(api.get("/api/mail/messages?to=ann@example.com").await.json()["total"], 40);
}

/// The deletions of one request may be written in two goes, of which the first one fails.
#[tokio::test]
async fn a_failure_is_told_when_no_deletion_goes_on() {
    for _ in 0..10 {
        let disk = TestDisk::default();
        let api = TestServer::on(disk.clone(), "").await;
        api.receive_all("ann@example.test", (0..100).map(|_| "")).await;
        let _failing = disk.fail_next(|call| call.is(Kind::Sync, "journal-"));
        let mut syncs = 0;
        let held = disk.hold(move |call| {
            let is_sync = call.is(Kind::Sync, "journal-");
            syncs += usize::from(is_sync);
            is_sync && syncs > 1
        });
        let deletion = api.delete("/api/mail/delete?to=ann@example.test&since=2000-01-01T00:00:00Z");
        tokio::pin!(deletion);
        let early = tokio::select! {
            answer = &mut deletion => Ok(answer),
            () = until("more is written", async || held.waiting() > 0) => {
                timeout(Duration::from_millis(200), &mut deletion).await
            }
        };
        let left = async || api.get("/api/mail/messages?to=ann@example.test&limit=1&fields=id").await.json();
        let (answer, told) = if let Ok(answer) = early {
            let told = left().await;
            drop(held);
            (answer, told)
        } else {
            drop(held);
            let answer = deletion.await;
            (answer, left().await)
        };
        assert_eq!((answer.status.as_u16(), answer.problem().as_str()), (503, "store_unavailable"));
        // It is made after all that were there before.
        api.delete("/api/mail/delete?to=bob@example.test").await;
        assert_eq!(left().await, told);
    }
}

#[tokio::test]
async fn an_unknown_outcome_is_said_to_be_one() {
    let disk = TestDisk::default();
    let api = TestServer::on(disk.clone(), "").await;
    api.receive(&["ann@example.test"], "").await;
    let _failing = disk.fail_next(|call| call.is(Kind::Sync, "journal-"));
    let answer = api.delete("/api/mail/delete?to=ann@example.test").await;
    assert_eq!((answer.status.as_u16(), answer.problem().as_str()), (503, "store_unavailable"));
    assert!(answer.header("retry-after").is_some());
}
