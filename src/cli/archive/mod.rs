//! Mail outside the service: a file in the form mboxrd, or a Maildir.
//!
//! ```text
//! entry   a message with its envelope, as both forms keep it    mbox, maildir   the forms
//! ```

pub(super) mod entry;
pub(super) mod maildir;
pub(super) mod mbox;

use super::import::MESSAGE_OCTETS_MAX;

/// The most mails that are written or read at once.
pub(super) const MAILS_MAX: usize = 1_000_000;
/// The longest message in an archive, in octets: the longest that a service may accept, with the fields of its envelope.
pub(super) const ENTRY_OCTETS_MAX: u64 = MESSAGE_OCTETS_MAX + (64 << 10);
