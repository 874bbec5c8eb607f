//! The newest messages of all inboxes, each once.

use std::collections::HashSet;

use super::window::DEPTH_MAX;
use crate::http::Api;
use crate::http::problem::Problem;
use crate::model::Listed;
use crate::store::{NewestCursor, NewestQuery};

/// The most Emails that one question to the store returns.
const EMAILS_AT_ONCE: usize = 500;
/// The most questions to the store for one walk. Each examines a bounded number of rows.
const QUESTIONS_MAX: usize = 100;
/// So many of the newest Emails are always looked at, so that the number of messages is exact in a store with fewer.
const EMAILS_MIN: usize = 1_000;

/// The newest messages.
#[derive(Debug, Default)]
pub(super) struct Walked {
    /// One Email of each message, newest first.
    pub(super) messages: Vec<Listed>,
    /// How many messages there are. In a store with more than were looked at, how many Emails.
    pub(super) total: u64,
}

impl Api {
    /// Looks at the newest Emails until there are `wanted` messages, and at a bounded number of them.
    ///
    /// The Emails of a message share their octets, which tells without a look into them that they belong together.
    pub(super) async fn newest_messages(&self, wanted: usize) -> Result<Walked, Problem> {
        let (mut walked, mut seen, mut emails, mut after) = (Walked::default(), HashSet::new(), 0, None);
        for _ in 0..QUESTIONS_MAX {
            let page = self.store.newest(query(after), self.clock.now()).await?;
            emails += page.emails.len();
            let unseen = page.emails.into_iter().map(|newest| newest.listed).filter(|email| seen.insert(email.place));
            walked.messages.extend(unseen);
            walked.total = page.total.unwrap_or_default();
            after = page.next;
            if after.is_none() {
                walked.total = walked.messages.len() as u64;
            }
            if after.is_none() || emails >= DEPTH_MAX || (emails >= EMAILS_MIN && walked.messages.len() >= wanted) {
                break;
            }
        }
        Ok(walked)
    }
}

/// The question for the Emails that follow a position, newest first.
pub(super) fn query(after: Option<NewestCursor>) -> NewestQuery {
    NewestQuery { by_mailbox: false, domain: None, after, skip: 0, limit: EMAILS_AT_ONCE }
}
