//! Private inboxes: leases of addresses, and where mail for an address goes.
//!
//! This is the one room that knows the rules. The mail of a lease lies in a mailbox of its own, see
//! [`Mailbox::private`](crate::model::Mailbox::private). Whoever shows the key of the lease is led there, and everybody else
//! to the mailbox that the address has without it, which is empty.
//!
//! After a lease its address rests, so that nobody gets mail for the last holder. One that was made at random is for nobody
//! else ever, which its form shows ([`random::is_private`](crate::random::is_private)). So of its lease nothing is kept.
//!
//! ```text
//! key      keys: random texts, of which only hashes are kept       life     what is true of a lease in time; pure
//! holding  taking, changing and ending leases                     reading  which mailbox a reader gets
//! arrival  where mail goes, and what it does to a lease           opened   which other addresses take mail
//! sweep    ends what is over
//! ```

mod arrival;
mod holding;
mod key;
mod life;
mod opened;
mod reading;
mod sweep;

use std::sync::Arc;
use std::time::Duration;
use std::{array, fmt};

pub use arrival::{Mail, Stored};
pub use holding::{Taken, Wanted};
pub use key::{KEY_PREFIX, KeyHash};
pub use life::{OutOfRange, Term, Terms};
pub use reading::Reader;
pub use sweep::run;

use tokio::sync::Mutex;
use tokio::time::{Instant, sleep};

use crate::admission::{Admission, Refused};
use crate::clock::Clock;
use crate::config::Config;
use crate::domains::Registry;
use crate::model::{Address, LeaseRecord, Subaddressing, Timestamp};
use crate::store::{Storage, StoreError};

/// How many changes of leases this node makes at once at most.
const TURNS: usize = 64;
/// How long a change is tried while other nodes change the same lease, and the longest pause between two tries.
const PATIENCE: Duration = Duration::from_secs(10);
const PAUSE_MAX: Duration = Duration::from_millis(50);

/// The leases of a service.
pub struct Leases {
    config: Arc<Config>,
    clock: Arc<dyn Clock>,
    store: Arc<dyn Storage>,
    admission: Arc<Admission>,
    domains: Arc<Registry>,
    /// Whoever changes a lease has the turn of its id.
    turns: [Mutex<()>; TURNS],
}

/// Why something about a lease was not done, in words for whoever asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LeaseError {
    /// Somebody has the address, had it a short time ago, or it has mail that anybody may read.
    #[error("the address is in use")]
    InUse {
        /// When it may be free.
        until: Timestamp,
    },
    /// The address has the form of those that are made at random, and was not made now.
    #[error("an address of this form is made at random, and nobody gets it a second time; choose another")]
    Random,
    /// The administrator alone reads mail to this local part.
    #[error("the address is a role address, which nobody can have for himself")]
    Role,
    /// The domain receives no mail.
    #[error("the domain receives no mail")]
    DomainUnknown,
    /// A share is used up.
    #[error("there are too many private inboxes")]
    TooMany(Refused),
    /// The key has as many leases as it may.
    #[error("a key has at most {0} private inboxes; take a new key")]
    KeyFull(usize),
    /// What was asked for is not permitted.
    #[error(transparent)]
    OutOfRange(#[from] OutOfRange),
    /// The caller has no such lease.
    #[error("there is no such private inbox")]
    Unknown,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Leases {
    /// The leases in `store`, of addresses on `domains`.
    pub fn new(
        config: &Arc<Config>,
        clock: &Arc<dyn Clock>,
        store: Arc<dyn Storage>,
        admission: &Arc<Admission>,
        domains: &Arc<Registry>,
    ) -> Self {
        Self {
            config: Arc::clone(config),
            clock: Arc::clone(clock),
            store,
            admission: Arc::clone(admission),
            domains: Arc::clone(domains),
            turns: array::from_fn(|_| Mutex::default()),
        }
    }

    /// The record of an address, living or not. A `+tag` does not matter, whatever the settings say about other mail.
    async fn find(&self, address: &Address) -> Result<Option<LeaseRecord>, StoreError> {
        self.store.lease(&address.mailbox(Subaddressing::Strip)).await
    }

    /// Makes of a lease what `change` makes of it at that time; `None` leaves it as it is. Returns the lease as it is then, or
    /// `None` if it lives no more.
    ///
    /// The changes of a node take turns, so only another node of a cluster comes in between. Then it is tried again until
    /// [`PATIENCE`] is over.
    async fn alter(
        &self,
        lease: &LeaseRecord,
        change: impl Fn(&LeaseRecord, Timestamp) -> Option<LeaseRecord> + Send,
    ) -> Result<Option<LeaseRecord>, StoreError> {
        let _turn = self.turns[usize::from(lease.id.octets()[0]) % TURNS].lock().await;
        let give_up_at = Instant::now() + PATIENCE;
        loop {
            let (there, now) = (self.store.lease(&lease.mailbox).await?, self.clock.now());
            let Some(before) = there.filter(|there| there.id == lease.id && there.is_living(now)) else {
                return Ok(None);
            };
            let Some(after) = change(&before, now) else { return Ok(Some(before)) };
            if self.store.replace_lease(Some(&before), Some(&after)).await? {
                return Ok(Some(after));
            }
            if Instant::now() >= give_up_at {
                return Err(StoreError::Failed("other nodes change the lease all the time".into()));
            }
            sleep(rand::random_range(Duration::ZERO..PAUSE_MAX)).await;
        }
    }
}

impl fmt::Debug for Leases {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Leases").finish_non_exhaustive()
    }
}
