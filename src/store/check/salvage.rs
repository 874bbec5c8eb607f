//! Salvage: a new store from what a damaged one still has.
//!
//! The new store replaces the damaged one, whose files are moved aside unchanged. It gets the living Emails and the pending
//! events that the readable part of the journal has, and the domains, webhooks and tokens of the registry. A removal counts as far as
//! it can be read; where a group of the journal is damaged, Emails that it deleted may be back. Webhooks begin disabled.

use std::path::PathBuf;
use std::sync::{Arc, RwLock};

use super::{CheckReport, Readable, read};
use crate::model::{Timestamp, WebhookStatus};
use crate::store::backup::{BackupCounts, BackupRecord, BackupSource, Damage};
use crate::store::disk::{Directory, Disk, OldFiles};
use crate::store::embedded::Loader;
use crate::store::embedded::carry_tokens;
use crate::store::{OpenError, StoreError, StoreOptions};

/// The largest message that the journal may hold. Earlier settings may have permitted larger messages than today's.
const MESSAGE_OCTETS: u64 = 128 << 20;
/// Why webhooks of a new store are disabled.
const SALVAGED: &str = "the store was damaged, and this webhook may have been deleted before; register it again";

/// The result of a salvage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Salvaged {
    /// The damage.
    pub report: CheckReport,
    /// What the new store has.
    pub copied: BackupCounts,
    /// Whether it has the tokens. `false` if they could not be read.
    pub has_tokens: bool,
    /// The directory of the damaged store's files.
    pub aside: PathBuf,
}

/// Replaces the damaged store in `directory` by what can be read of it, as of `now`. No file of it changes before the end.
pub fn salvage(
    directory: Arc<Directory>,
    options: &StoreOptions,
    now: Timestamp,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Salvaged, OpenError> {
    let disk: Arc<dyn Disk> = directory.clone();
    let (report, readable) = read(&disk, options, now, progress)?;
    let staged: Arc<dyn Disk> = Arc::new(directory.stage()?);
    let filled = fill((&disk, &staged), &options.taking(MESSAGE_OCTETS), readable, now);
    drop(staged);
    let (copied, has_tokens) = filled.inspect_err(|_| directory.discard())?;
    let failed = |error: std::io::Error| OpenError::Io { path: "the data directory".into(), reason: error.to_string() };
    let aside = directory.replace(OldFiles::AreKept).map_err(failed)?.unwrap_or_default();
    Ok(Salvaged { report, copied, has_tokens, aside })
}

fn fill(
    (old, staged): (&Arc<dyn Disk>, &Arc<dyn Disk>),
    options: &StoreOptions,
    readable: Readable,
    now: Timestamp,
) -> Result<(BackupCounts, bool), OpenError> {
    let Readable { files, registry, mail } = readable;
    let mut loader = Loader::begin(staged, options, registry.secret())?;
    loader.go_on_behind(mail.last_sequence());
    let mail = RwLock::new(mail);
    let source = BackupSource {
        mail: &|| mail.read().unwrap_or_else(std::sync::PoisonError::into_inner),
        registry: &registry,
        files: &files,
        damage: Damage::IsLeftOut,
        now,
        emit: &mut |mut item| {
            if let BackupRecord::Webhook(webhook) = &mut item.record {
                webhook.status = WebhookStatus::Disabled(SALVAGED.into());
            }
            loader.load(item)
        },
    };
    let failed = |error: StoreError| OpenError::Io { path: "the new store".into(), reason: error.to_string() };
    let copied = source.run().map_err(failed)?;
    loader.close().map_err(failed)?;
    Ok((copied, carry_tokens(old, staged).map_err(failed)?))
}
