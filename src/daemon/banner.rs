//! The message of the daemon at its start on a terminal: where it listens, and what to type next.

use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;

use super::Listeners;
use crate::config::value::{show_duration, show_size};
use crate::config::{Config, Endpoint};
use crate::model::DomainPattern;
use crate::tls::{Certificate, Keeper};

/// The facts of a start.
#[derive(Clone, Debug)]
pub struct Banner {
    smtp: Vec<SocketAddr>,
    smtps: Vec<SocketAddr>,
    lmtp: Vec<Endpoint>,
    http: Vec<SocketAddr>,
    https: Vec<SocketAddr>,
    /// Whether browsers get a page.
    has_page: bool,
    metrics: Vec<SocketAddr>,
    tls: Option<String>,
    data_dir: PathBuf,
    domains: Vec<String>,
    is_first_start: bool,
    retention: String,
    message_size: String,
    revision: u8,
    example: String,
    command: String,
}

impl Banner {
    pub(super) fn of(config: &Config, listeners: &Listeners, tls: Option<&Keeper>) -> Self {
        let is_first_start = config.domains.fixed == [super::example_domain()];
        let example = config.domains.fixed.iter().find_map(|pattern| match pattern {
            DomainPattern::Exact(name) => Some(name.to_string()),
            DomainPattern::Below(parent) => Some(format!("any.{parent}")),
            DomainPattern::Any => None,
        });
        Self {
            smtp: listeners.smtp_addresses(),
            smtps: listeners.smtps_addresses(),
            lmtp: listeners.lmtp_endpoints(),
            http: listeners.http_addresses(),
            https: listeners.https_addresses(),
            has_page: config.http.public.web,
            metrics: listeners.metrics_addresses(),
            tls: tls.map(|keeper| shown(&keeper.certificate())),
            data_dir: config.data_dir.clone(),
            domains: config.domains.fixed.iter().map(ToString::to_string).collect(),
            is_first_start,
            retention: show_duration(config.mail.retention),
            message_size: show_size(config.mail.message_octets_max),
            revision: config.revision.number(),
            example: example.unwrap_or_else(|| "example.test".into()),
            command: "tempmail".into(),
        }
    }
}

impl Banner {
    /// The message with `command` as the beginning of a command line that reaches this daemon.
    #[must_use]
    pub fn reached_by(self, command: String) -> Self {
        Self { command, ..self }
    }

    /// Writes it as one line of the log.
    pub fn log(&self) {
        tracing::info!(
            version = env!("CARGO_PKG_VERSION"),
            revision = self.revision,
            smtp = list(&self.smtp),
            smtps = list(&self.smtps),
            lmtp = list(&self.lmtp),
            http = list(&self.http),
            https = list(&self.https),
            metrics = list(&self.metrics),
            tls = self.tls.as_deref().unwrap_or_default(),
            data_dir = %self.data_dir.display(),
            domains = list(&self.domains),
            retention = self.retention,
            max_message_size = self.message_size,
            "ready"
        );
    }
}

fn shown(certificate: &Certificate) -> String {
    let names = certificate.names.join(", ");
    if certificate.is_self_signed {
        format!("{names} (self-signed)")
    } else {
        format!("{names} (valid until {})", certificate.not_after.to_rfc3339())
    }
}

fn list<T: ToString>(items: &[T]) -> String {
    items.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

impl fmt::Display for Banner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let version = env!("CARGO_PKG_VERSION");
        writeln!(f, "tempmail {version} is ready (revision {} of the interface)", self.revision)?;
        writeln!(f)?;
        writeln!(f, "  SMTP       {}", list(&self.smtp))?;
        if !self.smtps.is_empty() {
            writeln!(f, "  SMTPS      {}", list(&self.smtps))?;
        }
        if !self.lmtp.is_empty() {
            writeln!(f, "  LMTP       {}", list(&self.lmtp))?;
        }
        if let Some(tls) = &self.tls {
            writeln!(f, "  TLS        {tls}")?;
        }
        let urls: Vec<String> = self.http.iter().map(|address| format!("http://{address}")).collect();
        writeln!(f, "  HTTP       {}", list(&urls))?;
        if !self.https.is_empty() {
            writeln!(f, "  HTTPS      {}", list(&self.https))?;
        }
        if !self.metrics.is_empty() {
            writeln!(f, "  Metrics    {}", list(&self.metrics))?;
        }
        writeln!(f, "  data       {}", self.data_dir.display())?;
        writeln!(f, "  mail       kept for {}, at most {} each", self.retention, self.message_size)?;
        if self.domains.is_empty() {
            writeln!(f, "  domains    those that are registered: {} domain list", self.command)?;
        } else {
            writeln!(f, "  domains    {}", list(&self.domains))?;
        }
        if self.is_first_start {
            writeln!(f, "             reserved for tests (RFC 2606): it works here and nowhere on the Internet")?;
        }
        writeln!(f)?;
        writeln!(f, "Try in another terminal:")?;
        writeln!(f, "  {} send-test hello@{}", self.command, self.example)?;
        writeln!(f, "  {} inbox hello@{}", self.command, self.example)?;
        if let Some(url) = urls.first() {
            writeln!(f, "  curl '{url}/api/mail/messages?to=hello@{}'", self.example)?;
            if self.has_page {
                writeln!(f, "Or open the inbox in a browser:")?;
                writeln!(f, "  {url}/#/inbox/hello@{}", self.example)?;
            }
        }
        writeln!(f)?;
        writeln!(f, "Ctrl-C stops it.")
    }
}
