//! Batches: how many Emails are read in one go.

/// Messages of this many octets together are read in one go.
///
/// A larger message is read alone, so that a page of large messages never sits in memory as a whole.
const OCTETS_MAX: u64 = 256 * 1024;

/// How many of the first Emails make a batch, at least one; `None` without Emails. `octets` is what an Email counts.
pub(super) fn length<T>(emails: &[T], octets: impl Fn(&T) -> u64) -> Option<usize> {
    let mut sum = 0;
    let fits = |email: &&T| {
        sum += octets(email);
        sum <= OCTETS_MAX
    };
    let fitting = emails.iter().take_while(fits).count();
    (!emails.is_empty()).then_some(fitting.max(1))
}
