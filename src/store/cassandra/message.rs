//! The octets of messages, in parts, with the envelope beside them.

use bytes::Bytes;
use futures_util::future::{try_join, try_join_all};
use serde::{Deserialize, Serialize};

use super::Shared;
use super::mailbox::EmailRow;
use crate::model::{Delivery, EmailId, Envelope, Listed, Place, StoredEmail, Timestamp};
use crate::store::StoreError;
use crate::store::change::RecordPlace;
use crate::store::names::mailbox_hash;

/// The largest part of a message's octets in one row.
const PART_OCTETS: usize = 256 << 10;

/// The id of a message. It follows from the id of its first Email, whose time and random octets it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct MessageId([u8; 12]);

impl MessageId {
    /// The id of the message whose first Email this is.
    pub(super) fn of(first: EmailId) -> Self {
        let octets = first.octets();
        Self(std::array::from_fn(|n| octets[if n < 8 { n } else { n + 4 }]))
    }

    pub(super) fn octets(&self) -> &[u8] {
        &self.0
    }

    /// The id in a column; zeros if it is damaged.
    pub(super) fn from_column(octets: &[u8]) -> Self {
        Self(octets.try_into().unwrap_or_default())
    }

    /// The message in the form that the picture has of places.
    pub(super) fn record_place(self, octets: u32) -> RecordPlace {
        let number = |at: usize| u32::from_le_bytes(std::array::from_fn(|n| self.0[at + n]));
        RecordPlace { segment: number(0), offset: number(4), length: number(8), content: octets }
    }

    /// The id of the message in a place of the picture.
    pub(super) fn of_record_place(place: RecordPlace) -> Self {
        Self::of_place(place.opaque())
    }

    /// The id of the message of a listed Email or of an event.
    pub(super) fn of_place(Place(octets): Place) -> Self {
        Self(std::array::from_fn(|n| octets[n]))
    }

    /// The place of a listed Email.
    pub(super) fn place(self, octets: u64) -> Place {
        self.record_place(u32::try_from(octets).unwrap_or(u32::MAX)).opaque()
    }
}

/// What is there of a message.
#[derive(Debug)]
pub(super) enum ReadMessage {
    Whole(Envelope, Bytes),
    /// Some parts are missing.
    Parts,
    /// Not even its envelope is there.
    Nothing,
}

fn parse(envelope: &[u8]) -> Result<Envelope, StoreError> {
    postcard::from_bytes(envelope)
        .map_err(|error| StoreError::Failed(format!("the envelope of a message is damaged: {error}")))
}

impl Shared {
    /// Writes a message, which nobody sees yet: the envelope, all parts, and the way to it from its further Emails.
    pub(super) async fn write_message(
        &self,
        Delivery { envelope, raw, .. }: &Delivery,
        ttl: i32,
        micros: i64,
    ) -> Result<(), StoreError> {
        let Some((first, further)) = envelope.recipients.split_first() else { return Ok(()) };
        let id = MessageId::of(first.id);
        let head = postcard::to_stdvec(envelope).map_err(|error| StoreError::Failed(error.to_string()))?;
        let part = |start: usize| &raw[start..raw.len().min(start + PART_OCTETS)];
        let first = self.session.run(&self.statements.first_part_insert, (id.octets(), head, part(0), ttl, micros));
        let starts = (PART_OCTETS..raw.len()).step_by(PART_OCTETS);
        let parts = (1_i32..).zip(starts).map(|(number, start)| {
            self.session.run(&self.statements.part_insert, (id.octets(), number, part(start), ttl, micros))
        });
        let further = further.iter().map(|to| async move {
            let email = to.id.octets();
            self.session.run(&self.statements.recipient_insert, (&email[..], id.octets(), ttl, micros)).await
        });
        try_join(first, try_join(try_join_all(parts), try_join_all(further))).await.map(drop)
    }

    /// Shows a message to all its Emails and events.
    pub(super) async fn show_message(&self, id: MessageId, ttl: i32, micros: i64) -> Result<(), StoreError> {
        self.session.run(&self.statements.shown_update, (ttl, micros, id.octets())).await
    }

    /// The envelope of a message, and whether it is shown. `None` if there is no such message.
    pub(super) async fn head_of(&self, id: MessageId) -> Result<Option<(Envelope, bool)>, StoreError> {
        type Head = (Option<Vec<u8>>, Option<bool>);
        let row = self.session.first::<Head>(&self.statements.head_select, (id.octets(),)).await?;
        let Some((Some(envelope), shown)) = row else { return Ok(None) };
        Ok(Some((parse(&envelope)?, shown == Some(true))))
    }

    /// Reads the envelope and the octets of a message.
    pub(super) async fn read_message(&self, id: MessageId, octets: u64) -> Result<ReadMessage, StoreError> {
        type Part = (Option<Vec<u8>>, Option<Vec<u8>>);
        // They come in their order, each with the envelope, which belongs to all.
        let parts = self.session.all::<Part>(&self.statements.parts_select, (id.octets(),)).await?;
        let Some((Some(envelope), _)) = parts.first() else { return Ok(ReadMessage::Nothing) };
        let envelope = parse(envelope)?;
        let mut parts: Vec<Vec<u8>> = parts.into_iter().filter_map(|(_, octets)| octets).collect();
        let raw = if parts.len() == 1 { parts.remove(0) } else { parts.concat() };
        let is_whole = raw.len() as u64 == octets;
        Ok(if is_whole { ReadMessage::Whole(envelope, raw.into()) } else { ReadMessage::Parts })
    }

    /// Deletes the octets of a message at the time of their writes.
    pub(super) async fn delete_message(&self, id: MessageId, micros: i64) -> Result<(), StoreError> {
        self.session.run(&self.statements.message_delete, (micros, id.octets())).await
    }

    /// The visible row of an Email and the hash of its mailbox, even if it has expired.
    pub(super) async fn find_row(&self, id: EmailId) -> Result<Option<([u8; 16], EmailRow)>, StoreError> {
        let find_in = async |message: MessageId| {
            let head = self.head_of(message).await?;
            let found = head.and_then(|(it, shown)| Some((it.recipients.into_iter().find(|to| to.id == id)?, shown)));
            Ok::<_, StoreError>(found)
        };
        let mut found = find_in(MessageId::of(id)).await?;
        if found.is_none() {
            let of = self.session.first::<(Vec<u8>,)>(&self.statements.recipient_select, (&id.octets()[..],)).await?;
            let Some((of,)) = of else { return Ok(None) };
            found = find_in(MessageId::from_column(&of)).await?;
        }
        let Some((to, shown)) = found else { return Ok(None) };
        let mailbox = mailbox_hash(&self.secret, &to.mailbox);
        let row = self.row_of(&mailbox, id).await?;
        Ok(row.filter(|row| row.is_visible(shown)).map(|row| (mailbox, row)))
    }

    pub(super) async fn find(&self, id: EmailId, now: Timestamp) -> Result<Option<Listed>, StoreError> {
        let Some((_, row)) = self.find_row(id).await? else { return Ok(None) };
        let listed = row.listed();
        Ok(self.is_surely_readable(&listed, now).await?.then_some(listed))
    }

    pub(super) async fn load_listed(&self, listed: &Listed) -> Result<Option<StoredEmail>, StoreError> {
        let id = MessageId::of_place(listed.place);
        match self.read_message(id, listed.size_octets).await? {
            ReadMessage::Whole(envelope, raw) => Ok(Some(StoredEmail { listed: listed.clone(), envelope, raw })),
            ReadMessage::Nothing => Ok(None),
            // It was deleted while its parts were read.
            ReadMessage::Parts if self.find_row(listed.id).await?.is_none() => Ok(None),
            ReadMessage::Parts => Err(StoreError::Failed(format!("a part of the message of {} is missing", listed.id))),
        }
    }
}
