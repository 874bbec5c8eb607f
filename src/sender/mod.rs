//! Who really sent a mail: SPF, DKIM, DMARC and ARC, as results of RFC 8601.
//!
//! A mail is checked when it is read for the first time, so mail that nobody reads costs nothing. Nothing is stored: the
//! answers lately given are in memory, and after a restart the first reader asks again.
//!
//! ```text
//! header   bounds the work before anything is checked     lookups   bounds the questions to DNS
//! check    asks the crate that knows the rules            results   what was found, and the sentence about it
//! ```

mod check;
mod header;
mod lookups;
mod results;

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use quick_cache::sync::Cache;
use tokio::runtime::Handle;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use crate::admission::{Admission, Permit, Refused, What, Who};
use crate::config::{Config, SenderVerdicts};
use crate::dns::DnsResolver;
use crate::model::{EmailId, Greeting, StoredEmail};
use crate::webhook::guard::ranges::is_public;
use check::Claim;
use header::Signed;
pub use results::{Authentication, Checked, Outcome, Policy};

/// How long a check may take. Whoever reads the mail waits no longer.
const CHECK_MAX: Duration = Duration::from_secs(2);
/// How many answers are remembered, of some 6 KB at most.
const KNOWN_MAX: usize = 2_000;

/// What checks who sent mail.
pub struct Senders {
    is_on: bool,
    /// Our own name.
    hostname: String,
    dns: Arc<DnsResolver>,
    admission: Arc<Admission>,
    known: Cache<EmailId, Arc<Authentication>>,
}

impl Senders {
    /// Checks as the settings say, by questions to `dns`.
    pub fn new(config: &Config, dns: Arc<DnsResolver>, admission: Arc<Admission>) -> Arc<Self> {
        let is_on = config.mail.sender_verdicts == SenderVerdicts::OnRead;
        let hostname = config.smtp.hostname.to_string();
        Arc::new(Self { is_on, hostname, dns, admission, known: Cache::new(KNOWN_MAX) })
    }

    /// Who sent a mail, for `reader`. `None` if nothing is to be checked: the setting is off, or the mail has no signature and
    /// came from no public address, such as from an application on this machine.
    ///
    /// Waits two seconds at most. What is not known by then, or would be too much for the reader or for the client that sent
    /// the mail, is [`Outcome::TempError`]; a later call may find it.
    pub async fn authentication(self: &Arc<Self>, email: &StoredEmail, reader: Who) -> Option<Arc<Authentication>> {
        let id = email.listed.id;
        if !self.is_on {
            return None;
        }
        if let Some(known) = self.known.get(&id) {
            return Some(known);
        }
        let client = client(email);
        match (header::signed(&email.raw), client) {
            (Signed::No | Signed::Ambiguous, None) => return None,
            (Signed::TooMuch, _) => {
                let summary = "its header is too long to be checked; not proven";
                return Some(Arc::new(Authentication::unchecked(Outcome::PermError, summary)));
            }
            (Signed::Ambiguous, Some(_)) => {
                let summary = "its header can be read in several ways; not proven";
                return Some(Arc::new(Authentication::unchecked(Outcome::PermError, summary)));
            }
            _ => {}
        }
        let Ok(permit) = self.admit(email, reader) else { return Some(unknown()) };
        let (this, email, runtime) = (Arc::clone(self), email.clone(), Handle::current());
        // The check ends even if nobody waits for it any more, and is remembered.
        let checking = spawn_blocking(move || {
            let _permit = permit;
            runtime.block_on(this.check(&email, client))
        });
        Some(timeout(CHECK_MAX, checking).await.ok().and_then(Result::ok).unwrap_or_else(unknown))
    }

    /// Takes what a check costs from the shares of the reader, and of the client that sent the mail: names are free, so a
    /// stranger who makes us ask for them is known by the address.
    fn admit(&self, email: &StoredEmail, reader: Who) -> Result<Permit, Refused> {
        let sender = self.admission.who(email.envelope.client);
        let permit = self.admission.admit(reader, What::DnsLookup, 1)?;
        // A reader who is refused takes nothing of what others may know of the same sender.
        self.admission.spend(reader, What::SenderChecks, 1)?;
        self.admission.spend(sender, What::ChecksOfSent, 1)?;
        Ok(permit)
    }

    async fn check(&self, email: &StoredEmail, client: Option<IpAddr>) -> Arc<Authentication> {
        let Ok(dns) = self.dns.authenticator() else { return unknown() };
        let (raw, hostname) = (&email.raw[..], &*self.hostname);
        let (helo, reverse_path) = (&*email.envelope.helo, &*email.envelope.reverse_path);
        let claim = Claim { raw, client, helo, reverse_path, hostname };
        let Ok(found) = timeout(CHECK_MAX, check::check(&dns, &claim)).await else { return unknown() };
        let found = Arc::new(found);
        if !found.is_temporary() {
            self.known.insert(email.listed.id, Arc::clone(&found));
        }
        found
    }
}

/// The address that may send for a domain or not: that of a server on the Internet, and not of a program or relay of ours.
fn client(email: &StoredEmail) -> Option<IpAddr> {
    let client = email.envelope.client.to_canonical();
    let is_smtp = matches!(email.envelope.protocol.greeting, Greeting::Helo | Greeting::Ehlo);
    (is_smtp && is_public(client)).then_some(client)
}

fn unknown() -> Arc<Authentication> {
    Arc::new(Authentication::unchecked(Outcome::TempError, "who sent it could not be checked now"))
}
