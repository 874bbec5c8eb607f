//! The search for Emails that pass a filter, within bounds.

use std::sync::Arc;

use super::filter::Filter;
use super::rows::Row;
use super::writer::batch;
use crate::http::{Api, Caller, Problem};
use crate::mime::Message;
use crate::model::{Listed, Mailbox, StoredEmail};
use crate::reader;
use crate::store::StoreError;

/// The most Emails that one search looks at.
pub(in crate::http) const EMAILS_MAX: usize = 1000;
/// The most octets of messages that one search parses. It always parses the first message.
pub(in crate::http) const OCTETS_MAX: u64 = 16 * 1024 * 1024;

/// The Emails that a search found.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// Newest first.
    pub(super) emails: Vec<Listed>,
    /// How many Emails it looked at.
    pub(super) scanned: usize,
    /// Where to go on: below this sequence number. `None` if it looked at all.
    pub(super) next: Option<u64>,
}

impl Api {
    /// Looks at the Emails below the sequence number `before`, newest first, until `limit` of them passed, or a bound is
    /// reached.
    pub(super) async fn search(
        self: &Arc<Self>,
        caller: &Caller,
        mailbox: &Mailbox,
        filter: &Filter,
        before: u64,
        limit: usize,
    ) -> Result<Found, Problem> {
        // One more than the limit shows whether there is a next page.
        let rows_max = if filter.is_empty() { limit.saturating_add(1) } else { EMAILS_MAX };
        let rows = self.store.list_before(mailbox, before, rows_max, self.clock.now()).await?;
        let is_all = rows.len() < rows_max;
        let sequences: Vec<u64> = rows.iter().map(|listed| listed.sequence).collect();
        let (mut emails, scanned) = self.passing(caller, filter, rows, limit).await?;
        let mut next = sequences[..scanned].last().copied().filter(|_| scanned < sequences.len() || !is_all);
        if emails.len() > limit {
            emails.truncate(limit);
            next = emails.last().map(|listed| listed.sequence);
        }
        Ok(Found { emails, scanned, next })
    }

    /// Those Emails that pass a filter, in their order, and how many were looked at. Bounded as [`Api::scan`] is.
    pub(super) async fn passing(
        self: &Arc<Self>,
        caller: &Caller,
        filter: &Filter,
        rows: Vec<Listed>,
        limit: usize,
    ) -> Result<(Vec<Listed>, usize), Problem> {
        let admits = |listed: &Listed| filter.admits(listed);
        if !filter.needs_content() {
            let looked_at = rows.len();
            return Ok((rows.into_iter().filter(admits).collect(), looked_at));
        }
        let content = filter.clone();
        self.scan(caller, rows, limit, admits, move |email, message| content.passes(email, message)).await
    }

    /// Those Emails that pass, in their order, and how many rows were looked at: until at least `limit` passed, or messages
    /// of [`OCTETS_MAX`] were parsed. Rows that are not wanted are not loaded, and do not pass.
    pub(in crate::http) async fn scan<R: Row>(
        self: &Arc<Self>,
        caller: &Caller,
        rows: Vec<R>,
        limit: usize,
        is_wanted: impl Fn(&R) -> bool,
        passes: impl Fn(&StoredEmail, &Message<'_>) -> bool + Send + Sync + 'static,
    ) -> Result<(Vec<Listed>, usize), Problem> {
        let passes = Arc::new(passes);
        let cost = |row: &R| if is_wanted(row) { row.listed().size_octets } else { 0 };
        let (mut passing, mut looked_at, mut octets) = (Vec::new(), 0, 0);
        let mut unread = rows.into_iter();
        while passing.len() < limit
            && octets < OCTETS_MAX
            && let Some(length) = batch(unread.as_slice(), cost)
        {
            let wanted: Vec<R> = unread.by_ref().take(length).filter(&is_wanted).collect();
            looked_at += length;
            octets += wanted.iter().map(|row| row.listed().size_octets).sum::<u64>();
            if !wanted.is_empty() {
                passing.extend(self.read_passing(caller, wanted, Arc::clone(&passes)).await?);
            }
        }
        Ok((passing, looked_at))
    }

    async fn read_passing<R: Row>(
        self: &Arc<Self>,
        caller: &Caller,
        rows: Vec<R>,
        passes: Arc<impl Fn(&StoredEmail, &Message<'_>) -> bool + Send + Sync + 'static>,
    ) -> Result<Vec<Listed>, Problem> {
        let room = self.reserve_rendered(caller, rows.iter().map(|row| row.listed().size_octets)).await?;
        let (api, caller) = (Arc::clone(self), caller.clone());
        let reading = async move {
            let _room = room;
            let mut passing = Vec::new();
            for row in rows {
                if let Some(email) = row.load(&api, &caller).await?
                    && reader::read(&email.raw, |message| passes(&email, message))
                {
                    passing.push(email.listed);
                }
            }
            Ok::<_, StoreError>(passing)
        };
        Ok(self.reader.run(reading).await?)
    }
}
