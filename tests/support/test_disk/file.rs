//! Open files.

use std::io;
use std::ops::Range;
use std::sync::Arc;

use tempmail::store::disk::DiskFile;

use super::{Call, FileId, Kind, Operation, Outcome, TestDisk, World};

/// The contents of a file.
#[derive(Default)]
pub(super) struct File {
    pub(super) octets: Vec<u8>,
    /// Which of its blocks take room.
    pub(super) blocks: Vec<bool>,
    pub(super) used_blocks: usize,
    /// Whether a write has changed something.
    pub(super) is_rewritten: bool,
}

#[derive(Debug)]
pub(super) struct OpenFile {
    pub(super) disk: TestDisk,
    pub(super) file: FileId,
    pub(super) name: Arc<str>,
}

impl OpenFile {
    fn call(&self, kind: Kind, offset: u64, octets: u64) -> Call {
        Call { kind, file: Arc::clone(&self.name), offset, octets }
    }

    fn change(&self, kind: Kind, offset: u64, octets: u64) -> io::Result<()> {
        let call = self.call(kind, offset, octets);
        self.disk.begin(&call)?.change(self.file, call, &[])
    }
}

impl World {
    /// Does what a call asks for.
    fn change(&mut self, file: FileId, call: Call, data: &[u8]) -> io::Result<()> {
        match call.kind {
            Kind::SetLen => self.give_back(file, call.octets..u64::MAX),
            Kind::Punch => self.give_back(file, call.offset..call.offset + call.octets),
            _ => self.take(file, call.offset, call.octets)?,
        }
        let range = small(call.offset)..small(call.offset + call.octets);
        let changed = &mut self.files[file];
        changed.is_rewritten |= call.kind == Kind::Write && changed.octets.get(range.clone()) != Some(data);
        apply(&mut changed.octets, call.kind, range, data);
        self.log.push(Operation { call, file, data: data.to_vec(), outcome: Outcome::Done });
        Ok(())
    }
}

impl DiskFile for OpenFile {
    fn size(&self) -> io::Result<u64> {
        Ok(self.disk.begin(&self.call(Kind::Size, 0, 0))?.files[self.file].octets.len() as u64)
    }

    fn set_len(&self, octets: u64) -> io::Result<()> {
        self.change(Kind::SetLen, 0, octets)
    }

    fn grow(&self, octets: u64) -> io::Result<()> {
        self.change(Kind::Grow, 0, octets)
    }

    fn allocate(&self, octets: u64) -> io::Result<()> {
        self.change(Kind::Allocate, 0, octets)
    }

    fn punch(&self, offset: u64, octets: u64) -> io::Result<()> {
        self.change(Kind::Punch, offset, octets)
    }

    fn write_at(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let call = self.call(Kind::Write, offset, data.len() as u64);
        let begun = self.disk.begin(&call);
        let Err(error) = begun else { return begun?.change(self.file, call, data) };
        let mut world = self.disk.live()?;
        if world.are_writes_cut_short {
            let half = &data[..data.len() / 2];
            world.change(self.file, Call { octets: half.len() as u64, ..call }, half)?;
        }
        Err(error)
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let world = self.disk.begin(&self.call(Kind::Read, offset, out.len() as u64))?;
        let offset = small(offset);
        let octets = &world.files[self.file].octets;
        out.copy_from_slice(octets.get(offset..offset + out.len()).ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn read_cached(&self, offset: u64, out: &mut [u8]) -> bool {
        let Ok(world) = self.disk.live() else { return false };
        let is_cached = world.cached_from.is_some_and(|from| offset >= from);
        let range = small(offset)..small(offset) + out.len();
        let Some(octets) = world.files[self.file].octets.get(range).filter(|_| is_cached) else { return false };
        out.copy_from_slice(octets);
        true
    }

    fn sync(&self) -> io::Result<()> {
        let call = self.call(Kind::Sync, 0, 0);
        let mut world = self.disk.live()?;
        world.calls.push(call.clone());
        if world.forgetful.as_ref().is_some_and(|prefix| self.name.starts_with(prefix)) {
            return Ok(());
        }
        let (covers, takes) = (world.log.len(), world.sync_takes);
        drop(world);
        let passed = self.disk.shared.rules.pass(&call);
        let mut operation = Operation { call, file: self.file, data: Vec::new(), outcome: Outcome::Synced(covers) };
        if let Err(error) = passed {
            // What was written since it was asked for is lost as well.
            operation.outcome = Outcome::SyncFailed;
            self.disk.world().log.push(operation);
            return Err(error);
        }
        if !takes.is_zero() {
            // A device takes its time: whatever the store does too early, it does now.
            std::thread::sleep(takes);
        }
        self.disk.live()?.log.push(operation);
        Ok(())
    }
}

pub(super) fn small(octets: u64) -> usize {
    usize::try_from(octets).expect("a small file")
}

/// Does to a part of a file what a call asks for.
pub(super) fn apply(file: &mut Vec<u8>, kind: Kind, range: Range<usize>, data: &[u8]) {
    let octets = if kind.is_length() { range.end } else { file.len().max(range.end) };
    file.truncate(octets);
    // `Vec::resize` writes octet by octet in a build without optimization.
    file.extend_from_slice(&vec![0; octets - file.len()]);
    match kind {
        Kind::Write => file[range].copy_from_slice(data),
        Kind::Allocate | Kind::Punch => file[range].fill(0),
        _ => {}
    }
}
