//! Webhooks and their deliveries.

use serde_json::{Value, json};

use crate::http::openapi::schema::{
    Member, address, count, flag, list, object, or_null, reference, text, time, uuid, whole, with, word,
};

pub(super) fn schemas() -> Vec<Member> {
    let registrant =
        text("The client that registered it, an IPv4 address or IPv6 /64; null for the administrator.", "192.0.2.1");
    let listed = webhook().into_iter().chain([("registeredBy", or_null(registrant))]);
    vec![
        ("Webhook", object("A webhook. Its secret is never shown.", webhook(), [reason()])),
        ("AdminWebhook", object("A webhook as the administrator sees it.", listed, [reason()])),
        ("WebhookPage", page()),
        ("NewWebhook", new_webhook()),
        ("RegisteredWebhook", registered()),
        ("Delivery", delivery()),
        ("Replay", replay()),
        ("Replayed", replayed()),
    ]
}

fn webhook() -> Vec<Member> {
    vec![
        ("id", uuid("The id.")),
        ("recipient", text("The address whose mail it is for.", "hello@example.test")),
        ("url", text("The URL; only its origin for callers without a token.", "https://hooks.example")),
        ("signed", flag("Whether deliveries are signed.")),
        ("status", word("Whether it gets deliveries.", &["active", "disabled"])),
        ("createdAt", time("When it was registered.")),
        ("lastDeliveryAt", or_null(time("When an event was last delivered; null if never."))),
        ("failures", count("Failed attempts since the last delivery.")),
        ("dropped", count("Events that there was no room for.")),
    ]
}

fn reason() -> Member {
    ("disabledReason", text("Why it is disabled; absent while it is active.", "gone"))
}

fn page() -> Value {
    object(
        "A page of all webhooks.",
        [
            ("webhooks", list("In the order of their ids.", reference("AdminWebhook"))),
            ("next", or_null(uuid("The value of `after` for the next page; null on the last page."))),
        ],
        [],
    )
}

fn new_webhook() -> Value {
    let url = text(
        "An `http` or `https` URL on a public address, without user information.",
        "https://hooks.example/new-mail",
    );
    let secret = text("The key of the signatures. Empty or null is no secret.", "whsec_c2VjcmV0LW9mLTI0LW9jdGV0cyE=");
    object(
        "The registration of a webhook.",
        [
            ("recipient", address("The address, on an active domain.")),
            ("url", with(with(url, "format", "uri"), "maxLength", 2048)),
        ],
        [("secret", or_null(with(secret, "maxLength", 1024)))],
    )
}

fn registered() -> Value {
    object("The registration of a webhook.", [("id", uuid("The id.")), ("status", word("Always `ok`.", &["ok"]))], [])
}

fn delivery() -> Value {
    object(
        "An attempt to deliver an event.",
        [
            ("event", uuid("The event's `webhook-id`.")),
            ("email", or_null(uuid("The Email; null for a test."))),
            ("attempt", whole("The number of the attempt.", 1)),
            ("at", time("When the attempt began.")),
            ("durationMillis", count("How long it took, in milliseconds.")),
            ("status", or_null(whole("The receiver's status; null without an answer.", 100))),
            ("error", or_null(text("The error as a stable word; null after a success.", "timeout"))),
            ("response", text("The beginning of the receiver's answer, or the error as a text.", "ok")),
            ("result", word("What follows for the event.", &["delivered", "retry", "given_up"])),
            ("nextAttemptAt", or_null(time("When the next attempt is due; null if there is none."))),
        ],
        [],
    )
}

fn replay() -> Value {
    let since = text("Those since this time, `YYYY-MM-DD HH:MM:SS` in UTC or RFC 3339.", "2026-01-31 12:00:00");
    let mut which = object(
        "Which events to send again. Exactly one of the fields is given.",
        [],
        [
            ("event", uuid("The event with this `webhook-id`.")),
            ("failed", json!({ "type": "boolean", "const": true, "description": "Those that were given up." })),
            ("since", since),
        ],
    );
    which["oneOf"] = json!(["event", "failed", "since"].map(|name| json!({ "required": [name] })));
    which
}

fn replayed() -> Value {
    object(
        "The number of events.",
        [("replayed", count("Those that are sent again.")), ("noRoom", count("Those that there is no room for."))],
        [],
    )
}
