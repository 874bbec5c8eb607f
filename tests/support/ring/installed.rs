//! What runs a node: a Java virtual machine and Cassandra's jars.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use crate::support::programs;

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

/// Looks for both. If one is missing, this prints what is skipped, or fails with `CI=true`.
pub(super) fn find(test: &str) -> Option<Installed> {
    let directory = Path::new(DIRECTORY);
    if !directory.join("installed").is_file() {
        programs::skip(test, "tests/cassandra/install.sh");
        return None;
    }
    let Some(home) = homes().into_iter().find(|home| is_right(home)) else {
        programs::skip(test, "Java 17");
        return None;
    };
    Some(Installed { java: home.join("bin/java"), jars: directory.join("lib") })
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
