//! Tables of the numbers of rows, by hashes of what is in the rows.

use hashbrown::HashTable;

/// The parts of a table of numbers, so that none of them grows for long while others wait.
const PARTS: usize = 256;

/// A table of numbers.
#[derive(Debug)]
pub(super) struct Numbers(Box<[HashTable<u32>]>);

impl Default for Numbers {
    fn default() -> Self {
        Self((0..PARTS).map(|_| HashTable::new()).collect())
    }
}

impl Numbers {
    /// The first number at a hash that `is_it` accepts.
    pub(super) fn find(&self, hash: u64, is_it: impl Fn(u32) -> bool) -> Option<u32> {
        self.0[part(hash)].find(hash, |number| is_it(*number)).copied()
    }

    /// The numbers at a hash, and maybe others.
    pub(super) fn all(&self, hash: u64) -> impl Iterator<Item = u32> {
        self.0[part(hash)].iter_hash(hash).copied()
    }

    pub(super) fn insert(&mut self, hash: u64, number: u32, hash_of: impl Fn(u32) -> u64) {
        self.0[part(hash)].insert_unique(hash, number, |number| hash_of(*number));
    }

    pub(super) fn remove(&mut self, hash: u64, number: u32) {
        if let Ok(found) = self.0[part(hash)].find_entry(hash, |known| *known == number) {
            found.remove();
        }
    }
}

/// A table uses the lowest and the highest bits of a hash itself.
fn part(hash: u64) -> usize {
    usize::from(hash.to_le_bytes()[4])
}
