//! Private inboxes, and the key that the user holds them by.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::{Value, json};

use super::keys::KeyFile;
use super::{Client, ClientError, Destination, Method, Token, choose, text};
use crate::error::Error;
use crate::model::{Address, Subaddressing};

/// The path of private inboxes.
pub const LEASES: &str = "/api/addresses";

/// Where a key is kept.
pub(super) struct Kept {
    file: KeyFile,
    on_lapse: Box<dyn Fn() + Send + Sync>,
}

impl fmt::Debug for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.file.fmt(f)
    }
}

impl Client {
    /// A client for a destination. Unless a token says who asks, it bears the key that this user has there.
    ///
    /// A key without a living inbox leaves its file, `on_lapse` is called, and the request is made without it.
    pub fn connect(
        destination: &Destination,
        env: &BTreeMap<String, String>,
        on_lapse: impl Fn() + Send + Sync + 'static,
    ) -> Result<Self, Error> {
        let mut client = Self::new(choose(destination)?);
        if client.transport.token().is_none()
            && let Some(file) = KeyFile::of(env, &client.transport)
        {
            client.transport.bear(file.key()?);
            client.kept = Some(Kept { file, on_lapse: Box::new(on_lapse) });
        }
        Ok(client)
    }

    /// Where the key is kept, or would be; `None` where a token says who asks, or there is no place for it.
    pub fn key_file(&self) -> Option<&KeyFile> {
        self.kept.as_ref().map(|kept| &kept.file)
    }

    /// Makes a private inbox. It is one more of the caller's key, or of a new one, which is kept before this returns.
    ///
    /// With a token of the administrator each inbox has a key of its own, which only the answer has.
    pub async fn lease(&self, wanted: &Value) -> Result<Value, Error> {
        let Some(Kept { file, .. }) = &self.kept else {
            if self.transport.token().is_none() {
                let cause = "there is no place for the key of the inbox: neither XDG_STATE_HOME nor HOME is set";
                return Err(Error::usage(cause));
            }
            return Ok(self.leased(wanted).await?);
        };
        // Of two processes without a key the second one adds to the key of the first.
        let held = file.hold().await?;
        self.transport.bear(file.key()?);
        let answer = match self.leased(wanted).await {
            Err(error) if error.is("token_invalid") => {
                self.transport.bear(None);
                self.leased(wanted).await?
            }
            answer => answer?,
        };
        if let Some(key) = answer["key"].as_str() {
            self.transport.bear(Some(Token::new(key)?));
            if let Err(error) = held.put(Some(key)) {
                // Nobody has the key, so nobody may have the inbox.
                self.delete(LEASES, &[("address", Some(text(&answer, "address").to_owned()))]).await?;
                return Err(error);
            }
        }
        Ok(answer)
    }

    /// The private inboxes of the key that the caller bears, the oldest first, as `addresses`. Without a key there are none.
    pub async fn leases(&self) -> Result<Value, ClientError> {
        match self.get(LEASES, &[]).await {
            Err(error) if error.is("token_required") => Ok(json!({ "addresses": [] })),
            answer => answer,
        }
    }

    /// Whether the key that the caller bears opens a private inbox at this address. A `+tag` does not matter.
    pub async fn holds(&self, address: &Address) -> Result<bool, ClientError> {
        Ok(self.transport.token().is_some_and(|token| token.is_key()) && self.is_listed(address, &[]).await?)
    }

    /// Whether there is a private inbox at this address that the caller reads, as its holder or as the administrator.
    async fn reads_privately(&self, address: &Address) -> Result<bool, ClientError> {
        if !self.is_administrator() {
            return self.holds(address).await;
        }
        self.is_listed(address, &[("address", Some(address.to_string()))]).await
    }

    /// Whether an address is among the private inboxes that the service lists.
    async fn is_listed(&self, address: &Address, query: &[(&str, Option<String>)]) -> Result<bool, ClientError> {
        let leases: Value = match self.get(LEASES, query).await {
            Err(error) if error.is("token_required") => return Ok(false),
            Err(error) if error.is("token_invalid") && !self.is_administrator() => return Ok(false),
            leases => leases?,
        };
        let mailbox = |address: &Address| address.mailbox(Subaddressing::Strip);
        let is_of = |lease: &Value| text(lease, "address").parse().is_ok_and(|own| mailbox(&own) == mailbox(address));
        Ok(leases["addresses"].as_array().is_some_and(|held| held.iter().any(is_of)))
    }

    async fn leased(&self, wanted: &Value) -> Result<Value, ClientError> {
        self.with_address(self.read(&self.once(&Method::POST, LEASES, Some(wanted)).await?)?)
    }

    /// Whether the service refused because the kept key that was `sent` has no living inbox any more. Then the caller bears
    /// what the file has without it.
    pub(super) async fn has_lapsed(&self, sent: Option<Token>, error: &ClientError) -> bool {
        let (Some(kept), true) = (&self.kept, error.is("token_invalid") && sent.is_some()) else { return false };
        let held = kept.file.hold().await;
        let in_file = kept.file.key().unwrap_or_default();
        let is_ours = in_file == sent;
        if is_ours {
            // A file that cannot be written has the key still, and the next command finds that out again.
            let _ = held.and_then(|held| held.put(None));
            (kept.on_lapse)();
        }
        // Else another process has put another one there.
        self.transport.bear(in_file.filter(|_| !is_ours));
        true
    }
}

/// What is followed of the mail of an address. A private inbox that the caller reads must stay that: after its end his
/// requests would be about what anybody gets for the address.
#[derive(Debug)]
pub(super) struct Followed {
    address: Option<Address>,
    is_private: bool,
}

impl Followed {
    /// Begins to follow an address, or all.
    pub(super) async fn begin(client: &Client, address: Option<&Address>) -> Result<Self, ClientError> {
        let mut followed = Self { address: address.cloned(), is_private: false };
        followed.check(client).await?;
        Ok(followed)
    }

    /// Fails if it was a private inbox that the caller read and is none any more. What a request got before is of the inbox if
    /// this succeeds.
    pub(super) async fn check(&mut self, client: &Client) -> Result<(), ClientError> {
        let Some(address) = &self.address else { return Ok(()) };
        let is_private = client.reads_privately(address).await?;
        if self.is_private && !is_private {
            return Err(ClientError::Ended(address.clone()));
        }
        self.is_private = is_private;
        Ok(())
    }
}
