//! Mail as it arrives, found by polling the list.

use std::collections::{HashSet, VecDeque};

use super::{Client, ClientError, Email};
use crate::model::Address;

/// Emails per question: their bodies come along.
const PAGE: u64 = 5;
/// How many Emails are remembered. The newest is always among them, so any of them ends the search for newer ones.
const SEEN_MAX: usize = 1_000;
/// How often a walk through several pages restarts because mail was deleted meanwhile.
const WALKS_MAX: usize = 10;

/// The Emails of an address that arrive from a moment on, each once.
#[derive(Debug)]
pub struct Arrivals {
    to: Address,
    /// Newest first.
    seen: VecDeque<String>,
    /// The interface's form, which sorts as time does.
    newest_at: String,
}

impl Arrivals {
    /// What is there now has arrived before.
    pub async fn begin(client: &Client, to: Address) -> Result<Self, ClientError> {
        let mut arrivals = Self { to, seen: VecDeque::new(), newest_at: String::new() };
        // All Emails of the newest second are remembered, since their times are equal.
        for page in 1.. {
            let list = client.list(&arrivals.to, Some(page), Some(PAGE)).await?;
            for email in &list.emails {
                arrivals.newest_at = arrivals.newest_at.max(email.received_at.clone());
                arrivals.seen.push_back(email.id.clone());
            }
            let is_all = list.emails.last().is_none_or(|email| email.received_at < arrivals.newest_at);
            if is_all || page >= list.pages {
                break;
            }
        }
        Ok(arrivals)
    }

    /// The ids of the Emails that have arrived since the last call, oldest first.
    ///
    /// What arrives and is deleted between two calls is not among them.
    pub async fn next(&mut self, client: &Client) -> Result<Vec<String>, ClientError> {
        let newest = client.list(&self.to, Some(1), Some(1)).await?.emails;
        if newest.iter().all(|email| self.seen.contains(&email.id)) {
            return Ok(Vec::new());
        }
        let mut arrived = Vec::new();
        for _ in 0..WALKS_MAX {
            let is_whole = self.walk(client, &mut arrived).await?;
            if is_whole {
                break;
            }
        }
        for email in arrived.iter().rev() {
            self.newest_at = self.newest_at.clone().max(email.received_at.clone());
            self.seen.push_front(email.id.clone());
        }
        self.seen.truncate(SEEN_MAX.max(arrived.len()));
        Ok(arrived.into_iter().rev().map(|email| email.id).collect())
    }

    /// Everything newer than what was seen, newest first; `false` if some of it may have been passed over.
    ///
    /// New mail moves the rest to later pages, where it is met twice. Only when more is deleted than arrives does a page
    /// begin further on than the one before it ended, and then the total is less.
    async fn walk(&self, client: &Client, arrived: &mut Vec<Email>) -> Result<bool, ClientError> {
        arrived.clear();
        let mut met = HashSet::new();
        let mut total = 0;
        for page in 1.. {
            let list = client.list(&self.to, Some(page), Some(PAGE)).await?;
            if list.total < total {
                return Ok(false);
            }
            total = list.total;
            for mut email in list.emails {
                if self.seen.contains(&email.id) {
                    return Ok(true);
                }
                if met.insert(email.id.clone()) {
                    // Only its id and time are needed; many bodies are large.
                    email.message = String::new();
                    arrived.push(email);
                }
            }
            if page >= list.pages {
                break;
            }
        }
        // Nothing that was seen is there any more, so time has to tell.
        arrived.retain(|email| email.received_at >= self.newest_at);
        Ok(true)
    }
}

#[cfg(test)]
mod tests;
