//! Domains and the checks of their records.

use serde_json::Value;

use crate::http::openapi::schema::{
    Member, address, count, domain, flag, object, or_null, text, texts, time, with, word,
};

pub(super) fn schemas() -> Vec<Member> {
    let check = ("skipDnsCheck", or_null(flag("Pin the domain: its records are never checked.")));
    vec![
        ("Domain", object("A domain.", registered(), [])),
        ("AdminDomain", object("A domain with its owner.", registered().into_iter().chain(owned()), [])),
        ("NewDomain", object("The registration of a domain.", [name()], owner())),
        (
            "NewAdminDomain",
            object("The registration of a domain by the administrator.", [name()], owner().into_iter().chain([check])),
        ),
        ("FreshAddress", fresh_address()),
        ("MxReport", mx_report()),
        ("Round", round()),
    ]
}

fn name() -> Member {
    ("domain", domain("The domain. U-labels are accepted."))
}

fn registered() -> Vec<Member> {
    vec![
        ("domain", domain("The domain in A-labels.")),
        ("status", word("Whether mail for the domain is received.", &["active", "deactivated"])),
        ("addedAt", or_null(time("When it was registered; null for a domain in the settings."))),
        ("lastCheckedAt", or_null(time("When its records were checked last; null if never."))),
        ("lastCheckResult", or_null(text("What the last check found; null if there was none.", "MX points here"))),
    ]
}

fn owned() -> Vec<Member> {
    vec![
        ("owner", or_null(text("The owner; null if not given.", "Ann"))),
        ("email", or_null(text("The owner's address; null if not given.", "ann@example.org"))),
        ("pinned", flag("Whether its records are never checked.")),
        ("fixed", flag("Whether it is fixed in the settings.")),
        (
            "registeredBy",
            or_null(text("The client, an IPv4 address or IPv6 /64; null for the administrator.", "192.0.2.1")),
        ),
    ]
}

fn owner() -> Vec<Member> {
    // No control characters, and more than blanks.
    let pattern = r"^[^\x00-\x1f\x7f-\x9f]*[^\s\x00-\x1f\x7f-\x9f][^\x00-\x1f\x7f-\x9f]*$";
    let owner = with(text("The owner.", "Ann"), "pattern", pattern);
    let email = with(text("The owner's address.", "ann@example.org"), "maxLength", 1024);
    vec![("owner", or_null(with(with(owner, "minLength", 1), "maxLength", 256))), ("email", or_null(email))]
}

fn fresh_address() -> Value {
    let pattern = text("The pattern of the settings that covers the domain; null if it has a name of its own.", "*");
    let address = address("The address: 17 random characters, behind the prefix and a hyphen.");
    object(
        "A fresh address.",
        [("address", address), ("domain", domain("Its domain.")), ("pattern", or_null(pattern))],
        [],
    )
}

fn mx_report() -> Value {
    object(
        "What the DNS says about a domain.",
        [
            ("ok", flag("Whether the domain's mail comes here.")),
            (
                "message",
                text("What was found, and which record to create if the mail goes elsewhere.", "MX points here"),
            ),
            ("domain", domain("The domain.")),
            ("expected", texts("The records of which the domain needs at least one, as lines of a zone file.")),
            ("found", texts("The MX records that were found, as lines of a zone file.")),
        ],
        [],
    )
}

fn round() -> Value {
    object(
        "The result of one round of checks, in numbers of domains.",
        [
            ("checked", count("Checked.")),
            ("deactivated", count("Deactivated, because their MX points elsewhere.")),
            ("reactivated", count("Active again, because their MX points here again.")),
            ("failed", count("Without an answer from the DNS.")),
            ("heldBack", count("Still active although their MX points elsewhere, because there were too many.")),
        ],
        [],
    )
}
