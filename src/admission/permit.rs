//! Something that was admitted.

use std::sync::Arc;

use bytes::Bytes;

use super::{Admission, Refused, What, Who};

/// Some of something, held until this is dropped.
#[derive(Debug)]
pub struct Permit {
    admission: Arc<Admission>,
    who: Who,
    what: What,
    amount: u64,
}

impl Permit {
    pub(super) const fn empty(admission: Arc<Admission>, who: Who, what: What) -> Self {
        Self::of(admission, who, what, 0)
    }

    pub(super) const fn of(admission: Arc<Admission>, who: Who, what: What, amount: u64) -> Self {
        Self { admission, who, what, amount }
    }

    /// How much is held.
    pub const fn amount(&self) -> u64 {
        self.amount
    }

    /// What is held.
    pub const fn what(&self) -> What {
        self.what
    }

    /// Whose shares it counts for.
    pub const fn who(&self) -> Who {
        self.who
    }

    /// Holds at least `amount`. After an error the permit is as it was.
    pub fn grow_to(&mut self, amount: u64) -> Result<(), Refused> {
        let Some(more) = amount.checked_sub(self.amount).filter(|more| *more > 0) else { return Ok(()) };
        let Self { admission, who, what, .. } = self;
        if let Some(row) = admission.row(*what) {
            let now = admission.began_at.elapsed();
            let refused = |by| Refused { what: *what, by, retry_after: std::time::Duration::ZERO };
            admission.state().table.take(*what, row, *who, self.amount, more, now).map_err(refused)?;
        }
        self.amount = amount;
        Ok(())
    }

    /// Gives back what is beyond `amount`.
    pub fn shrink_to(&mut self, amount: u64) {
        let Some(surplus) = self.amount.checked_sub(amount).filter(|surplus| *surplus > 0) else { return };
        let Self { admission, who, what, .. } = self;
        if let Some(row) = admission.row(*what) {
            let mut state = admission.state();
            state.table.give_back(*what, row, *who, surplus);
            let has_waiters = state.queue.has(*what);
            drop(state);
            self.amount = amount;
            if has_waiters {
                admission.serve_queue(*what);
            }
        }
    }

    /// Counts for somebody else from now on, whose shares are asked.
    pub fn pass_to(&mut self, who: Who) -> Result<(), Refused> {
        let amount = self.amount;
        self.shrink_to(0);
        self.who = who;
        self.grow_to(amount)
    }

    /// Holds something else from now on, if there is room for it. Otherwise the permit is as it was.
    pub fn exchange(&mut self, who: Who, what: What, amount: u64) -> Result<(), Refused> {
        *self = self.admission.admit(who, what, amount)?;
        Ok(())
    }

    /// Octets that keep the permit until they are written or dropped.
    pub fn hold(self, octets: Bytes) -> Bytes {
        Bytes::from_owner(Held { octets, _permit: self })
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.shrink_to(0);
    }
}

struct Held {
    octets: Bytes,
    _permit: Permit,
}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        &self.octets
    }
}
