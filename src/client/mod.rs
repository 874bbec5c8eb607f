//! One client, one method per operation, three transports.
//!
//! A method has the noun of its path in the interface, and returns the interface's own fields. The command line decides
//! what it shows of them.
//!
//! ```text
//! choice     which transport          transport   TCP, the daemon's socket, or a router in this process (`local`)
//! email, mail, domain, webhook, token, fault, status, backup   the operations by noun     wait   mail as it arrives
//! events     what happens to mail, by server-sent events (sse)       backoff    pauses before a service that could not answer is asked again
//! server     address and token        problem     what can go wrong
//! offline    work on a store without a daemon       cluster     the store in a cluster       smtp   hands a message to a receiver
//! ```

mod backoff;
mod backup;
mod choice;
mod cluster;
mod domain;
mod email;
mod events;
mod fault;
mod local;
mod mail;
mod offline;
mod problem;
mod server;
pub mod smtp;
mod sse;
mod status;
mod token;
mod transport;
mod wait;
mod webhook;

use std::collections::BTreeSet;
use std::fmt::Write as _;

use axum::http::Method;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::config::SettingInEffect;
use crate::dns::MxReport;
use crate::model::{Address, DomainName, EmailId};

pub use backoff::Backoff;
pub use backup::Backup;
pub use choice::{Destination, LOCK_TIMEOUT, SYSTEM_SOCKET, choose, daemon, daemon_socket, running, socket_path};
pub use cluster::{check_cluster, restore_into_cluster};
pub use domain::{AddedDomain, Domain, FreshAddress, NewDomain, Round};
pub use email::{Attachment, Email, EmailBatch, EmailDetail, EmailPage, Header, Link, MailFilter, OneTimeCode};
pub use events::{Events, MailEvent};
pub use fault::FaultEntry;
pub use local::{Assembly, LocalRouter, OpenRouter, OpenRouterError, data_dir};
pub use mail::{AllQuery, MailboxEntry, MailboxesPage, NewestEmail, NewestPage};
pub use offline::{BackupCounts, CheckReport, Finding, OfflineStore, ProgressCallback, Salvaged};
pub use problem::{ClientError, Problem};
pub use server::{ServerUrl, ServerUrlError, Token};
pub use status::{DomainCounts, Status};
pub use token::{NewToken, TokenEntry};
pub use transport::{Transport, Wire};
pub use wait::WaitQuery;
pub use webhook::{AddedWebhook, NewWebhook, Replay, Replayed, Webhook, WebhookDelivery, WebhookFilter};

use transport::{ApiRequest, ApiResponse};

/// The largest answer that holds mail: a page of messages comes with their bodies.
const MAIL_OCTETS_MAX: usize = 256 * 1024 * 1024;
/// The largest other answer: a list of 10,000 domains is about 3 MB.
const OCTETS_MAX: usize = 16 * 1024 * 1024;

/// The operations of the service. Every method's error is a [`ClientError`].
#[derive(Debug)]
pub struct Client {
    transport: Transport,
}

impl Client {
    /// A client that asks through `transport`.
    pub const fn new(transport: Transport) -> Self {
        Self { transport }
    }

    /// How the service is reached.
    pub const fn transport(&self) -> &Transport {
        &self.transport
    }

    /// Whether the administrator's operations can be expected to be permitted.
    pub const fn is_administrator(&self) -> bool {
        self.transport.is_administrator()
    }

    /// Closes what this process opened. Without it nothing is lost, only the next start takes longer.
    pub async fn close(self) {
        if let Transport::InProcess(local) = self.transport {
            (local.close)().await;
        }
    }

    /// One page of the Emails of an address, newest first. Pages count from 1; the server's defaults stand for `None`.
    pub async fn list(&self, to: &Address, page: Option<u64>, limit: Option<u64>) -> Result<EmailPage, ClientError> {
        self.search(to, page, limit, &MailFilter::default()).await
    }

    /// A page of those Emails of an address that pass a filter, newest first.
    pub async fn search(
        &self,
        to: &Address,
        page: Option<u64>,
        limit: Option<u64>,
        filter: &MailFilter,
    ) -> Result<EmailPage, ClientError> {
        let number = |value: Option<u64>| value.map(|number| number.to_string());
        let mut pairs = vec![("to", Some(to.to_string())), ("page", number(page)), ("limit", number(limit))];
        pairs.extend(filter.pairs());
        self.get(format!("/api/mail/messages{}", query(&pairs)), MAIL_OCTETS_MAX).await
    }

    /// The Emails of an address behind `cursor` that pass a filter, at most `limit`, newest first. The empty cursor stands before
    /// all; `is_brief` leaves the bodies out.
    pub async fn list_from(
        &self,
        to: &Address,
        cursor: &str,
        limit: u64,
        filter: &MailFilter,
        is_brief: bool,
    ) -> Result<EmailBatch, ClientError> {
        let mut pairs = vec![
            ("to", Some(to.to_string())),
            ("cursor", Some(cursor.to_owned())),
            ("limit", Some(limit.to_string())),
            ("fields", is_brief.then(|| "id,recipient,from,subject,receivedAt".to_owned())),
        ];
        pairs.extend(filter.pairs());
        self.get(format!("/api/mail/messages{}", query(&pairs)), MAIL_OCTETS_MAX).await
    }

    /// One Email with all that is known of it.
    pub async fn email(&self, id: EmailId) -> Result<EmailDetail, ClientError> {
        self.get(format!("/api/mail/messages/{id}"), MAIL_OCTETS_MAX).await
    }

    /// One message as received, with the trace fields that delivery adds.
    pub async fn raw(&self, id: EmailId) -> Result<bytes::Bytes, ClientError> {
        self.octets(format!("/api/mail/messages/{id}/raw")).await
    }

    /// The octets of one attachment.
    pub async fn attachment(&self, id: EmailId, index: u64) -> Result<bytes::Bytes, ClientError> {
        self.octets(format!("/api/mail/messages/{id}/attachments/{index}")).await
    }

    async fn octets(&self, path: String) -> Result<bytes::Bytes, ClientError> {
        let request = ApiRequest { method: Method::GET, path, body: None, octets_max: MAIL_OCTETS_MAX };
        Ok(self.ask(request).await?.body)
    }

    /// Deletes the Emails of an address; how many there were.
    pub async fn delete_all(&self, to: &Address) -> Result<u64, ClientError> {
        self.delete(format!("/api/mail/delete{}", query(&[("to", Some(to.to_string()))]))).await
    }

    /// Deletes one Email; `false` if there is none of this id.
    pub async fn delete_email(&self, id: EmailId) -> Result<bool, ClientError> {
        Ok(self.delete(format!("/api/mail/delete{}", query(&[("id", Some(id.to_string()))]))).await? > 0)
    }

    /// Deletes Emails, at most 100; the ids that named none. If one is refused, none is deleted.
    pub async fn delete_emails(&self, ids: &[EmailId]) -> Result<Vec<EmailId>, ClientError> {
        let pairs: Vec<_> = ids.iter().map(|id| ("id", Some(id.to_string()))).collect();
        let named = ids.iter().collect::<BTreeSet<_>>().len() as u64;
        let Deleted { deleted, missing } = self.deleted(format!("/api/mail/delete{}", query(&pairs))).await?;
        match ids {
            [id] if deleted == 0 => Ok(vec![*id]),
            _ if missing.len() as u64 + deleted == named => Ok(missing),
            _ => Err(self.unintelligible("it does not say which of the ids named no mail".to_owned())),
        }
    }

    /// Every domain, without its owner's data.
    pub async fn domains(&self) -> Result<Vec<Domain>, ClientError> {
        self.get("/api/domains".to_owned(), OCTETS_MAX).await
    }

    /// The names of the active domains. Wildcards are no names and are not among them.
    pub async fn active_domains(&self) -> Result<Vec<String>, ClientError> {
        self.get("/api/domains/active".to_owned(), OCTETS_MAX).await
    }

    /// An address that nobody can guess, on this domain or on one that the server chooses.
    pub async fn random_address(
        &self,
        domain: Option<&DomainName>,
        prefix: Option<&str>,
    ) -> Result<FreshAddress, ClientError> {
        let domain = domain.map(ToString::to_string);
        let query = query(&[("domain", domain), ("prefix", prefix.map(str::to_owned))]);
        self.get(format!("/api/addresses/random{query}"), OCTETS_MAX).await
    }

    /// Registers a domain whose MX points at the service.
    pub async fn add_domain(&self, new: &NewDomain) -> Result<AddedDomain, ClientError> {
        self.post_domain("/api/domains", json!(new)).await
    }

    /// Asks whether the MX of a domain points at the service.
    pub async fn check_dns(&self, name: &DomainName) -> Result<MxReport, ClientError> {
        let query = query(&[("domain", Some(name.to_string()))]);
        self.get(format!("/api/domains/check-dns{query}"), OCTETS_MAX).await
    }

    /// Every domain with its owner's data. The administrator's.
    pub async fn admin_domains(&self) -> Result<Vec<Domain>, ClientError> {
        self.get("/api/admin/domains".to_owned(), OCTETS_MAX).await
    }

    /// Registers a domain without asking DNS, now or ever. The administrator's.
    pub async fn pin_domain(&self, new: &NewDomain) -> Result<AddedDomain, ClientError> {
        let mut body = json!(new);
        body["skipDnsCheck"] = Value::Bool(true);
        self.post_domain("/api/admin/domains", body).await
    }

    /// Removes a domain; `false` if it was not registered. Its mail stays until it expires. The administrator's.
    pub async fn remove_domain(&self, name: &DomainName) -> Result<bool, ClientError> {
        let query = query(&[("domain", Some(name.to_string()))]);
        Ok(self.delete(format!("/api/admin/domains{query}")).await? > 0)
    }

    /// Verifies the MX of one domain, or of every one, now; `force` deactivates however many it finds. The
    /// administrator's.
    pub async fn verify_domains(&self, name: Option<&DomainName>, force: bool) -> Result<Round, ClientError> {
        let query = query(&[("domain", name.map(ToString::to_string)), ("force", force.then(|| "true".to_owned()))]);
        let path = format!("/api/admin/domains/verify{query}");
        self.read(&self.ask(ApiRequest { method: Method::POST, path, body: None, octets_max: OCTETS_MAX }).await?)
    }

    /// What the daemon is, where it listens and how much it keeps. The administrator's.
    pub async fn status(&self) -> Result<Status, ClientError> {
        self.get("/api/admin/status".to_owned(), OCTETS_MAX).await
    }

    /// Every setting in effect. The administrator's.
    pub async fn config(&self) -> Result<Vec<SettingInEffect>, ClientError> {
        self.get("/api/admin/config".to_owned(), OCTETS_MAX).await
    }

    /// Whether the store and the listeners are ready. `false` is an answer, not an error.
    pub async fn ready(&self) -> Result<bool, ClientError> {
        let request =
            ApiRequest { method: Method::GET, path: "/readyz".to_owned(), body: None, octets_max: OCTETS_MAX };
        match self.transport.send(request).await?.status {
            200..=299 => Ok(true),
            503 => Ok(false),
            status => Err(self.unintelligible(format!("/readyz gave status {status}"))),
        }
    }

    async fn post_domain(&self, path: &str, body: Value) -> Result<AddedDomain, ClientError> {
        let request =
            ApiRequest { method: Method::POST, path: path.to_owned(), body: Some(body), octets_max: OCTETS_MAX };
        let answer = self.ask(request).await?;
        Ok(AddedDomain { domain: self.read(&answer)?, is_new: answer.status == 201 })
    }

    async fn get<T: DeserializeOwned>(&self, path: String, octets_max: usize) -> Result<T, ClientError> {
        self.read(&self.ask(ApiRequest { method: Method::GET, path, body: None, octets_max }).await?)
    }

    async fn delete(&self, path: String) -> Result<u64, ClientError> {
        Ok(self.deleted(path).await?.deleted)
    }

    async fn deleted(&self, path: String) -> Result<Deleted, ClientError> {
        self.read(&self.ask(ApiRequest { method: Method::DELETE, path, body: None, octets_max: OCTETS_MAX }).await?)
    }

    /// The answer of a success; anything else is an error.
    async fn ask(&self, request: ApiRequest) -> Result<ApiResponse, ClientError> {
        match self.accepted(self.transport.send(request).await?) {
            Err(error) if error.is("unknown_path") && self.is_beside_the_interface().await => {
                Err(ClientError::WrongBase { server: self.transport.shown().to_owned() })
            }
            result => result,
        }
    }

    /// Whether even a path that every service has is unknown.
    async fn is_beside_the_interface(&self) -> bool {
        let path = "/api/domains/active".to_owned();
        let request = ApiRequest { method: Method::GET, path, body: None, octets_max: OCTETS_MAX };
        let answer = self.transport.send(request).await.and_then(|answer| self.accepted(answer));
        answer.is_err_and(|error| error.is("unknown_path"))
    }

    fn accepted(&self, answer: ApiResponse) -> Result<ApiResponse, ClientError> {
        match answer.status {
            200..=299 => Ok(answer),
            300..=399 if answer.location.is_some() => Err(ClientError::Redirected {
                server: self.transport.shown().to_owned(),
                location: answer.location.unwrap_or_default(),
            }),
            status if answer.content_type.starts_with("application/problem+json") => {
                let mut problem: Problem = self.read(&answer)?;
                problem.status = status;
                problem.retry_after = answer.retry_after;
                Err(ClientError::Refused(problem))
            }
            status => Err(self.unintelligible(format!("it gave status {status} without a problem description"))),
        }
    }

    fn read<T: DeserializeOwned>(&self, answer: &ApiResponse) -> Result<T, ClientError> {
        serde_json::from_slice(&answer.body).map_err(|error| self.unintelligible(error.to_string()))
    }

    fn unintelligible(&self, reason: String) -> ClientError {
        ClientError::Unintelligible { server: self.transport.shown().to_owned(), reason }
    }
}

/// What was deleted.
#[derive(Deserialize)]
struct Deleted {
    deleted: u64,
    #[serde(default)]
    missing: Vec<EmailId>,
}

/// A query string with its `?`, empty when no value is given.
///
/// Everything but RFC 3986's unreserved characters is percent-encoded: in a query of the interface a `+` is a plus and a
/// blank is `%20`, unlike in a form.
fn query(pairs: &[(&str, Option<String>)]) -> String {
    let mut query = String::new();
    for (name, value) in pairs.iter().filter_map(|(name, value)| Some((name, value.as_ref()?))) {
        query.push(if query.is_empty() { '?' } else { '&' });
        query.push_str(name);
        query.push('=');
        for octet in value.bytes() {
            match octet {
                b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => query.push(char::from(octet)),
                _ => {
                    // Writing to a String does not fail.
                    let _ = write!(query, "%{octet:02X}");
                }
            }
        }
    }
    query
}

#[cfg(test)]
mod tests;
