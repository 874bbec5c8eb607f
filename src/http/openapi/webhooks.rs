//! Webhooks, for everybody. Revision 1 has none.

use super::operation::Operation;
use super::schema::{address, list, reference, uuid};
use crate::http::problem::Code;

pub(super) fn operations() -> Vec<Operation> {
    vec![
        Operation::get("/api/webhooks", "listWebhooks", "List the webhooks of an address, oldest first")
            .about("Callers without a token see the origin of each URL only.")
            .closable()
            .needs("recipient", address("The address."))
            .json(200, "The webhooks.", list("The webhooks.", reference("Webhook")))
            .fails(&[Code::AddressInvalid, Code::RoleAddress, Code::StoreUnavailable]),
        Operation::post("/api/webhooks", "registerWebhook", "Register a webhook for an address")
            .closable()
            .body("NewWebhook")
            .json(200, "The same recipient, URL and secret were registered before.", reference("RegisteredWebhook"))
            .json(201, "The webhook is registered.", reference("RegisteredWebhook"))
            .fails(&[Code::AddressInvalid, Code::SecretInvalid, Code::UrlInvalid, Code::UrlNotAllowed])
            .fails(&[Code::UrlPortNotAllowed, Code::UrlOwnListener, Code::RoleAddress, Code::DomainUnknown])
            .fails(&[Code::DomainInvalid, Code::TooManyWebhooks, Code::TooManyWebhooksForRecipient])
            .fails(&[Code::TooManyWebhooksForClient, Code::StoreUnavailable, Code::StorageFull]),
        Operation::delete("/api/webhooks", "deleteWebhook", "Delete a webhook")
            .about("An unknown id is no error.")
            .closable()
            .needs("id", uuid("The id of the webhook."))
            .json(200, "How many were deleted: 1 or 0.", reference("Deleted"))
            .fails(&[Code::IdInvalid, Code::RoleAddress, Code::StoreUnavailable, Code::StorageFull]),
    ]
}
