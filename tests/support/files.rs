//! The files of the package.

use std::path::{Path, PathBuf};

/// A path from the root of the package.
pub(crate) fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// Makes a directory of another user: root can make one, and for others the root directory is one.
pub(crate) fn of_another_user(path: PathBuf) -> PathBuf {
    if rustix::process::geteuid().is_root() {
        std::fs::create_dir(&path).expect("a directory");
        std::os::unix::fs::chown(&path, Some(12_345), None).expect("chown");
    } else {
        std::os::unix::fs::symlink("/", &path).expect("a link");
    }
    path
}

/// The text of a file, by its path from the root of the package.
pub(crate) fn file(name: &str) -> String {
    std::fs::read_to_string(path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}
