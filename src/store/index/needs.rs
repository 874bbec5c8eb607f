//! Who needs a record: the Emails of its message, and the events that tell of them, be their Emails there or not.

use redb::ReadableTable;

use super::IndexError;
use super::apply::Apply;
use super::decode::decode_mail;
use super::events::event_in;
use super::read::View;
use super::shares::Sharing;
use super::tables::{
    EventRow, FRESH_EVENTS, HashKey, IDS, LaneKey, MAIL, MailKey, MailRow, SHARED, TRIED_EVENTS, WEBHOOKS_OF, lane_key,
    mail_key, mailbox_hash, sequence_of, webhook_of, webhook_of_key,
};
use crate::model::{EmailId, Recipient, Timestamp, WebhookId};
use crate::store::change::Outcome;
use crate::store::journal::RecordPlace;

/// The rows that name a record.
#[derive(Debug, Default)]
struct Needs {
    emails: Vec<(MailKey, MailRow)>,
    events: Vec<(LaneKey, EventRow)>,
}

/// What a record that is needed is needed for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Needed {
    /// The Emails that are there.
    pub(crate) emails: Vec<EmailId>,
    /// When these expire, or would have.
    pub(crate) expires_at: Timestamp,
}

/// The tables that tell, open for reading or for writing.
struct Tables<'a, I, M, W, E> {
    ids: &'a I,
    mail: &'a M,
    webhooks_of: &'a W,
    events: [&'a E; 2],
    secret: &'a HashKey,
}

impl<I, M, W, E> Tables<'_, I, M, W, E>
where
    I: ReadableTable<&'static [u8; 16], &'static MailKey>,
    M: ReadableTable<&'static MailKey, &'static [u8]>,
    W: ReadableTable<&'static [u8; 32], ()>,
    E: ReadableTable<&'static LaneKey, &'static [u8]>,
{
    /// Who needs the record at `place` of a message for `recipients`, which is shared like that.
    fn needs(
        &self,
        recipients: &[Recipient],
        place: RecordPlace,
        sharing: Option<Sharing>,
    ) -> Result<Needs, IndexError> {
        let mut needs = Needs::default();
        let first = match (sharing, recipients) {
            (Some(sharing), _) => sharing.sequence,
            // Never shared: it was for one Email, whose id says where its row is.
            (None, [recipient]) => match self.ids.get(&recipient.id.octets())? {
                Some(key) => sequence_of(key.value()),
                None => return Ok(needs),
            },
            (None, _) => return Ok(needs),
        };
        for (recipient, sequence) in recipients.iter().zip(first..) {
            let mailbox = mailbox_hash(self.secret, &recipient.mailbox);
            let key = mail_key(mailbox, sequence);
            if let Some(row) = self.mail.get(&key)? {
                let row = decode_mail(row.value())?;
                needs.emails.extend((row.place == place && row.id == recipient.id).then_some((key, row)));
            }
            if sharing.is_some() {
                self.events(mailbox, sequence, place, &mut needs.events)?;
            }
        }
        Ok(needs)
    }

    fn events(
        &self,
        mailbox: [u8; 16],
        sequence: u64,
        place: RecordPlace,
        found: &mut Vec<(LaneKey, EventRow)>,
    ) -> Result<(), IndexError> {
        let (first, last) = (WebhookId::from_octets([0; 16]), WebhookId::from_octets([255; 16]));
        let (first, last) = (webhook_of_key(mailbox, first), webhook_of_key(mailbox, last));
        for row in self.webhooks_of.range::<&[u8; 32]>(&first..=&last)? {
            let key = lane_key(webhook_of(row?.0.value()), sequence);
            if let Some(event) = event_in(self.events, &key)? {
                found.extend((event.place == place).then_some((key, event)));
            }
        }
        Ok(())
    }
}

impl View {
    /// What the record at `place` of a message for `recipients` is needed for; `None` if for nothing. An error if not all
    /// of those are found who have a share in it: they would be left without its octets.
    pub(crate) fn needed(&self, recipients: &[Recipient], place: RecordPlace) -> Result<Option<Needed>, IndexError> {
        let sharing = self.transaction.open_table(SHARED)?.get((place.segment, place.offset))?;
        let sharing = sharing.map(|row| Sharing::decode(row.value()));
        let tables = Tables {
            ids: &self.transaction.open_table(IDS)?,
            mail: &self.transaction.open_table(MAIL)?,
            webhooks_of: &self.transaction.open_table(WEBHOOKS_OF)?,
            events: [&self.transaction.open_table(FRESH_EVENTS)?, &self.transaction.open_table(TRIED_EVENTS)?],
            secret: &self.hash_key,
        };
        let Needs { emails, events } = tables.needs(recipients, place, sharing)?;
        if sharing.is_some_and(|sharing| sharing.shares as usize != emails.len() + events.len()) {
            return Err(IndexError::Corrupt("not all are found who share a record"));
        }
        let of_email = emails.first().map(|(_, row)| row.expires_at);
        let expires_at = of_email.or(events.first().map(|(_, event)| event.expires_at));
        let emails = emails.into_iter().map(|(_, row)| row.id).collect();
        Ok(expires_at.map(|expires_at| Needed { emails, expires_at }))
    }
}

impl Apply<'_> {
    /// Has everybody who needs the record at `from` need its copy at `to`. What is not needed any more is not moved: the
    /// copy goes.
    pub(super) fn relocate(
        &mut self,
        recipients: &[Recipient],
        expires_at: Timestamp,
        from: RecordPlace,
        to: RecordPlace,
    ) -> Result<Outcome, IndexError> {
        let sharing = self.shares.get((from.segment, from.offset))?;
        let tables = Tables {
            ids: &self.ids,
            mail: &self.mail,
            webhooks_of: &self.outbox.of,
            events: self.outbox.events.tables(),
            secret: &self.hash_key,
        };
        let Needs { emails, events } = tables.needs(recipients, from, sharing)?;
        if emails.is_empty() && events.is_empty() {
            self.punch(to)?;
            return Ok(Outcome::Changed { number: 0, more: false });
        }
        for (key, row) in emails {
            self.mail.insert(&key, &MailRow { place: to, ..row }.encode()[..])?;
        }
        for (key, event) in events {
            self.outbox.events.write(&key, &EventRow { place: to, ..event })?;
        }
        self.shares.relocate((from.segment, from.offset), (to.segment, to.offset))?;
        self.alive.remove(from);
        self.alive.add(to, expires_at);
        // Its segment may stay for others: what is deleted from here on must not be left there.
        self.punch(from)?;
        self.tally.moved += 1;
        Ok(Outcome::Changed { number: 1, more: false })
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;
    use std::sync::Arc;

    use super::*;
    use crate::model::{Address, Caps, Envelope, Protocol, Subaddressing};
    use crate::store::change::Change;
    use crate::store::disk::{Directory, Disk};
    use crate::store::index::Index;
    use crate::store::journal::Position;
    use crate::store::{OutboxLimits, StoreOptions};

    const NOW: Timestamp = Timestamp::from_millis(1_700_000_000_000);
    const LATER: Timestamp = Timestamp::from_millis(1_700_000_060_000);

    fn place(segment: u64) -> RecordPlace {
        RecordPlace { segment, offset: 600, length: 300, content: 100 }
    }

    struct Store {
        index: Index,
        envelope: Envelope,
        group: u64,
        _dir: tempfile::TempDir,
    }

    impl Store {
        /// With a message for two, in segment 1.
        fn with_message() -> Self {
            let dir = tempfile::tempdir().expect("directory");
            let disk: Arc<dyn Disk> = Arc::new(Directory::lock(dir.path()).expect("lock"));
            let config = crate::config::Config::of_revision(crate::config::Revision::Two, ".".into());
            let index = Index::create(&disk, &StoreOptions::from_config(&config)).expect("create");
            let addresses: Vec<Address> =
                ["a@example.test", "b@example.test"].map(|it| it.parse().expect("an address")).to_vec();
            let (client, subaddressing) = (Ipv4Addr::LOCALHOST.into(), Subaddressing::Keep);
            let helo = "client.example".into();
            let envelope = Envelope::new(client, helo, Protocol::ESMTP, String::new(), &addresses, subaddressing, NOW);
            let mut store = Self { index, envelope, group: 1, _dir: dir };
            let (caps, outbox) = (Caps::default(), OutboxLimits::default());
            let envelope = store.envelope.clone();
            store.apply(&Change::Received { envelope, received_at: NOW, expires_at: LATER, caps, outbox }, place(1));
            store
        }

        fn apply(&mut self, change: &Change, place: RecordPlace) {
            self.group += 1;
            let end = Position { segment: 3, offset: 512, group: self.group };
            self.index.apply([(change, place)], end).expect("applied");
        }

        fn delete(&mut self, nth: usize) {
            let id = self.envelope.recipients[nth].id;
            self.apply(&Change::Deleted { id, now: NOW }, RecordPlace { content: 0, ..place(3) });
        }

        /// Moves the message to segment 2, by a change that was made when both Emails of it were there.
        fn relocate(&mut self) {
            let envelope = self.envelope.clone();
            let living = envelope.recipients.iter().map(|it| it.id).collect();
            let (from, received_at, expires_at) = (place(1), NOW, LATER);
            self.apply(&Change::Moved { from, envelope, received_at, expires_at, living }, place(2));
        }

        fn living(&self, place: RecordPlace) -> usize {
            let view = self.index.view().expect("a view");
            let needed = view.needed(&self.envelope.recipients, place).expect("read");
            needed.map_or(0, |needed| needed.emails.len())
        }

        /// The segments in which something lives, and those out of which something is to be punched.
        fn checkpoint(&self) -> (Vec<u64>, Vec<u64>) {
            let made = self.index.checkpoint().expect("a checkpoint");
            (made.alive.into_keys().collect(), made.deleted.iter().map(|place| place.segment).collect())
        }
    }

    #[test]
    fn what_is_moved_leaves_its_segment_and_its_octets_are_taken_off_it() {
        let mut store = Store::with_message();
        store.relocate();
        assert_eq!((store.living(place(1)), store.living(place(2))), (0, 2));
        assert_eq!(store.checkpoint(), (vec![2], vec![1]));
        store.delete(0);
        store.delete(1);
        assert_eq!(store.checkpoint(), (vec![], vec![1, 2]));
    }

    #[test]
    fn moving_brings_nothing_back_that_was_deleted_before() {
        let mut store = Store::with_message();
        store.delete(0);
        store.relocate();
        assert_eq!((store.living(place(1)), store.living(place(2))), (0, 1));
        let mut store = Store::with_message();
        store.delete(0);
        store.delete(1);
        store.relocate();
        assert_eq!((store.living(place(1)), store.living(place(2))), (0, 0));
        assert_eq!(store.checkpoint(), (vec![], vec![1, 2]), "the copy goes as well");
    }
}
