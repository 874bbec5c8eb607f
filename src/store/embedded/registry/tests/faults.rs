//! A disk that fails at each of its calls in turn, and that forgets what a failed sync did not write.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use super::*;
use crate::store::disk::DiskFile;

/// A disk in memory with one file: when its calls fail, and what a power cut would leave.
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
    name: Option<String>,
    /// What a process reads.
    cached: Vec<u8>,
    /// What is on the medium.
    durable: Vec<u8>,
    unsynced: Vec<(usize, Vec<u8>)>,
}

#[derive(Clone, Debug)]
struct Faulty(Arc<Faults>);

fn index(octets: u64) -> usize {
    usize::try_from(octets).expect("a place in memory")
}

impl Faulty {
    /// Returns what the file has, unless this call is to fail.
    fn call(&self) -> io::Result<MutexGuard<'_, Image>> {
        let faults = &self.0;
        let number = faults.calls.fetch_add(1, Ordering::SeqCst);
        if (faults.first.load(Ordering::SeqCst)..faults.end.load(Ordering::SeqCst)).contains(&number) {
            let is_full = faults.is_full.load(Ordering::SeqCst);
            return Err(if is_full { io::ErrorKind::StorageFull.into() } else { io::Error::other("broken") });
        }
        Ok(self.image())
    }

    fn image(&self) -> MutexGuard<'_, Image> {
        self.0.image.lock().expect("image")
    }

    fn after_power_cut(&self) -> Contents {
        let octets = self.image().durable.clone();
        let image = Image { name: Some(NAME.into()), cached: octets, ..Image::default() };
        let disk: Arc<dyn Disk> = Arc::new(Self(Arc::new(Faults { image: image.into(), ..Faults::default() })));
        contents(&EmbeddedRegistry::open_untouched(&disk).expect("open").expect("there"))
    }
}

impl Disk for Faulty {
    fn list(&self) -> io::Result<Vec<String>> {
        Ok(self.image().name.clone().into_iter().collect())
    }
    fn create(&self, name: &str) -> io::Result<Arc<dyn DiskFile>> {
        *self.call()? = Image { name: Some(name.into()), ..Image::default() };
        Ok(Arc::new(self.clone()))
    }
    fn open(&self, _: &str) -> io::Result<Arc<dyn DiskFile>> {
        self.call().map(drop)?;
        Ok(Arc::new(self.clone()))
    }
    fn remove(&self, _: &str) -> io::Result<()> {
        *self.image() = Image::default();
        Ok(())
    }
    fn rename(&self, _: &str, to: &str) -> io::Result<()> {
        self.call()?.name = Some(to.into());
        Ok(())
    }
    fn sync_dir(&self) -> io::Result<()> {
        self.call().map(drop)
    }
    fn free_octets(&self) -> io::Result<u64> {
        Ok(u64::MAX)
    }
}

impl DiskFile for Faulty {
    fn size(&self) -> io::Result<u64> {
        Ok(self.image().cached.len() as u64)
    }
    fn set_len(&self, octets: u64) -> io::Result<()> {
        let mut image = self.call()?;
        image.cached.resize(index(octets), 0);
        image.durable.resize(index(octets), 0);
        Ok(())
    }
    fn grow(&self, octets: u64) -> io::Result<()> {
        self.set_len(octets)
    }
    fn allocate(&self, _: u64) -> io::Result<()> {
        Ok(())
    }
    fn write_at(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let mut image = self.call()?;
        let (start, end) = (index(offset), index(offset) + data.len());
        image.cached[start..end].copy_from_slice(data);
        image.unsynced.push((start, data.to_vec()));
        Ok(())
    }
    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let image = self.image();
        let there = image.cached.get(index(offset)..index(offset) + out.len());
        out.copy_from_slice(there.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }
    fn sync(&self) -> io::Result<()> {
        // After a failure the system holds the pages for written.
        let unsynced = std::mem::take(&mut self.image().unsynced);
        let mut image = self.call()?;
        for (offset, data) in unsynced {
            let there = image.durable.len().min(offset + data.len());
            if offset < there {
                image.durable[offset..there].copy_from_slice(&data[..there - offset]);
            }
        }
        Ok(())
    }
    fn punch(&self, _: u64, _: u64) -> io::Result<()> {
        unreachable!("the registry gives back no part of its file")
    }
}

/// The first call that fails where none does.
const NEVER: usize = usize::MAX / 2;

/// One of each change. Each tells whether it was acknowledged, and what the contents must then be.
fn changes(registry: &EmbeddedRegistry, disk: &Faulty, what: &str) {
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
        let first = disk.0.first.load(Ordering::SeqCst);
        if result.is_ok() && (first == NEVER || disk.0.calls.load(Ordering::SeqCst) > first) {
            let (kept, known) = (disk.after_power_cut(), contents(registry));
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
    let handle = Faulty(Arc::default());
    let (faults, disk) = (&handle.0, Arc::new(handle.clone()) as Arc<dyn Disk>);
    faults.is_full.store(is_full, Ordering::SeqCst);
    faults.first.store(first, Ordering::SeqCst);
    faults.end.store(first + count, Ordering::SeqCst);
    let registry = EmbeddedRegistry::open(&disk, SECRET).or_else(|_| {
        faults.end.store(0, Ordering::SeqCst);
        handle.image().unsynced.clear();
        EmbeddedRegistry::open(&disk, SECRET)
    });
    let registry = registry.unwrap_or_else(|error| panic!("{what}: {error}"));
    changes(&registry, &handle, &what);
    let calls = faults.calls.load(Ordering::SeqCst);
    faults.end.store(0, Ordering::SeqCst);
    registry.flush().unwrap_or_else(|error| panic!("{what}: {error}"));
    let expected = contents(&registry);
    assert_eq!(handle.after_power_cut(), expected, "{what}: after a power cut");
    drop(registry);
    let opened = EmbeddedRegistry::open(&disk, SECRET).expect("open");
    assert_eq!(contents(&opened), expected, "{what}: opened again");
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
