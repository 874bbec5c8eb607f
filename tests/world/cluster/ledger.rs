//! What was sent and deleted, and what must hold of it at every node.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::{self, Display};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::{StreamExt, stream};
use serde_json::Value;
use tokio::time::Instant;

use super::nodes::Nodes;

/// Requests that a check makes at once.
const AT_ONCE: usize = 16;
/// One mailbox in so many has its octets loaded. The lists show the text of all.
const LOADED: usize = 5;
/// How many faults a failure names.
const NAMED: usize = 20;

/// A mail with a text that no other has.
#[derive(Clone, Debug)]
pub(super) struct Mail {
    pub(super) token: String,
    pub(super) to: Vec<String>,
    /// How many lines its text has. Each is the token.
    pub(super) lines: usize,
}

impl Mail {
    pub(super) fn octets(&self) -> String {
        let Self { token, lines, .. } = self;
        format!("Subject: {token}\r\n\r\n{}", format!("{token}\r\n").repeat(*lines))
    }
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

impl Entry {
    fn is_acknowledged(&self) -> bool {
        matches!(self.outcome, Outcome::Acknowledged(_))
    }
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

    /// How many were refused so far before their octets.
    pub(super) fn refused(&self) -> usize {
        self.locked().refused
    }

    pub(super) fn acknowledged_since(&self, node: usize, since: Instant) -> usize {
        self.locked().acknowledged[node].iter().rev().take_while(|at| **at >= since).count()
    }

    /// The token and the recipient of each Email of acknowledged mail.
    pub(super) fn acknowledged(&self) -> Vec<(String, String)> {
        let entries = self.locked();
        let acknowledged = entries.all.iter().filter(|entry| entry.is_acknowledged());
        acknowledged.flat_map(|Entry { mail, .. }| mail.to.iter().map(|to| (mail.token.clone(), to.clone()))).collect()
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
        let entry = &entries.all[mail];
        let to = rand::random_range(0..entry.deletions.len());
        (entry.is_acknowledged() && entry.deletions[to] == Deletion::None).then_some((mail, to))
    }

    /// Finds that Email at one node, and deletes it at the other one.
    pub(super) async fn delete_one(&self, nodes: &Nodes, [finder, other]: [usize; 2], mail: usize, to: usize) {
        let (address, token) = {
            let entries = self.locked();
            let mail = &entries.all[mail].mail;
            (mail.to[to].clone(), mail.token.clone())
        };
        let Ok(emails) = list(nodes, finder, &address).await else { return };
        let found = emails.iter().find(|email| email.token == token).map(|email| email.id.clone());
        let id = found.unwrap_or_else(|| panic!("node {finder} does not list acknowledged mail {token} of {address}"));
        self.locked().all[mail].deletions[to] = Deletion::Unsure;
        let answer = nodes.delete(other, &format!("/api/mail/delete?id={id}")).await;
        if let Ok((200, body)) = answer {
            let answer: Value = serde_json::from_slice(&body).expect("JSON");
            assert_eq!(answer["deleted"], 1, "node {other} does not find acknowledged mail {token} of {address}");
            self.locked().all[mail].deletions[to] = Deletion::Done;
        }
    }

    /// Looks at all mail through each node that runs. Returns what is not as it must be.
    pub(super) async fn faults(&self, nodes: &Nodes) -> Vec<String> {
        assert!(!nodes.living().is_empty(), "nodes run");
        for round in 0..nodes.living().len() {
            let faults = self.faults_of(nodes, |_| true, round).await;
            if !faults.is_empty() {
                return faults;
            }
        }
        Vec::new()
    }

    /// Looks at the mail of unknown outcome alone, at each mailbox through one of the nodes.
    pub(super) async fn faults_of_unknown(&self, nodes: &Nodes) -> Vec<String> {
        self.faults_of(nodes, |outcome| outcome == Outcome::Unknown, 0).await
    }

    /// Looks at each mailbox through one node, in each `round` through another one.
    async fn faults_of(&self, nodes: &Nodes, is_meant: impl Fn(Outcome) -> bool, round: usize) -> Vec<String> {
        let living = nodes.living();
        let lists = stream::iter(self.mailboxes(&is_meant)).enumerate().map(async |(number, mailbox)| {
            let node = living[(number + round) % living.len()];
            let emails = list(nodes, node, &mailbox).await.map_err(|error| format!("node {node}: {error}"));
            (mailbox, emails)
        });
        let mut faults = Vec::new();
        let mut listed = BTreeMap::new();
        let mut lists = lists.buffer_unordered(AT_ONCE);
        while let Some((mailbox, emails)) = lists.next().await {
            match emails {
                Ok(emails) => drop(listed.insert(mailbox, emails)),
                Err(error) => faults.push(format!("{mailbox}: {error}")),
            }
        }
        if faults.is_empty() {
            self.locked().compare(&listed, is_meant, &mut faults);
        }
        faults
    }

    /// Loads the octets of a part of the mail, each through one of the nodes. Returns what is not as it must be.
    pub(super) async fn faults_of_octets(&self, nodes: &Nodes) -> Vec<String> {
        let wanted: HashMap<String, String> = {
            let entries = self.locked();
            entries.all.iter().map(|Entry { mail, .. }| (mail.token.clone(), mail.octets())).collect()
        };
        let (mailboxes, living) = (self.mailboxes(|_| true), nodes.living());
        let looks = stream::iter(mailboxes.iter().step_by(LOADED).enumerate()).map(async |(number, mailbox)| {
            let node = living[number % living.len()];
            let mut faults = Vec::new();
            for ListedEmail { id, token, .. } in list(nodes, node, mailbox).await.unwrap_or_default() {
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

    /// The mailboxes of all mail with such an outcome.
    fn mailboxes(&self, is_meant: impl Fn(Outcome) -> bool) -> BTreeSet<String> {
        let entries = self.locked();
        let meant = entries.all.iter().filter(|entry| is_meant(entry.outcome));
        meant.flat_map(|entry| entry.mail.to.iter().cloned()).collect()
    }

    pub(super) fn shown(&self) -> Shown {
        let entries = self.locked();
        let acknowledged = || entries.all.iter().filter(|entry| entry.is_acknowledged());
        Shown {
            acknowledged: acknowledged().count(),
            unknown: entries.all.iter().filter(|entry| entry.outcome == Outcome::Unknown).count(),
            refused: entries.refused,
            emails: acknowledged().map(|entry| entry.mail.to.len()).sum(),
            deleted: entries.all.iter().flat_map(|e| &e.deletions).filter(|d| **d == Deletion::Done).count(),
        }
    }

    fn locked(&self) -> MutexGuard<'_, Entries> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Entries {
    fn compare(
        &self,
        listed: &BTreeMap<String, Vec<ListedEmail>>,
        is_meant: impl Fn(Outcome) -> bool,
        faults: &mut Vec<String>,
    ) {
        let mut found: HashMap<(&str, &str), Vec<&ListedEmail>> = HashMap::new();
        for (mailbox, emails) in listed {
            for email in emails {
                found.entry((mailbox, &email.token)).or_default().push(email);
            }
        }
        for Entry { mail, outcome, deletions } in &self.all {
            let emails = mail.to.iter().map(|to| found.remove(&(to.as_str(), mail.token.as_str())).unwrap_or_default());
            let emails: Vec<_> = emails.collect();
            let counts: Vec<usize> = emails.iter().map(Vec::len).collect();
            let is_right = |(count, deletion): (&usize, &Deletion)| match (outcome, deletion) {
                (Outcome::Acknowledged(_), Deletion::None) => *count == 1,
                (Outcome::Acknowledged(_), Deletion::Done) => *count == 0,
                (Outcome::Acknowledged(_), Deletion::Unsure) => *count <= 1,
                (Outcome::Unknown, _) => *count <= 1 && *count == counts[0],
            };
            let is_whole = emails.iter().flatten().all(|email| email.lines == mail.lines);
            if is_meant(*outcome) && !(is_whole && counts.iter().zip(deletions).all(is_right)) {
                let token = &mail.token;
                faults.push(format!("{outcome:?} {token} is listed {counts:?}, {deletions:?}, {is_whole}"));
            }
        }
        faults.extend(found.into_keys().map(|(mailbox, token)| format!("{token} in {mailbox} is of nobody")));
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
struct ListedEmail {
    id: String,
    token: String,
    /// How often its text has the token.
    lines: usize,
}

/// The Emails of a mailbox as a node lists them, at most 100.
async fn list(nodes: &Nodes, node: usize, mailbox: &str) -> Result<Vec<ListedEmail>, String> {
    let (status, body) = nodes.get(node, &format!("/api/mail/messages?to={mailbox}&limit=100")).await?;
    if status != 200 {
        return Err(format!("status {status}"));
    }
    let page: Value = serde_json::from_slice(&body).map_err(|error| error.to_string())?;
    let emails = page["emails"].as_array().ok_or("no emails")?;
    let text = |email: &Value, name: &str| email[name].as_str().map(str::to_owned).ok_or(format!("no {name}"));
    let listed = |email: &Value| {
        let (id, token) = (text(email, "id")?, text(email, "subject")?);
        // The text is made from the octets.
        let lines = text(email, "message")?.matches(&token).count();
        Ok(ListedEmail { id, token, lines })
    };
    emails.iter().map(listed).collect()
}
