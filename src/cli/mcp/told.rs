//! What a program is told of each tool: what it is for, what it takes, and whether it changes anything.

use serde_json::{Value, json};

use super::tools::{
    LIMIT_DEFAULT, LIMIT_MAX, TEXT_CHARS_MAX, TIMEOUT_SECONDS_DEFAULT, TIMEOUT_SECONDS_MAX, private_default,
};

/// What a program is told of the tools of a session: `Tool` objects of the protocol, with JSON Schemas of what each takes.
pub(super) fn all(is_read_only: bool) -> Vec<Value> {
    let mut tools = vec![
        tool(
            "new_address",
            "Make a fresh mail address that nobody can guess. It receives mail at once. It is a private inbox unless private \
             is false: only the user of these tools, by the key that they keep, and the administrator of the service can \
             read its mail.",
            &fresh(),
            hints("Make an address", false, false),
        ),
        tool(
            "wait_for_mail",
            "Wait until a mail to an address is there, and return the oldest one that passes the filters, also of a private \
             inbox that new_address made. Mail that came before the call counts too, unless since says otherwise; since \
             with the id of the last mail gives the next. Without such mail in time it is an error.",
            &filters(),
            hints("Wait for mail", true, false),
        ),
        tool(
            "wait_for_code",
            "Wait until a mail with a one-time code (verification, sign-in) to an address, private or not, is there, and \
             return the code alone. Mail that came before the call counts too, unless since says otherwise. Use this \
             rather than reading the mail when only the code is needed.",
            &filters(),
            hints("Wait for a code", true, false),
        ),
        tool(
            "list_inbox",
            "List the mails to an address, private or not, newest first: id, time, sender and subject.",
            &json!({
                "address": needed("The address"),
                "limit": {
                    "description": "The most mails, newest first",
                    "type": "integer", "minimum": 1, "maximum": LIMIT_MAX, "default": LIMIT_DEFAULT,
                },
            }),
            hints("List an inbox", true, false),
        ),
        tool(
            "read_mail",
            "Read one mail by its id, also of a private inbox: sender, subject, the text that a person would see, codes, \
             links, and the names of attachments. Text after 16,000 characters is left out.",
            &json!({ "id": needed("The id of the mail") }),
            hints("Read a mail", true, false),
        ),
    ];
    if !is_read_only {
        tools.push(tool(
            "delete_mail",
            "Delete one mail by its id, or all mail to an address, private or not. It cannot be brought back. A private \
             inbox itself goes on.",
            &json!({
                "id": optional("The id of one mail"),
                "address": optional("The address whose mail goes, all of it"),
            }),
            hints("Delete mail", false, true),
        ));
    }
    tools
}

/// What `new_address` has.
fn fresh() -> Value {
    json!({
        "domain": optional("The domain, which must be active; the service chooses one without it"),
        "prefix": optional(
            "What the address begins with, before a hyphen and random characters: at most 32 of letters, digits, `-`, `_` \
             and `.`",
        ),
        "private": {
            "description": "Whether it is a private inbox, which nobody reads but the user of these tools and the \
                administrator of the service. It ends after a time that the service sets, often a day, and its mail goes \
                with it. A public address is read by whoever knows it",
            "type": "boolean", "default": private_default(),
        },
    })
}

/// What `wait_for_mail` has.
fn filters() -> Value {
    let part = |of: &str| {
        let description = format!("Only mail whose {of} contains this, in any case");
        json!({ "description": description, "type": ["string", "null"], "maxLength": TEXT_CHARS_MAX })
    };
    json!({
        "address": needed("The address that the mail is for"),
        "timeout_seconds": {
            "description": "How long to wait, in seconds; 0 only looks",
            "type": "integer", "minimum": 0, "maximum": TIMEOUT_SECONDS_MAX, "default": TIMEOUT_SECONDS_DEFAULT,
        },
        "from": part("sender"),
        "subject": part("subject"),
        "since": optional(
            "Only mail after this: `now`, a duration ago such as 5m, a time such as 2026-01-31T12:00:00Z, or the id of a \
             mail. Without it mail that is there already counts",
        ),
    })
}

fn needed(description: &str) -> Value {
    json!({ "description": description, "type": "string" })
}

fn optional(description: &str) -> Value {
    json!({ "description": description, "type": ["string", "null"] })
}

/// A tool. What it takes is needed if it can't be null and has no default.
fn tool(name: &str, description: &str, takes: &Value, hints: Value) -> Value {
    let is_needed = |of: &Value| of["type"] == "string";
    let needed = takes.as_object().into_iter().flatten().filter(|(_, of)| is_needed(of)).map(|(name, _)| name);
    let schema = json!({
        "type": "object", "properties": takes, "required": needed.collect::<Vec<_>>(), "additionalProperties": false,
    });
    json!({ "name": name, "description": description, "inputSchema": schema, "annotations": hints })
}

/// Mail comes from anybody, so the world of every tool is open.
fn hints(title: &str, is_read_only: bool, is_destructive: bool) -> Value {
    json!({
        "title": title, "readOnlyHint": is_read_only, "destructiveHint": is_destructive,
        "idempotentHint": is_read_only || is_destructive, "openWorldHint": true,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_delete_mail_is_destructive_and_a_session_that_only_reads_lacks_it() {
        for tool in all(false) {
            assert_eq!(tool["annotations"]["destructiveHint"], tool["name"] == "delete_mail", "{tool}");
        }
        assert_eq!(all(true).len() + 1, all(false).len());
        assert!(all(true).iter().all(|tool| tool["name"] != "delete_mail"));
    }
}
