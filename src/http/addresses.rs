//! `GET /api/addresses/random`: an address that nobody can guess, on an active domain.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::Serialize;

use super::Api;
use super::problem::{Code, Problem};
use super::query::Query;
use crate::domains::DomainEntry;
use crate::model::{Address, DomainName, DomainPattern, DomainStatus};
use crate::random;

/// Where an address is if every domain is served. Nobody can register this name (RFC 2606).
const RESERVED: &str = "example.test";

/// A fresh address.
#[derive(Debug, Serialize)]
pub(super) struct FreshAddress {
    address: String,
    domain: DomainName,
    /// The pattern of the settings that covers the domain, if the domain was not chosen by its own name.
    pattern: Option<String>,
}

/// A domain for a fresh address.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Place {
    domain: DomainName,
    pattern: Option<String>,
}

/// Answers with the address. Nothing is stored: a mailbox needs no creation.
pub(super) async fn random(State(api): State<Arc<Api>>, query: Query) -> Result<Json<FreshAddress>, Problem> {
    let prefix = query.get("prefix")?.map(str::parse).transpose();
    let prefix = prefix.map_err(|error| Problem::new(Code::PrefixInvalid, format!("'prefix': {error}")))?;
    let Place { domain, pattern } = match query.get("domain")? {
        Some(_) => served(&api, query.domain("domain")?)?,
        None => chosen(&api.domains.table.list()).ok_or_else(no_domain)?,
    };
    let address =
        Address::new(&random::local_part(prefix.as_ref()), domain.clone()).map_err(|_| Problem::internal())?;
    Ok(Json(FreshAddress { address: address.to_string(), domain, pattern }))
}

fn served(api: &Api, domain: DomainName) -> Result<Place, Problem> {
    match api.domains.table.status(&domain) {
        Some(DomainStatus::Active) => Ok(Place { domain, pattern: None }),
        Some(DomainStatus::Deactivated) | None => {
            let detail = format!("no mail is received for {domain}; GET /api/domains/active lists the domains");
            Err(Problem::new(Code::DomainUnknown, detail))
        }
    }
}

fn no_domain() -> Problem {
    Problem::new(Code::DomainUnknown, "no domain is active; register one, or start the service with --domain")
}

/// One of the best domains at random.
///
/// Best are those of the administrator. Whoever registered another one can point its MX elsewhere at any time, and then
/// gets the mail of its addresses.
fn chosen(entries: &[DomainEntry]) -> Option<Place> {
    let active = || entries.iter().filter(|entry| entry.status() == DomainStatus::Active);
    let is_of_administrator = |entry: &&DomainEntry| entry.record.as_ref().is_none_or(|record| record.pinned);
    let of_administrator: Vec<Place> = active().filter(is_of_administrator).filter_map(place).collect();
    let by_name = of_administrator.iter().filter(|place| place.pattern.is_none()).cloned().collect();
    let others = active().filter_map(place).collect();
    let best = [by_name, of_administrator, others].into_iter().find(|places: &Vec<Place>| !places.is_empty())?;
    Some(best[rand::random_range(..best.len())].clone())
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
