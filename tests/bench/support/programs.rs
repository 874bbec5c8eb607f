//! Programs of others that benchmarks start.

use std::env;
use std::path::PathBuf;

/// Where a program is. Debian puts Postfix's into a directory that only root's PATH has.
pub(crate) fn find(program: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let usual = ["/usr/sbin", "/usr/local/sbin"].map(PathBuf::from);
    env::split_paths(&path).chain(usual).map(|dir| dir.join(program)).find(|file| file.is_file())
}
