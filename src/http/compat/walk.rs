//! The newest messages of all inboxes, each once.

use std::collections::HashMap;

use super::window::DEPTH_MAX;
use crate::http::Api;
use crate::http::mail::rows::Row;
use crate::http::principal::Principal;
use crate::http::problem::Problem;
use crate::model::{Listed, StoredEmail};
use crate::store::{NewestCursor, NewestQuery, StoreError};

/// The most Emails that one question to the store returns.
const EMAILS_AT_ONCE: usize = 500;
/// The most questions to the store for one walk. Each examines a bounded number of rows.
const QUESTIONS_MAX: usize = 100;
/// So many of the newest Emails are always looked at, so that the number of messages is exact in a store with fewer.
const EMAILS_MIN: usize = 1_000;

/// The newest messages.
#[derive(Debug, Default)]
pub(super) struct Walked {
    /// Newest first.
    pub(super) messages: Vec<Message>,
    /// How many messages there are. In a store with more than were looked at, how many Emails.
    pub(super) total: u64,
}

/// The Emails of one message that were looked at, newest first. There is at least one.
#[derive(Clone, Debug)]
pub(super) struct Message(Vec<Listed>);

impl From<Listed> for Message {
    fn from(email: Listed) -> Self {
        Self(vec![email])
    }
}

/// A message, of which a caller reads the newest Email that it may.
pub(super) struct Readable(pub(super) Message, pub(super) Principal);

impl Row for Readable {
    /// Octets of the message, which its Emails share.
    fn size_octets(&self) -> u64 {
        self.0.0.first().map_or(0, |email| email.size_octets)
    }

    async fn load(&self, api: &Api) -> Result<Option<StoredEmail>, StoreError> {
        let Self(Message(emails), principal) = self;
        for listed in emails {
            // One that was removed meanwhile says nothing of the others.
            let Some(mut email) = listed.load(api).await? else { continue };
            for listed in emails {
                email.listed = listed.clone();
                if email.mailbox().is_some_and(|mailbox| api.permit(*principal, mailbox).is_ok()) {
                    return Ok(Some(email));
                }
            }
            return Ok(None);
        }
        Ok(None)
    }
}

impl Api {
    /// Looks at the newest Emails until there are `wanted` messages, and at a bounded number of them.
    ///
    /// The Emails of a message share their octets, which tells without a look into them that they belong together.
    pub(super) async fn newest_messages(&self, wanted: usize) -> Result<Walked, Problem> {
        let (mut walked, mut known, mut emails, mut after) = (Walked::default(), HashMap::new(), 0, None);
        for _ in 0..QUESTIONS_MAX {
            let page = self.store.newest(query(after), self.clock.now()).await?;
            emails += page.emails.len();
            for email in page.emails.into_iter().map(|newest| newest.listed) {
                let next = walked.messages.len();
                match walked.messages.get_mut(*known.entry(email.place).or_insert(next)) {
                    Some(message) => message.0.push(email),
                    None => walked.messages.push(email.into()),
                }
            }
            walked.total = page.total.unwrap_or_default();
            after = page.next;
            if after.is_none() {
                walked.total = walked.messages.len() as u64;
            }
            // Emails of the last message may still follow.
            if after.is_none() || emails >= DEPTH_MAX || (emails >= EMAILS_MIN && walked.messages.len() > wanted) {
                break;
            }
        }
        Ok(walked)
    }
}

/// The question for the Emails that follow a position, newest first.
pub(super) fn query(after: Option<NewestCursor>) -> NewestQuery {
    NewestQuery { by_mailbox: false, domain: None, after, limit: EMAILS_AT_ONCE }
}
