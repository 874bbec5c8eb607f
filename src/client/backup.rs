//! A backup on its way.

use bytes::Bytes;

use super::transport::Pieces;
use super::{Client, ClientError, Failure};
use crate::store::backup::{BackupCounts, BackupDecoder, BackupError};

/// A backup on its way. Every octet that is given out has been looked at: it is part of a backup that is whole so far.
pub struct Backup<'c> {
    client: &'c Client,
    pieces: Pieces<'c>,
    decoder: BackupDecoder,
    counts: BackupCounts,
}

impl Client {
    /// Begins a backup. The administrator's.
    pub async fn backup(&self) -> Result<Backup<'_>, ClientError> {
        let (answer, pieces) = self.transport.open("/api/admin/backup").await?;
        if answer.status != 200 {
            self.accepted(answer)?;
        }
        let (decoder, counts) = (BackupDecoder::new(), BackupCounts::default());
        Ok(Backup { client: self, pieces, decoder, counts })
    }
}

impl Backup<'_> {
    /// The next octets of the file; `None` once it is whole.
    pub async fn next(&mut self) -> Result<Option<Bytes>, ClientError> {
        if let Some(piece) = self.pieces.next().await? {
            self.decoder.feed(&piece);
            while let Some(item) = self.decoder.next_item().map_err(|error| self.broken(error.to_string()))? {
                self.counts.count(&item);
            }
            return Ok(Some(piece));
        }
        match self.decoder.finish() {
            Ok(_) => Ok(None),
            Err(BackupError::CutShort { .. }) => Err(self.broken("the end did not come; its log says why".into())),
            Err(error) => Err(self.broken(error.to_string())),
        }
    }

    /// What has come so far.
    pub fn counts(&self) -> BackupCounts {
        self.counts
    }

    fn broken(&self, reason: String) -> ClientError {
        self.client.failure(Failure::BrokenOff(reason))
    }
}
