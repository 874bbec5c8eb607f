//! The layout of a backup file. All numbers are little-endian.
//!
//! ```text
//! header  | magic 16 | format 4 | crc 4 |
//! record  | crc 4 | meta length 4 | content length 4 | content crc 4 | meta (a BackupRecord) | content |
//! ```
//!
//! The first record is `Store`. The last is `End`, which counts the others; a file without it was cut short. Mail comes
//! before webhooks, so that restoring mail creates no events.

use bytes::{Buf, Bytes, BytesMut};
use serde::{Deserialize, Deserializer, Serialize};

use crate::model::{DomainRecord, EmailId, Envelope, LeaseRecord, Timestamp, WebhookId, WebhookRecord};
use crate::store::StoreError;
use crate::store::journal::{RECORD_HEADER_OCTETS, RecordHead, decode_meta, encode_record};

/// The format that this version writes.
const FORMAT: u32 = 6;
/// The oldest format that it reads: one without leases.
const FORMAT_READ: u32 = 5;
const MAGIC: [u8; 16] = *b"tempmail-backup\n";
const HEADER_OCTETS: usize = 24;
/// The largest record without its message. An envelope of 100 recipients is below 96 KB.
const META_OCTETS_MAX: usize = 1 << 20;

/// One record of a backup. The order of the variants is part of the format, so a new one goes to the end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum BackupRecord {
    /// The store that was backed up.
    Store {
        /// The key of its hashes, under which events keep their ids.
        secret: [u8; 16],
    },
    /// A registered domain.
    Domain(DomainRecord),
    /// A message, in the order of the journal. Its octets are the content.
    Mail {
        /// The envelope as received, with all recipients.
        envelope: Envelope,
        /// When it was received.
        received_at: Timestamp,
        /// The first millisecond in which it is no longer readable.
        expires_at: Timestamp,
        /// The sequence number of the first recipient's Email. Those of the others follow.
        sequence: u64,
        /// The Emails that were not deleted.
        live: Vec<EmailId>,
    },
    /// A webhook, with its secret.
    Webhook(Box<WebhookRecord>),
    /// A pending event.
    Event {
        /// The webhook that gets it.
        webhook: WebhookId,
        /// The Email that it is about.
        email: EmailId,
        /// The number of attempts so far.
        attempts: u32,
        /// When the next attempt is due.
        due_at: Timestamp,
    },
    /// The end, with the counts of the records before it.
    End(BackupCounts),
    /// A lease of an address.
    Lease(Box<LeaseRecord>),
}

/// What a backup holds, in numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BackupCounts {
    /// Messages; one with several recipients counts once.
    pub messages: u64,
    /// Emails.
    pub emails: u64,
    /// Octets of the messages.
    pub octets: u64,
    /// Registered domains.
    pub domains: u64,
    /// Webhooks.
    pub webhooks: u64,
    /// Events.
    pub events: u64,
    /// Leases of addresses. The end of format 5 has no such number.
    #[serde(deserialize_with = "or_none")]
    pub leases: u64,
}

fn or_none<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    Ok(u64::deserialize(deserializer).unwrap_or(0))
}

impl BackupCounts {
    /// Counts one record.
    pub fn count(&mut self, item: &BackupItem) {
        match &item.record {
            BackupRecord::Store { .. } | BackupRecord::End(_) => {}
            BackupRecord::Domain(_) => self.domains += 1,
            BackupRecord::Mail { live, .. } => {
                self.messages += 1;
                self.emails += live.len() as u64;
                self.octets += item.content.len() as u64;
            }
            BackupRecord::Webhook(_) => self.webhooks += 1,
            BackupRecord::Event { .. } => self.events += 1,
            BackupRecord::Lease(_) => self.leases += 1,
        }
    }
}

/// A record with its content. Only mail has content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BackupItem {
    /// The record.
    pub record: BackupRecord,
    /// The octets of a message; empty for everything else.
    pub content: Bytes,
}

impl From<BackupRecord> for BackupItem {
    fn from(record: BackupRecord) -> Self {
        Self { record, content: Bytes::new() }
    }
}

/// Why a backup cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BackupError {
    /// The file does not begin as a backup does.
    #[error("this is not a backup of tempmail")]
    NotABackup,
    /// A newer version of the program wrote it.
    #[error(
        "the backup has format {found}; this version reads formats {FORMAT_READ} to {FORMAT}. Use the version that wrote it, or a newer one"
    )]
    Format {
        /// The format found.
        found: u32,
    },
    /// The file has no end record.
    #[error("the backup is cut short: it ends after {octets} octets without an end record")]
    CutShort {
        /// Octets of the file.
        octets: u64,
    },
    /// The file does not hold what was written.
    #[error("the backup is damaged at offset {offset}")]
    Damaged {
        /// Octet in the file.
        offset: u64,
    },
    /// The file cannot be read.
    #[error("{0}")]
    Io(String),
}

/// The header of a file.
pub fn header() -> Bytes {
    let mut out = Vec::with_capacity(HEADER_OCTETS);
    out.extend_from_slice(&MAGIC);
    out.extend_from_slice(&FORMAT.to_le_bytes());
    let crc = crc32c::crc32c(&out);
    out.extend_from_slice(&crc.to_le_bytes());
    out.into()
}

/// Encodes records, which follow the header.
pub fn encode(items: &[BackupItem]) -> Result<Bytes, StoreError> {
    let mut out = Vec::new();
    for item in items {
        encode_record(&item.record, &item.content, &mut out)
            .map_err(|error| StoreError::Failed(format!("a record could not be encoded: {error}")))?;
    }
    Ok(out.into())
}

/// Reads a backup from pieces of any size.
#[derive(Debug, Default)]
pub struct BackupDecoder {
    octets: BytesMut,
    /// Where `octets` begins in the file.
    offset: u64,
    has_header: bool,
    /// The counts of the end record, once it was read and matches.
    counts: Option<BackupCounts>,
    counted: BackupCounts,
    is_begun: bool,
}

impl BackupDecoder {
    /// A decoder at the start of a file.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the next octets of the file.
    pub fn feed(&mut self, octets: &[u8]) {
        self.octets.extend_from_slice(octets);
    }

    /// Decodes the next record. `None` if more octets are needed. The end record is checked and not returned.
    pub fn next_item(&mut self) -> Result<Option<BackupItem>, BackupError> {
        if !self.has_header && !self.read_header()? {
            return Ok(None);
        }
        let Some(start) = self.octets.first_chunk::<RECORD_HEADER_OCTETS>() else { return Ok(None) };
        let head = RecordHead::decode(start);
        let damaged = BackupError::Damaged { offset: self.offset };
        if self.counts.is_some() || head.content_start() > META_OCTETS_MAX {
            return Err(damaged);
        }
        if self.octets.len() < head.content_start() {
            return Ok(None);
        }
        let Some((_, record)) = decode_meta::<BackupRecord>(&self.octets) else { return Err(damaged) };
        if self.octets.len() < head.length() {
            return Ok(None);
        }
        let mut octets = self.octets.split_to(head.length()).freeze();
        octets.advance(head.content_start());
        if !head.is_of(&octets) || self.is_begun == matches!(record, BackupRecord::Store { .. }) {
            return Err(damaged);
        }
        self.offset += head.length() as u64;
        self.is_begun = true;
        let item = BackupItem { record, content: octets };
        if let BackupRecord::End(counts) = item.record {
            if counts != self.counted {
                return Err(damaged);
            }
            self.counts = Some(counts);
            return self.next_item();
        }
        self.counted.count(&item);
        Ok(Some(item))
    }

    fn read_header(&mut self) -> Result<bool, BackupError> {
        let there = self.octets.len().min(MAGIC.len());
        if self.octets[..there] != MAGIC[..there] {
            return Err(BackupError::NotABackup);
        }
        let Some(header) = self.octets.first_chunk::<HEADER_OCTETS>() else { return Ok(false) };
        let word = |at: usize| u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
        if crc32c::crc32c(&header[..20]) != word(20) {
            return Err(BackupError::Damaged { offset: 0 });
        }
        if !(FORMAT_READ..=FORMAT).contains(&word(16)) {
            return Err(BackupError::Format { found: word(16) });
        }
        self.octets.advance(HEADER_OCTETS);
        (self.offset, self.has_header) = (HEADER_OCTETS as u64, true);
        Ok(true)
    }

    /// What it held, after the last octet of the file; an error if that was not its end.
    pub fn finish(&self) -> Result<BackupCounts, BackupError> {
        match self.counts {
            Some(counts) if self.octets.is_empty() => Ok(counts),
            Some(_) => Err(BackupError::Damaged { offset: self.offset }),
            None if self.offset == 0 && self.octets.is_empty() => Err(BackupError::NotABackup),
            None => Err(BackupError::CutShort { octets: self.offset + self.octets.len() as u64 }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file() -> Vec<u8> {
        let event = BackupRecord::Event {
            webhook: WebhookId::from_octets([1; 16]),
            email: EmailId::from_octets([2; 16]),
            attempts: 3,
            due_at: Timestamp::from_millis(4),
        };
        let counts = BackupCounts { events: 1, ..BackupCounts::default() };
        let items = [BackupRecord::Store { secret: [9; 16] }, event, BackupRecord::End(counts)].map(BackupItem::from);
        [header(), encode(&items).expect("encode")].concat()
    }

    fn read(octets: &[u8], piece: usize) -> Result<(Vec<BackupItem>, BackupCounts), BackupError> {
        let mut decoder = BackupDecoder::new();
        let mut items = Vec::new();
        for piece in octets.chunks(piece) {
            decoder.feed(piece);
            while let Some(item) = decoder.next_item()? {
                items.push(item);
            }
        }
        Ok((items, decoder.finish()?))
    }

    #[test]
    fn a_file_reads_back_in_pieces_of_any_size() {
        let file = file();
        for piece in [1, 7, file.len()] {
            let (items, counts) = read(&file, piece).expect("a whole file");
            assert_eq!((items.len(), counts.events), (2, 1));
        }
    }

    #[test]
    fn no_file_that_is_cut_short_or_changed_passes() {
        let file = file();
        for cut in 1..file.len() {
            assert!(matches!(read(&file[..cut], 4096), Err(BackupError::CutShort { .. })), "cut at {cut}");
        }
        assert_eq!(read(&[], 1), Err(BackupError::NotABackup));
        assert_eq!(read(b"From: somebody else", 4096), Err(BackupError::NotABackup));
        for bit in 0..file.len() * 8 {
            let mut bad = file.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            assert!(read(&bad, 4096).is_err(), "bit {bit}");
        }
        let longer = [&file[..], b"x"].concat();
        assert!(matches!(read(&longer, 4096), Err(BackupError::Damaged { .. })));
    }

    #[test]
    fn another_format_is_named() {
        for found in [FORMAT_READ - 1, FORMAT + 1] {
            let mut other = file();
            other[16..20].copy_from_slice(&found.to_le_bytes());
            let crc = crc32c::crc32c(&other[..20]);
            other[20..24].copy_from_slice(&crc.to_le_bytes());
            assert_eq!(read(&other, 4096), Err(BackupError::Format { found }));
        }
    }
}
