//! Reading the live data of a store, which may be in use.

use super::{BackupCounts, BackupItem, BackupRecord};
use crate::store::index::{IndexError, LiveEmails, View};
use crate::store::journal::{Position, SegmentFiles, Walk, WalkItem, WalkedContent, WalkedRecord, segment_name};
use crate::store::{OpenError, StoreError};

/// How many events one read returns.
const EVENTS_AT_ONCE: usize = 1_000;

/// What to do about a live message that cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Damage {
    /// Stop with an error.
    Stops,
    /// Continue without the message.
    IsLeftOut,
}

/// A read of the index.
pub(crate) type Question<'q> = &'q mut dyn FnMut(&View) -> Result<(), IndexError>;

/// A store that is read, and the receiver of its records.
pub(crate) struct BackupSource<'a> {
    /// Runs a read on a view of the index that lasts no longer than the read.
    pub(crate) read: &'a dyn Fn(Question<'_>) -> Result<(), StoreError>,
    /// Lists the segments. It is called after the position of the index is known.
    pub(crate) files: &'a dyn Fn() -> Result<SegmentFiles, OpenError>,
    pub(crate) damage: Damage,
    pub(crate) emit: &'a mut dyn FnMut(BackupItem) -> Result<(), StoreError>,
}

impl BackupSource<'_> {
    /// Emits all live data and the end record.
    pub(crate) fn run(mut self) -> Result<BackupCounts, StoreError> {
        let mut counts = BackupCounts::default();
        let mut start = None;
        (self.read)(&mut |view| {
            start = Some((view.secret(), view.position()?, view.domains()?, view.all_webhooks()?));
            Ok(())
        })?;
        let (secret, position, domains, webhooks) = start.ok_or(StoreError::Stopping)?;
        self.put(&mut counts, BackupRecord::Store { secret }.into())?;
        for domain in domains {
            self.put(&mut counts, BackupRecord::Domain(domain).into())?;
        }
        let files = (self.files)().map_err(|error| StoreError::Failed(error.to_string()))?;
        // A damaged header hides all messages of its segment.
        for number in files.damaged.iter().filter(|number| **number <= position.segment) {
            self.damaged(*number, 0)?;
        }
        let live = self.live_segments()?;
        // A segment that was live before the files were listed, and still is, must be among them.
        for number in live.into_iter().filter(|number| *number <= position.segment && !files.has(*number)) {
            self.damaged(number, 0)?;
        }
        for number in files.numbers().into_iter().filter(|number| *number <= position.segment) {
            self.segment(&files, number, position, &mut counts)?;
        }
        for webhook in webhooks {
            self.put(&mut counts, BackupRecord::Webhook(Box::new(webhook)).into())?;
        }
        self.events(&mut counts)?;
        (self.emit)(BackupRecord::End(counts).into())?;
        Ok(counts)
    }

    fn live_segments(&self) -> Result<Vec<u64>, StoreError> {
        let mut live = Vec::new();
        (self.read)(&mut |view| {
            live = view.live_segments()?;
            Ok(())
        })?;
        Ok(live)
    }

    fn is_alive(&self, segment: u64) -> Result<bool, StoreError> {
        Ok(self.live_segments()?.contains(&segment))
    }

    fn put(&mut self, counts: &mut BackupCounts, item: BackupItem) -> Result<(), StoreError> {
        counts.count(&item);
        (self.emit)(item)
    }

    fn segment(
        &mut self,
        files: &SegmentFiles,
        number: u64,
        until: Position,
        counts: &mut BackupCounts,
    ) -> Result<(), StoreError> {
        let failed = |error: std::io::Error| StoreError::Failed(format!("{}: {error}", segment_name(number)));
        let Some(mut walk) = files.walk(number).map_err(failed)? else {
            // A segment that was removed meanwhile has no live message.
            return if self.is_alive(number)? { self.damaged(number, 0) } else { Ok(()) };
        };
        let is_behind = |offset: u64| number == until.segment && offset >= u64::from(until.offset);
        while !is_behind(walk.offset()) {
            let item = walk.next_item().map_err(|error| match error.kind() {
                std::io::ErrorKind::UnexpectedEof => StoreError::Damaged { segment: number, offset: walk.offset() },
                _ => failed(error),
            })?;
            match item {
                None if number == until.segment || self.is_cut_short(number, &walk)? => {
                    return self.damaged(number, walk.offset());
                }
                None => break,
                Some(WalkItem::Gap { from, .. }) => self.damaged(number, from)?,
                Some(WalkItem::Group { number: group, records, broken_at, .. }) => {
                    if group >= until.group {
                        break;
                    }
                    for record in records {
                        self.record(record, counts)?;
                    }
                    if let Some(broken) = broken_at {
                        self.damaged(number, broken)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Whether a live message lies after the last readable group. Without its successor, the end of a segment is not known.
    fn is_cut_short(&self, number: u64, walk: &Walk) -> Result<bool, StoreError> {
        if walk.is_at_end().map_err(|error| StoreError::from_io(&error))? {
            return Ok(false);
        }
        let mut is_cut_short = false;
        (self.read)(&mut |view| {
            is_cut_short = view.has_live_mail_behind(number, walk.offset())?;
            Ok(())
        })?;
        Ok(is_cut_short)
    }

    fn damaged(&self, segment: u64, offset: u64) -> Result<(), StoreError> {
        match self.damage {
            Damage::Stops => Err(StoreError::Damaged { segment, offset }),
            Damage::IsLeftOut => Ok(()),
        }
    }

    fn record(&mut self, record: WalkedRecord, counts: &mut BackupCounts) -> Result<(), StoreError> {
        let WalkedRecord { change, place, content } = record;
        let Some((envelope, received_at)) = change.into_message() else { return Ok(()) };
        let mut live = None;
        // The octets were read before; the module's page explains this order.
        (self.read)(&mut |view| {
            live = view.live_emails(&envelope, place)?;
            Ok(())
        })?;
        let Some(live) = live else { return Ok(()) };
        let WalkedContent::Whole(content) = content else {
            return self.damaged(place.segment, u64::from(place.offset));
        };
        let LiveEmails { emails, sequence, expires_at } = live;
        let record = BackupRecord::Mail { envelope, received_at, expires_at, sequence, live: emails };
        self.put(counts, BackupItem { record, content })
    }

    fn events(&mut self, counts: &mut BackupCounts) -> Result<(), StoreError> {
        let mut cursor = None;
        loop {
            let mut events = Vec::new();
            (self.read)(&mut |view| {
                events = view.events_after(cursor, EVENTS_AT_ONCE)?;
                Ok(())
            })?;
            let Some(last) = events.last() else { return Ok(()) };
            cursor = Some(last.cursor);
            for event in events.into_iter().filter(|event| event.has_email) {
                let (webhook, email) = (event.webhook, event.email);
                let record = BackupRecord::Event { webhook, email, attempts: event.attempts, due_at: event.due_at };
                self.put(counts, record.into())?;
            }
        }
    }
}
