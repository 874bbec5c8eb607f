//! Errors of other rooms, used up shares and ends of sessions as replies.

use super::reasons::{End, Limit};
use super::reply::Reply;
use crate::admission::{Bound, Refused, What};
use crate::store::StoreError;

impl Reply {
    /// The reply for an error of the store. `None`: no reply would be true, so the connection closes without one and the
    /// sender tries again (RFC 5321 section 4.2.5).
    pub(super) fn of_store_error(error: &StoreError) -> Option<Self> {
        match error {
            StoreError::Full => Some(Self::STORE_FULL),
            StoreError::MailboxFull => Some(Self::MAILBOX_FULL),
            StoreError::Failed(_) | StoreError::WriterEnded | StoreError::Damaged { .. } => Some(Self::STORE_FAILED),
            StoreError::Stopping => Some(Self::STOPPING),
            StoreError::TooLarge { limit } => Some(Self::message_too_large(*limit)),
            StoreError::Unconfirmed => Some(Self::STORE_UNSURE),
            StoreError::OutcomeUnknown => None,
        }
    }

    /// The refusal for a share that is used up.
    pub(super) const fn of_refused(refused: Refused) -> Self {
        let (code, status, text, limit) = match (refused.what, refused.by) {
            (What::MailOctets, Bound::All) => {
                (452, [4, 3, 1], "Too many messages arrive at once; try again later", Limit::Memory)
            }
            (What::MailOctets, _) => {
                let text = "Too many messages from your address or network arrive at once; try again later";
                (452, [4, 3, 1], text, Limit::ClientMemory)
            }
            (What::NewSmtpConnections, _) => {
                (421, [4, 7, 0], "Too many new connections in a minute; try again later", Limit::ConnectionRate)
            }
            (What::Recipients, _) => {
                let text = "Too many recipients from your address or network in a minute; try again later";
                (450, [4, 7, 1], text, Limit::RecipientRate)
            }
            (What::KeptRecipients, _) => {
                let text = "Mail from your address or network takes up its share of the store; try again later";
                (450, [4, 7, 1], text, Limit::RecipientsKept)
            }
            (What::ReceivedOctets, _) => {
                let text = "Too much mail from your address or network in a minute; try again later";
                (450, [4, 7, 1], text, Limit::OctetRate)
            }
            (_, Bound::All) => (421, [4, 3, 2], "Too many connections; try again later", Limit::Connections),
            _ => {
                let text = "Too many connections from your address or network; try again later";
                (421, [4, 7, 0], text, Limit::ClientConnections)
            }
        };
        Self::limited(code, status, text, limit)
    }

    /// The last reply of a session that ends without a command: its client is late, or the service stops. `None`: there
    /// is none, or nobody would read it.
    pub(super) const fn of_end(end: End) -> Option<Self> {
        Some(match end {
            End::Idle => Self::IDLE,
            End::SlowCommand => Self::SLOW_COMMAND,
            End::SlowMessage => Self::SLOW_MESSAGE,
            End::LifeOver => Self::LIFE_OVER,
            End::Crowded => Self::CROWDED,
            End::Stopping => Self::STOPPING,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_store_error_has_its_reply() {
        for (error, expected) in [
            (StoreError::Full, Some("452 4.3.1 ")),
            (StoreError::MailboxFull, Some("452 4.2.2 ")),
            (StoreError::Failed("secret detail".into()), Some("451 4.3.0 ")),
            (StoreError::Damaged { segment: 1, offset: 2 }, Some("451 4.3.0 ")),
            (StoreError::WriterEnded, Some("451 4.3.0 ")),
            (StoreError::Stopping, Some("421 4.3.2 ")),
            (StoreError::TooLarge { limit: 9 }, Some("552 5.3.4 ")),
            (StoreError::Unconfirmed, Some("451 4.3.0 ")),
            (StoreError::OutcomeUnknown, None),
        ] {
            let reply = Reply::of_store_error(&error).map(|reply| reply.to_string());
            match (reply, expected) {
                (Some(reply), Some(start)) => {
                    assert!(reply.starts_with(start), "{error:?}: {reply}");
                    assert!(!reply.contains("secret"), "{reply}");
                }
                (reply, expected) => assert_eq!(reply.as_deref(), expected, "{error:?}"),
            }
        }
    }
}
