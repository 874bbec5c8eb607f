//! What is alive in each segment, and which octets are dead.

use std::collections::{BTreeMap, HashMap};

use crate::store::change::RecordPlace;

/// What keeps a segment.
#[derive(Clone, Copy, Debug, Default)]
struct Use {
    /// Messages with an Email or an event.
    messages: u32,
    /// Pending events that a record here began, and pending events whose last record is here.
    events: u32,
    /// The oldest segment that has something of which a record here says that it is gone.
    mentions_from: Option<u32>,
}

/// The events that keep a message, and whether it has Emails, too.
#[derive(Clone, Copy, Debug)]
struct Held {
    events: u32,
    has_emails: bool,
}

/// The use of all segments.
#[derive(Debug, Default)]
pub(super) struct Segments {
    uses: BTreeMap<u32, Use>,
    /// The messages of pending events.
    held: HashMap<RecordPlace, Held>,
    /// Messages that nobody can read any more.
    dead: Vec<RecordPlace>,
    pub(super) messages: u64,
    pub(super) octets: u64,
}

impl Segments {
    /// A message has Emails. An event may keep it already.
    pub(super) fn begin(&mut self, place: RecordPlace) {
        if let Some(held) = self.held.get_mut(&place)
            && !std::mem::replace(&mut held.has_emails, true)
        {
            return;
        }
        self.enter(place);
    }

    fn enter(&mut self, place: RecordPlace) {
        self.uses.entry(place.segment).or_default().messages += 1;
        self.messages += 1;
        self.octets += u64::from(place.content);
    }

    /// The last Email of a message is gone.
    pub(super) fn end_emails(&mut self, place: RecordPlace) {
        match self.held.get_mut(&place) {
            Some(held) => held.has_emails = false,
            None => self.end(place),
        }
    }

    /// An event keeps its message, and the segment of the record that began it. The message may have Emails.
    pub(super) fn hold(&mut self, place: RecordPlace, has_emails: bool, begun_in: u32) {
        if !has_emails && !self.held.contains_key(&place) {
            self.enter(place);
        }
        self.held.entry(place).or_insert(Held { events: 0, has_emails }).events += 1;
        self.uses.entry(begun_in).or_default().events += 2;
    }

    /// The last record about an event is in another segment.
    pub(super) fn tell(&mut self, before: u32, now: u32) {
        self.forget(before);
        self.uses.entry(now).or_default().events += 1;
    }

    /// An event keeps its message no longer.
    pub(super) fn release(&mut self, place: RecordPlace, begun_in: u32, told_in: u32) {
        self.forget(begun_in);
        self.forget(told_in);
        let Some(held) = self.held.get_mut(&place) else { return };
        held.events -= 1;
        if held.events == 0 {
            let has_emails = held.has_emails;
            self.held.remove(&place);
            if !has_emails {
                self.end(place);
            }
        }
    }

    fn forget(&mut self, told_in: u32) {
        if let Some(used) = self.uses.get_mut(&told_in) {
            used.events -= 1;
        }
    }

    fn end(&mut self, place: RecordPlace) {
        if let Some(used) = self.uses.get_mut(&place.segment) {
            used.messages -= 1;
        }
        self.messages -= 1;
        self.octets -= u64::from(place.content);
        self.dead.push(place);
    }

    /// A record in `segment` says that something in segment `of` is gone.
    pub(super) fn mention(&mut self, segment: u32, of: u32) {
        let used = self.uses.entry(segment).or_default();
        used.mentions_from = Some(used.mentions_from.map_or(of, |from| from.min(of)));
    }

    /// Those of the segments `exist`, in their order, that nothing needs: nothing in them is alive, and no older one that
    /// exists has anything of which they say that it is gone.
    pub(super) fn removable(&mut self, exist: &[u32]) -> Vec<u32> {
        let Some(last) = exist.last() else { return Vec::new() };
        self.uses.retain(|number, _| number > last || exist.binary_search(number).is_ok());
        let is_removable = |number: &&u32| {
            let used = self.uses.get(number).copied().unwrap_or_default();
            let is_mentioned = |from: u32| exist.get(exist.partition_point(|older| *older < from)) < Some(*number);
            used.messages == 0 && used.events == 0 && !used.mentions_from.is_some_and(is_mentioned)
        };
        exist.iter().filter(is_removable).copied().collect()
    }

    /// Forgets the messages that died, and the segments without anything alive.
    #[cfg(feature = "cassandra")]
    pub(super) fn forget_dead(&mut self) {
        self.dead.clear();
        self.uses.retain(|_, used| used.messages > 0 || used.events > 0);
    }

    /// Takes the messages that died since the last call.
    pub(super) fn take_dead(&mut self) -> Vec<RecordPlace> {
        std::mem::take(&mut self.dead)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(segment: u32) -> RecordPlace {
        RecordPlace { segment, offset: 512, length: 100, content: 10 }
    }

    #[test]
    fn a_segment_goes_once_nothing_in_it_is_alive_and_nothing_older_needs_what_it_says() {
        let mut segments = Segments::default();
        for number in 1..=3 {
            segments.begin(place(number));
        }
        assert_eq!(segments.removable(&[1, 2, 3]), [0; 0]);
        // A record in 3 says that the message in 2 is gone.
        segments.end_emails(place(2));
        segments.mention(3, 2);
        segments.end_emails(place(3));
        assert_eq!(segments.removable(&[1, 2, 3]), [2]);
        assert_eq!(segments.removable(&[1, 3]), [3]);
        assert_eq!(segments.take_dead(), [place(2), place(3)]);
        assert_eq!((segments.messages, segments.octets), (1, 10));
    }

    #[test]
    fn events_keep_their_message_and_the_segment_that_tells_of_them() {
        let mut segments = Segments::default();
        segments.begin(place(1));
        segments.hold(place(1), true, 1);
        segments.hold(place(1), true, 1);
        segments.end_emails(place(1));
        segments.tell(1, 2);
        assert_eq!(segments.removable(&[1, 2]), [0; 0]);
        segments.release(place(1), 1, 1);
        assert_eq!(segments.take_dead(), []);
        segments.release(place(1), 1, 2);
        assert_eq!(segments.take_dead(), [place(1)]);
        assert_eq!(segments.removable(&[1, 2]), [1, 2]);
    }

    #[test]
    fn a_message_that_an_event_keeps_counts_once_whether_its_emails_come_or_not() {
        let mut segments = Segments::default();
        for emails_come in [false, true] {
            segments.hold(place(1), false, 0);
            assert_eq!((segments.messages, segments.octets), (1, 10));
            if emails_come {
                segments.begin(place(1));
                assert_eq!(segments.messages, 1);
            }
            segments.release(place(1), 0, 0);
            assert_eq!(segments.messages, u64::from(emails_come));
        }
        segments.end_emails(place(1));
        assert_eq!((segments.messages, segments.octets), (0, 0));
    }
}
