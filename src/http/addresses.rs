//! `GET /api/addresses/random`: an address that nobody can guess, on an active domain.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde_json::{Value, json};

use super::domains::check_served;
use super::{Answer, Api, Caller, Code, Problem, Query};
use crate::config::Accept;
use crate::domains::DomainEntry;
use crate::model::{Address, DomainName, DomainPattern, DomainStatus};
use crate::random::{self, LocalPartPrefix};

/// Where an address is if every domain is served. Nobody can register this name (RFC 2606).
const RESERVED: &str = "example.test";

/// A domain for a fresh address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) domain: DomainName,
    /// The pattern of the settings that covers the domain, if the domain was not chosen by its own name.
    pattern: Option<String>,
}

/// Answers with the address. A mailbox needs no creation. Refuses where no public address takes mail.
pub(super) async fn random(State(api): State<Arc<Api>>, mut caller: Caller, query: Query) -> Answer<Value> {
    if !has_public_inboxes(&api) {
        let detail = "this service takes mail for private inboxes only; make one with POST /api/addresses, or with \
            'tempmail new --private'";
        return Err(Problem::new(Code::PrivateOnly, detail));
    }
    let prefix = query.opt("prefix")?;
    let Place { domain, pattern } = chosen_or(&api, query.opt("domain")?)?;
    let address = fresh(prefix.as_ref(), &domain)?;
    api.mailbox(&mut caller, &address).await?;
    Ok(Json(json!({ "address": address.to_string(), "domain": domain, "pattern": pattern })))
}

/// Whether addresses take mail that are neither private nor of a role.
pub(super) fn has_public_inboxes(api: &Api) -> bool {
    api.config.leases.accept != Accept::Leased
}

/// An address that nobody can guess, and that nobody has: it has 80 random bits.
pub(super) fn fresh(prefix: Option<&LocalPartPrefix>, domain: &DomainName) -> Result<Address, Problem> {
    Address::new(&random::local_part(prefix), domain.clone()).map_err(|_| Problem::internal())
}

/// The domain that a caller wants, or one of the best.
pub(super) fn chosen_or(api: &Api, wanted: Option<DomainName>) -> Result<Place, Problem> {
    let Some(domain) = wanted else { return chosen(&api.domains.table.list()).ok_or_else(no_domain) };
    check_served(api, &domain)?;
    Ok(Place { domain, pattern: None })
}

fn no_domain() -> Problem {
    Problem::new(Code::DomainUnknown, "no domain is active; register one, or start the service with --domain")
}

/// One of the best domains at random.
///
/// Best are those of the administrator, and of them those with a name. Whoever registered another one can point its MX
/// elsewhere at any time, and then gets the mail of its addresses.
fn chosen(entries: &[DomainEntry]) -> Option<Place> {
    let active = entries.iter().filter(|entry| entry.status() == DomainStatus::Active);
    let ranked = active.filter_map(|entry| {
        let place = place(entry)?;
        let is_of_administrator = entry.record.as_ref().is_none_or(|record| record.pinned);
        Some(((is_of_administrator, place.pattern.is_none(), rand::random::<u64>()), place))
    });
    ranked.max_by_key(|(rank, _)| *rank).map(|(_, place)| place)
}

/// The domain of an entry, or one that its pattern covers.
fn place(entry: &DomainEntry) -> Option<Place> {
    let (domain, pattern) = match entry.domain.parse().ok()? {
        DomainPattern::Exact(name) => (name, None),
        DomainPattern::Below(parent) => (format!("mail.{parent}").parse().ok()?, Some(entry.domain.clone())),
        DomainPattern::Any => (RESERVED.parse().ok()?, Some(entry.domain.clone())),
    };
    Some(Place { domain, pattern })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{DomainRecord, Timestamp};

    fn entry(domain: &str, status: DomainStatus, pinned: bool) -> DomainEntry {
        let record = DomainRecord::new(domain.parse().expect("name"), Timestamp::from_millis(0));
        let record = DomainRecord { status, pinned, ..record };
        DomainEntry { domain: domain.to_owned(), record: Some(Arc::new(record)) }
    }

    #[test]
    fn a_domain_of_a_stranger_is_the_last_choice() {
        let stranger = entry("stranger.example", DomainStatus::Active, false);
        let gone = entry("gone.example", DomainStatus::Deactivated, false);
        let own = entry("own.example", DomainStatus::Active, true);
        let chosen = |entries: &[&DomainEntry]| {
            let entries: Vec<DomainEntry> = entries.iter().map(|&entry| entry.clone()).collect();
            chosen(&entries).map(|place| place.domain.to_string())
        };
        for _ in 0..20 {
            assert_eq!(chosen(&[&stranger, &own, &gone]).as_deref(), Some("own.example"));
        }
        assert_eq!(chosen(&[&stranger, &gone]).as_deref(), Some("stranger.example"));
        assert_eq!(chosen(&[&gone]), None);
    }
}
