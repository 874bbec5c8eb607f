//! What is left of a disk when the power goes.

use std::collections::BTreeMap;

use rand::RngExt;

use super::{FileId, Operation, RecordingDisk, World};

/// What a disk writes whole or not at all.
const SECTOR: usize = 512;

impl RecordingDisk {
    /// The files as a power cut after the first `cut` operations might leave them.
    pub fn crash(&self, cut: usize, random: &mut impl RngExt) -> BTreeMap<String, Vec<u8>> {
        let world = self.world();
        let log = &world.log[..cut];
        let dir_synced =
            log.iter().rposition(|operation| matches!(operation, Operation::SyncDir)).map_or(0, |at| at + 1);
        let synced = world.synced(cut);
        let mut names: BTreeMap<String, FileId> = world.base.keys().cloned().zip(0..).collect();
        let mut files: Vec<Vec<u8>> = world.base.values().cloned().collect();
        files.resize(world.files.len(), Vec::new());
        // How much of what is not durable survives differs from image to image.
        let luck = [0.0, 0.2, 0.5, 0.8, 1.0][random.random_range(0..5)];
        let mut survives = |is_durable: bool| is_durable || random.random_bool(luck);
        for (at, operation) in log.iter().enumerate() {
            match operation {
                Operation::Create { name, file } => {
                    if survives(at < dir_synced) {
                        names.insert(name.clone(), *file);
                    }
                }
                Operation::Remove { name } => {
                    if survives(at < dir_synced) {
                        names.remove(name);
                    }
                }
                Operation::Write { file, offset, data } => {
                    if at < synced[*file] {
                        put(&mut files[*file], *offset, data);
                        continue;
                    }
                    for (start, end) in sectors(*offset, data.len()) {
                        if survives(false) {
                            put(&mut files[*file], start, &data[start - offset..end - offset]);
                        }
                    }
                }
                Operation::Zero { file, offset, octets } => {
                    if at < synced[*file] {
                        zero(&mut files[*file], *offset, *octets);
                        continue;
                    }
                    for (start, end) in sectors(*offset, *octets) {
                        if survives(false) {
                            zero(&mut files[*file], start, end - start);
                        }
                    }
                }
                Operation::SetLen { file, octets } => {
                    if survives(at < synced[*file]) {
                        files[*file].resize(*octets, 0);
                    }
                }
                Operation::Sync { .. } | Operation::SyncDir => {}
            }
        }
        names.into_iter().map(|(name, file)| (name, std::mem::take(&mut files[file]))).collect()
    }
}

impl World {
    /// For each file how many of the first `cut` operations a sync of it covers.
    pub(super) fn synced(&self, cut: usize) -> Vec<usize> {
        let mut synced = vec![0; self.files.len()];
        for operation in &self.log[..cut] {
            if let Operation::Sync { file, covers } = operation {
                synced[*file] = (*covers).max(synced[*file]);
            }
        }
        synced
    }
}

/// The pieces of a write that a disk keeps or loses as one.
fn sectors(offset: usize, octets: usize) -> impl Iterator<Item = (usize, usize)> {
    let end = offset + octets;
    let mut at = offset;
    std::iter::from_fn(move || {
        let start = at;
        at = end.min((start / SECTOR + 1) * SECTOR);
        (start < end).then_some((start, at))
    })
}

pub(super) fn put(file: &mut Vec<u8>, offset: usize, data: &[u8]) {
    if file.len() < offset + data.len() {
        file.resize(offset + data.len(), 0);
    }
    file[offset..offset + data.len()].copy_from_slice(data);
}

pub(super) fn zero(file: &mut Vec<u8>, offset: usize, octets: usize) {
    if file.len() < offset + octets {
        file.resize(offset + octets, 0);
    }
    file[offset..offset + octets].fill(0);
}
