//! The one room that says whether a client may have something now: connections, octets, questions, requests in a minute.
//!
//! Each client has a share of everything, its network a larger one, and all together so much ([`What`] is the table).
//! Nobody who was admitted is thrown out for somebody else. While more than three quarters of something are taken it is
//! crowded: newcomers get an eighth of their shares, and slow peers end sooner.
//!
//! ```text
//! what      the table      usage     what each client and network has of it
//! permit    something that was admitted      queue     requests that wait for it
//! ```

mod permit;
mod queue;
mod usage;
mod what;

#[cfg(test)]
mod tests;

use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ipnet::IpNet;
use tokio::time::Instant;

pub use permit::Permit;
use queue::Queue;
use usage::Table;
pub use what::{ANSWER_OCTETS, CALLS_MAX, OPENED_FOR, RENDERED, SLOW_CALL_OCTETS, What};
use what::{Kind, Row};

use crate::config::Config;
use crate::model::{Client, Share};

/// Whose shares count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Who {
    /// A client and its network.
    Client(Client),
    /// A client in a network of `limit-exempt`. Some rows are for it too.
    Exempt(Client),
    /// A server in front, which speaks for many clients, or a webhook of the administrator: only what all have together is
    /// limited.
    Server,
    /// The administrator: counted and never refused.
    Administrator,
}

/// Whose share is used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// That of the client.
    Client,
    /// That of its network.
    Network,
    /// That of all.
    All,
}

/// Why something is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused {
    /// What is refused.
    pub what: What,
    /// Whose share is used up.
    pub by: Bound,
    /// When a rate permits it; zero for what is held, which nobody can know.
    pub retry_after: Duration,
}

/// What is left of a rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Left {
    /// How much of it.
    pub amount: u64,
    /// When all of it is back.
    pub whole_in: Duration,
}

/// The shares of all clients.
#[derive(Debug)]
pub struct Admission {
    /// A row for each [`What`], at the index of its number.
    rows: Vec<Option<Row>>,
    exempt: Vec<IpNet>,
    /// The beginning of its time.
    began_at: Instant,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    table: Table,
    queue: Queue,
}

impl Admission {
    /// Admits as the settings say.
    pub fn new(config: &Config) -> Self {
        let rows = What::ALL.iter().map(|what| what.row(config)).collect();
        let exempt = config.smtp.exempt.clone();
        Self { rows, exempt, began_at: Instant::now(), state: Mutex::default() }
    }

    /// Whose shares an address has.
    pub fn who(&self, address: IpAddr) -> Who {
        let address = address.to_canonical();
        let is_exempt = self.exempt.iter().any(|network| network.contains(&address));
        if is_exempt { Who::Exempt(Client::of(address)) } else { Who::Client(Client::of(address)) }
    }

    /// Takes something that is held until the permit is dropped. Never waits.
    pub fn admit(self: &Arc<Self>, who: Who, what: What, amount: u64) -> Result<Permit, Refused> {
        let mut permit = Permit::empty(Arc::clone(self), who, what);
        permit.grow_to(amount)?;
        Ok(permit)
    }

    /// Takes something as [`admit`](Self::admit) does, and waits for it as long as its row says: in the order of
    /// the requests, but past those whose client or network has used up its own share, and past one for more than the
    /// share of a client. More than there is of all counts as all of it.
    pub async fn admit_soon(self: &Arc<Self>, who: Who, what: What, amount: u64) -> Result<Permit, Refused> {
        let Some(&Row { kind: Kind::Places(patience) | Kind::Octets(patience), share, .. }) = self.row(what) else {
            return self.admit(who, what, amount);
        };
        let amount = amount.min(share.all);
        if who == Who::Administrator || !self.state().queue.has(what) {
            let admitted = self.admit(who, what, amount);
            if admitted.is_ok() {
                return admitted;
            }
        }
        let turn = self.state().queue.push(who, what, amount);
        self.serve_queue(what);
        match tokio::time::timeout(patience, turn).await {
            Ok(Ok(permit)) => Ok(permit),
            _ => Err(Refused { what, by: self.bound(who, what, amount), retry_after: Duration::ZERO }),
        }
    }

    /// Uses up some of a rate.
    pub fn spend(&self, who: Who, what: What, amount: u64) -> Result<Left, Refused> {
        let unlimited = Left { amount: u64::MAX, whole_in: Duration::ZERO };
        let Some(row) = self.row(what) else { return Ok(unlimited) };
        match row.client_of(who) {
            Some(client) => self.state().table.spend(what, row, client, amount, self.began_at.elapsed()),
            None => Ok(unlimited),
        }
    }

    /// How much of something a client may have; `None` if the settings switch it off.
    pub fn quota(&self, what: What) -> Option<u64> {
        self.row(what).map(|row| row.share.client)
    }

    /// Whether a client may have one more of what somebody else counts, who says how much of it there is. What all may have
    /// is a bound for the administrator, too.
    pub fn allows(&self, who: Who, what: What, there: Share) -> Result<(), Refused> {
        let Some(row) = self.row(what) else { return Ok(()) };
        let Share { client, network, all } = row.share;
        let is_counted = row.client_of(who).is_some();
        let bounds = [
            (Bound::All, there.all < all),
            (Bound::Network, !is_counted || there.network < network),
            (Bound::Client, !is_counted || there.client < client),
        ];
        match bounds.into_iter().find(|(_, is_allowed)| !is_allowed) {
            Some((by, _)) => Err(Refused { what, by, retry_after: Duration::ZERO }),
            None => Ok(()),
        }
    }

    /// The client whose shares count for something.
    pub fn counted(&self, who: Who, what: What) -> Option<Client> {
        self.row(what).and_then(|row| row.client_of(who))
    }

    /// Uses up some of a rate after the fact, however much is left. What is too much is waited for by
    /// [`spend`](Self::spend), even if it asks for nothing.
    pub fn charge(&self, who: Who, what: What, amount: u64) {
        if let Some(row) = self.row(what)
            && let Some(client) = row.client_of(who)
        {
            self.state().table.charge(what, row, client, amount, self.began_at.elapsed());
        }
    }

    /// Whether more than three quarters of something are taken.
    pub fn is_crowded(&self, what: What) -> bool {
        self.row(what).is_some_and(|row| self.state().table.is_crowded(what, row))
    }

    /// How much of something is taken by all.
    pub fn held(&self, what: What) -> u64 {
        self.state().table.in_all(what)
    }

    fn row(&self, what: What) -> Option<&Row> {
        self.rows[what as usize].as_ref()
    }

    /// Whose share would refuse this now.
    fn bound(&self, who: Who, what: What, amount: u64) -> Bound {
        let Some(row) = self.row(what) else { return Bound::All };
        self.state().table.check(what, row, who, 0, amount).err().unwrap_or(Bound::All)
    }

    /// Gives what is free to those that wait for it.
    fn serve_queue(self: &Arc<Self>, what: What) {
        let Some(row) = self.row(what) else { return };
        let mut state = self.state();
        let State { table, queue } = &mut *state;
        let unclaimed = queue.serve(what, row.share.client, |who, amount| {
            table.take(what, row, who, 0, amount, self.began_at.elapsed())?;
            Ok(Permit::of(Arc::clone(self), who, what, amount))
        });
        // A permit that is dropped asks for the lock.
        drop(state);
        drop(unclaimed);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Who {
    /// The client, if it is one.
    pub const fn client(self) -> Option<Client> {
        match self {
            Self::Client(client) | Self::Exempt(client) => Some(client),
            Self::Server | Self::Administrator => None,
        }
    }
}

impl Row {
    /// The client whose shares count for this row.
    const fn client_of(&self, who: Who) -> Option<Client> {
        match who {
            Who::Client(client) => Some(client),
            Who::Exempt(client) if !self.is_exempted => Some(client),
            Who::Exempt(_) | Who::Server | Who::Administrator => None,
        }
    }
}
