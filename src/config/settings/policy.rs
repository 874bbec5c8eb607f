//! Settings of the mail that a public instance refuses. By default it refuses none.

use super::{each, one, texts};
use crate::config::parse::{network, refused_sender};
use crate::config::setting::{Setting, Shape};
use crate::config::value;
use crate::config::words::when_full;
use crate::model::WhenFull;

/// In the order in which help lists them.
pub(super) const SETTINGS: &[Setting] = &[
    Setting::new(
        "refuse-client",
        Shape::Several,
        "CIDR",
        "Network whose clients are refused with 554",
        |c, v| each(v, network).map(|all| c.smtp.refused_clients = all),
        |c| texts(&c.smtp.refused_clients),
    ),
    Setting::new(
        "refuse-sender-domain",
        Shape::Several,
        "DOMAIN",
        "Domain whose mail is refused, by the reverse-path: a name, or '*.NAME' for all below it",
        |c, v| each(v, refused_sender).map(|all| c.smtp.refused_senders = all),
        |c| texts(&c.smtp.refused_senders),
    ),
    Setting::new(
        "max-messages-per-mailbox",
        Shape::One,
        "N",
        "Maximum messages in one mailbox, 0 to 1000000; 0: no cap",
        |c, v| one(v, |t| value::number(t, 0..=1_000_000)).map(|n| c.mail.caps.emails_per_mailbox = n),
        |c| vec![c.mail.caps.emails_per_mailbox.to_string()],
    ),
    Setting::new(
        "mailbox-full",
        Shape::One,
        "reject|drop-oldest",
        "Whether a message for a full mailbox is refused for now or replaces the mailbox's oldest",
        |c, v| one(v, when_full).map(|when_full| c.mail.caps.when_full = when_full),
        |c| vec![if c.mail.caps.when_full == WhenFull::Reject { "reject" } else { "drop-oldest" }.to_owned()],
    ),
];
