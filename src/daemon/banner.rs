//! The message of the daemon at its start on a terminal: where it listens, and what to type next.

use std::fmt;
use std::path::PathBuf;

use super::assembly::example_domain;
use crate::connections::{Listening, Purpose};
use crate::model::DomainPattern;
use crate::service::Service;
use crate::tls::Certificate;
use crate::value::{show_duration, show_size};

/// The facts of a start.
#[derive(Clone, Debug)]
pub struct Banner {
    listening: Listening,
    /// Whether browsers get a page.
    has_page: bool,
    /// Whether callers without a token read the mail of all inboxes.
    shows_all: bool,
    tls: Option<String>,
    data_dir: PathBuf,
    domains: Vec<String>,
    is_first_start: bool,
    retention: String,
    message_size: String,
    revision: u8,
    /// A domain that mail is received for; none where domains are registered.
    example: Option<String>,
    command: String,
}

impl Banner {
    pub(super) fn of(service: &Service) -> Self {
        let config = &service.config;
        let is_first_start = config.domains.fixed == [example_domain()];
        let example = config.domains.fixed.first().map(|pattern| match pattern {
            DomainPattern::Exact(name) => name.to_string(),
            DomainPattern::Below(parent) => format!("any.{parent}"),
            DomainPattern::Any => "example.test".to_owned(),
        });
        Self {
            listening: service.listening.clone(),
            has_page: config.http.public.web,
            shows_all: config.dev,
            tls: service.tls.as_deref().map(|keeper| shown(&keeper.certificate())),
            data_dir: config.data_dir.clone(),
            domains: config.domains.fixed.iter().map(ToString::to_string).collect(),
            is_first_start,
            retention: show_duration(config.mail.retention),
            message_size: show_size(config.mail.message_octets_max),
            revision: config.revision.number(),
            example,
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

    /// Where it listens for a purpose.
    fn at(&self, purpose: Purpose) -> String {
        self.listening.shown(purpose).join(", ")
    }

    /// Writes what to type for mail to an address of `domain`.
    fn write_example(&self, f: &mut fmt::Formatter<'_>, domain: &str, url: Option<&String>) -> fmt::Result {
        writeln!(f, "  {} send-test hello@{domain}", self.command)?;
        writeln!(f, "  {} inbox hello@{domain}", self.command)?;
        let Some(url) = url else { return Ok(()) };
        writeln!(f, "  curl '{url}/api/mail/messages?to=hello@{domain}'")?;
        if self.has_page && self.shows_all {
            writeln!(f, "Or open all mail in a browser:")?;
            writeln!(f, "  {url}/")?;
        } else if self.has_page {
            writeln!(f, "Or open the inbox in a browser:")?;
            writeln!(f, "  {url}/#/inbox/hello@{domain}")?;
        }
        Ok(())
    }

    /// Writes it as one line of the log.
    pub fn log(&self) {
        tracing::info!(
            version = env!("CARGO_PKG_VERSION"),
            revision = self.revision,
            smtp = self.at(Purpose::Smtp),
            smtps = self.at(Purpose::Smtps),
            lmtp = self.at(Purpose::Lmtp),
            http = self.at(Purpose::Http),
            https = self.at(Purpose::Https),
            metrics = self.at(Purpose::Metrics),
            tls = self.tls.as_deref().unwrap_or_default(),
            data_dir = %self.data_dir.display(),
            domains = self.domains.join(", "),
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

impl fmt::Display for Banner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let version = env!("CARGO_PKG_VERSION");
        writeln!(f, "tempmail {version} is ready (revision {} of the interface)", self.revision)?;
        writeln!(f)?;
        let urls: Vec<String> =
            self.listening.shown(Purpose::Http).iter().map(|address| format!("http://{address}")).collect();
        for (name, at) in [
            ("SMTP", self.at(Purpose::Smtp)),
            ("SMTPS", self.at(Purpose::Smtps)),
            ("LMTP", self.at(Purpose::Lmtp)),
            ("TLS", self.tls.clone().unwrap_or_default()),
            ("HTTP", urls.join(", ")),
            ("HTTPS", self.at(Purpose::Https)),
            ("Metrics", self.at(Purpose::Metrics)),
        ] {
            // There is a place for SMTP and HTTP even where nothing listens for them.
            if !at.is_empty() || ["SMTP", "HTTP"].contains(&name) {
                writeln!(f, "  {name:<10} {at}")?;
            }
        }
        writeln!(f, "  data       {}", self.data_dir.display())?;
        writeln!(f, "  mail       kept for {}, at most {} each", self.retention, self.message_size)?;
        if self.domains.is_empty() {
            writeln!(f, "  domains    those that are registered: {} domain list", self.command)?;
        } else {
            writeln!(f, "  domains    {}", self.domains.join(", "))?;
        }
        if self.is_first_start {
            writeln!(f, "             reserved for tests (RFC 2606): it works here and nowhere on the Internet")?;
        }
        writeln!(f)?;
        writeln!(f, "Try in another terminal:")?;
        if let Some(example) = &self.example {
            self.write_example(f, example, urls.first())?;
        } else {
            writeln!(f, "  {} domain check-dns DOMAIN", self.command)?;
            writeln!(f, "  {} domain add DOMAIN", self.command)?;
        }
        writeln!(f)?;
        writeln!(f, "Ctrl-C stops it.")
    }
}
