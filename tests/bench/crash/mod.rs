//! Power cuts by the thousand, as many as requested, of the same kind as in the test `store::crash`; and how soon mail is
//! taken again after a kill.
//!
//! It ends at the first image that breaks a promise, with exit code 1, its seed and its files. `TEMPMAIL_CRASH_SEED=N` opens
//! that one image.

#[path = "../../it/store/crash/images/mod.rs"]
mod images;
mod start;

use std::path::Path;
use std::time::Instant;

use crate::support::Result;
use images::{IMAGES, Images, SEED};

pub(crate) use start::run as start;

const IMAGES_OF_EACH: u64 = 100;

/// Opens so many images, 100 of each workload.
pub(crate) fn run(images: u64) -> Result<()> {
    if let Ok(seed) = std::env::var(SEED) {
        return examine(seed.parse()?, 1);
    }
    examine(u64::from(rand::random::<u32>()) * IMAGES, images)
}

/// Opens so many images, those of the first workload from seed `first` on.
fn examine(first: u64, wanted: u64) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let begun = Instant::now();
    let (mut done, mut damages) = (0, 0);
    while done < wanted {
        let seed = first + done / IMAGES_OF_EACH * IMAGES;
        let images = IMAGES_OF_EACH.min(wanted - done);
        println!("{images} images from {SEED}={seed} on");
        let recorded = runtime.block_on(runtime.spawn(Images::record(seed, images::disk())))?;
        println!("the workload of {seed}: {}", recorded.summary());
        for number in seed..seed + images {
            let looked = runtime.block_on(async {
                recorded.examine(number).await?;
                recorded.damage(number).await
            });
            match looked {
                Ok(is_reported) => damages += u64::from(is_reported),
                Err(broken) => {
                    let saved_in = broken.save(Path::new(env!("CARGO_TARGET_TMPDIR")))?;
                    return Err(format!("after {done} images: {broken}\nsaved in {}", saved_in.display()).into());
                }
            }
            done += 1;
        }
    }
    let seconds = begun.elapsed().as_secs();
    println!("{done} images kept every promise, {damages} of {done} flipped bits were reported, {seconds} s");
    Ok(())
}
