//! What each client and each network has of everything.

use std::collections::HashMap;
use std::time::Duration;

use super::what::{Kind, Row};
use super::{Bound, Left, Refused, What, Who};
use crate::model::{Client, Network};

/// The most clients and networks that are remembered though they hold nothing. Beyond that all of these are forgotten:
/// no share stops an attacker who has so many networks.
const REMEMBERED_MAX: usize = 65_536;
/// The part of its shares that a newcomer has of what is crowded.
const CROWD_DIVISOR: u64 = 8;
/// Nobody is forgotten while fewer are remembered.
const REMEMBERED_MIN: usize = 1_024;

/// A client or a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Party {
    Client(Client),
    Network(Network),
}

/// For each [`What`] how much is held; for a rate the time until which it is used up, in nanoseconds.
type Usage = [u64; What::ALL.len()];

#[derive(Debug, Default)]
pub(super) struct Table {
    parties: HashMap<Party, Usage>,
    in_all: Usage,
    /// The size at which parties are forgotten next.
    forget_at: usize,
}

impl Table {
    /// How many clients and networks are remembered.
    #[cfg(test)]
    pub(super) fn parties(&self) -> usize {
        self.parties.len()
    }

    /// How much all hold.
    pub(super) const fn in_all(&self, what: What) -> u64 {
        self.in_all[what as usize]
    }

    /// Whether more than three quarters are taken.
    pub(super) fn is_crowded(&self, what: What, row: &Row) -> bool {
        let (taken, all) = match row.apart {
            None => (self.in_all(what), row.share.all),
            Some((apart, most)) => {
                (self.in_all(what).saturating_sub(self.in_all(apart)), row.share.all.saturating_sub(most))
            }
        };
        taken > all - all.div_ceil(4)
    }

    /// Whether `who`, which holds `own` of it already, may take more. The error is whose share is used up.
    pub(super) fn check(&self, what: What, row: &Row, who: Who, own: u64, more: u64) -> Result<(), Bound> {
        if who == Who::Administrator {
            return Ok(());
        }
        if self.in_all(what).saturating_add(more) > row.share.all {
            return Err(Bound::All);
        }
        let Some(client) = row.client_of(who) else { return Ok(()) };
        let is_newcomer = own == 0 && self.is_crowded(what, row);
        // The network is asked first, so that one that is refused leaves no trace of its clients.
        for (bound, share) in [(Bound::Network, row.share.network), (Bound::Client, row.share.client)] {
            let held = self.parties.get(&bound.party(client)).map_or(0, |usage| usage[what as usize]);
            let is_first = matches!(row.kind, Kind::Octets(_)) && held == own;
            let share = if is_newcomer { (share / CROWD_DIVISOR).max(1) } else { share };
            if held.saturating_add(more) > share && !is_first {
                return Err(bound);
            }
        }
        Ok(())
    }

    /// Takes more of it for `who`, which holds `own` of it already.
    pub(super) fn take(
        &mut self,
        what: What,
        row: &Row,
        who: Who,
        own: u64,
        more: u64,
        now: Duration,
    ) -> Result<(), Bound> {
        self.check(what, row, who, own, more)?;
        self.in_all[what as usize] += more;
        if let Some(client) = row.client_of(who) {
            self.forget(now);
            for bound in [Bound::Network, Bound::Client] {
                self.parties.entry(bound.party(client)).or_default()[what as usize] += more;
            }
        }
        Ok(())
    }

    /// Gives back some of what `who` holds.
    pub(super) fn give_back(&mut self, what: What, row: &Row, who: Who, amount: u64) {
        self.in_all[what as usize] -= amount;
        if let Some(client) = row.client_of(who) {
            for bound in [Bound::Network, Bound::Client] {
                if let Some(usage) = self.parties.get_mut(&bound.party(client)) {
                    usage[what as usize] -= amount;
                }
            }
        }
    }

    /// Uses up some of a rate, which comes back evenly (the generic cell rate algorithm).
    pub(super) fn spend(
        &mut self,
        what: What,
        row: &Row,
        client: Client,
        amount: u64,
        now: Duration,
    ) -> Result<Left, Refused> {
        let Kind::Rate(time) = row.kind else { unreachable!("only a rate is spent") };
        let (now_ns, time_ns) = (nanos(now), nanos(time));
        for (bound, share) in [(Bound::Network, row.share.network), (Bound::Client, row.share.client)] {
            let until = self.spent_until(what, bound, client, now_ns).saturating_add(price(amount, share, time_ns));
            if let Some(wait) = until.checked_sub(now_ns + time_ns).filter(|wait| *wait > 0) {
                return Err(Refused { what, by: bound, retry_after: Duration::from_nanos(wait) });
            }
        }
        self.charge(what, row, client, amount, now);
        let (quota, until) = (row.share.client, self.spent_until(what, Bound::Client, client, now_ns));
        let left =
            u128::from((now_ns + time_ns).saturating_sub(until)) * u128::from(quota) / u128::from(time_ns.max(1));
        Ok(Left { amount: u64::try_from(left).unwrap_or(u64::MAX), whole_in: Duration::from_nanos(until - now_ns) })
    }

    /// Uses up some of a rate, however much is left.
    pub(super) fn charge(&mut self, what: What, row: &Row, client: Client, amount: u64, now: Duration) {
        let Kind::Rate(time) = row.kind else { unreachable!("only a rate is charged") };
        self.forget(now);
        for (bound, share) in [(Bound::Network, row.share.network), (Bound::Client, row.share.client)] {
            let until = self.spent_until(what, bound, client, nanos(now));
            let until = until.saturating_add(price(amount, share, nanos(time)));
            self.parties.entry(bound.party(client)).or_default()[what as usize] = until;
        }
    }

    fn spent_until(&self, what: What, bound: Bound, client: Client, now: u64) -> u64 {
        self.parties.get(&bound.party(client)).map_or(now, |usage| usage[what as usize].max(now))
    }

    /// Forgets those who hold nothing and whose rates are whole again, and all who hold nothing if too many remain. The
    /// table doubles in between, so that an admission costs the same however many clients there are.
    fn forget(&mut self, now: Duration) {
        if self.parties.len() < self.forget_at.max(REMEMBERED_MIN) {
            return;
        }
        let now = nanos(now);
        let holds = |usage: &Usage| What::ALL.iter().any(|what| !what.is_rate() && usage[*what as usize] > 0);
        let owes = |usage: &Usage| What::ALL.iter().any(|what| what.is_rate() && usage[*what as usize] > now);
        self.parties.retain(|_, usage| holds(usage) || owes(usage));
        let holding = self.parties.values().filter(|usage| holds(usage)).count();
        if self.parties.len() - holding >= REMEMBERED_MAX {
            self.parties.retain(|_, usage| holds(usage));
        }
        self.forget_at = (self.parties.len() * 2).min(holding + REMEMBERED_MAX);
        self.parties.shrink_to(self.forget_at);
    }
}

impl Bound {
    /// The party whose share it is.
    fn party(self, client: Client) -> Party {
        if self == Self::Client { Party::Client(client) } else { Party::Network(client.network()) }
    }
}

/// The part of a rate's time that so much uses up, in nanoseconds.
fn price(amount: u64, share: u64, time: u64) -> u64 {
    u64::try_from(u128::from(amount) * u128::from(time) / u128::from(share.max(1))).unwrap_or(u64::MAX)
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
