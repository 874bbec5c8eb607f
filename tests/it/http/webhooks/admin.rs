//! `/api/admin/webhooks`: the log, replay and test are the administrator's, and show what was done.
//! Promise: it outlives the code below it.

use super::*;

#[tokio::test]
async fn the_log_is_the_administrators_and_newest_first() {
    let (api, sink) = calling("webhook-schedule = ['30s']").await;
    let id = add(&api, TO, &sink.url("/"), "s3cret").await;
    let no = Behaviour::Answer(500, Vec::new(), b"no\n".to_vec());
    sink.script("/", Behaviour::InTurn(vec![no, Behaviour::status(204)]));
    attempted(&api, &id, 1).await;
    api.clock.advance(Duration::from_secs(40));
    let list = until_logged(&api, &id, 2).await;
    let target = format!("/api/admin/webhooks/{id}/deliveries");
    assert_eq!(api.get(&target).await.problem(), "token_required");
    let mails = api.get("/api/mail/messages?to=ann@example.test").await.json();
    assert_eq!(list[0]["email"], mails["emails"][0]["id"]);
    let next = list[1]["nextAttemptAt"].as_str().expect("a time").to_owned();
    assert!(
        ("2023-11-14 22:13:44".."2023-11-14 22:13:57").contains(&&*next),
        "30 s later, a fifth more or less: {next}"
    );
    let entry = |number: usize, attempt: u8| {
        let (event, email, duration) = (&list[0]["event"], &list[0]["email"], &list[number]["durationMillis"]);
        let (at, status, error, response, result) = match attempt {
            1 => ("2023-11-14 22:13:20", 500, json!("http_status"), "no\n", "retry"),
            _ => ("2023-11-14 22:14:00", 204, json!(null), "", "delivered"),
        };
        let next = if attempt == 1 { json!(next) } else { json!(null) };
        json!({
            "event": event, "email": email, "attempt": attempt, "at": at, "durationMillis": duration,
            "status": status, "error": error, "response": response, "result": result, "nextAttemptAt": next,
        })
    };
    assert_eq!(list, json!([entry(0, 2), entry(1, 1)]));
    assert!(list[0]["durationMillis"].is_u64());
    let one = api.admin_get(&format!("{target}?limit=1")).await;
    assert_eq!(one, json!([list[0]]));
    assert_eq!(api.administrator("GET", &format!("{target}?limit=0"), "").await.problem(), "parameter_invalid");
}

#[tokio::test]
async fn ended_events_are_replayed_under_their_own_id() {
    let (api, sink) = calling("webhook-schedule = ['30s']").await;
    let id = add(&api, TO, &sink.url("/"), "s3cret").await;
    // A webhook that fails pauses.
    let newest_is = async |result: &str| {
        until(result, async || {
            api.pass(Duration::from_secs(1)).await;
            log(&api, &id).await[0]["result"] == result
        })
        .await;
    };
    // What is answered like this is given up and disables the webhook.
    sink.script("/", Behaviour::status(410));
    let ended = attempted(&api, &id, 1).await[0]["event"].clone();
    let target = format!("/api/admin/webhooks/{id}/replay");
    assert_eq!(api.post_text(&target, r#"{"failed":true}"#).await.problem(), "token_required");
    let event = json!({ "event": ended }).to_string();
    for body in [event.as_str(), r#"{"failed":true}"#, r#"{"since":"2023-11-14 22:13:20"}"#] {
        assert_eq!(add(&api, TO, &sink.url("/"), "s3cret").await, id, "it is enabled again");
        sink.script("/", Behaviour::status(500));
        let answer = api.administrator("POST", &target, body).await;
        assert_eq!((answer.status.as_u16(), answer.json()), (200, json!({ "replayed": 1, "noRoom": 0 })), "{body}");
        newest_is("retry").await;
        assert_eq!(log(&api, &id).await[0]["event"], ended);
        let answer = api.administrator("POST", &target, body).await;
        assert_eq!(answer.json(), json!({ "replayed": 0, "noRoom": 0 }), "it is waiting already");
        sink.script("/", Behaviour::status(410));
        newest_is("given_up").await;
    }
    let later = api.administrator("POST", &target, r#"{"since":"2023-11-15T23:13:21+01:00"}"#).await;
    assert_eq!(later.json(), json!({ "replayed": 0, "noRoom": 0 }));
    for (body, code) in [
        ("{}", "parameter_missing"),
        (r#"{"failed":false}"#, "parameter_missing"),
        (r#"{"failed":"yes"}"#, "parameter_invalid"),
        (r#"{"event":"1"}"#, "id_invalid"),
        (r#"{"since":"yesterday"}"#, "parameter_invalid"),
        (r#"{"since":1700000000}"#, "parameter_invalid"),
        (r#"{"failed":true,"since":"2023-11-14 22:13:20"}"#, "parameter_invalid"),
    ] {
        let answer = api.administrator("POST", &target, body).await;
        assert_eq!((answer.status.as_u16(), answer.problem().as_str()), (400, code), "{body}");
    }
}

#[tokio::test]
async fn a_test_answers_with_its_attempt() {
    let (api, sink) = calling("webhook-timeout = '1s'").await;
    sink.script("/", Behaviour::Hang);
    let target = format!("/api/admin/webhooks/{}/test", add(&api, TO, &sink.url("/"), "s3cret").await);
    assert_eq!(api.post_text(&target, "").await.problem(), "token_required");
    let answer = api.administrator("POST", &target, "").await;
    let shown = answer.json();
    let expected = json!({
        "event": shown["event"], "email": null, "attempt": 1, "at": "2023-11-14 22:13:20",
        "durationMillis": shown["durationMillis"], "status": null, "error": "timeout", "response": "no response in time",
        "result": "given_up", "nextAttemptAt": null,
    });
    assert_eq!((answer.status.as_u16(), &shown), (200, &expected));
    shown["event"].as_str().expect("text").parse::<uuid::Uuid>().expect("a UUID");
    let sent = sink.wait_for(1).await;
    assert!(sent[0].header("webhook-signature").is_some(), "{sent:?}");
}

#[tokio::test]
async fn a_test_of_a_receiver_that_may_not_be_called_now_says_so() {
    let (api, sink) = calling("webhook-limits-allowed = true\nwebhook-per-address-per-minute = 1").await;
    sink.script("/", Behaviour::status(204));
    let target = format!("/api/admin/webhooks/{}/test", add(&api, TO, &sink.url("/"), "s3cret").await);
    let refused = until_some("the receiver has had its calls", async || {
        let answer = api.administrator("POST", &target, "").await;
        (answer.status != 200).then_some(answer)
    })
    .await;
    assert_eq!(refusal(&refused), (503, "busy".into()));
    let wait: u64 = refused.header("retry-after").expect("a time").parse().expect("seconds");
    assert!((1..=60).contains(&wait), "{wait}");
}

#[tokio::test]
async fn an_unknown_webhook_is_404_and_no_id_400() {
    let api = TestServer::start().await;
    for (method, verb) in [("GET", "deliveries"), ("POST", "replay"), ("POST", "test")] {
        for (id, status, code) in [(UNKNOWN, 404, "not_found"), ("1", 400, "id_invalid"), ("%ff", 400, "id_invalid")] {
            let target = format!("/api/admin/webhooks/{id}/{verb}");
            let answer = api.administrator(method, &target, r#"{"failed":true}"#).await;
            assert_eq!((answer.status.as_u16(), answer.problem().as_str()), (status, code), "{target}");
        }
    }
}
