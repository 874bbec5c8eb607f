//! Images of a disk as power cuts leave them. The test and the benchmark open each with the real store.
//!
//! A number is a seed: its thousands are the workload, and the rest is the image. The workload's changes, the time of the
//! cut and the surviving sectors follow from it. The timing of the store's threads depends on the machine. Ids, salts
//! and keys are random. So a failed seed may need a few tries to fail again, and the test saves the image itself.

mod recording;
mod state;
mod workload;

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rand::RngExt;
use tempmail::model::Timestamp;
use tempmail::store::check::{FindingKind, check};
use tempmail::store::disk::Disk;
use tempmail::store::{EmbeddedStore, OpenError, OutboxLimits, Store, StoreError, StoreOptions};

use crate::support::mail::delivery;
use crate::support::test_disk::{Kind, TestDisk, rng};
use recording::Recording;
use state::{State, address};

/// How many images one workload has.
pub const IMAGES: u64 = 1000;
/// How long a sync takes while a workload is recorded, so that a test sees an acknowledgement that comes too early.
const SYNC_TAKES: Duration = Duration::from_micros(300);
/// The variable that holds the seed of the one image to look at.
pub const SEED: &str = "TEMPMAIL_CRASH_SEED";

/// Small segments and many checkpoints, so that a short workload has much of everything.
pub fn options() -> StoreOptions {
    StoreOptions {
        retention: Some(Duration::from_hours(24)),
        message_octets_max: 64 << 10,
        segment_octets: 200_000,
        outbox: OutboxLimits { events_per_webhook: 20, ..OutboxLimits::default() },
        emails_max: 1_000_000,
        emails_per_mailbox_max: 0,
    }
}

/// What is wrong with an image, and how to see it again.
#[derive(Debug)]
pub struct Broken {
    /// The image.
    pub seed: u64,
    /// How many operations the disk had seen.
    pub cut: usize,
    /// The first thing that is wrong.
    pub what: String,
    /// The files.
    pub files: BTreeMap<String, Vec<u8>>,
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{SEED}={} (cut at operation {}): {}", self.seed, self.cut, self.what)
    }
}

impl Broken {
    /// Saves the files in a directory below `dir`, where the binary can open them.
    pub fn save(&self, dir: &Path) -> std::io::Result<PathBuf> {
        let dir = dir.join(format!("crash-{}", self.seed));
        fs::create_dir_all(&dir)?;
        for (name, octets) in &self.files {
            fs::write(dir.join(name), octets)?;
        }
        Ok(dir)
    }
}

/// An empty disk to record a workload on.
pub fn disk() -> TestDisk {
    let disk = TestDisk::default();
    disk.slow_syncs(SYNC_TAKES);
    disk
}

/// A recorded workload, of which images are made.
pub struct Images {
    workload: u64,
    recording: Recording,
}

impl Images {
    /// Runs the workload of a seed on [`disk`]. Needs a runtime of several threads.
    pub async fn record(seed: u64, disk: TestDisk) -> Self {
        let workload = seed / IMAGES;
        Self { workload, recording: Recording::make(workload, disk).await }
    }

    /// What the workload was made of, in words.
    pub fn summary(&self) -> String {
        self.recording.summary()
    }

    /// Opens image `number` of the workload and compares it with what was promised.
    pub async fn examine(&self, number: u64) -> Result<(), Broken> {
        let seed = self.workload * IMAGES + number % IMAGES;
        let mut random = rng(seed);
        let cut = cut(&self.recording.disk, self.recording.disk.operations(), &mut random);
        let mut image = self.recording.disk.power_cut(cut, random.random());
        // As it is before anything opens it.
        let broken = |what, image: &TestDisk| Broken { seed, cut, what, files: image.power_cut(0, 0).files() };
        let mut shown = None;
        // Some images crash once more while they are being opened, or right after.
        if random.random_bool(0.5) {
            let (opened, state) =
                open_and_leave(&image, self.recording.times(cut)[0]).await.map_err(|what| broken(what, &image))?;
            let until = if random.random_bool(0.5) { opened } else { image.operations() };
            let second = self::cut(&image, until, &mut random);
            shown = (second >= opened).then_some(state);
            image = image.power_cut(second, random.random());
        }
        self.look(&image, cut, shown).await.map_err(|what| broken(what, &image))
    }

    async fn look(&self, image: &TestDisk, cut: usize, shown: Option<State>) -> Result<(), String> {
        let store = open(image)?;
        let [now, later] = self.recording.times(cut);
        let mut state = State::read(&store, now).await?;
        self.recording.compare(&state, &State::read(&store, later).await?, cut)?;
        if shown.is_some_and(|shown| !shown.certain().eq(state.certain())) {
            return Err("what was shown after the first opening is different after the second".into());
        }
        // The store still works: it receives one more message, and stops in order.
        let more = delivery(&[&address(0)], "one more", now);
        store.receive(more.clone()).await.map_err(|error| format!("it takes no mail: {error}"))?;
        state.expect_received(&more, &State::read(&store, now).await?)?;
        store.close().await.map_err(|error| error.to_string())?;
        drop(store);
        if let Some(name) = image.rewritten().into_iter().find(|name| name.starts_with("journal-")) {
            return Err(format!("{name}, of an earlier process, was written"));
        }
        let closed: Arc<dyn Disk> = Arc::new(image.clone());
        let report = check(&closed, &options(), now, &mut |_, _| ()).map_err(|error| error.to_string())?;
        // What nobody was promised may be torn, or be half of a hole.
        let is_unnamed = |kind| matches!(kind, FindingKind::Group | FindingKind::Record);
        if let Some(finding) = report.findings.iter().find(|finding| !is_unnamed(finding.kind)) {
            return Err(format!("the check of the closed store finds {finding:?}"));
        }
        let store = open(image)?;
        state.expect_same(&State::read(&store, now).await?)
    }

    /// Flips a bit in the durable part of the journal of image `number`, and opens it. The damage must be reported,
    /// unless the bit has no meaning. Returns whether it was reported.
    pub async fn damage(&self, number: u64) -> Result<bool, Broken> {
        let seed = self.workload * IMAGES + number % IMAGES;
        let mut random = rng(seed);
        let cut = cut(&self.recording.disk, self.recording.disk.operations(), &mut random);
        let mut files = self.recording.disk.power_cut(cut, random.random()).files();
        // The last write that was synced says in its header that everything before it had been.
        let mut known = self.recording.disk.last_synced_writes(cut);
        known.retain(|name, end| name.starts_with("journal-") && *end > 0 && files.contains_key(name));
        if known.is_empty() {
            return Ok(false);
        }
        let (name, end) = known.iter().nth(random.random_range(0..known.len())).expect("one of them");
        let octet = random.random_range(0..*end);
        // A file that is no longer needed may have been cut off.
        let Some(damaged) = files.get_mut(name).and_then(|file| file.get_mut(octet)) else { return Ok(false) };
        *damaged ^= 1 << random.random_range(0..8);
        let what = self.look_at_damage(&files, cut, (name, octet)).await;
        what.map_err(|what| Broken { seed, cut, what: format!("{name} damaged at {octet}: {what}"), files })
    }

    async fn look_at_damage(
        &self,
        files: &BTreeMap<String, Vec<u8>>,
        cut: usize,
        (name, octet): (&str, usize),
    ) -> Result<bool, String> {
        let image = TestDisk::with(files.clone());
        let is_reported =
            |segment: u64, offset: u64| format!("journal-{segment:016}") == name && offset <= octet as u64;
        let store = match EmbeddedStore::open_on(Arc::new(image.clone()), &options()) {
            Err(OpenError::Damaged { segment, offset, .. }) if is_reported(segment, offset) => {
                let is_touched = image
                    .files()
                    .iter()
                    .any(|(name, now)| name.starts_with("journal-") && files.get(name) != Some(now));
                return if is_touched { Err("it was reported and the journal changed".into()) } else { Ok(true) };
            }
            Err(OpenError::Format { file, .. }) if file == name && octet < 512 => return Ok(true),
            Err(error) => return Err(format!("reported as {error}")),
            Ok(store) => store,
        };
        let [now, later] = self.recording.times(cut);
        let (state, damages) = State::read_damaged(&store, now).await?;
        let (later, _) = State::read_damaged(&store, later).await?;
        for (key, error) in &damages {
            if !matches!(error, StoreError::Damaged { segment, offset } if is_reported(*segment, *offset)) {
                return Err(format!("{key}: {error}"));
            }
        }
        let unread: Vec<&String> = damages.iter().map(|(key, _)| key).collect();
        self.recording.compare_but(&state, &later, &unread, cut).map(|()| !damages.is_empty())
    }
}

fn open(image: &TestDisk) -> Result<EmbeddedStore, String> {
    EmbeddedStore::open_on(Arc::new(image.clone()), &options()).map_err(|error| error.to_string())
}

/// Opens an image. Returns after how many operations it was open, and its state.
async fn open_and_leave(image: &TestDisk, now: Timestamp) -> Result<(usize, State), String> {
    let store = open(image)?;
    let opened = image.operations();
    let state = State::read(&store, now).await?;
    Ok((opened, state))
}

/// Where to cut in the first `until` operations: right after a sync or right before one has returned, right after a file
/// was removed or octets were punched out, or anywhere.
fn cut(disk: &TestDisk, until: usize, random: &mut impl RngExt) -> usize {
    let (mut moments, before) = match random.random_range(0..5) {
        0 => (disk.syncs(), 0),
        1 => (disk.syncs(), 1),
        2 => (disk.moments(|call| call.kind == Kind::Remove), 0),
        3 => (disk.moments(|call| call.kind == Kind::Punch), 0),
        _ => (Vec::new(), 0),
    };
    moments.retain(|moment| *moment <= until);
    if moments.is_empty() {
        return random.random_range(0..=until);
    }
    moments[random.random_range(0..moments.len())] - before
}
