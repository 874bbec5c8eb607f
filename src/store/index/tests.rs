//! The format of an index.

use std::path::Path;

use super::*;
use crate::store::check::check;
use crate::store::disk::Directory;
use crate::store::{EmbeddedStore, Store, salvage};

#[tokio::test]
async fn an_index_of_another_format_is_refused_and_no_file_is_written_to() {
    let dir = tempfile::tempdir().expect("directory");
    let config = crate::config::Config::of_revision(crate::config::Revision::Two, dir.path().into());
    let options = StoreOptions::from_config(&config);
    EmbeddedStore::open(dir.path(), &options).expect("create").close().await.expect("close");
    for (found, what_reads_it) in [
        (FORMAT - 1, "with the version that wrote it (`tempmail db backup`), and restore that with this"),
        (FORMAT + 1, "Use the version that wrote it, or a newer one"),
    ] {
        let disk: Arc<dyn Disk> = Arc::new(Directory::lock(dir.path()).expect("lock"));
        let file = disk.open(NAME).expect("index");
        let database = Database::builder().create_with_backend(Backend(file)).expect("open");
        let transaction = database.begin_write().expect("write");
        transaction.open_table(META).expect("meta").insert(META_FORMAT, &found.to_le_bytes()[..]).expect("insert");
        transaction.commit().expect("commit");
        drop((database, disk));
        let before = files(dir.path());
        let refused = EmbeddedStore::open(dir.path(), &options).expect_err("another format");
        assert_eq!(refused, OpenError::Format { file: NAME.into(), found, known: FORMAT });
        assert!(refused.to_string().contains(what_reads_it), "{refused}");
        let directory = Arc::new(Directory::lock(dir.path()).expect("lock"));
        let disk: Arc<dyn Disk> = directory.clone();
        assert_eq!(check(&disk, &options, &mut |_, _| {}).expect_err("another format"), refused);
        assert_eq!(salvage(directory, &options, &mut |_, _| {}).expect_err("another format"), refused);
        assert!(files(dir.path()) == before, "format {found}: something was written to");
    }
}

/// The names and the octets of the files in a directory.
fn files(dir: &Path) -> BTreeMap<std::ffi::OsString, Vec<u8>> {
    let entries = std::fs::read_dir(dir).expect("directory").map(|entry| entry.expect("entry"));
    let of_store = entries.filter(|entry| entry.file_name() != "lock");
    of_store.map(|entry| (entry.file_name(), std::fs::read(entry.path()).expect("octets"))).collect()
}
