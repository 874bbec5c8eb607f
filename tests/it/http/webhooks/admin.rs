//! `/api/admin/webhooks`: the log, replay and test of the administrator.

use super::*;

#[tokio::test]
async fn the_log_is_the_administrators_and_newest_first() {
    let api = api().await;
    let id = add(&api, TO, URL, "s3cret").await;
    let waiting = event(&api, &id).await;
    let later = NOW.plus(Duration::from_secs(30));
    api.outbox.record_attempt(attempt(&waiting, Verdict::Retry(later))).await.expect("record");
    let again = PendingEvent { attempts: 1, ..waiting.clone() };
    let done = AttemptRecord { status: Some(204), error: None, ..attempt(&again, Verdict::Delivered) };
    api.outbox.record_attempt(done).await.expect("record");

    let target = format!("/api/admin/webhooks/{id}/deliveries");
    assert_eq!(api.get(&target).await.problem(), "unauthorized");
    let list = api.administrator("GET", &target, "").await.json();
    assert_eq!(
        list,
        json!([
            {
                "event": waiting.id, "email": waiting.email, "attempt": 2, "at": "2023-11-14 22:13:20",
                "durationMillis": 5, "status": 204, "error": null, "response": "no\n", "result": "delivered",
                "nextAttemptAt": null,
            },
            {
                "event": waiting.id, "email": waiting.email, "attempt": 1, "at": "2023-11-14 22:13:20",
                "durationMillis": 5, "status": 500, "error": "http_status", "response": "no\n", "result": "retry",
                "nextAttemptAt": "2023-11-14 22:13:50",
            },
        ])
    );
    let one = api.administrator("GET", &format!("{target}?limit=1"), "").await.json();
    assert_eq!(one, json!([list[0]]));
    assert_eq!(api.administrator("GET", &format!("{target}?limit=0"), "").await.problem(), "limit_invalid");
}

#[tokio::test]
async fn ended_events_are_replayed_under_their_own_id() {
    let api = api().await;
    let id = add(&api, TO, URL, "s3cret").await;
    let ended = event(&api, &id).await;
    api.outbox.record_attempt(attempt(&ended, Verdict::GivenUp)).await.expect("record");
    let target = format!("/api/admin/webhooks/{id}/replay");
    assert_eq!(api.post(&target, "{\"failed\":true}").await.problem(), "unauthorized");
    let event = json!({ "event": ended.id }).to_string();
    for body in [event.as_str(), r#"{"failed":true}"#, r#"{"since":"2023-11-14 22:13:20"}"#] {
        let answer = api.administrator("POST", &target, body).await;
        assert_eq!((answer.status.as_u16(), answer.json()), (200, json!({ "replayed": 1, "noRoom": 0 })), "{body}");
        let waiting = pending(&*api.outbox, ended.webhook).await.remove(0);
        assert_eq!(waiting.id, ended.id);
        let answer = api.administrator("POST", &target, body).await;
        assert_eq!(answer.json(), json!({ "replayed": 0, "noRoom": 0 }), "it is waiting already");
        api.outbox.record_attempt(attempt(&waiting, Verdict::GivenUp)).await.expect("record");
    }
    let later = api.administrator("POST", &target, r#"{"since":"2023-11-14T23:13:21+01:00"}"#).await;
    assert_eq!(later.json(), json!({ "replayed": 0, "noRoom": 0 }));
    for (body, code) in [
        ("{}", "field_missing"),
        (r#"{"failed":false}"#, "field_missing"),
        (r#"{"failed":"yes"}"#, "boolean_invalid"),
        (r#"{"event":"1"}"#, "id_invalid"),
        (r#"{"since":"yesterday"}"#, "time_invalid"),
        (r#"{"since":1700000000}"#, "time_invalid"),
        (r#"{"failed":true,"since":"2023-11-14 22:13:20"}"#, "parameters_conflict"),
    ] {
        let answer = api.administrator("POST", &target, body).await;
        assert_eq!((answer.status.as_u16(), answer.problem().as_str()), (400, code), "{body}");
    }
}

#[tokio::test]
async fn a_test_answers_with_its_attempt() {
    let sample = AttemptRecord {
        webhook: WebhookId::from_octets([1; 16]),
        event: EventId::from_octets([2; 16]),
        email: None,
        sequence: 0,
        number: 1,
        at: NOW,
        duration_millis: 7,
        status: None,
        error: Some("timeout".into()),
        response: String::new(),
        verdict: Verdict::GivenUp,
        disables: None,
        backs_off_until: None,
    };
    let api = TestApi::with_test(|_| {}, Arc::new(Sample(Ok(sample))));
    let api = serving(api, &["example.test"]).await;
    let target = format!("/api/admin/webhooks/{}/test", add(&api, TO, URL, "s3cret").await);
    assert_eq!(api.post(&target, "").await.problem(), "unauthorized");
    let answer = api.administrator("POST", &target, "").await;
    assert_eq!(
        (answer.status.as_u16(), answer.json()),
        (
            200,
            json!({
                "event": "02020202-0202-0202-0202-020202020202", "email": null, "attempt": 1,
                "at": "2023-11-14 22:13:20", "durationMillis": 7, "status": null, "error": "timeout", "response": "",
                "result": "given_up", "nextAttemptAt": null,
            })
        )
    );
}

#[tokio::test]
async fn a_test_that_cannot_be_made_says_why() {
    for (error, code, retry_after) in [
        (TestError::Store(StoreError::Stopping), "store_unavailable", "10"),
        (TestError::Full, "webhook_busy", "5"),
        (TestError::Busy(Busy { wait: Duration::from_millis(6_001) }), "webhook_busy", "7"),
    ] {
        let failing = TestApi::with_test(|_| {}, Arc::new(Sample(Err(error))));
        let failing = serving(failing, &["example.test"]).await;
        let target = format!("/api/admin/webhooks/{}/test", add(&failing, TO, URL, "s3cret").await);
        let answer = failing.administrator("POST", &target, "").await;
        assert_eq!((answer.status.as_u16(), answer.header("retry-after")), (503, Some(retry_after)));
        assert_eq!(answer.problem(), code);
    }
}

#[tokio::test]
async fn an_unknown_webhook_is_404_and_no_id_400() {
    let api = api().await;
    for (method, verb) in [("GET", "deliveries"), ("POST", "replay"), ("POST", "test")] {
        for (id, status, code) in [(UNKNOWN, 404, "not_found"), ("1", 400, "id_invalid"), ("%ff", 400, "id_invalid")] {
            let target = format!("/api/admin/webhooks/{id}/{verb}");
            let answer = api.administrator(method, &target, r#"{"failed":true}"#).await;
            assert_eq!((answer.status.as_u16(), answer.problem().as_str()), (status, code), "{target}");
        }
    }
}
