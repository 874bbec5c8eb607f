//! The prepared statements. `USING TIMESTAMP` has a time that is part of the row, in microseconds, and never a clock's.

use scylla::statement::prepared::PreparedStatement;

use super::session::Session;
use crate::store::OpenError;

/// Prepares statements one after another: what awaits each of them by its name would be as large as a module.
async fn prepare_all<const N: usize>(
    session: &Session,
    texts: [&str; N],
    are_conditional: bool,
) -> Result<[PreparedStatement; N], OpenError> {
    let mut prepared = Vec::with_capacity(N);
    for text in texts {
        let mut statement = session.prepare(text).await?;
        // The first run of a conditional statement wins, so it may not be run twice.
        statement.set_is_idempotent(!are_conditional);
        prepared.push(statement);
    }
    Ok(prepared.try_into().expect("as many as there are texts"))
}

macro_rules! statements {
    ($($name:ident = $text:expr;)* @conditional $($if_name:ident = $if_text:expr;)*) => {
        /// All of them, by their names.
        #[derive(Debug)]
        pub(super) struct Statements {
            $(pub(super) $name: PreparedStatement,)*
            $(pub(super) $if_name: PreparedStatement,)*
        }

        impl Statements {
            pub(super) async fn prepare(session: &Session) -> Result<Self, OpenError> {
                let [$($name,)*] = prepare_all(session, [$($text,)*], false).await?;
                let [$($if_name,)*] = prepare_all(session, [$($if_text,)*], true).await?;
                Ok(Self { $($name,)* $($if_name,)* })
            }
        }
    };
}

statements! {
    part_insert = "INSERT INTO message (id, part, octets) VALUES (?, ?, ?) USING TTL ? AND TIMESTAMP ?";
    first_part_insert = "INSERT INTO message (id, part, envelope, octets) VALUES (?, 0, ?, ?) USING TTL ? AND TIMESTAMP ?";
    shown_update = "UPDATE message USING TTL ? AND TIMESTAMP ? SET shown = true WHERE id = ?";
    head_select = "SELECT DISTINCT envelope, shown FROM message WHERE id = ?";
    parts_select = "SELECT envelope, octets FROM message WHERE id = ?";
    message_delete = "DELETE FROM message USING TIMESTAMP ? WHERE id = ?";
    recipient_insert = "INSERT INTO recipient (id, message) VALUES (?, ?) USING TTL ? AND TIMESTAMP ?";
    recipient_select = "SELECT message FROM recipient WHERE id = ?";

    announce = "INSERT INTO email (mailbox, id, message) VALUES (?, ?, ?) USING TTL ? AND TIMESTAMP ?";
    number_select = "SELECT last, sequence, id FROM email WHERE mailbox = ? AND id = ?";
    email_insert = "INSERT INTO email \
         (mailbox, id, last, sequence, message, received_at, expires_at, octets, shared) \
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) USING TTL ? AND TIMESTAMP ?";
    email_newest_first = "SELECT last, id, sequence, message, received_at, expires_at, octets, shared FROM email \
         WHERE mailbox = ? AND id > ? AND id < ?";
    email_oldest_first = "SELECT last, id, sequence, message, received_at, expires_at, octets, shared FROM email \
         WHERE mailbox = ? AND id > ? AND id < ? ORDER BY id ASC";
    email_select = "SELECT last, id, sequence, message, received_at, expires_at, octets, shared FROM email \
         WHERE mailbox = ? AND id = ?";
    email_delete = "DELETE FROM email USING TIMESTAMP ? WHERE mailbox = ? AND id IN ?";

    log_insert = "INSERT INTO log (minute, node, seq, facts) VALUES (?, ?, ?, ?) USING TTL ?";
    log_select = "SELECT seq, facts FROM log WHERE minute = ? AND node = ? AND seq > ?";
    log_follow = "SELECT seq, facts FROM log WHERE minute IN ? AND node = ? AND seq > ?";
    log_partitions = "SELECT DISTINCT minute, node FROM log";

    event_insert = "INSERT INTO event (webhook, due, email, record) VALUES (?, ?, ?, ?) USING TTL ? AND TIMESTAMP ?";
    event_select = "SELECT due, email, record FROM event WHERE webhook = ? AND due >= ?";
    event_delete = "DELETE FROM event USING TIMESTAMP ? WHERE webhook = ? AND due = ? AND email = ?";
    events_delete = "DELETE FROM event USING TIMESTAMP ? WHERE webhook = ?";

    attempt_insert = "INSERT INTO attempt (webhook, at, revision, event, record) VALUES (?, ?, ?, ?, ?) USING TTL ?";
    attempt_select = "SELECT at, record FROM attempt WHERE webhook = ? LIMIT ?";
    attempt_trim = "DELETE FROM attempt WHERE webhook = ? AND at < ?";
    attempts_delete = "DELETE FROM attempt WHERE webhook = ?";

    webhook_insert = "UPDATE webhook USING TIMESTAMP ? SET record = ? WHERE id = ?";
    webhook_select = "SELECT record, health, revision, enabled, low, last_mail FROM webhook WHERE id = ?";
    webhook_scan = "SELECT record, health, revision, enabled, low, last_mail FROM webhook";
    webhook_health = "UPDATE webhook USING TIMESTAMP ? SET health = ?, revision = ?, low = ? WHERE id = ?";
    webhook_enable = "UPDATE webhook USING TIMESTAMP ? SET enabled = ? WHERE id = ?";
    webhook_mail = "UPDATE webhook USING TIMESTAMP ? SET last_mail = ? WHERE id = ?";
    webhook_delete = "DELETE FROM webhook USING TIMESTAMP ? WHERE id = ?";
    webhook_of_insert = "INSERT INTO webhook_of (mailbox, id) VALUES (?, ?) USING TIMESTAMP ?";
    webhook_of_select = "SELECT id FROM webhook_of WHERE mailbox = ?";
    webhook_of_delete = "DELETE FROM webhook_of USING TIMESTAMP ? WHERE mailbox = ? AND id = ?";

    registry_select = "SELECT value FROM registry WHERE kind = ? AND key = ?";
    registry_scan = "SELECT key, value FROM registry WHERE kind = ?";
    registry_after = "SELECT key FROM registry WHERE kind = ? AND key > ?";
    registry_put = "INSERT INTO registry (kind, key, value) VALUES (?, ?, ?) USING TTL ?";
    registry_remove = "DELETE FROM registry WHERE kind = ? AND key = ?";
    registry_forget = "DELETE FROM registry WHERE kind = ?";
    node_insert = "INSERT INTO node (cluster, id, bits) VALUES (0, ?, ?) USING TTL ?";
    node_select = "SELECT id, bits FROM node WHERE cluster = 0";
    node_delete = "DELETE FROM node WHERE cluster = 0 AND id = ?";
    @conditional
    registry_insert = "INSERT INTO registry (kind, key, value) VALUES (?, ?, ?) IF NOT EXISTS";
    registry_swap = "UPDATE registry SET value = ? WHERE kind = ? AND key = ? IF value = ?";
    registry_delete = "DELETE FROM registry WHERE kind = ? AND key = ? IF EXISTS";
    registry_take = "DELETE FROM registry WHERE kind = ? AND key = ? IF value = ?";
    lead_take = "UPDATE registry USING TTL ? SET value = ? WHERE kind = 'lead' AND key = '' IF value = null";
    lead_renew = "UPDATE registry USING TTL ? SET value = ? WHERE kind = 'lead' AND key = '' IF value = ?";
    lead_give_back = "DELETE FROM registry WHERE kind = 'lead' AND key = '' IF value = ?";
}
