//! What all calls of a session share: the service, the permitted domains, and how many calls may run.

use tokio::sync::{OnceCell, Semaphore, SemaphorePermit};
use tokio_util::sync::CancellationToken;

use crate::cli::context::say;
use crate::client::{Client, Destination, choose};
use crate::error::{Error, Exit};
use crate::model::{Address, DomainName};

/// The most calls that run at a time.
const CALLS_MAX: usize = 32;

/// One session of a program.
pub(super) struct Session {
    destination: Destination,
    client: OnceCell<Client>,
    domains: Vec<DomainName>,
    pub(super) is_read_only: bool,
    is_quiet: bool,
    /// Cancelled when the program has gone.
    pub(super) ended: CancellationToken,
    places: Semaphore,
}

impl Session {
    /// A session with the service at `destination`. Without `domains` all are permitted.
    pub(super) fn new(
        destination: Destination,
        domains: Vec<DomainName>,
        is_read_only: bool,
        is_quiet: bool,
        ended: CancellationToken,
    ) -> Self {
        let places = Semaphore::new(CALLS_MAX);
        Self { destination, client: OnceCell::new(), domains, is_read_only, is_quiet, ended, places }
    }

    /// The client.
    pub(super) async fn client(&self) -> Result<&Client, Error> {
        let connect = async || Ok(Client::new(choose(&self.destination)?));
        self.client.get_or_try_init(connect).await
    }

    /// A place for a call.
    pub(super) fn place(&self) -> Result<SemaphorePermit<'_>, Error> {
        self.places.try_acquire().map_err(|_full| {
            Error::new(Exit::RateLimited, format!("{CALLS_MAX} calls are running, and no more may"))
                .hint("try again when one of them has ended")
        })
    }

    /// A hint for the person who reads standard error.
    pub(super) fn hint(&self, text: &str) {
        if !self.is_quiet {
            say("", text);
        }
    }

    /// Whether the session may have mail of this domain.
    pub(super) fn permits(&self, domain: &DomainName) -> bool {
        self.domains.is_empty() || self.domains.contains(domain)
    }

    /// The error for an address that the session may not have.
    pub(super) fn check(&self, address: &Address) -> Result<(), Error> {
        self.check_domain(address.domain())
    }

    /// The error for a domain that the session may not have.
    pub(super) fn check_domain(&self, domain: &DomainName) -> Result<(), Error> {
        if self.permits(domain) { Ok(()) } else { Err(self.refused(&format!("{domain} is not permitted here"))) }
    }

    /// The error for a mail whose recipient the session may not have.
    pub(super) fn check_recipient(&self, recipient: &str) -> Result<(), Error> {
        let is_permitted = match recipient.parse::<Address>() {
            Ok(address) => self.permits(address.domain()),
            Err(_) => self.domains.is_empty(),
        };
        if is_permitted { Ok(()) } else { Err(self.refused("the mail is for a domain that is not permitted here")) }
    }

    /// The domain of a fresh address when the call names none.
    pub(super) fn domain_default(&self) -> Option<&DomainName> {
        self.domains.first()
    }

    fn refused(&self, cause: &str) -> Error {
        let names: Vec<String> = self.domains.iter().map(ToString::to_string).collect();
        Error::new(Exit::NotAllowed, cause.to_owned()).hint(format!("permitted are addresses at {}", names.join(", ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::{Access, ServerUrl};

    fn session(domains: &[&str]) -> Session {
        let server: ServerUrl = "http://127.0.0.1:1".parse().expect("a URL");
        let domains = domains.iter().map(|name| name.parse().expect("a name")).collect();
        Session::new(Destination::Server(server, Access::default()), domains, false, false, CancellationToken::new())
    }

    #[test]
    fn only_the_domains_of_the_session_are_permitted() {
        let of_two = session(&["a.test", "B.test"]);
        for (address, is_permitted) in
            [("x@a.test", true), ("x@b.TEST", true), ("x@sub.a.test", false), ("x@aa.test", false), ("x@c.test", false)]
        {
            let address: Address = address.parse().expect("an address");
            assert_eq!(of_two.check(&address).is_ok(), is_permitted, "{address}");
            assert_eq!(of_two.check_recipient(&address.to_string()).is_ok(), is_permitted, "{address}");
            assert!(session(&[]).check(&address).is_ok());
        }
        assert!(of_two.check_recipient("a.test").is_err());
        assert_eq!(of_two.domain_default().map(ToString::to_string).as_deref(), Some("a.test"));
        let refused = of_two.check_recipient("x@c.test").expect_err("not permitted");
        assert_eq!(refused.what_to_do(), Some("permitted are addresses at a.test, b.test"));
    }

    #[test]
    fn calls_have_a_limited_number_of_places() {
        let session = session(&[]);
        let places: Vec<_> = (0..CALLS_MAX).map(|_| session.place().expect("a place")).collect();
        assert_eq!(session.place().expect_err("full").exit(), Exit::RateLimited);
        drop(places);
        assert!(session.place().is_ok());
    }
}
