//! What happened to Emails in a group, for the subscribers of the store.

use super::applied::GroupEvents;
use super::keys::{HashKey, MailKey, array, mailbox_hash, named_hash};
use super::rows::MailRow;
use crate::events::{Event, Happening, Topic};
use crate::model::Mailbox;

/// The most events of a group that are collected. With more, all subscribers look at the store.
const EVENTS_MAX: usize = 4096;

/// The topic of a mailbox.
pub(crate) fn topic(secret: &HashKey, mailbox: &Mailbox) -> Topic {
    Topic::new(mailbox_hash(secret, mailbox))
}

/// The tag of positions in the events of a mailbox, or of all.
pub(crate) fn tag(secret: &HashKey, mailbox: Option<&Mailbox>) -> u32 {
    let hash = named_hash(secret, "events", mailbox.map_or("", Mailbox::as_str));
    u32::from_be_bytes(array(&hash[..4]))
}

/// The events of a group; `None` if nobody watches, or there are too many.
pub(super) struct Happenings(GroupEvents);

impl Happenings {
    pub(super) fn new(is_watched: bool) -> Self {
        Self(is_watched.then(Vec::new))
    }

    pub(super) fn add(&mut self, happening: Happening, key: &MailKey, row: &MailRow) {
        let Some(events) = &mut self.0 else { return };
        if events.len() == EVENTS_MAX {
            self.0 = None;
            return;
        }
        let mut mailbox = [0; 16];
        mailbox.copy_from_slice(&key[..16]);
        events.push((Topic::new(mailbox), Event { happening, email: row.listed(key) }));
    }

    pub(super) fn into_events(self) -> GroupEvents {
        self.0
    }
}
