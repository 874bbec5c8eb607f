//! Who is refused, and why.

mod rules;

use super::budget::Share;
use super::reply::Reply;
use crate::model::Address;

pub use rules::PolicySettings;
pub(super) use rules::Rules;

/// What a session asks before it answers MAIL, RCPT and DATA. The answers come from memory, one system call and, where there
/// are caps, short reads of the index, without waiting.
pub trait Policy: Send + Sync {
    /// Whether a message from `reverse_path`, empty for the null sender, may begin now; the error is the reply to MAIL.
    fn sender(&self, reverse_path: &str) -> Result<(), Reply>;

    /// Whether mail for `address` is received, if it is for the `earlier` recipients of the transaction too; the error is the
    /// reply to RCPT.
    fn recipient(&self, address: &Address, earlier: &[Address]) -> Result<(), Reply>;

    /// Memory for a message of so many octets; the error is the reply to DATA.
    fn memory(&self, octets: u64) -> Result<Share, Reply>;
}
