//! Rows of the index as they are read. One that does not read is damage: the index wrote none such.

use super::IndexError;
use super::tables::{EventRow, HeadRow, MailRow};
use super::webhook_rows::WebhookRow;
use crate::model::DomainRecord;

pub(super) fn decode_mail(row: &[u8]) -> Result<MailRow, IndexError> {
    MailRow::decode(row).ok_or(IndexError::Corrupt("a row of mail has a wrong length"))
}

pub(super) fn decode_head(row: &[u8]) -> Result<HeadRow, IndexError> {
    HeadRow::decode(row).ok_or(IndexError::Corrupt("a mailbox's head has a wrong length"))
}

pub(super) fn decode_event(row: &[u8]) -> Result<EventRow, IndexError> {
    postcard::from_bytes(row).map_err(|_| IndexError::Corrupt("an event does not read"))
}

pub(super) fn decode_webhook(row: &[u8]) -> Result<WebhookRow, IndexError> {
    postcard::from_bytes(row).map_err(|_| IndexError::Corrupt("a webhook does not read"))
}

pub(super) fn decode_domain(row: &[u8]) -> Result<DomainRecord, IndexError> {
    postcard::from_bytes(row).map_err(|_| IndexError::Corrupt("a domain does not read"))
}
