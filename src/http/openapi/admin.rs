//! The paths of the administrator and of bearers of tokens.

use serde_json::{Value, json};

use super::domains::{DNS, REGISTRATION};
use super::operation::Operation;
use super::schema::{domain, flag, list, reference, text, uuid, whole, with};
use super::{octets, page_size};
use crate::http::problem::Code;

/// What a change of the store can fail with.
const WRITING: &[Code] = &[Code::StoreUnavailable, Code::StorageFull];

pub(super) fn operations() -> Vec<Operation> {
    let mut operations = vec![
        Operation::get("/api/admin/status", "getStatus", "The state of the daemon and of the store")
            .takes("history", flag("Whether to add the numbers of the last hour."))
            .json(200, "The state.", reference("Status"))
            .fails(&[Code::BooleanInvalid, Code::StoreUnavailable]),
        Operation::get("/api/admin/config", "getConfig", "Every setting in effect, and where its value comes from")
            .json(200, "The settings.", list("The settings.", reference("Setting"))),
        Operation::get("/api/admin/stats", "getStats", "Detailed counts of the store, from a reading of all its rows")
            .json(200, "The counts.", reference("Stats"))
            .fails(&[Code::StoreUnavailable]),
        Operation::get("/api/admin/backup", "getBackup", "A backup of the store")
            .about("A token with the scope `read` is not enough, since a backup has the secrets of webhooks.")
            .answer(200, "The file. `tempmail db restore` reads it.", "application/octet-stream", octets())
            .fails(&[Code::ScopeInsufficient, Code::StoreUnavailable]),
        all_mail(Operation::get(
            "/api/admin/messages",
            "listAllMessages",
            "List the mail of all addresses, newest first",
        ))
        .json(200, "A page.", reference("AllMessagesPage")),
        all_mail(Operation::get("/api/admin/mailboxes", "listMailboxes", "List the addresses that have mail")).json(
            200,
            "A page, in the order of the newest mail of each.",
            reference("MailboxPage"),
        ),
    ];
    operations.extend(of_domains());
    operations.extend(of_tokens());
    operations.extend(of_faults());
    operations
}

fn all_mail(operation: Operation) -> Operation {
    operation
        .about("A page can have fewer entries than `limit`, even none, while `next` is not null.")
        .takes("domain", domain("Only addresses of this domain."))
        .takes("after", text("`next` of the last answer.", ""))
        .takes("limit", page_size())
        .fails(&[Code::DomainInvalid, Code::PageInvalid, Code::LimitInvalid, Code::AfterInvalid])
        .fails(&[Code::Busy, Code::StoreUnavailable])
}

fn of_domains() -> Vec<Operation> {
    vec![
        Operation::get("/api/admin/domains", "listDomainsWithOwners", "List all domains with their owners")
            .json(200, "The domains.", list("The domains.", reference("AdminDomain")))
            .fails(&[Code::StoreUnavailable]),
        Operation::post("/api/admin/domains", "addDomain", "Register a domain, or pin it without a check")
            .body("NewAdminDomain")
            .json(200, "The domain was registered before.", reference("AdminDomain"))
            .json(201, "The domain is registered.", reference("AdminDomain"))
            .fails(DNS)
            .fails(REGISTRATION)
            .fails(&[Code::BooleanInvalid]),
        Operation::delete("/api/admin/domains", "removeDomain", "Remove a domain")
            .needs("domain", domain("The domain."))
            .json(200, "How many were removed: 1 or 0.", reference("Deleted"))
            .fails(&[Code::DomainInvalid, Code::DomainFixed])
            .fails(WRITING),
        Operation::post("/api/admin/domains/verify", "verifyDomains", "Check the MX records of one domain or all")
            .takes("domain", domain("The domain. Without it, all are checked."))
            .takes("force", flag("Deactivate domains however many point elsewhere."))
            .json(200, "What the round found.", reference("Round"))
            .fails(DNS)
            .fails(&[Code::BooleanInvalid, Code::NotFound, Code::DomainFixed])
            .fails(WRITING),
    ]
}

fn of_tokens() -> Vec<Operation> {
    vec![
        Operation::get("/api/admin/tokens", "listTokens", "List the tokens, in the order of creation").json(
            200,
            "The tokens without their secrets.",
            list("The tokens.", reference("Token")),
        ),
        Operation::post("/api/admin/tokens", "createToken", "Create a token")
            .body("NewToken")
            .json(201, "The token. No later answer has its secret.", reference("CreatedToken"))
            .fails(&[Code::NameInvalid, Code::ScopeInvalid, Code::ExpiryInvalid])
            .fails(&[Code::TokenNameTaken, Code::TooManyTokens])
            .fails(WRITING),
        Operation::delete("/api/admin/tokens", "revokeToken", "Revoke a token")
            .needs("id", text("The id or the name of the token.", "ci"))
            .json(200, "How many were revoked: 1 or 0.", reference("Deleted"))
            .fails(WRITING),
    ]
}

fn of_faults() -> Vec<Operation> {
    vec![
        Operation::get("/api/admin/faults", "listFaults", "List the rules for faults of SMTP")
            .json(200, "The rules, in the order in which they are checked.", list("The rules.", reference("Fault")))
            .fails(&[Code::NotReady]),
        Operation::post("/api/admin/faults", "addFault", "Add a rule for faults of SMTP")
            .about("The rule is in the memory of the daemon alone. The guide on SMTP has the form of rules.")
            .body("NewFault")
            .json(201, "The rule.", reference("Fault"))
            .fails(&[Code::FaultInvalid, Code::FaultsExposed, Code::TooManyFaults, Code::NotReady]),
        Operation::delete("/api/admin/faults", "removeFaults", "Remove one rule for faults of SMTP, or all")
            .about("A rule of the settings is back when the daemon starts again.")
            .takes("id", whole("The number of the rule. Without it, all are removed.", 1))
            .json(200, "How many were removed.", reference("Deleted"))
            .fails(&[Code::FaultInvalid, Code::NotReady]),
    ]
}

/// The operations on webhooks, which revision 1 does not have.
pub(super) fn webhooks() -> Vec<Operation> {
    let id = || uuid("The id of the webhook.");
    vec![
        Operation::get("/api/admin/webhooks", "listAllWebhooks", "List all webhooks, in the order of their ids")
            .takes("origin", origin("Only webhooks of this origin."))
            .takes("domain", domain("Only webhooks for addresses of this domain."))
            .takes("after", uuid("`next` of the last answer."))
            .takes("limit", limit("The size of the page. A larger number counts as 1000.", 100))
            .json(200, "A page.", reference("WebhookPage"))
            .fails(&[Code::UrlInvalid, Code::DomainInvalid, Code::IdInvalid, Code::LimitInvalid])
            .fails(&[Code::StoreUnavailable]),
        Operation::delete("/api/admin/webhooks", "deleteWebhooksOfOrigin", "Delete all webhooks of an origin")
            .needs("origin", origin("The origin."))
            .json(200, "How many were deleted.", reference("Deleted"))
            .fails(&[Code::UrlInvalid])
            .fails(WRITING),
        Operation::get("/api/admin/webhooks/{id}/deliveries", "listDeliveries", "The delivery log, newest first")
            .id_in_path(id())
            .takes("limit", limit("The most lines. A larger number counts as 100.", 100))
            .json(200, "The attempts.", list("The attempts.", reference("Delivery")))
            .fails(&[Code::LimitInvalid, Code::StoreUnavailable]),
        Operation::post("/api/admin/webhooks/{id}/replay", "replayEvents", "Send events again that have ended")
            .id_in_path(id())
            .body("Replay")
            .json(200, "How many are sent again.", reference("Replayed"))
            .fails(&[Code::BooleanInvalid, Code::TimeInvalid, Code::ParametersConflict])
            .fails(WRITING),
        Operation::post("/api/admin/webhooks/{id}/test", "testWebhook", "Send a sample event now")
            .id_in_path(id())
            .json(200, "The attempt.", reference("Delivery"))
            .fails(&[Code::WebhookBusy])
            .fails(WRITING),
    ]
}

fn origin(description: &str) -> Value {
    let text = text(&format!("{description} A URL stands for its origin."), "https://hooks.example:8443");
    with(text, "maxLength", 2048)
}

fn limit(description: &str, default: u64) -> Value {
    json!({ "type": "integer", "minimum": 1, "default": default, "description": description })
}
