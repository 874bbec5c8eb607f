//! A backup on its way.

use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::BoxStream;

use super::transport::OCTETS_WITHIN;
use super::{Client, ClientError};
use crate::store::backup::{BackupCounts, BackupDecoder, BackupError};

/// A backup on its way. Every octet that is given out has been looked at: it is part of a backup that is whole so far.
pub struct Backup {
    pieces: BoxStream<'static, Result<Bytes, String>>,
    decoder: BackupDecoder,
    server: String,
    counts: BackupCounts,
}

impl Client {
    /// Begins a backup. The administrator's.
    pub async fn backup(&self) -> Result<Backup, ClientError> {
        let (answer, pieces) = self.transport.open("/api/admin/backup").await?;
        if answer.status != 200 {
            self.accepted(answer)?;
        }
        let server = self.transport.shown().to_owned();
        Ok(Backup { pieces, decoder: BackupDecoder::new(), server, counts: BackupCounts::default() })
    }
}

impl Backup {
    /// The next octets of the file; `None` once it is whole.
    pub async fn next(&mut self) -> Result<Option<Bytes>, ClientError> {
        let piece = tokio::time::timeout(OCTETS_WITHIN, self.pieces.next()).await;
        match piece.map_err(|_| ClientError::TimedOut { server: self.server.clone() })? {
            Some(Ok(piece)) => {
                self.decoder.feed(&piece);
                while let Some(item) = self.decoder.next_item().map_err(|error| self.broken(error.to_string()))? {
                    self.counts.count(&item);
                }
                Ok(Some(piece))
            }
            Some(Err(reason)) => Err(self.broken(reason)),
            None => match self.decoder.finish() {
                Ok(_) => Ok(None),
                Err(BackupError::CutShort { .. }) => Err(self.broken("the end did not come; its log says why".into())),
                Err(error) => Err(self.broken(error.to_string())),
            },
        }
    }

    /// What has come so far.
    pub fn counts(&self) -> BackupCounts {
        self.counts
    }

    fn broken(&self, reason: String) -> ClientError {
        ClientError::BrokenOff { server: self.server.clone(), reason }
    }
}
