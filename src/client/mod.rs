//! The client of the service: one call that takes and gives JSON, over TCP or through the daemon's socket.
//!
//! The command line decides what it shows of an answer. Only a mail has a type of its own.
//!
//! ```text
//! destination   where a command is carried out       server      address, token and authorities
//! transport     how a request gets there             problem     what can go wrong
//! pages         a list, page by page                 mail        the typed view     backup   a backup on its way
//! leases        private inboxes                      keys        their keys, in a file of the user
//! wait          mail as it arrives                   events      what happens to mail, by server-sent events (sse)
//! backoff       pauses before a service that could not answer is asked again
//! offline       work on a store without a daemon     cluster     the store in a cluster     smtp   hands a message to a receiver
//! ```

mod backoff;
mod backup;
mod cluster;
mod destination;
mod events;
mod keys;
mod leases;
mod mail;
mod offline;
mod pages;
mod problem;
mod server;
pub mod smtp;
mod sse;
mod transport;
mod wait;

use std::fmt::{Display, Write as _};

use bytes::Bytes;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::model::{Address, DomainName, EmailId};

pub use axum::http::Method;
pub use backoff::Backoff;
pub use backup::Backup;
pub(crate) use cluster::{check_cluster, restore_into_cluster};
pub use destination::{Destination, SYSTEM_SOCKET, choose, daemon_socket, data_dir, is_running, socket_path};
pub use events::Events;
pub use keys::KeyFile;
pub use leases::LEASES;
pub use mail::{Mail, MailPage, number, text, texts};
pub(crate) use offline::back_up;
pub use offline::{BackupCounts, CheckReport, Finding, OfflineStore, ProgressCallback, Salvaged};
pub use pages::{ALL_MAIL, List, MAIL, MAILBOXES, Page, Pages, WEBHOOKS};
pub use problem::{ClientError, Failure, Problem};
pub use server::{Access, ServerUrl, Token, authorities};
pub use transport::Transport;
pub use wait::{Arrivals, WaitQuery};

use leases::Kept;
use transport::ApiResponse;

/// The parameters of a query; one without a value is left out.
pub type Query = Vec<(&'static str, Option<String>)>;

/// The fields of a mail in a list that need no body.
pub const BRIEF: &str = "id,recipient,from,subject,receivedAt";

/// The service. Every method's error is a [`ClientError`].
#[derive(Debug)]
pub struct Client {
    transport: Transport,
    /// Where the key that it bears is kept.
    kept: Option<Kept>,
}

impl Client {
    /// A client that asks through `transport`.
    pub const fn new(transport: Transport) -> Self {
        Self { transport, kept: None }
    }

    /// How the service is reached.
    pub const fn transport(&self) -> &Transport {
        &self.transport
    }

    /// Whether the administrator's operations can be expected to be permitted.
    pub fn is_administrator(&self) -> bool {
        self.transport.is_administrator()
    }

    /// The answer to a request. An answer without content is `null`.
    pub async fn call<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        query: &[(&str, Option<String>)],
        body: Option<Value>,
    ) -> Result<T, ClientError> {
        self.read(&self.ask(method, &with_query(path, query), body).await?)
    }

    /// Asks for something to be made; whether it was, or was there already.
    pub async fn post(&self, path: &str, body: Value) -> Result<(Value, bool), ClientError> {
        let answer = self.ask(Method::POST, path, Some(body)).await?;
        Ok((self.read(&answer)?, answer.status == 201))
    }

    /// The answer to a question.
    pub async fn get<T: DeserializeOwned>(
        &self,
        path: &str,
        query: &[(&str, Option<String>)],
    ) -> Result<T, ClientError> {
        self.call(Method::GET, path, query, None).await
    }

    /// Deletes what a query names; how many there were.
    pub async fn delete(&self, path: &str, query: &[(&str, Option<String>)]) -> Result<u64, ClientError> {
        #[derive(Deserialize)]
        struct Deleted {
            deleted: u64,
        }
        Ok(self.call::<Deleted>(Method::DELETE, path, query, None).await?.deleted)
    }

    /// An answer that is no JSON.
    pub async fn octets(&self, path: &str) -> Result<Bytes, ClientError> {
        Ok(self.ask(Method::GET, path, None).await?.body)
    }

    /// One mail with all that is known of it.
    pub async fn email(&self, id: EmailId) -> Result<Mail, ClientError> {
        let mail = self.mail(&format!("/api/mail/messages/{id}"), &[]).await?;
        mail.ok_or_else(|| self.unintelligible("its answer has no mail".to_owned()))
    }

    /// The mail in an answer; `None` if it has no content.
    async fn mail(&self, path: &str, query: &[(&str, Option<String>)]) -> Result<Option<Mail>, ClientError> {
        let mail: Value = self.get(path, query).await?;
        match mail["id"].as_str() {
            Some(_) => Ok(Some(Mail(mail))),
            None if mail.is_null() => Ok(None),
            None => Err(self.unintelligible("its mail has no 'id'".to_owned())),
        }
    }

    /// One message as received, with the trace fields that delivery adds.
    pub async fn raw(&self, id: &impl Display) -> Result<Bytes, ClientError> {
        self.octets(&format!("/api/mail/messages/{id}/raw")).await
    }

    /// The newest mails of an address, at most `limit`, without their bodies, and how many there are in all.
    pub async fn newest(&self, to: &Address, limit: u64) -> Result<MailPage, ClientError> {
        let fields = [("to", to.to_string()), ("limit", limit.to_string()), ("fields", BRIEF.to_owned())];
        self.get("/api/mail/messages", &fields.map(|(name, value)| (name, Some(value)))).await
    }

    /// The id of the newest mail of an address.
    pub async fn newest_id(&self, to: &Address) -> Result<Option<EmailId>, ClientError> {
        let page = self.newest(to, 1).await?;
        let Some(mail) = page.emails.first() else { return Ok(None) };
        let id = text(mail, "id").parse();
        id.map(Some).map_err(|_| self.unintelligible("its newest mail has no 'id'".to_owned()))
    }

    /// A fresh address, with what else the service says of it.
    pub async fn random_address(
        &self,
        domain: Option<&DomainName>,
        prefix: Option<&str>,
    ) -> Result<Value, ClientError> {
        let query = [("domain", domain.map(ToString::to_string)), ("prefix", prefix.map(str::to_owned))];
        self.with_address(self.get("/api/addresses/random", &query).await?)
    }

    /// An answer that must have an address.
    fn with_address(&self, answer: Value) -> Result<Value, ClientError> {
        if text(&answer, "address").is_empty() {
            return Err(self.unintelligible("its answer has no 'address'".to_owned()));
        }
        Ok(answer)
    }

    /// What the daemon is, where it listens and how much it keeps. The administrator's.
    ///
    /// It has a `version`, a `hostname` and `maxMessageOctets`.
    pub async fn status(&self) -> Result<Value, ClientError> {
        let status: Value = self.get("/api/admin/status", &[]).await?;
        let is_whole =
            status["version"].is_string() && status["hostname"].is_string() && status["maxMessageOctets"].is_u64();
        if is_whole { Ok(status) } else { Err(self.unintelligible("its answer is no status".to_owned())) }
    }

    /// Whether the store and the listeners are ready. `false` is an answer, not an error.
    pub async fn ready(&self) -> Result<bool, ClientError> {
        match self.transport.send(Method::GET, "/readyz", None).await?.status {
            200..=299 => Ok(true),
            503 => Ok(false),
            status => Err(self.unintelligible(format!("/readyz gave status {status}"))),
        }
    }

    /// The answer of a success; anything else is an error.
    async fn ask(&self, method: Method, path: &str, body: Option<Value>) -> Result<ApiResponse, ClientError> {
        let sent = self.transport.token();
        let answer = match self.once(&method, path, body.as_ref()).await {
            Err(error) if self.has_lapsed(sent, &error).await => self.once(&method, path, body.as_ref()).await,
            answer => answer,
        };
        match answer {
            Err(error) if error.is("unknown_path") && self.is_beside_the_interface().await => {
                Err(self.failure(Failure::WrongBase))
            }
            result => result,
        }
    }

    async fn once(&self, method: &Method, path: &str, body: Option<&Value>) -> Result<ApiResponse, ClientError> {
        self.accepted(self.transport.send(method.clone(), path, body).await?)
    }

    /// Whether even a path that every service has is unknown.
    async fn is_beside_the_interface(&self) -> bool {
        let answer = self.transport.send(Method::GET, "/api/domains/active", None).await;
        answer.and_then(|answer| self.accepted(answer)).is_err_and(|error| error.is("unknown_path"))
    }

    fn accepted(&self, answer: ApiResponse) -> Result<ApiResponse, ClientError> {
        match answer.status {
            200..=299 => Ok(answer),
            300..=399 if let Some(location) = answer.location => Err(self.failure(Failure::Redirected(location))),
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
        let json = if answer.status == 204 { b"null" } else { &answer.body[..] };
        serde_json::from_slice(json).map_err(|error| self.unintelligible(error.to_string()))
    }

    fn unintelligible(&self, reason: String) -> ClientError {
        self.failure(Failure::Unintelligible(reason))
    }

    fn failure(&self, why: Failure) -> ClientError {
        self.transport.failure(why)
    }
}

/// A path with its query, of which nothing stays when no value is given.
///
/// Everything but RFC 3986's unreserved characters is percent-encoded: in a query of the interface a `+` is a plus and a
/// blank is `%20`, unlike in a form.
fn with_query(path: &str, query: &[(&str, Option<String>)]) -> String {
    let mut text = path.to_owned();
    let mut separator = '?';
    for (name, value) in query.iter().filter_map(|(name, value)| Some((name, value.as_ref()?))) {
        text.push(separator);
        separator = '&';
        text.push_str(name);
        text.push('=');
        for octet in value.bytes() {
            match octet {
                b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => text.push(char::from(octet)),
                _ => {
                    // Writing to a String does not fail.
                    let _ = write!(text, "%{octet:02X}");
                }
            }
        }
    }
    text
}

#[cfg(test)]
mod tests;
