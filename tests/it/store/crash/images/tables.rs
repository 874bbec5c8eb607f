//! The files of a closed store: redb's own check of the index, and whether its tables match each other and the journal.
//!
//! The layout of the rows is here a second time on purpose, so that a test fails when a row changes its meaning.

use std::collections::BTreeMap;

use redb::backends::InMemoryBackend;
use redb::{Database, Key, ReadTransaction, ReadableDatabase, ReadableTable, StorageBackend, TableDefinition, Value};
use tempmail::model::{EmailId, Timestamp, WebhookRecord};

type MailKey = [u8; 24];
/// Segment, offset, octets of the record, octets of its content.
type Place = (u64, u32, u32, u32);
/// Segment, offset, group, next sequence, emails, mailboxes, live octets, webhooks, octets of the outbox, next attempt.
type State = (u64, u32, u64, u64, u64, u64, u64, u64, u64, u64);
type Event = (EmailId, u32, Timestamp, Timestamp, Timestamp, Place);
type Webhook = (WebhookRecord, u32, u64, u32, Option<Timestamp>);

const MAIL: TableDefinition<&MailKey, &[u8]> = TableDefinition::new("mail");
const IDS: TableDefinition<&[u8; 16], &MailKey> = TableDefinition::new("ids");
const EXPIRY: TableDefinition<(u64, u64), &[u8]> = TableDefinition::new("expiry");
const REFCOUNTS: TableDefinition<(u64, u32), (u32, u64)> = TableDefinition::new("refcounts");
const REFCOUNT_DELETED: u32 = 1 << 31;
const SEGMENTS: TableDefinition<u64, (u64, u64, u64)> = TableDefinition::new("segments");
const DOMAIN_COUNTS: TableDefinition<&[u8; 24], u64> = TableDefinition::new("domain-counts");
const META: TableDefinition<u8, &[u8]> = TableDefinition::new("meta");
const WEBHOOKS: TableDefinition<&[u8; 16], &[u8]> = TableDefinition::new("webhooks");
const EVENTS: TableDefinition<&MailKey, &[u8]> = TableDefinition::new("events");
const DUE: TableDefinition<&[u8; 32], ()> = TableDefinition::new("due-events");
const META_STATE: u8 = 2;

/// Fails with the first thing that is wrong.
pub fn check(mut files: BTreeMap<String, Vec<u8>>) -> Result<(), String> {
    let index = files.remove("index.redb").ok_or("the index is missing")?;
    let backend = InMemoryBackend::new();
    backend.set_len(index.len() as u64).and_then(|()| backend.write(0, &index)).map_err(text)?;
    let mut database = Database::builder().create_with_backend(backend).map_err(text)?;
    if !database.check_integrity().map_err(text)? {
        return Err("redb found the index of a closed store damaged".into());
    }
    let transaction = database.begin_read().map_err(text)?;
    let mut tables = Tables::read(&transaction)?;
    tables.check_mail(&transaction)?;
    tables.check_events(&transaction)?;
    tables.check_refcounts(&transaction)?;
    tables.check_segments(&transaction, &files)
}

fn text(error: impl ToString) -> String {
    error.to_string()
}

/// The rows of a table.
fn rows<K: Key + 'static, V: Value + 'static, T>(
    transaction: &ReadTransaction,
    table: TableDefinition<K, V>,
    row: impl Fn(K::SelfType<'_>, V::SelfType<'_>) -> T,
) -> Result<Vec<T>, String> {
    let table = transaction.open_table(table).map_err(text)?;
    let mut rows = Vec::new();
    for found in table.iter().map_err(text)? {
        let (key, value) = found.map_err(text)?;
        rows.push(row(key.value(), value.value()));
    }
    Ok(rows)
}

fn equal<T: PartialEq + std::fmt::Debug>(what: &str, recorded: T, counted: T) -> Result<(), String> {
    if recorded == counted { Ok(()) } else { Err(format!("{what}: recorded {recorded:?}, counted {counted:?}")) }
}

/// The Emails and events that refer to a record.
#[derive(Debug, Default)]
struct Holders {
    length: u32,
    content: u32,
    emails: u32,
    events: u32,
    is_refcounted: bool,
}

struct Tables {
    state: State,
    records: BTreeMap<(u64, u32), Holders>,
}

impl Tables {
    fn read(transaction: &ReadTransaction) -> Result<Self, String> {
        let meta = transaction.open_table(META).map_err(text)?;
        let row = meta.get(META_STATE).map_err(text)?.ok_or("the state is missing")?;
        Ok(Self { state: postcard::from_bytes(row.value()).map_err(text)?, records: BTreeMap::new() })
    }

    fn hold(&mut self, (segment, offset, length, content): Place) -> &mut Holders {
        let holders = self.records.entry((segment, offset)).or_default();
        (holders.length, holders.content) = (length, content);
        holders
    }

    /// Each mailbox's head counts its mails, each mail has its id and its turn to expire, and the state counts them all.
    fn check_mail(&mut self, transaction: &ReadTransaction) -> Result<(), String> {
        let ids: BTreeMap<MailKey, [u8; 16]> = rows(transaction, IDS, |id, key| (*key, *id))?.into_iter().collect();
        let due: BTreeMap<MailKey, u64> = rows(transaction, EXPIRY, |(second, _), keys| {
            keys.as_chunks::<24>().0.iter().map(|key| (*key, second)).collect::<Vec<_>>()
        })?
        .concat()
        .into_iter()
        .collect();
        let (mut heads, mut counts) = (BTreeMap::new(), BTreeMap::new());
        let mut of_domains: BTreeMap<Vec<u8>, u64> = BTreeMap::new();
        let mut domain = Vec::new();
        for (key, row) in rows(transaction, MAIL, |key, row| (*key, row.to_vec()))? {
            let number = |at: usize| u64::from_le_bytes(row[at..at + 8].try_into().expect("8 octets"));
            let word = |at: usize| u32::from_le_bytes(row[at..at + 4].try_into().expect("4 octets"));
            if key[16..] == [0; 8] {
                heads.insert(key[..16].to_vec(), number(0));
                domain = row[24..40].to_vec();
                continue;
            }
            // All of a domain's, and those of the minute in which they expire.
            for which in [0, number(24).div_ceil(60_000)] {
                *of_domains.entry([&domain[..], &which.to_be_bytes()].concat()).or_default() += 1;
            }
            *counts.entry(key[..16].to_vec()).or_insert(0) += 1;
            equal("the id of a mail", ids.get(&key).map(|id| &id[..]), Some(&row[..16]))?;
            equal("when a mail expires", due.get(&key), Some(&number(24).div_ceil(1000)))?;
            let holders = self.hold((number(32), word(40), word(44), word(48)));
            holders.emails += 1;
            holders.is_refcounted |= row[52] != 0;
        }
        equal("heads of mailboxes", &heads, &counts)?;
        equal(
            "Emails of domains",
            rows(transaction, DOMAIN_COUNTS, |domain, emails| (domain.to_vec(), emails))?,
            Vec::from_iter(of_domains),
        )?;
        equal("mailboxes", self.state.5, heads.len() as u64)?;
        equal("emails", self.state.4, counts.values().sum())?;
        equal("ids", ids.len() as u64, self.state.4)
    }

    /// Each event is due once, each webhook counts its events, and the state counts the webhooks.
    fn check_events(&mut self, transaction: &ReadTransaction) -> Result<(), String> {
        let mut waiting: BTreeMap<[u8; 16], (u32, u64)> = BTreeMap::new();
        let mut due = Vec::new();
        for (key, row) in rows(transaction, EVENTS, |key, row| (*key, row.to_vec()))? {
            let (_, attempts, due_at, _, _, place): Event = postcard::from_bytes(&row).map_err(text)?;
            let (webhook, sequence) = key.split_first_chunk::<16>().expect("16 octets");
            let of_webhook = waiting.entry(*webhook).or_default();
            *of_webhook = (of_webhook.0 + 1, of_webhook.1 + u64::from(place.3));
            let millis = if attempts == 0 { 0 } else { u64::try_from(due_at.millis()).unwrap_or(0).max(1) };
            due.push([&webhook[..], &millis.to_be_bytes(), sequence].concat());
            self.hold(place).events += 1;
        }
        due.sort();
        equal("what is due", rows(transaction, DUE, |key, ()| key.to_vec())?, due)?;
        let mut webhooks = 0;
        for (id, row) in rows(transaction, WEBHOOKS, |id, row| (*id, row.to_vec()))? {
            let (_, events, octets, _, _): Webhook = postcard::from_bytes(&row).map_err(text)?;
            equal("events of a webhook", (events, octets), waiting.remove(&id).unwrap_or_default())?;
            webhooks += 1;
        }
        equal("webhooks", self.state.7, webhooks)?;
        equal("events of no webhook", waiting.len(), 0)
    }

    /// The reference count of a record is the number of its Emails and events.
    fn check_refcounts(&self, transaction: &ReadTransaction) -> Result<(), String> {
        let number = |key, (references, _): (u32, u64)| (key, references & !REFCOUNT_DELETED);
        let refcounts: BTreeMap<_, _> = rows(transaction, REFCOUNTS, number)?.into_iter().collect();
        for (place, holders) in &self.records {
            let all = holders.emails + holders.events;
            let recorded = refcounts.get(place).copied();
            if all > 1 || recorded.is_some() {
                equal("references to a record", recorded, Some(all))?;
                equal("an Email of a refcounted record says so", holders.is_refcounted || holders.emails == 0, true)?;
            }
        }
        equal("references to no record", refcounts.keys().filter(|place| !self.records.contains_key(place)).count(), 0)
    }

    /// Each segment has the usage of its live messages, and each live record is where the index says.
    fn check_segments(&self, transaction: &ReadTransaction, files: &BTreeMap<String, Vec<u8>>) -> Result<(), String> {
        let mut counted: BTreeMap<u64, (u64, u64)> = BTreeMap::new();
        for ((segment, offset), holders) in &self.records {
            let of_segment = counted.entry(*segment).or_default();
            *of_segment = (of_segment.0 + 1, of_segment.1 + u64::from(holders.length));
            let file = files.get(&format!("journal-{segment:016}")).ok_or(format!("segment {segment} is missing"))?;
            let start = *offset as usize;
            let record = file.get(start..start + holders.length as usize).ok_or("a record is beyond its segment")?;
            let content = &record[record.len() - holders.content as usize..];
            let crc = u32::from_le_bytes(record[12..16].try_into().expect("4 octets"));
            equal("the CRC of a message", crc, crc32c::crc32c(content))?;
        }
        let octets: u64 = self.records.values().map(|holders| u64::from(holders.content)).sum();
        equal("live octets", self.state.6, octets)?;
        let mut recorded: BTreeMap<_, _> =
            rows(transaction, SEGMENTS, |segment, (messages, octets, _)| (segment, (messages, octets)))?
                .into_iter()
                .collect();
        recorded.retain(|_, (messages, _)| *messages > 0);
        equal("usage of the segments", recorded, counted)
    }
}
