//! Opening a store: the registry, the rows from the journal, and what this start changes.

use std::sync::Arc;

use super::registry::{self, EmbeddedRegistry};
use crate::store::change::Ending;
use crate::store::disk::Disk;
use crate::store::journal::{Files, Found, Journal, Mode, least_segment_octets, scan};
use crate::store::mail::{Limits, Mail};
use crate::store::names::HashKey;
use crate::store::{OpenError, StoreOptions};

/// An opened store. Its journal makes no file before its first group.
#[derive(Debug)]
pub(in crate::store) struct Opened {
    pub(in crate::store) mail: Mail,
    pub(in crate::store) registry: Arc<EmbeddedRegistry>,
    pub(in crate::store) journal: Journal,
}

/// Opens a store. A new one gets this secret.
pub(super) fn open(disk: &Arc<dyn Disk>, options: &StoreOptions, secret: HashKey) -> Result<Opened, OpenError> {
    let least = least_segment_octets(options.message_octets_max);
    if options.segment_octets < least || options.segment_octets > u64::from(u32::MAX) {
        return Err(OpenError::SegmentTooSmall { least });
    }
    // The journal's files come first: those of another format must not change.
    let files = Files::open(disk)?;
    files.check_formats()?;
    if !files.is_empty() && !EmbeddedRegistry::is_on(disk)? {
        return Err(OpenError::Registry("registry.redb is missing".into()));
    }
    let registry = Arc::new(EmbeddedRegistry::open(disk, secret)?);
    let mut mail = Mail::new(registry.secret(), Limits::of(options));
    let scanned = scan(&files, &*registry, Mode::Strict, &mut |found| {
        if let Found::Fact { fact, place, .. } = found {
            mail.apply(&fact, place, &*registry);
        }
    })?;
    mail.begin_at(scanned.next_sequence);
    registry.endings().iter().for_each(|ending| mail.end(ending));
    let journal = Journal::begin(files, scanned, options, registry.clone())?;
    if let Some(retention) = options.retention.filter(|retention| mail.outlives(*retention)) {
        // A shorter retention than before ends mail for good: its octets may soon be gone.
        let ending = Ending::Shortened { retention, through: mail.last_sequence() };
        mail.end(&ending);
        registry.record_ending(ending);
        registry.flush().map_err(|error| OpenError::Io { path: registry::NAME.into(), reason: error.to_string() })?;
    }
    Ok(Opened { mail, registry, journal })
}
