//! Settings of the mail that a public instance refuses. By default it refuses none.

use super::{each, one, texts};
use crate::config::parse::{network, refused_sender};
use crate::config::setting::{Setting, Shape};
use crate::config::value;

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
        "Maximum messages in one mailbox, 0 to 1000000; the oldest makes way if it is a minute old; 0: no cap",
        |c, v| one(v, |t| value::number(t, 0..=1_000_000)).map(|n| c.mail.emails_per_mailbox_max = n),
        |c| vec![c.mail.emails_per_mailbox_max.to_string()],
    ),
];
