//! Errors, and the state of the service.

use serde_json::{Value, json};

use crate::config::Revision;
use crate::http::health::Cause;
use crate::http::openapi::schema::{Member, count, flag, object, or_null, text, texts, whole, word};
use crate::http::problem::Code;

pub(super) fn schemas(revision: Revision) -> Vec<Member> {
    vec![
        ("Problem", problem()),
        ("Code", codes()),
        ("Index", index(revision)),
        ("Health", object("The process runs.", [("status", word("Always `ok`.", &["ok"]))], [])),
        ("Readiness", object("Mail can be received and read.", [("status", word("Always `ready`.", &["ready"]))], [])),
    ]
}

/// Why the service is not ready.
pub(super) fn cause() -> Value {
    word("Why mail is not accepted; absent while it is.", &Cause::ALL.map(Cause::as_str))
}

fn problem() -> Value {
    object(
        "An error (RFC 9457).",
        [
            ("type", json!({ "type": "string", "const": "about:blank", "description": "Always this." })),
            ("title", text("The phrase of the status.", "Bad Request")),
            ("status", json!({ "type": "integer", "minimum": 400, "maximum": 599, "description": "The status." })),
            ("detail", text("What is wrong, for people. It may change.", "the parameter 'to' is missing")),
            ("code", crate::http::openapi::schema::reference("Code")),
        ],
        [
            ("expected", texts("With `mx_mismatch`: the records of which the domain needs one.")),
            ("found", texts("With `mx_mismatch`: the records that were found.")),
            ("cause", cause()),
        ],
    )
}

fn codes() -> Value {
    let words: Vec<&str> = Code::ALL.iter().map(|code| code.row().1).collect();
    let meanings = Code::ALL.iter().map(|code| format!("- `{}`: {}", code.row().1, code.meaning()));
    let description = format!("The stable word for an error.\n\n{}", meanings.collect::<Vec<_>>().join("\n"));
    json!({ "type": "string", "enum": words, "description": description, "example": "parameter_missing" })
}

fn index(revision: Revision) -> Value {
    let part = || word("Who may use this part.", &["open", "token", "off"]);
    let mut parts = vec![("domains", part()), ("delete", part()), ("read", part())];
    if revision == Revision::Two {
        parts.push(("webhooks", part()));
    }
    let paths = json!({
        "type": "object",
        "description": "The most important methods and paths, by what they do.",
        "additionalProperties": { "type": "string" },
    });
    let limits = object(
        "Limits of the service.",
        [
            ("messageOctets", count("The size of the largest message.")),
            ("retentionSeconds", count("How long mail is kept.")),
            ("pageSize", whole("The largest page.", 1)),
            ("requestsPerMinute", or_null(whole("Requests of one client; null without a limit.", 1))),
        ],
        [],
    );
    object(
        "The index of the interface.",
        [
            ("service", word("Always `tempmail`.", &["tempmail"])),
            ("version", text("The version of the program.", "1.0.0")),
            ("revision", json!({ "type": "integer", "enum": [1, 2], "description": "The revision of the interface." })),
            ("public", object("Which parts are open to callers without a token.", parts, [])),
            ("allMail", flag("Whether this caller may read the mail of all addresses.")),
            ("limits", limits),
            ("endpoints", paths),
        ],
        [],
    )
}
