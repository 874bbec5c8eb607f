//! The search for Emails that pass a filter, newest first, within bounds.

use std::sync::Arc;

use super::Api;
use super::batch;
use super::filter::Filter;
use super::memory::Asker;
use super::problem::Problem;
use super::rendered::load_to_list;
use crate::model::{Listed, Mailbox};
use crate::reader;
use crate::store::StoreError;

/// The most Emails that one search looks at.
pub(super) const EMAILS_MAX: usize = 1000;
/// The most octets of messages that one search parses. It always parses the first message.
pub(super) const OCTETS_MAX: u64 = 16 * 1024 * 1024;

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
    /// Looks at the Emails below the sequence number `before` until `limit` of them passed, or a bound is reached.
    pub(super) async fn search(
        self: &Arc<Self>,
        asker: &Asker,
        mailbox: &Mailbox,
        filter: &Filter,
        before: u64,
        limit: usize,
    ) -> Result<Found, Problem> {
        // One more than the limit shows whether there is a next page.
        let rows_max = if filter.is_empty() { limit.saturating_add(1) } else { EMAILS_MAX };
        let rows = self.store.list_before(mailbox, before, rows_max, self.clock.now()).await?;
        let is_all = rows.len() < rows_max;
        let (mut found, mut octets) = (Found::default(), 0);
        let mut unread = rows.into_iter();
        while let Some(length) = batch::length(unread.as_slice(), |listed| cost(listed, filter)) {
            let batch: Vec<Listed> = unread.by_ref().take(length).collect();
            let last = batch.last().map(|listed| listed.sequence);
            found.scanned += batch.len();
            octets += batch.iter().map(|listed| cost(listed, filter)).sum::<u64>();
            found.emails.extend(self.passing(asker, filter, batch).await?);
            let is_last = unread.as_slice().is_empty();
            found.next = last.filter(|_| !(is_last && is_all));
            if found.emails.len() >= limit || octets >= OCTETS_MAX {
                break;
            }
        }
        if found.emails.len() > limit {
            found.emails.truncate(limit);
            found.next = found.emails.last().map(|listed| listed.sequence);
        }
        Ok(found)
    }

    /// Those Emails of a batch that pass the filter.
    pub(super) async fn passing(
        self: &Arc<Self>,
        asker: &Asker,
        filter: &Filter,
        mut batch: Vec<Listed>,
    ) -> Result<Vec<Listed>, Problem> {
        batch.retain(|listed| filter.admits(listed));
        if !filter.needs_content() || batch.is_empty() {
            return Ok(batch);
        }
        let room = self.reserve_rendered(asker, batch.iter().map(|listed| listed.size_octets)).await?;
        let (api, filter) = (Arc::clone(self), filter.clone());
        let reading = async move {
            let _room = room;
            let mut passing = Vec::new();
            for listed in batch {
                let Some(email) = load_to_list(&*api.store, &listed).await? else { continue };
                if reader::read(&email.raw, |message| filter.passes(&email, message)) {
                    passing.push(listed);
                }
            }
            Ok::<_, StoreError>(passing)
        };
        Ok(self.reader.run(reading).await?)
    }
}

/// The octets that must be parsed to know whether an Email passes.
fn cost(listed: &Listed, filter: &Filter) -> u64 {
    if filter.needs_content() && filter.admits(listed) { listed.size_octets } else { 0 }
}
