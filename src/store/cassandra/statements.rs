//! The prepared statements on mail and domains.

use scylla::statement::prepared::PreparedStatement;

use super::cluster::Cluster;
use super::rows::COLUMNS;
use crate::store::OpenError;

macro_rules! statements {
    ($struct:ident, $visible:vis, $($name:ident = $text:expr;)* @conditional $($if_name:ident = $if_text:expr;)*) => {
        #[derive(Debug)]
        $visible struct $struct {
            $($visible $name: PreparedStatement,)*
            $($visible $if_name: PreparedStatement,)*
        }

        impl $struct {
            $visible async fn prepare(cluster: &Cluster) -> Result<Self, OpenError> {
                Ok(Self {
                    $($name: cluster.prepare(&$text).await?,)*
                    $($if_name: cluster.prepare_conditional(&$if_text).await?,)*
                })
            }
        }
    };
}
pub(super) use statements;

/// The end of each statement that writes mail. The time is that of its receipt, so that a repetition never undoes a
/// deletion.
pub(super) const USING: &str = "USING TTL ? AND TIMESTAMP ?";

statements! { Statements, pub(super),
    raw_insert = format!("INSERT INTO raw (id, part, envelope, octets) VALUES (?, ?, ?, ?) {USING}");
    raw_select = "SELECT envelope, octets FROM raw WHERE id = ? AND part = ?";
    raw_find = "SELECT id FROM raw WHERE id = ? AND part = ?";
    raw_envelope = "SELECT envelope FROM raw WHERE id = ? AND part = 0";
    raw_scan = "SELECT DISTINCT id, part FROM raw WHERE token(id, part) > ? AND token(id, part) <= ?";
    raw_delete = "DELETE FROM raw USING TIMESTAMP ? WHERE id = ? AND part = ?";

    email_insert = format!("INSERT INTO email ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) {USING}");
    email_newest_first = format!("SELECT {COLUMNS} FROM email WHERE mailbox = ? AND sequence > ? AND sequence < ?");
    email_oldest_first = format!(
        "SELECT {COLUMNS} FROM email WHERE mailbox = ? AND sequence > ? ORDER BY sequence ASC, id ASC"
    );
    email_newest = "SELECT sequence FROM email WHERE mailbox = ? AND sequence > ? LIMIT 1";
    email_written = format!(
        "SELECT {COLUMNS}, WRITETIME(octets) AS written_at FROM email WHERE mailbox = ? AND sequence > ? AND sequence < ?"
    );
    email_scan = format!(
        "SELECT {COLUMNS}, WRITETIME(octets) AS written_at FROM email WHERE token(mailbox) > ? AND token(mailbox) <= ?"
    );
    email_find = "SELECT sequence FROM email WHERE mailbox = ? AND sequence = ? AND id = ?";
    email_delete = "DELETE FROM email USING TIMESTAMP ? WHERE mailbox = ? AND sequence = ? AND id = ?";

    by_id_insert = format!("INSERT INTO email_by_id ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) {USING}");
    by_id_select = format!("SELECT {COLUMNS} FROM email_by_id WHERE id = ?");
    by_id_written = format!("SELECT {COLUMNS}, WRITETIME(octets) AS written_at FROM email_by_id WHERE id = ?");
    by_id_scan = format!(
        "SELECT {COLUMNS}, WRITETIME(octets) AS written_at FROM email_by_id WHERE token(id) > ? AND token(id) <= ?"
    );
    by_id_delete = "DELETE FROM email_by_id USING TIMESTAMP ? WHERE id = ?";

    by_expiry_insert = format!(
        "INSERT INTO email_by_expiry ({COLUMNS}, slot, shard) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) {USING}"
    );
    by_expiry_due = format!(
        "SELECT {COLUMNS} FROM email_by_expiry WHERE slot = ? AND shard = ? \
         AND (expires_at, sequence) > (?, ?) AND expires_at <= ? ORDER BY expires_at ASC, sequence ASC, id ASC LIMIT ?"
    );
    by_expiry_first = "SELECT expires_at FROM email_by_expiry WHERE slot = ? AND shard = ? \
         AND (expires_at, sequence) > (?, ?) ORDER BY expires_at ASC, sequence ASC, id ASC LIMIT 1";
    by_expiry_written = format!(
        "SELECT {COLUMNS}, WRITETIME(octets) AS written_at FROM email_by_expiry WHERE slot = ? AND shard = ?"
    );
    by_expiry_find = "SELECT id FROM email_by_expiry \
        WHERE slot = ? AND shard = ? AND expires_at = ? AND sequence = ? AND id = ?";
    by_expiry_in_order = format!(
        "SELECT {COLUMNS} FROM email_by_expiry WHERE slot = ? AND shard = ? ORDER BY expires_at ASC, sequence ASC, id ASC"
    );
    by_expiry_before = format!(
        "SELECT {COLUMNS} FROM email_by_expiry WHERE slot = ? AND shard = ? AND (expires_at, sequence) < (?, ?) LIMIT ?"
    );
    by_expiry_delete = "DELETE FROM email_by_expiry USING TIMESTAMP ? \
         WHERE slot = ? AND shard = ? AND expires_at = ? AND sequence = ? AND id = ?";

    slot_insert = "INSERT INTO expiry_slot (bucket, slot) VALUES (0, ?) USING TTL ?";
    slot_select = "SELECT slot FROM expiry_slot WHERE bucket = 0";

    intent_insert = format!("INSERT INTO intent (slot, shard, message, intent) VALUES (?, ?, ?, ?) {USING}");
    intent_select = "SELECT message, intent FROM intent WHERE slot = ? AND shard = ?";
    intent_scan = "SELECT message, WRITETIME(intent) FROM intent WHERE token(slot, shard) > ? AND token(slot, shard) <= ?";
    intent_find = "SELECT message, intent FROM intent WHERE slot = ? AND shard = ? AND message = ?";
    intent_delete = "DELETE FROM intent USING TIMESTAMP ? WHERE slot = ? AND shard = ? AND message = ?";

    node_insert = "INSERT INTO node (bucket, id, address, started_at, sequence) VALUES (0, ?, '', ?, ?) USING TTL ?";
    node_select = "SELECT id, started_at, sequence FROM node WHERE bucket = 0";
    node_delete = "DELETE FROM node WHERE bucket = 0 AND id = ?";
    hint_insert = "INSERT INTO hint (node, number, events) VALUES (?, ?, ?) USING TTL ?";
    hint_select = "SELECT number, events FROM hint WHERE node = ? AND number > ?";

    meta_insert = "INSERT INTO meta (name, value) VALUES (?, ?)";
    meta_select = "SELECT value FROM meta WHERE name = ?";
    domain_select = "SELECT record FROM domain WHERE bucket = 0";
    domain_find = "SELECT record FROM domain WHERE bucket = 0 AND name = ?";
    // Conditional, but harmless twice: the second run finds what the first one has left.
    lease_renew = "UPDATE lease USING TTL ? SET holder = ? WHERE name = ? IF holder = ?";
    @conditional
    lease_take = "UPDATE lease USING TTL ? SET holder = ? WHERE name = ? IF holder = null";
    lease_give_back = "DELETE FROM lease WHERE name = ? IF holder = ?";
    domain_insert = "INSERT INTO domain (bucket, name, record) VALUES (0, ?, ?) IF NOT EXISTS";
    domain_update = "UPDATE domain SET record = ? WHERE bucket = 0 AND name = ? IF EXISTS";
    domain_delete = "DELETE FROM domain WHERE bucket = 0 AND name = ? IF EXISTS";
}
