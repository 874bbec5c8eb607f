//! The prepared statements on webhooks, events and delivery logs.

use scylla::statement::prepared::PreparedStatement;

use super::super::cluster::Cluster;
use super::super::statements::{USING, statements};
use super::event::EVENT_COLUMNS;
use super::webhook::WEBHOOK_COLUMNS;
use crate::store::OpenError;

statements! { OutboxStatements, pub(in crate::store::cassandra),
    webhook_insert = "INSERT INTO webhook (bucket, id, record, registrant, state, last_mail_at, dropped) \
         VALUES (?, ?, ?, ?, ?, ?, ?) USING TIMESTAMP ?";
    webhook_select = format!("SELECT {WEBHOOK_COLUMNS} FROM webhook WHERE bucket = ? AND id = ?");
    webhook_page = format!("SELECT {WEBHOOK_COLUMNS} FROM webhook WHERE bucket = ? AND id > ?");
    webhook_registrants = "SELECT registrant, WRITETIME(record) AS record_at FROM webhook WHERE bucket = ?";
    webhook_state = "UPDATE webhook USING TIMESTAMP ? SET state = ? WHERE bucket = ? AND id = ?";
    webhook_mail = "UPDATE webhook USING TIMESTAMP ? SET last_mail_at = ? WHERE bucket = ? AND id = ?";
    webhook_dropped = "UPDATE webhook USING TIMESTAMP ? SET dropped = ? WHERE bucket = ? AND id = ?";
    webhook_delete = "DELETE FROM webhook USING TIMESTAMP ? WHERE bucket = ? AND id = ?";

    webhook_of_insert = "INSERT INTO webhook_of (mailbox, id) VALUES (?, ?) USING TIMESTAMP ?";
    webhook_of_select = "SELECT id FROM webhook_of WHERE mailbox = ?";
    webhook_of_delete = "DELETE FROM webhook_of USING TIMESTAMP ? WHERE mailbox = ? AND id = ?";

    event_insert = format!(
        "INSERT INTO event (webhook, slot, sequence, email, message, attempts, due_at, received_at, expires_at, octets) \
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) {USING}"
    );
    event_select = format!(
        "SELECT {EVENT_COLUMNS} FROM event WHERE webhook = ? AND slot = ? AND sequence = ? AND email = ?"
    );
    event_slot_select = format!("SELECT {EVENT_COLUMNS} FROM event WHERE webhook = ? AND slot = ?");
    event_delete = "DELETE FROM event USING TIMESTAMP ? WHERE webhook = ? AND slot = ? AND sequence = ? AND email = ?";

    slot_insert = "INSERT INTO event_slot (webhook, slot, entered) VALUES (?, ?, true) USING TTL ?";
    slot_select = "SELECT slot, WRITETIME(entered) AS entered_at, toUnixTimestamp(now()) AS now \
         FROM event_slot WHERE webhook = ?";
    slot_delete = "DELETE FROM event_slot USING TIMESTAMP ? WHERE webhook = ? AND slot = ?";

    pending_insert = "INSERT INTO pending_webhook (shard, webhook, entered) VALUES (?, ?, true) USING TTL ?";
    pending_select = "SELECT webhook, WRITETIME(entered) AS entered_at, toUnixTimestamp(now()) AS now \
         FROM pending_webhook WHERE shard = ?";
    pending_delete = "DELETE FROM pending_webhook USING TIMESTAMP ? WHERE shard = ? AND webhook = ?";

    attempt_insert = format!("INSERT INTO attempt (webhook, at, revision, event, record) VALUES (?, ?, ?, ?, ?) {USING}");
    attempt_select = "SELECT at, revision, record FROM attempt WHERE webhook = ? LIMIT ?";
    attempt_trim = "DELETE FROM attempt WHERE webhook = ? AND at < ?";
    attempt_delete = "DELETE FROM attempt WHERE webhook = ?";
    @conditional
}
