//! Opening a store: the registry, the rows from the journal, and what this start changes.

use std::sync::Arc;

use super::load::Loader;
use crate::model::Timestamp;
use crate::store::change::Change;
use crate::store::disk::Disk;
use crate::store::journal::{Files, Found, Journal, Mode, least_segment_octets, scan};
use crate::store::mail::{Limits, Mail};
use crate::store::names::HashKey;
use crate::store::registry::Registry;
use crate::store::{OpenError, StoreOptions};

/// An opened store. Its journal makes no file before its first group.
#[derive(Debug)]
pub(in crate::store) struct Opened {
    pub(in crate::store) mail: Mail,
    pub(in crate::store) registry: Arc<Registry>,
    pub(in crate::store) journal: Journal,
}

pub(super) fn open(disk: &Arc<dyn Disk>, options: &StoreOptions) -> Result<Opened, OpenError> {
    open_as(disk, options, rand::random())
}

/// Opens a store. A new one gets this secret.
pub(super) fn open_as(disk: &Arc<dyn Disk>, options: &StoreOptions, secret: HashKey) -> Result<Opened, OpenError> {
    let least = least_segment_octets(options.message_octets_max);
    if options.segment_octets < least || options.segment_octets > u64::from(u32::MAX) {
        return Err(OpenError::SegmentTooSmall { least });
    }
    // The journal's files come first: those of another format must not change.
    let files = Files::open(disk)?;
    files.check_formats()?;
    if !files.is_empty() && !Registry::is_on(disk)? {
        return Err(OpenError::Index("registry.redb is missing".into()));
    }
    let registry = Arc::new(Registry::open(disk, secret)?);
    let mut mail = Mail::new(registry.secret(), Limits::of(options));
    let scanned = scan(&files, &*registry, Mode::Strict, &mut |found| {
        if let Found::Fact { fact, place, .. } = found {
            mail.apply(&fact, place, &*registry);
        }
    })?;
    mail.begin_at(scanned.next_sequence);
    if let Some((by, through)) = registry.swept() {
        // The clock may have been set back since.
        mail.expire_through(by, through);
    }
    let journal = Journal::begin(files, scanned, options, registry.clone())?;
    Opened { mail, registry, journal }.shorten_lives(options)
}

impl Opened {
    /// Writes down that a shorter retention than before ends mail earlier, for good: its octets may soon be gone.
    fn shorten_lives(self, options: &StoreOptions) -> Result<Self, OpenError> {
        let Some(retention) = options.retention.filter(|retention| self.mail.outlives(*retention)) else {
            return Ok(self);
        };
        let registry = Arc::clone(&self.registry);
        let mut loader = Loader::of(self, options);
        // What has expired is written down by the lives that it had, and no later start compares it with shorter ones.
        let remembered = match registry.swept() {
            Some((by, through)) => loader.push_durably(Change::Expired { by, through }).and_then(|()| {
                registry.record_swept((Timestamp::from_millis(i64::MIN), 0));
                registry.flush()
            }),
            None => Ok(()),
        };
        let shortened = remembered
            .and_then(|()| loader.push(Change::LivesShortened { retention }, &[]))
            .and_then(|()| loader.finish());
        shortened.map_err(|error| OpenError::Io { path: "the journal".into(), reason: error.to_string() })
    }
}
