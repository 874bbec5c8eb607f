//! What was sent and deleted, and what must hold of it at every node.

use std::collections::{BTreeMap, HashMap};
use std::fmt::{self, Display};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::{StreamExt, stream};
use serde_json::Value;
use tokio::time::Instant;

use super::nodes::Nodes;

/// Requests that a check makes at once.
const AT_ONCE: usize = 16;
/// How many faults a failure names.
const NAMED: usize = 20;

/// A mail with a text that no other has.
#[derive(Clone, Debug)]
pub(super) struct Mail {
    pub(super) token: String,
    pub(super) to: Vec<String>,
    pub(super) octets: String,
}

/// What its sender knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// 250, at this time.
    Acknowledged(Instant),
    /// 451, 421, or no reply: the sender would try again.
    Unknown,
}

/// What is known of the deletion of one recipient's Email.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Deletion {
    None,
    /// It was asked for, and the answer is not known or was an error.
    Unsure,
    Done,
}

struct Entry {
    mail: Mail,
    outcome: Outcome,
    deletions: Vec<Deletion>,
}

#[derive(Default)]
struct Entries {
    all: Vec<Entry>,
    /// Of each node, in their order.
    acknowledged: Vec<Vec<Instant>>,
    refused: usize,
}

/// All mail of a run.
pub(super) struct Ledger(Mutex<Entries>);

/// What the nodes show of a run's mail.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Shown {
    acknowledged: usize,
    unknown: usize,
    refused: usize,
    emails: usize,
    deleted: usize,
}

impl Ledger {
    pub(super) fn new(nodes: usize) -> Self {
        Self(Mutex::new(Entries { acknowledged: vec![Vec::new(); nodes], ..Entries::default() }))
    }

    pub(super) fn add(&self, node: usize, mail: Mail, outcome: Outcome) {
        let mut entries = self.locked();
        if let Outcome::Acknowledged(at) = outcome {
            entries.acknowledged[node].push(at);
        }
        let deletions = vec![Deletion::None; mail.to.len()];
        entries.all.push(Entry { mail, outcome, deletions });
    }

    /// Counts a mail that was refused before its octets.
    pub(super) fn refuse(&self) {
        self.locked().refused += 1;
    }

    pub(super) fn acknowledged_since(&self, node: usize, since: Instant) -> usize {
        self.locked().acknowledged[node].iter().rev().take_while(|at| **at >= since).count()
    }

    pub(super) fn deleted(&self) -> usize {
        let entries = self.locked();
        entries.all.iter().flat_map(|entry| &entry.deletions).filter(|deletion| **deletion == Deletion::Done).count()
    }

    /// The longest time without a 250 at a node from one moment to another.
    pub(super) fn longest_gap(&self, node: usize, from: Instant, to: Instant) -> Duration {
        let entries = self.locked();
        let within = entries.acknowledged[node].iter().copied().filter(|at| (from..to).contains(at));
        let (mut last, mut longest) = (from, Duration::ZERO);
        for at in within.chain([to]) {
            longest = longest.max(at - last);
            last = at;
        }
        longest
    }

    /// Any Email of acknowledged mail that nobody has tried to delete: the number of the mail and that of the recipient.
    pub(super) fn deletable(&self) -> Option<(usize, usize)> {
        let entries = self.locked();
        if entries.all.is_empty() {
            return None;
        }
        let mail = rand::random_range(0..entries.all.len());
        let Entry { outcome, deletions, .. } = &entries.all[mail];
        let to = rand::random_range(0..deletions.len());
        (matches!(outcome, Outcome::Acknowledged(_)) && deletions[to] == Deletion::None).then_some((mail, to))
    }

    /// Finds that Email at one node, and deletes it at the other one.
    pub(super) async fn delete_one(&self, nodes: &Nodes, [finder, deleter]: [usize; 2], mail: usize, to: usize) {
        let (address, token) = {
            let entries = self.locked();
            let mail = &entries.all[mail].mail;
            (mail.to[to].clone(), mail.token.clone())
        };
        let Ok(emails) = list(nodes, finder, &address).await else { return };
        let found = emails.iter().find(|email| email.token == token).map(|email| email.id.clone());
        let id = found.unwrap_or_else(|| panic!("node {finder} does not list acknowledged mail {token} of {address}"));
        self.locked().all[mail].deletions[to] = Deletion::Unsure;
        let answer = nodes.delete(deleter, &format!("/api/mail/delete?id={id}")).await;
        if let Ok((200, body)) = answer {
            let deleted: Value = serde_json::from_slice(&body).expect("JSON");
            assert_eq!(deleted["deleted"], 1, "node {deleter} does not find acknowledged mail {token} of {address}");
            self.locked().all[mail].deletions[to] = Deletion::Done;
        }
    }

    /// Looks at all mail through a node. Returns what is not as it must be.
    pub(super) async fn faults(&self, nodes: &Nodes, node: usize) -> Vec<String> {
        let mailboxes: Vec<String> = {
            let entries = self.locked();
            let all = entries.all.iter().flat_map(|entry| entry.mail.to.iter().cloned());
            all.collect::<std::collections::BTreeSet<_>>().into_iter().collect()
        };
        let lists = stream::iter(mailboxes).map(async |mailbox| {
            let emails = list(nodes, node, &mailbox).await;
            (mailbox, emails)
        });
        let mut faults = Vec::new();
        let mut shown = BTreeMap::new();
        let mut lists = lists.buffer_unordered(AT_ONCE);
        while let Some((mailbox, emails)) = lists.next().await {
            match emails {
                Ok(emails) => drop(shown.insert(mailbox, emails)),
                Err(error) => faults.push(format!("node {node}, {mailbox}: {error}")),
            }
        }
        if faults.is_empty() {
            self.locked().compare(node, &shown, &mut faults);
        }
        faults
    }

    /// Loads all listed octets of acknowledged mail, each through one of the nodes. Returns what is not as it must be.
    pub(super) async fn faults_of_octets(&self, nodes: &Nodes) -> Vec<String> {
        let wanted: HashMap<String, String> = {
            let entries = self.locked();
            entries.all.iter().map(|Entry { mail, .. }| (mail.token.clone(), mail.octets.clone())).collect()
        };
        let mailboxes: Vec<String> = {
            let entries = self.locked();
            entries.all.iter().map(|entry| entry.mail.to[0].clone()).collect::<std::collections::BTreeSet<_>>()
        }
        .into_iter()
        .collect();
        let living = nodes.living();
        let looks = stream::iter(mailboxes.iter().enumerate()).map(async |(number, mailbox)| {
            let node = living[number % living.len()];
            let mut faults = Vec::new();
            for Shortened { id, token } in list(nodes, node, mailbox).await.unwrap_or_default() {
                let raw = nodes.get(node, &format!("/api/mail/messages/{id}/raw")).await;
                let is_whole = matches!(&raw, Ok((200, raw)) if raw.ends_with(wanted[&token].as_bytes()));
                if !is_whole {
                    faults.push(format!("node {node}: the octets of {token} in {mailbox} are not as sent"));
                }
            }
            faults
        });
        looks.buffer_unordered(AT_ONCE).concat().await
    }

    pub(super) fn shown(&self) -> Shown {
        let entries = self.locked();
        let is_acknowledged = |entry: &&Entry| matches!(entry.outcome, Outcome::Acknowledged(_));
        Shown {
            acknowledged: entries.all.iter().filter(is_acknowledged).count(),
            unknown: entries.all.iter().filter(|entry| entry.outcome == Outcome::Unknown).count(),
            refused: entries.refused,
            emails: entries.all.iter().filter(is_acknowledged).map(|entry| entry.mail.to.len()).sum(),
            deleted: entries.all.iter().flat_map(|e| &e.deletions).filter(|d| **d == Deletion::Done).count(),
        }
    }

    fn locked(&self) -> MutexGuard<'_, Entries> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Entries {
    fn compare(&self, node: usize, shown: &BTreeMap<String, Vec<Shortened>>, faults: &mut Vec<String>) {
        let mut counts: HashMap<(&str, &str), usize> = HashMap::new();
        for (mailbox, emails) in shown {
            for email in emails {
                *counts.entry((mailbox, &email.token)).or_default() += 1;
            }
        }
        let mut known = 0;
        for Entry { mail, outcome, deletions } in &self.all {
            let of = |to: &String| counts.get(&(to.as_str(), mail.token.as_str())).copied().unwrap_or(0);
            let found: Vec<usize> = mail.to.iter().map(of).collect();
            known += found.iter().sum::<usize>();
            let is_right = |(count, deletion): (&usize, &Deletion)| match (outcome, deletion) {
                (Outcome::Acknowledged(_), Deletion::None) => *count == 1,
                (Outcome::Acknowledged(_), Deletion::Done) => *count == 0,
                (Outcome::Acknowledged(_), Deletion::Unsure) => *count <= 1,
                (Outcome::Unknown, _) => *count <= 1 && *count == found[0],
            };
            if !found.iter().zip(deletions).all(is_right) {
                let token = &mail.token;
                faults.push(format!("node {node}: {outcome:?} mail {token} is listed {found:?}, {deletions:?}"));
            }
        }
        let listed: usize = shown.values().map(Vec::len).sum();
        if listed != known {
            faults.push(format!("node {node}: {listed} Emails are listed, of which {known} were sent"));
        }
    }
}

impl Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { acknowledged, unknown, refused, emails, deleted } = self;
        write!(
            f,
            "{acknowledged} acknowledged mails ({emails} Emails, {deleted} deleted), {unknown} of unknown outcome, {refused} refused before their octets"
        )
    }
}

/// Fails with the first faults if there are any.
pub(super) fn expect_none(faults: &[String], when: &str) {
    let named = faults.iter().take(NAMED).cloned().collect::<Vec<_>>().join("\n");
    assert!(faults.is_empty(), "{when}: {} faults\n{named}", faults.len());
}

/// What a list shows of an Email.
struct Shortened {
    id: String,
    token: String,
}

/// The Emails of a mailbox as a node lists them, at most 100.
async fn list(nodes: &Nodes, node: usize, mailbox: &str) -> Result<Vec<Shortened>, String> {
    let (status, body) = nodes.get(node, &format!("/api/mail/messages?to={mailbox}&limit=100")).await?;
    if status != 200 {
        return Err(format!("status {status}"));
    }
    let page: Value = serde_json::from_slice(&body).map_err(|error| error.to_string())?;
    let emails = page["emails"].as_array().ok_or("no emails")?;
    let text = |email: &Value, name: &str| email[name].as_str().map(str::to_owned).ok_or(format!("no {name}"));
    emails
        .iter()
        .map(|email| {
            let (id, token) = (text(email, "id")?, text(email, "subject")?);
            // The list shows the text as well, which is in the octets.
            let is_loaded = text(email, "message")?.contains(&token);
            is_loaded.then_some(Shortened { id, token }).ok_or("the octets are missing".into())
        })
        .collect()
}
