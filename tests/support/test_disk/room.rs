//! The room on the disk, in blocks, as a file system has it: a block is taken when something is written to it.

use std::io;
use std::ops::Range;

use super::{FileId, TestDisk, World};

const BLOCK_OCTETS: u64 = 4096;

impl TestDisk {
    /// From now on there is room for so many more octets, however much is in use: with 0, other programs have filled the
    /// disk.
    pub fn room(&self, octets: u64) {
        let mut world = self.world();
        world.room = Some(world.used_blocks() + blocks(octets));
    }

    /// Another program frees so many octets.
    pub fn more_room(&self, octets: u64) {
        let mut world = self.world();
        world.room = world.room.map(|room| room + blocks(octets));
    }

    /// Hides how much room is left, as with a quota of the user on a file system with room.
    pub fn hide_room(&self) {
        self.world().is_room_hidden = true;
    }

    /// The octets for which there is room.
    pub fn room_left(&self) -> u64 {
        self.world().room_left()
    }
}

fn blocks(octets: u64) -> usize {
    usize::try_from(octets / BLOCK_OCTETS).expect("small")
}

impl World {
    fn used_blocks(&self) -> usize {
        self.names.values().map(|file| self.files[*file].used_blocks).sum()
    }

    fn room_left(&self) -> u64 {
        let left = |room: usize| room.saturating_sub(self.used_blocks()) as u64 * BLOCK_OCTETS;
        self.room.map_or(u64::MAX, left)
    }

    pub(super) fn shown_room(&self) -> u64 {
        if self.is_room_hidden { u64::MAX } else { self.room_left() }
    }

    /// Takes the blocks of a range that the file has not yet.
    pub(super) fn take(&mut self, file: FileId, offset: u64, octets: u64) -> io::Result<()> {
        let wanted = blocks(offset)..blocks(offset + octets + BLOCK_OCTETS - 1);
        let left = self.room_left() / BLOCK_OCTETS;
        let file = &mut self.files[file];
        let has_all = wanted.end.max(file.blocks.len());
        file.blocks.resize(has_all, false);
        let new = file.blocks[wanted.clone()].iter().filter(|is_taken| !**is_taken).count();
        if new as u64 > left {
            return Err(io::ErrorKind::StorageFull.into());
        }
        file.blocks[wanted].fill(true);
        file.used_blocks += new;
        Ok(())
    }

    /// Frees the blocks that are wholly within a range.
    pub(super) fn give_back(&mut self, file: FileId, octets: Range<u64>) {
        let file = &mut self.files[file];
        let end = blocks(octets.end).min(file.blocks.len());
        let start = blocks(octets.start.next_multiple_of(BLOCK_OCTETS)).min(end);
        file.used_blocks -= file.blocks[start..end].iter().filter(|is_taken| **is_taken).count();
        file.blocks[start..end].fill(false);
    }
}
