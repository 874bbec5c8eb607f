//! The files of the package.

use std::path::{Path, PathBuf};
use std::sync::Once;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Where Linux has files in memory, and the room that the largest of these tests need together. A container has 64 MB.
pub(crate) const MEMORY: &str = "/dev/shm";
const ROOM_MIN: u64 = 2 << 30;

/// A path from the root of the package.
pub(crate) fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// Has temporary directories in memory from here on, unless the caller named a place: a sync of a disk takes longer than most
/// tests. Programs of others, which the world has, may not see that place. Tests at once have more connections than the
/// 1,024 files that a process may open by default, so it may open as many as the system permits.
pub(crate) fn prepare() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
        let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
        let has_room = rustix::fs::statvfs(MEMORY).is_ok_and(|it| it.f_bavail * it.f_frsize >= ROOM_MIN);
        if has_room && env!("CARGO_CRATE_NAME") != "world" && std::env::var_os("TMPDIR").is_none() {
            let _ = tempfile::env::override_temp_dir(Path::new(MEMORY));
        }
    });
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

/// README and every guide, by their paths from the root of the package.
pub(crate) fn pages() -> Vec<(String, String)> {
    let entries = std::fs::read_dir(path("man/guide")).expect("the guides");
    let name = |entry: std::io::Result<std::fs::DirEntry>| entry.expect("an entry").file_name().into_string();
    let guides = entries.map(|entry| format!("man/guide/{}", name(entry).expect("UTF-8")));
    let guides = guides.filter(|name| Path::new(name).extension().is_some_and(|extension| extension == "md"));
    guides.chain(["README.md".to_owned()]).map(|name| (name.clone(), file(&name))).collect()
}

/// The code blocks of a page in this language.
pub(crate) fn blocks<'p>(page: &'p str, language: &str) -> Vec<&'p str> {
    let start = format!("\n```{language}\n");
    page.split(&start).skip(1).filter_map(|rest| rest.split_once("\n```")).map(|(block, _)| block).collect()
}
