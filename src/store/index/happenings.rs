//! What happened to Emails in a group, for the subscribers of the store.

use super::applied::GroupEvents;
use super::keys::MailKey;
use super::rows::MailRow;
use crate::events::{Event, Happening, Topic};

/// The most events of a group that are collected. With more, all subscribers look at the store.
const EVENTS_MAX: usize = 4096;

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
