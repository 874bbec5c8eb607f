//! Power cuts: the real store opens images of the disk from every kind of moment of a workload.
//! Promise: it outlives the code below it.

pub mod images;

use std::path::Path;

use images::{Broken, IMAGES, Images, SEED};

/// Every run has other workloads and images. The benchmark `crash` opens thousands.
const WORKLOADS: u64 = 3;
const IMAGES_OF_EACH: u64 = 50;

/// Saves the files of an image, and returns what is wrong with it.
fn report(broken: &Broken) -> String {
    let saved_in = broken.save(Path::new(env!("CARGO_TARGET_TMPDIR")));
    format!("{broken}\nsaved in {saved_in:?}")
}

async fn examine(seed: u64, images: u64) {
    println!("{images} images from {SEED}={seed} on");
    let recorded = Images::record(seed, images::disk()).await;
    println!("the workload of {seed}: {}", recorded.summary());
    for number in 0..images {
        if let Err(broken) = recorded.examine(seed + number).await {
            panic!("after {number} images: {}", report(&broken));
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_power_cut_loses_nothing_acknowledged_and_brings_nothing_back() {
    if let Ok(seed) = std::env::var(SEED) {
        return examine(seed.parse().expect(SEED), 1).await;
    }
    let mut running = tokio::task::JoinSet::new();
    for _ in 0..WORKLOADS {
        let seed = u64::from(rand::random::<u32>()) * IMAGES;
        running.spawn(examine(seed, IMAGES_OF_EACH));
    }
    running.join_all().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_check_finds_a_journal_that_is_never_synced() {
    let disk = images::disk();
    disk.forget_syncs_of("journal-");
    let recorded = Images::record(0, disk).await;
    for number in 0..IMAGES_OF_EACH {
        if recorded.examine(number).await.is_err() {
            return;
        }
    }
    panic!("no image showed that the journal was never synced");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bit_rot_in_the_journal_is_reported_and_never_cut_off() {
    let recorded = Images::record(u64::from(rand::random::<u32>()) * IMAGES, images::disk()).await;
    let mut reported = 0;
    for number in 0..IMAGES_OF_EACH {
        match recorded.damage(number).await {
            Ok(is_reported) => reported += u64::from(is_reported),
            Err(broken) => panic!("{}", report(&broken)),
        }
    }
    assert!(reported > IMAGES_OF_EACH / 10, "only {reported} damages were reported");
}
