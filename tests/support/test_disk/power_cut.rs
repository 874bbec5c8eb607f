//! What a power cut leaves.
//!
//! What was synced is there. Of everything later an arbitrary subset is, in units of one sector, across files and names.

use std::collections::BTreeMap;
use std::ops::Range;

use rand::RngExt;

use super::file::{apply, small};
use super::{Call, FileId, Kind, Outcome, TestDisk, World, rng};

/// The size of the unit that a disk writes whole or not at all.
const SECTOR: usize = 512;

impl TestDisk {
    /// A disk with the files as a power cut after the first `at` operations might leave them. A seed is one of the ways.
    pub fn power_cut(&self, at: usize, seed: u64) -> Self {
        let mut random = rng(seed);
        let world = self.world();
        let log = &world.log[..at];
        let dir_synced = log.iter().rposition(|operation| operation.call.kind == Kind::SyncDir).unwrap_or(0);
        let durable = world.durable(at);
        let mut names: BTreeMap<String, FileId> = world.base.keys().cloned().zip(0..).collect();
        let mut files: Vec<Vec<u8>> = world.base.values().cloned().collect();
        files.resize(world.files.len().max(1), Vec::new());
        // How much of what is not durable survives differs from image to image.
        let luck = [0.0, 0.2, 0.5, 0.8, 1.0][random.random_range(0..5)];
        let mut survives = |is_durable: bool| is_durable || random.random_bool(luck);
        for (n, operation) in log.iter().enumerate() {
            let (call, id, durable) = (&operation.call, operation.file, durable[n]);
            match call.kind {
                Kind::Create if survives(n < dir_synced) => drop(names.insert(call.file.to_string(), id)),
                Kind::Rename if survives(n < dir_synced) => {
                    names.remove(&*call.file);
                    names.insert(String::from_utf8_lossy(&operation.data).into(), id);
                }
                Kind::Remove if survives(n < dir_synced) => drop(names.remove(&*call.file)),
                kind if kind.is_change() => {
                    let offset = small(call.offset);
                    for part in pieces(call, durable) {
                        if survives(durable) {
                            let data = operation.data.get(part.start - offset..part.end - offset).unwrap_or_default();
                            apply(&mut files[id], kind, part, data);
                        }
                    }
                }
                _ => {}
            }
        }
        Self::with(names.into_iter().map(|(name, file)| (name, std::mem::take(&mut files[file]))).collect())
    }

    /// Of each file the offset of the last write that was synced before operation `at`.
    pub fn last_synced_writes(&self, at: usize) -> BTreeMap<String, usize> {
        let world = self.world();
        let durable = world.durable(at);
        let writes = world.log[..at]
            .iter()
            .zip(durable)
            .filter(|(operation, durable)| *durable && operation.call.kind == Kind::Write);
        writes.map(|(operation, _)| (operation.call.file.to_string(), small(operation.call.offset))).collect()
    }
}

impl World {
    /// Which of the first `at` operations on files a sync has made durable by then.
    fn durable(&self, at: usize) -> Vec<bool> {
        let mut durable = vec![false; at];
        // The operations that the kernel still has to write.
        let mut dirty: Vec<Vec<usize>> = vec![Vec::new(); self.files.len().max(1)];
        for (n, operation) in self.log[..at].iter().enumerate() {
            let dirty = &mut dirty[operation.file];
            match (operation.outcome, operation.call.kind) {
                (Outcome::Synced(covers), _) => dirty.retain(|write| {
                    durable[*write] |= *write < covers;
                    *write >= covers
                }),
                // The length is the file system's, which writes it with the next sync.
                (Outcome::SyncFailed, _) => dirty.retain(|write| self.log[*write].call.kind.is_length()),
                (Outcome::Done, kind) if kind.is_change() => dirty.push(n),
                (Outcome::Done, _) => {}
            }
        }
        durable
    }
}

/// The pieces of a change, each of which a disk makes whole or not at all.
fn pieces(call: &Call, is_durable: bool) -> Vec<Range<usize>> {
    let all = small(call.offset)..small(call.offset + call.octets);
    if is_durable || call.kind.is_length() {
        return vec![all];
    }
    let sectors = all.start / SECTOR..all.end.div_ceil(SECTOR);
    sectors.map(|sector| all.start.max(sector * SECTOR)..all.end.min((sector + 1) * SECTOR)).collect()
}
