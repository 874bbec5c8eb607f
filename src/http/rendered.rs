//! Emails as lists show them, kept for callers that ask for the same inbox again and again.

use std::sync::Arc;

use axum::body::Bytes;
use quick_cache::sync::{Cache, DefaultLifecycle};
use quick_cache::{DefaultHashBuilder, Options, OptionsBuilder, Weighter};

use super::email::EmailJson;
use super::fields::Fields;
use crate::model::{EmailId, Listed, StoredEmail};
use crate::reader;
use crate::store::{Store, StoreError};

/// The most octets of JSON in memory, with an allowance for each entry.
const OCTETS_MAX: u64 = 8 * 1024 * 1024;
/// The longest JSON of an Email that is kept, in octets. A few long ones must not displace all others.
const EMAIL_OCTETS_MAX: usize = 128 * 1024;
/// What an entry costs beside its JSON, in octets.
const ENTRY_OCTETS: u64 = 200;
/// The number of parts with a lock of their own. Each holds several of the longest entries.
const SHARDS: usize = 4;

/// The JSON of Emails that were listed lately, at most 8 MB.
///
/// An Email never changes while the process lives, and neither does the retention, so no entry is ever wrong. An Email that was removed is in no list any more, and its entry
/// leaves when others need the room.
#[derive(Clone, Debug)]
pub struct RenderedEmails {
    entries: Arc<Cache<Key, Bytes, OctetWeighter>>,
}

/// An Email, and which of its fields: 0 for the six of the interface, else [`Fields::number`].
type Key = (EmailId, u16);

fn key(listed: &Listed, fields: Option<&Fields>) -> Key {
    (listed.id, fields.map_or(0, Fields::number))
}

#[derive(Clone, Debug)]
struct OctetWeighter;

impl Weighter<Key, Bytes> for OctetWeighter {
    fn weight(&self, _: &Key, json: &Bytes) -> u64 {
        json.len() as u64 + ENTRY_OCTETS
    }
}

impl Default for RenderedEmails {
    fn default() -> Self {
        let entries =
            Cache::with_options(options(), OctetWeighter, DefaultHashBuilder::default(), DefaultLifecycle::default());
        Self { entries: Arc::new(entries) }
    }
}

fn options() -> Options {
    let mut options = OptionsBuilder::new();
    options.estimated_items_capacity(1000).weight_capacity(OCTETS_MAX).shards(SHARDS);
    options.build().expect("both capacities are set")
}

impl RenderedEmails {
    /// The JSON of these fields of an Email, or of the six of the interface, if it is here.
    pub(super) fn get(&self, listed: &Listed, fields: Option<&Fields>) -> Option<Bytes> {
        self.entries.get(&key(listed, fields))
    }

    /// Like [`Self::get`], but loads the Email like [`load_to_list`] and parses it if its JSON is not here.
    pub(super) async fn read(
        &self,
        store: &dyn Store,
        listed: &Listed,
        fields: Option<&Fields>,
    ) -> Result<Option<Bytes>, StoreError> {
        if let Some(json) = self.get(listed, fields) {
            return Ok(Some(json));
        }
        let Some(email) = load_to_list(store, listed).await? else { return Ok(None) };
        let Some(json) = json(&email, fields) else {
            tracing::error!(id = %listed.id, "a list lacks an Email that its envelope does not name");
            return Ok(None);
        };
        let is_kept = json.len() <= EMAIL_OCTETS_MAX;
        // A boxed slice has no spare room at its end.
        let json = Bytes::from(json.into_boxed_slice());
        if is_kept {
            self.entries.insert(key(listed, fields), json.clone());
        }
        Ok(Some(json))
    }
}

/// The JSON of an Email; `None` only if its envelope lacks it.
fn json(email: &StoredEmail, fields: Option<&Fields>) -> Option<Vec<u8>> {
    reader::read(&email.raw, |message| match fields {
        Some(fields) => fields.render(email, message),
        None => EmailJson::of(email, message).and_then(|email| serde_json::to_vec(&email).ok()),
    })
}

/// Loads an Email for a list. `None` if it was removed meanwhile.
///
/// An Email that is damaged is `None` too, and logged. Blocks while the store reads from the disk.
pub(super) async fn load_to_list(store: &dyn Store, listed: &Listed) -> Result<Option<StoredEmail>, StoreError> {
    match store.load(listed).await {
        Err(error @ StoreError::Damaged { .. }) => {
            tracing::error!(id = %listed.id, %error, "a list lacks an Email that is damaged on the disk");
            Ok(None)
        }
        loaded => loaded,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Timestamp;
    use crate::random;

    #[test]
    fn however_many_emails_are_listed_the_room_is_bounded() {
        let rendered = RenderedEmails::default();
        let json = Bytes::from(vec![b'x'; EMAIL_OCTETS_MAX]);
        for _ in 0..1000 {
            rendered.entries.insert((random::email_id(Timestamp::from_millis(0)), 0), json.clone());
            assert!(rendered.entries.weight() <= OCTETS_MAX);
        }
        assert!(rendered.entries.len() >= SHARDS, "each shard has room for the longest entry");
    }
}
