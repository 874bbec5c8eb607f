//! What runs a node: a Java virtual machine and Cassandra's jars.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

/// The version of Java that the server is made for. It does not start with those of later years.
const JAVA: &str = "17";
const DIRECTORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/target/cassandra");

/// Where they are.
pub(super) struct Installed {
    /// The program `java`.
    pub(super) java: PathBuf,
    /// The directory of the jars.
    pub(super) jars: PathBuf,
}

/// Looks for both, and fails if one is missing.
pub(super) fn find() -> Installed {
    let directory = Path::new(DIRECTORY);
    assert!(directory.join("installed").is_file(), "this test needs tests/cassandra/install.sh");
    let home = homes().into_iter().find(|home| is_right(home)).expect("Java 17, which this test needs");
    Installed { java: home.join("bin/java"), jars: directory.join("lib") }
}

/// Directories that may be of a Java virtual machine.
fn homes() -> Vec<PathBuf> {
    let mut homes: Vec<PathBuf> = env::var_os("JAVA_HOME").map(PathBuf::from).into_iter().collect();
    let path = env::var_os("PATH").unwrap_or_default();
    let java = env::split_paths(&path).map(|dir| dir.join("java")).find_map(|java| fs::canonicalize(java).ok());
    homes.extend(java.and_then(|java| Some(java.parent()?.parent()?.to_owned())));
    homes.extend(fs::read_dir("/usr/lib/jvm").into_iter().flatten().flatten().map(|entry| entry.path()));
    homes
}

fn is_right(home: &Path) -> bool {
    let release = fs::read_to_string(home.join("release")).unwrap_or_default();
    let version = release.lines().find_map(|line| line.strip_prefix("JAVA_VERSION=")).unwrap_or_default();
    version.trim_matches('"').split('.').next() == Some(JAVA) && home.join("bin/java").is_file()
}
