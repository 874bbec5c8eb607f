//! The state of the daemon, the counts of the store, and tokens.

use serde_json::{Value, json};

use crate::http::openapi::schema::{
    Member, count, flag, object, or_null, reference, text, texts, time, whole, with, word,
};

/// The longest life of a token that expires, in seconds.
const LIFE_SECONDS_MAX: u64 = crate::http::admin::TOKEN_LIFE_MAX.as_secs();

pub(super) fn schemas() -> Vec<Member> {
    let secret =
        ("token", text("The secret, which no later answer has.", "tm_0123456789abcdefghijklmnopqrstuvwxyzABCDEFG"));
    vec![
        ("Status", status()),
        ("Certificate", certificate()),
        ("Setting", setting()),
        ("StoreStats", object("The counts of the store.", counts(), [])),
        ("Stats", stats()),
        ("Token", object("A token without its secret.", token(), [])),
        ("CreatedToken", object("A new token.", token().into_iter().chain([secret]), [])),
        ("NewToken", new_token()),
        ("Fault", fault()),
        ("NewFault", object("A rule for faults to add.", [("rule", rule())], [])),
    ]
}

fn scope() -> Value {
    word("What its bearer may do.", &["admin", "read"])
}

fn token() -> Vec<Member> {
    vec![
        ("id", text("The id.", "3f8a1c2e")),
        ("name", text("The name.", "ci")),
        ("scope", scope()),
        ("status", word("Whether it has expired.", &["active", "expired"])),
        ("createdAt", time("When it was created.")),
        ("expiresAt", or_null(time("When it expires; null for never."))),
    ]
}

fn rule() -> Value {
    with(text("The rule.", "RCPT user4xx@* first 2 451 4.3.0"), "maxLength", 400)
}

fn fault() -> Value {
    object(
        "A rule for faults of SMTP.",
        [
            ("id", whole("The number of the rule.", 1)),
            ("rule", rule()),
            ("source", word("Where it comes from.", &["settings", "request"])),
            ("matched", count("How often its stage and its pattern have matched.")),
            ("injected", count("How often it has applied.")),
        ],
        [],
    )
}

fn new_token() -> Value {
    let name = with(text("The name.", "ci"), "pattern", "^[A-Za-z0-9._-]{1,64}$");
    let life = with(whole("After how many seconds it expires. Without it, never.", 1), "maximum", LIFE_SECONDS_MAX);
    object(
        "A token to create.",
        [("name", name)],
        [("scope", or_null(with(scope(), "default", "admin"))), ("expiresInSeconds", or_null(life))],
    )
}

fn counts() -> Vec<Member> {
    vec![
        ("messages", count("Messages. One with several recipients counts once.")),
        ("emails", count("Emails, including expired ones that are not removed yet.")),
        ("mailboxes", count("Mailboxes with at least one Email.")),
        ("webhooks", count("Webhooks.")),
        ("events", count("Pending events.")),
        ("segments", count("Segments of the journal.")),
        ("liveOctets", count("Octets of messages.")),
        ("diskOctets", count("Octets of all files.")),
        ("registryOctets", count("Octets of the registry's file.")),
        ("heldOctets", count("Octets of removed segments that a reader has open.")),
    ]
}

fn stats() -> Value {
    let more = [
        ("domains", count("Domains.")),
        ("oldest", or_null(time("When the oldest Email was received; null without mail."))),
        ("newest", or_null(time("When the newest Email was received; null without mail."))),
    ];
    object("Detailed counts of the store.", counts().into_iter().chain(more), [])
}

fn status() -> Value {
    let domains = object("Domains.", [("active", count("Active.")), ("deactivated", count("Deactivated."))], []);
    let smtp = json!({
        "type": "object",
        "description": "Counters of SMTP since the start. Several counters with one name form an object.",
        "additionalProperties": true,
    });
    object(
        "The state of the daemon. `startedAt`, `tls`, `panics` and `smtp` are null without a daemon.",
        [
            ("version", text("The version of the program.", "1.0.0")),
            ("revision", json!({ "type": "integer", "enum": [1, 2], "description": "The revision of the interface." })),
            ("startedAt", or_null(time("When the daemon started."))),
            ("smtpListen", texts("The addresses of SMTP.")),
            ("smtpsListen", texts("The addresses of SMTP with TLS from the first octet.")),
            ("lmtpListen", texts("The addresses of LMTP.")),
            ("httpListen", texts("The addresses of HTTP.")),
            ("httpsListen", texts("The addresses of HTTPS.")),
            ("metricsListen", texts("The addresses of metrics alone.")),
            ("tls", or_null(reference("Certificate"))),
            ("dataDir", text("The directory of the data.", "/var/lib/tempmail")),
            ("hostname", text("The name in SMTP.", "mail.example.org")),
            ("mxHosts", texts("The names that MX records may point to.")),
            ("retentionSeconds", count("How long mail is kept.")),
            ("maxMessageOctets", count("The size of the largest message.")),
            ("panics", or_null(count("Panics since the start."))),
            ("smtp", or_null(smtp)),
            ("domains", domains),
            ("acceptsMail", flag("Whether mail is accepted now.")),
        ],
        [
            ("cause", super::service::cause()),
            ("store", reference("StoreStats")),
            ("cluster", cluster()),
            ("history", history()),
        ],
    )
}

fn history() -> Value {
    let numbers = |of: &str| {
        let each = json!({ "type": "integer", "minimum": 0 });
        json!({ "type": "array", "maxItems": 360, "items": each, "description": of })
    };
    object(
        "The last hour, the latest interval last. It is there if `history` is `true`.",
        [
            ("everySeconds", count("The length of an interval.")),
            ("received", numbers("Messages accepted in each interval.")),
            ("refused", numbers("Refusals of SMTP in each interval.")),
            ("delivered", numbers("Calls of webhooks in each interval that succeeded.")),
            ("failed", numbers("Calls of webhooks in each interval that failed.")),
            ("stored", numbers("Emails in the store.")),
            ("octets", numbers("Octets of mail in the store.")),
        ],
        [],
    )
}

fn cluster() -> Value {
    object(
        "The cluster that the store is in, as this node knows it.",
        [
            ("keyspace", text("The keyspace of the store.", "tempmail")),
            ("node", text("The id of this node, new at each start.", "0190b6a5-7c3e-7d2f-8a4b-1c5d9e0f2a3b")),
            ("livingNodes", count("The nodes of the service that live, this one included.")),
            (
                "leads",
                json!({ "type": "boolean", "description": "Whether this node does the work that one node does for all." }),
            ),
            ("answerMicros", count("How long the cluster took for the last sign of life, in microseconds.")),
        ],
        [],
    )
}

fn setting() -> Value {
    object(
        "A setting in effect.",
        [
            ("key", text("Its key in the configuration file.", "retention")),
            ("values", texts("Its values as the file takes them; none for an empty list.")),
            ("origin", word("Where the value comes from.", &["flag", "environment", "file", "default"])),
            ("file", or_null(text("The file that it comes from, if any.", "/etc/tempmail/config.toml"))),
            ("line", or_null(whole("The line of its key in that file.", 1))),
        ],
        [],
    )
}

fn certificate() -> Value {
    object(
        "The certificate in use.",
        [
            ("names", texts("Its names.")),
            ("notAfter", time("When it expires.")),
            ("isSelfSigned", flag("Whether it is self-signed.")),
            ("isExpired", flag("Whether it has expired.")),
            ("fault", or_null(text("Why the last reading of its files failed; null if it did not.", "no such file"))),
            ("faultFoundAt", or_null(time("When that was found."))),
        ],
        [],
    )
}
