//! The hints of sealed segments. A hint may be missing at any time, and its segment is then scanned.

use std::sync::atomic::Ordering;

use super::EmbeddedRegistry;
use super::row::{Row, Table};
use crate::store::StoreError;
use crate::store::journal::Hints;

impl Hints for EmbeddedRegistry {
    fn get(&self, segment: u32) -> Option<Vec<u8>> {
        let hint = self.lock().file.get(Table::Segments, &segment.to_be_bytes());
        self.hint(hint.map_err(|error| error.to_store_error())).flatten()
    }

    fn put(&self, segment: u32, hint: Vec<u8>) {
        let row = Row::new(Table::Segments, &segment.to_be_bytes(), hint);
        let written = self.lock().file.write(&[row]);
        self.hint(written);
    }

    fn remove(&self, segments: &[u32]) -> bool {
        let rows: Vec<Row> =
            segments.iter().map(|segment| Row::remove(Table::Segments, &segment.to_be_bytes())).collect();
        let removed = self.writer().and_then(|mut writer| writer.file.write(&rows));
        self.hint(removed).is_some()
    }

    fn numbers(&self) -> Vec<u32> {
        let mut numbers = Vec::new();
        let found = self.lock().file.all(Table::Segments, &mut |key, _| {
            numbers.push(u32::from_be_bytes(key.try_into().map_err(|_| "a row of segments has a wrong key")?));
            Ok(())
        });
        self.hint(found.map_err(|error| error.to_store_error())).map_or_else(Vec::new, |()| numbers)
    }
}

impl EmbeddedRegistry {
    /// Logs the first failure.
    fn hint<T>(&self, result: Result<T, StoreError>) -> Option<T> {
        result
            .inspect_err(|error| {
                if !self.has_warned_of_hints.swap(true, Ordering::Relaxed) {
                    tracing::warn!(%error, "the index of a sealed segment is lost; a start without it reads its segment");
                }
            })
            .ok()
    }
}
