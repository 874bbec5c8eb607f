//! What a power cut leaves of a disk.

use std::collections::BTreeMap;

use rand::RngExt;

use super::{FileId, Operation, RecordingDisk, World};

/// The size of the unit that a disk writes whole or not at all.
const SECTOR: usize = 512;

impl RecordingDisk {
    /// The files as a power cut after the first `cut` operations might leave them.
    pub fn crash(&self, cut: usize, random: &mut impl RngExt) -> BTreeMap<String, Vec<u8>> {
        let world = self.world();
        let log = &world.log[..cut];
        let dir_synced =
            log.iter().rposition(|operation| matches!(operation, Operation::SyncDir)).map_or(0, |at| at + 1);
        let durable = world.durable(cut);
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
                    if durable[at] {
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
                    if durable[at] {
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
                    if survives(durable[at]) {
                        set_len(&mut files[*file], *octets);
                    }
                }
                Operation::Sync { .. } | Operation::SyncFailed { .. } | Operation::SyncDir => {}
            }
        }
        names.into_iter().map(|(name, file)| (name, std::mem::take(&mut files[file]))).collect()
    }
}

impl World {
    /// Which of the first `cut` operations on files a sync has made durable by then.
    pub(super) fn durable(&self, cut: usize) -> Vec<bool> {
        let mut durable = vec![false; cut];
        // The operations that the kernel still has to write.
        let mut dirty: Vec<Vec<usize>> = vec![Vec::new(); self.files.len()];
        for (at, operation) in self.log[..cut].iter().enumerate() {
            match operation {
                Operation::Write { file, .. } | Operation::Zero { file, .. } | Operation::SetLen { file, .. } => {
                    dirty[*file].push(at);
                }
                Operation::Sync { file, covers } => dirty[*file].retain(|write| {
                    durable[*write] |= write < covers;
                    write >= covers
                }),
                // The length is the file system's, which writes it with the next sync.
                Operation::SyncFailed { file, covers } => {
                    dirty[*file]
                        .retain(|write| write >= covers || matches!(self.log[*write], Operation::SetLen { .. }));
                }
                Operation::Create { .. } | Operation::Remove { .. } | Operation::SyncDir => {}
            }
        }
        durable
    }
}

/// The pieces of a write, each of which a disk writes whole or not at all.
fn sectors(offset: usize, octets: usize) -> impl Iterator<Item = (usize, usize)> {
    let end = offset + octets;
    let mut at = offset;
    std::iter::from_fn(move || {
        let start = at;
        at = end.min((start / SECTOR + 1) * SECTOR);
        (start < end).then_some((start, at))
    })
}

/// Gives a file this length: octets that are missing become zeros.
pub(super) fn set_len(file: &mut Vec<u8>, octets: usize) {
    file.truncate(octets);
    // `Vec::resize` writes octet by octet in a build without optimization.
    file.extend_from_slice(&vec![0; octets - file.len()]);
}

pub(super) fn put(file: &mut Vec<u8>, offset: usize, data: &[u8]) {
    set_len(file, file.len().max(offset + data.len()));
    file[offset..offset + data.len()].copy_from_slice(data);
}

pub(super) fn zero(file: &mut Vec<u8>, offset: usize, octets: usize) {
    set_len(file, file.len().max(offset + octets));
    file[offset..offset + octets].fill(0);
}
