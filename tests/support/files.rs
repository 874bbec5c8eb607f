//! The files of the package.

use std::path::{Path, PathBuf};

/// A path from the root of the package.
pub(crate) fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// The text of a file, by its path from the root of the package.
pub(crate) fn file(name: &str) -> String {
    std::fs::read_to_string(path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}
