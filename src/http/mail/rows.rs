//! What lists are made of, and the cache of what they show.

use std::sync::Arc;

use quick_cache::sync::{Cache, DefaultLifecycle};
use quick_cache::{DefaultHashBuilder, OptionsBuilder, Weighter};

use crate::admission::RENDERED;
use crate::email::{self, Fields, Kept, WrittenBody};
use crate::http::{Api, Caller};
use crate::mime::limits::HEADER_SECTION_OCTETS_MAX;
use crate::model::{EmailId, LeaseId, Listed, StoredEmail};
use crate::store::StoreError;

/// What an octet of the header section takes at most as text and as JSON, where a control character takes six octets.
const RENDERED_FIELDS: u64 = 12;
/// The most octets of JSON without bodies in the cache, with an allowance for each entry.
const SMALL_OCTETS_MAX: u64 = 48 * 1024 * 1024;
/// The most octets of JSON with bodies in the cache. They have a part of their own, since a few lists of them would drive
/// out what makes many others cheap.
const WHOLE_OCTETS_MAX: u64 = 16 * 1024 * 1024;
/// The longest JSON of an Email in the cache, in octets. Few are longer without their body, and most mails that programs
/// wait for are not with it.
const ENTRY_OCTETS_MAX: usize = 16 * 1024;
/// What an entry costs beside its JSON, in octets.
const ENTRY_OCTETS: u64 = 200;
/// What the JSON of an Email without its body takes, roughly.
const JSON_OCTETS: usize = 512;
/// The number of parts with a lock of their own.
const SHARDS: usize = 16;

/// A row of a list: an Email, or some of which one is shown.
pub(in crate::http) trait Row: Send + Sync + 'static {
    /// An Email with the octets that are read to show the row.
    fn listed(&self) -> &Listed;

    /// Loads the Email. `None` if it was removed meanwhile, may not be shown to the caller, or is damaged, which is logged.
    /// Blocks while the store reads from the disk.
    fn load(&self, api: &Api, caller: &Caller) -> impl Future<Output = Result<Option<StoredEmail>, StoreError>> + Send {
        load(self.listed(), api, caller)
    }
}

async fn load(listed: &Listed, api: &Api, caller: &Caller) -> Result<Option<StoredEmail>, StoreError> {
    match api.store.load(listed).await {
        Err(error @ StoreError::Damaged { .. }) => {
            tracing::error!(id = %listed.id, %error, "a list lacks an Email that is damaged on the disk");
            Ok(None)
        }
        loaded => Ok(loaded?.filter(|email| caller.may_list(email.lease()))),
    }
}

/// A row as a list shows it.
pub(in crate::http) trait Entry: Row {
    /// What is kept of what is shown, if the caller may see it.
    fn known(&self, _: &Api, _: &Caller) -> Option<Arc<Kept>> {
        None
    }

    /// The memory that it takes at most to make what is shown, with the message.
    fn room(&self) -> u64 {
        self.listed().size_octets.saturating_mul(RENDERED)
    }

    /// The octets that what is shown takes, roughly.
    fn json_octets(&self) -> usize {
        JSON_OCTETS
    }

    /// The Email as the store has it, if that needs no disk, and if it is shown in no time when it is short.
    fn load_quick(&self, _: &Api) -> Option<StoredEmail> {
        None
    }

    /// Appends what is shown to `json`. `false` if it cannot be shown; then nothing is appended.
    fn write(&self, api: &Api, email: &StoredEmail, json: &mut Vec<u8>) -> bool;
}

impl Row for Listed {
    fn listed(&self) -> &Self {
        self
    }
}

/// Some fields of an Email.
#[derive(Clone, Debug)]
pub(in crate::http) struct Shown {
    pub(in crate::http) listed: Listed,
    pub(in crate::http) fields: Fields,
}

impl Row for Shown {
    fn listed(&self) -> &Listed {
        &self.listed
    }
}

impl Entry for Shown {
    fn known(&self, api: &Api, caller: &Caller) -> Option<Arc<Kept>> {
        let (kept, lease) = api.shown.get(&(self.listed.id, self.fields))?;
        caller.may_list(lease).then_some(kept)
    }

    fn room(&self) -> u64 {
        let octets = self.listed.size_octets;
        if !self.fields.are_of_header() {
            return octets.saturating_mul(RENDERED);
        }
        octets.saturating_add(octets.min(HEADER_SECTION_OCTETS_MAX as u64).saturating_mul(RENDERED_FIELDS))
    }

    fn json_octets(&self) -> usize {
        // Line ends become elements.
        let of_body = if self.fields.have_body() { self.listed.size_octets * 9 / 8 } else { 0 };
        usize::try_from(of_body).unwrap_or(0) + JSON_OCTETS
    }

    fn load_quick(&self, api: &Api) -> Option<StoredEmail> {
        if self.fields.are_quick() { api.store.load_cached(&self.listed) } else { None }
    }

    fn write(&self, api: &Api, email: &StoredEmail, json: &mut Vec<u8>) -> bool {
        let start = json.len();
        let Some(written) = email::write(json, email, self.fields) else {
            tracing::error!(id = %self.listed.id, "a list lacks an Email that its envelope does not name");
            return false;
        };
        let raw = api.store.reads_content_cached().then_some(&email.raw[..]);
        api.shown.keep((self.listed.id, self.fields), email.lease(), &json[start..], written, raw);
        true
    }
}

/// The JSON of Emails that were listed lately, at most 64 MB. It is made when an Email is first listed. Of one with a body,
/// the rest is kept for longer than the whole.
///
/// An Email never changes while the process lives, and neither does the retention, so no entry is ever wrong. An Email that
/// was removed is in no list any more, and its entry leaves when others need the room.
#[derive(Debug)]
pub(in crate::http) struct Cached {
    small: Entries,
    whole: Entries,
}

type Entries = Cache<Key, Value, OctetWeighter>;

type Key = (EmailId, Fields);

/// What is kept of an Email, and the lease whose mailbox it is in.
type Value = (Arc<Kept>, Option<LeaseId>);

#[derive(Clone, Debug)]
struct OctetWeighter;

impl Weighter<Key, Value> for OctetWeighter {
    fn weight(&self, _: &Key, (kept, _): &Value) -> u64 {
        kept.octets() as u64 + ENTRY_OCTETS
    }
}

impl Default for Cached {
    fn default() -> Self {
        Self { small: entries(SMALL_OCTETS_MAX), whole: entries(WHOLE_OCTETS_MAX) }
    }
}

impl Cached {
    fn get(&self, key: &Key) -> Option<Value> {
        let whole = if key.1.have_body() { self.whole.get(key) } else { None };
        whole.or_else(|| self.small.get(key))
    }

    /// Keeps the JSON of an Email in each form that is short enough. `raw` is its message, if the body can be read there
    /// alone.
    fn keep(&self, key: Key, lease: Option<LeaseId>, json: &[u8], body: WrittenBody, raw: Option<&[u8]>) {
        if json.len() - body.length() <= ENTRY_OCTETS_MAX
            && let Some(kept) = raw.and_then(|raw| Kept::without_body(json, body, raw))
        {
            self.small.insert(key, (Arc::new(kept), lease));
        }
        if json.len() <= ENTRY_OCTETS_MAX {
            let entries = if key.1.have_body() { &self.whole } else { &self.small };
            entries.insert(key, (Arc::new(Kept::whole(json)), lease));
        }
    }
}

fn entries(octets_max: u64) -> Entries {
    let mut options = OptionsBuilder::new();
    options.estimated_items_capacity(1000).weight_capacity(octets_max).shards(SHARDS);
    let options = options.build().expect("both capacities are set");
    Cache::with_options(options, OctetWeighter, DefaultHashBuilder::default(), DefaultLifecycle::default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Timestamp;
    use crate::random;

    #[test]
    fn however_many_emails_are_listed_the_room_is_bounded() {
        let entries = entries(WHOLE_OCTETS_MAX);
        let kept = (Arc::new(Kept::whole(&[b'x'; ENTRY_OCTETS_MAX])), None);
        for _ in 0..10_000 {
            entries.insert((random::email_id(Timestamp::from_millis(0)), Fields::WITHOUT_BODY), kept.clone());
            assert!(entries.weight() <= WHOLE_OCTETS_MAX);
        }
        assert!(entries.weight() > WHOLE_OCTETS_MAX / 2, "the room is used");
    }
}
