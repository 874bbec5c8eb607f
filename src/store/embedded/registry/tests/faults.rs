//! A disk that fails at each of its calls in turn, and that forgets what a failed sync did not write.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use super::*;
use crate::store::disk::DiskFile;

/// When calls fail, and what a power cut would leave.
#[derive(Debug, Default)]
struct Faults {
    calls: AtomicUsize,
    /// Calls with these numbers fail.
    first: AtomicUsize,
    end: AtomicUsize,
    is_full: AtomicBool,
    image: Mutex<Image>,
}

#[derive(Debug, Default)]
struct Image {
    /// What is on the medium.
    durable: Vec<u8>,
    unsynced: Vec<(usize, Vec<u8>)>,
}

impl Faults {
    fn call(&self) -> io::Result<()> {
        let number = self.calls.fetch_add(1, Ordering::SeqCst);
        if (self.first.load(Ordering::SeqCst)..self.end.load(Ordering::SeqCst)).contains(&number) {
            let is_full = self.is_full.load(Ordering::SeqCst);
            return Err(if is_full { io::ErrorKind::StorageFull.into() } else { io::Error::other("broken") });
        }
        Ok(())
    }

    fn image(&self) -> MutexGuard<'_, Image> {
        self.image.lock().expect("image")
    }

    fn after_power_cut(&self) -> Contents {
        let dir = tempfile::tempdir().expect("directory");
        std::fs::write(stored(dir.path()).join(NAME), &self.image().durable).expect("write");
        contents(&EmbeddedRegistry::open_untouched(&disk(dir.path())).expect("open").expect("there"))
    }
}

#[derive(Debug)]
struct Faulty(Arc<dyn Disk>, Arc<Faults>);

#[derive(Debug)]
struct FaultyFile(Arc<dyn DiskFile>, Arc<Faults>);

impl Disk for Faulty {
    fn list(&self) -> io::Result<Vec<String>> {
        self.0.list()
    }
    fn create(&self, name: &str) -> io::Result<Arc<dyn DiskFile>> {
        self.1.call()?;
        Ok(Arc::new(FaultyFile(self.0.create(name)?, Arc::clone(&self.1))))
    }
    fn open(&self, name: &str) -> io::Result<Arc<dyn DiskFile>> {
        self.1.call()?;
        Ok(Arc::new(FaultyFile(self.0.open(name)?, Arc::clone(&self.1))))
    }
    fn remove(&self, name: &str) -> io::Result<()> {
        self.0.remove(name)
    }
    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.1.call()?;
        self.0.rename(from, to)
    }
    fn sync_dir(&self) -> io::Result<()> {
        self.1.call()?;
        self.0.sync_dir()
    }
    fn free_octets(&self) -> io::Result<u64> {
        self.0.free_octets()
    }
}

impl DiskFile for FaultyFile {
    fn size(&self) -> io::Result<u64> {
        self.0.size()
    }
    fn set_len(&self, octets: u64) -> io::Result<()> {
        self.1.call()?;
        self.1.image().durable.resize(usize::try_from(octets).expect("size"), 0);
        self.0.set_len(octets)
    }
    fn grow(&self, octets: u64) -> io::Result<()> {
        self.1.call()?;
        self.1.image().durable.resize(usize::try_from(octets).expect("size"), 0);
        self.0.grow(octets)
    }
    fn allocate(&self, octets: u64) -> io::Result<()> {
        self.0.allocate(octets)
    }
    fn write_at(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.1.call()?;
        self.1.image().unsynced.push((usize::try_from(offset).expect("offset"), data.to_vec()));
        self.0.write_at(offset, data)
    }
    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.0.read_at(offset, out)
    }
    fn sync(&self) -> io::Result<()> {
        let image = &mut *self.1.image();
        // After a failure the system holds the pages for written.
        let unsynced = std::mem::take(&mut image.unsynced);
        self.1.call()?;
        for (offset, data) in unsynced {
            let there = image.durable.len().min(offset + data.len());
            if offset < there {
                image.durable[offset..there].copy_from_slice(&data[..there - offset]);
            }
        }
        Ok(())
    }
    fn punch(&self, offset: u64, octets: u64) -> io::Result<()> {
        self.0.punch(offset, octets)
    }
}

/// The first call that fails where none does.
const NEVER: usize = usize::MAX / 2;

/// One of each change. Each tells whether it was acknowledged, and what the contents must then be.
fn changes(registry: &EmbeddedRegistry, faults: &Faults, what: &str) {
    let steps: [&dyn Fn() -> Result<(), StoreError>; 11] = [
        &|| registry.register_domain(domain("a.example"), 9).map(drop),
        &|| registry.register_webhook(webhook(1, "x@a.example"), WebhookLimits::UNBOUNDED).map(drop),
        &|| registry.register_webhook(webhook(2, "x@a.example"), WebhookLimits::UNBOUNDED).map(drop),
        &|| registry.update_domain(&domain("a.example"), DomainRecord { owner: None, ..domain("a.example") }).map(drop),
        &|| registry.record(&[attempt(1, 1, 50), disabling(2)], &[true, true]).and_then(|_| registry.flush()),
        &|| registry.activate(id(2)).map(drop),
        &|| {
            Hints::put(registry, 1, vec![1; 9000]);
            registry.record_mail(&mailbox("x@a.example"), at(70));
            registry.flush()
        },
        &|| registry.delete_webhooks(&|webhook| webhook.id == id(1)).map(drop),
        &|| registry.remove_domain(&domain("a.example").name).map(drop),
        &|| registry.replace_tokens(&registry.tokens(), &[token("a"), token("b")]).map(drop),
        &|| registry.replace_tokens(&registry.tokens(), &[token("b")]).map(drop),
    ];
    // What is known of receivers changes in memory first.
    let mut is_flushed = true;
    for (number, step) in steps.into_iter().enumerate() {
        let (before, result) = (contents(registry), step());
        if [4, 6].contains(&number) {
            is_flushed = result.is_ok();
        } else if result.is_err() {
            assert_eq!(contents(registry), before, "{what}, step {number}");
        }
        // Before the first failure a step is as in the run without one.
        let first = faults.first.load(Ordering::SeqCst);
        if result.is_ok() && (first == NEVER || faults.calls.load(Ordering::SeqCst) > first) {
            let (kept, known) = (faults.after_power_cut(), contents(registry));
            if is_flushed {
                assert_eq!(kept, known, "{what}, step {number}");
            }
            let without_health = |(domains, webhooks, tokens): Contents| {
                (domains, webhooks.into_iter().map(|webhook| webhook.id).collect::<Vec<_>>(), tokens)
            };
            assert_eq!(without_health(kept), without_health(known), "{what}, step {number}");
        }
    }
}

/// Runs all changes on a disk that fails at call `first` and `count - 1` further ones. Returns how many calls there were.
fn run(first: usize, count: usize, is_full: bool) -> usize {
    let what = format!("call {first} and {} further ones failed, full: {is_full}", count - 1);
    let dir = tempfile::tempdir().expect("directory");
    let faults = Arc::new(Faults::default());
    let disk: Arc<dyn Disk> = Arc::new(Faulty(disk(dir.path()), Arc::clone(&faults)));
    faults.is_full.store(is_full, Ordering::SeqCst);
    faults.first.store(first, Ordering::SeqCst);
    faults.end.store(first + count, Ordering::SeqCst);
    let registry = EmbeddedRegistry::open(&disk, SECRET).or_else(|_| {
        faults.end.store(0, Ordering::SeqCst);
        faults.image().unsynced.clear();
        EmbeddedRegistry::open(&disk, SECRET)
    });
    let registry = registry.unwrap_or_else(|error| panic!("{what}: {error}"));
    changes(&registry, &faults, &what);
    let calls = faults.calls.load(Ordering::SeqCst);
    faults.end.store(0, Ordering::SeqCst);
    registry.flush().unwrap_or_else(|error| panic!("{what}: {error}"));
    let expected = contents(&registry);
    assert_eq!(faults.after_power_cut(), expected, "{what}: after a power cut");
    drop((registry, disk));
    assert_eq!(contents(&open(dir.path())), expected, "{what}: opened again");
    calls
}

#[test]
fn nothing_acknowledged_is_lost_whichever_call_fails() {
    run(NEVER, 1, false);
    thread::scope(|scope| {
        for (count, is_full) in [(1, false), (3, true), (40, false)] {
            scope.spawn(move || {
                let mut first = 0;
                while run(first, count, is_full) > first {
                    first += 1;
                }
                assert!(first > 50, "only {first} calls");
            });
        }
    });
}
