//! Settings of the service as a whole.

use std::time::Duration;

use super::{DAY, KB, MB, SECOND, one, or_none};
use crate::config::parse::{data_dir, roles};
use crate::config::setting::{Setting, Shape};
use crate::config::value::{self, show_duration, show_size};
use crate::config::words::{log_format, revision, subaddressing};
use crate::config::{LogFormat, Revision};
use crate::model::{RoleAddresses, Subaddressing};

/// What holds for every mail, however it is received and read.
#[derive(Clone, Debug)]
pub struct MailConfig {
    /// How long an Email is readable.
    pub retention: Duration,
    /// The largest message in octets, as RFC 1870 counts it.
    pub message_octets_max: u64,
    /// What `+tag` means.
    pub subaddressing: Subaddressing,
    /// Local parts that only the administrator may read.
    pub role_addresses: RoleAddresses,
    /// How many Emails a mailbox may have.
    pub emails_per_mailbox_max: u32,
}

impl MailConfig {
    /// The defaults of a revision.
    pub fn of_revision(revision: Revision) -> Self {
        Self {
            retention: Duration::from_hours(2),
            message_octets_max: match revision {
                Revision::One => 10 * MB,
                Revision::Two => 300 * KB,
            },
            subaddressing: Subaddressing::default(),
            role_addresses: RoleAddresses::default(),
            emails_per_mailbox_max: 0,
        }
    }
}

/// In the order in which help lists them.
pub(super) const SETTINGS: &[Setting] = &[
    Setting::new(
        "data-dir",
        Shape::One,
        "DIR",
        "Directory where everything is stored",
        |c, v| one(v, data_dir).map(|dir| c.data_dir = dir),
        |c| vec![c.data_dir.display().to_string()],
    )
    .global()
    .with_default("$STATE_DIRECTORY, else $XDG_DATA_HOME/tempmail, else ~/.local/share/tempmail")
    .with_example("/var/lib/tempmail"),
    Setting::new(
        "revision",
        Shape::One,
        "1|2",
        "Revision of the interface; the defaults of the other settings come from it",
        |c, v| one(v, revision).map(|revision| c.revision = revision),
        |c| vec![c.revision.number().to_string()],
    ),
    Setting::new(
        "retention",
        Shape::One,
        "DURATION",
        "How long a message is kept, 1s to 365d; then it is deleted",
        |c, v| one(v, |t| value::duration(t, SECOND..=365 * DAY)).map(|time| c.mail.retention = time),
        |c| vec![show_duration(c.mail.retention)],
    ),
    Setting::new(
        "max-message-size",
        Shape::One,
        "SIZE",
        "Largest message, 1KB to 50MB; KB is 1,024 octets",
        |c, v| one(v, |t| value::size(t, KB..=50 * MB)).map(|octets| c.mail.message_octets_max = octets),
        |c| vec![show_size(c.mail.message_octets_max)],
    ),
    Setting::new(
        "subaddressing",
        Shape::One,
        "keep|strip",
        "Whether user+tag@ is an address of its own (keep) or arrives at user@ (strip)",
        |c, v| one(v, subaddressing).map(|meaning| c.mail.subaddressing = meaning),
        |c| vec![if c.mail.subaddressing == Subaddressing::Keep { "keep" } else { "strip" }.to_owned()],
    ),
    Setting::new(
        "role-addresses",
        Shape::Several,
        "LOCAL-PART",
        "Local part whose mail only the administrator may read, on domains that can have certificates; 'none' for none",
        |c, v| roles(v).map(|all| c.mail.role_addresses = all),
        |c| or_none(c.mail.role_addresses.local_parts().into_iter().map(str::to_owned).collect()),
    ),
    Setting::new(
        "log-format",
        Shape::One,
        "text|json",
        "Log lines for people (text) or for programs (json)",
        |c, v| one(v, log_format).map(|format| c.log_format = format),
        |c| vec![if c.log_format == LogFormat::Text { "text" } else { "json" }.to_owned()],
    ),
];
