//! Backups, and the size of the store.

use axum::http::Method;
use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use serde_json::{Map, Value};

use super::transport::{ApiRequest, OCTETS_WITHIN};
use super::{Client, ClientError, OCTETS_MAX};
use crate::store::backup::{BackupCounts, BackupDecoder, BackupError};

/// A backup on its way. Every octet that is given out has been looked at: it is part of a backup that is whole so far.
pub struct Backup {
    pieces: BoxStream<'static, Result<Bytes, String>>,
    decoder: BackupDecoder,
    server: String,
    counts: BackupCounts,
}

impl Client {
    /// The numbers of the store, those among them that take a reading of all rows. The administrator's.
    pub async fn store_stats(&self) -> Result<Map<String, Value>, ClientError> {
        self.get("/api/admin/stats".to_owned(), OCTETS_MAX).await
    }

    /// Begins a backup. The administrator's.
    pub async fn backup(&self) -> Result<Backup, ClientError> {
        let request =
            ApiRequest { method: Method::GET, path: "/api/admin/backup".into(), body: None, octets_max: OCTETS_MAX };
        let (answer, pieces) = self.transport.open(request).await?;
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
