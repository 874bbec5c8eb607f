//! Domains, for everybody.

use super::operation::Operation;
use super::schema::{domain, list, reference, text, with};
use crate::http::problem::Code;

/// What a question to DNS can fail with.
pub(super) const DNS: &[Code] = &[Code::DomainInvalid, Code::MxHostUnset, Code::DnsUnavailable, Code::DnsBusy];
/// What the registration of a domain can fail with beside that.
pub(super) const REGISTRATION: &[Code] = &[
    Code::OwnerInvalid,
    Code::EmailInvalid,
    Code::MxMismatch,
    Code::TooManyDomains,
    Code::TooManyDomainsForClient,
    Code::DomainFixed,
    Code::StoreUnavailable,
    Code::StorageFull,
];

pub(super) fn operations() -> Vec<Operation> {
    vec![
        Operation::get("/api/domains", "listDomains", "List all domains")
            .json(200, "The domains.", list("The domains.", reference("Domain")))
            .fails(&[Code::StoreUnavailable]),
        Operation::post("/api/domains", "registerDomain", "Register a domain whose MX record points to this service")
            .about("A domain that is registered is checked again.")
            .closable()
            .body("NewDomain")
            .json(200, "The domain was registered before, and was checked again.", reference("Domain"))
            .json(201, "The domain is registered.", reference("Domain"))
            .fails(DNS)
            .fails(REGISTRATION),
        Operation::get("/api/domains/active", "listActiveDomains", "List the names of the active domains").json(
            200,
            "The names, sorted.",
            list("The names.", domain("A name.")),
        ),
        Operation::get("/api/addresses/random", "getRandomAddress", "Make an address that nobody can guess")
            .about("It is on one of the administrator's domains if there is one. Nothing is created or stored.")
            .takes("domain", domain("The domain, which must be active."))
            .takes("prefix", with(text("What the address begins with.", "signup"), "maxLength", 32))
            .json(200, "The address.", reference("FreshAddress"))
            .fails(&[Code::DomainInvalid, Code::DomainUnknown, Code::PrefixInvalid, Code::StoreUnavailable]),
        Operation::get("/api/domains/check-dns", "checkDns", "Check whether a domain's MX record points here")
            .needs("domain", domain("The domain."))
            .json(200, "What was found and what is expected.", reference("MxReport"))
            .fails(DNS),
    ]
}
