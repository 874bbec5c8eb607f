//! Power cuts by the thousand: the images of the test of that name, as many as are asked for.
//!
//! `cargo bench --bench crash -- [IMAGES]`: 1,000 if not said, 100 of each workload. It ends at the first image that breaks
//! a promise, with exit code 1, its seed and its files. `TEMPMAIL_CRASH_SEED=N` opens that one image.

#[path = "../../it/store/crash/images/mod.rs"]
mod images;
mod support;

use std::error::Error;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use images::{IMAGES, Images, SEED};

/// Images if not said.
const IMAGES_WANTED: u64 = 1_000;
const IMAGES_OF_EACH: u64 = 100;

fn main() -> ExitCode {
    match options().and_then(run) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("crash: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The first seed, and how many images from there on.
fn options() -> Result<(u64, u64), Box<dyn Error>> {
    if let Ok(seed) = std::env::var(SEED) {
        return Ok((seed.parse()?, 1));
    }
    // Cargo adds --bench by itself.
    let mut args = std::env::args().skip(1).filter(|arg| arg != "--bench");
    let images = args.next().map_or(Ok(IMAGES_WANTED), |images| images.parse());
    let images = images.map_err(|_| "usage: cargo bench --bench crash -- [IMAGES]")?;
    Ok((u64::from(rand::random::<u32>()) * IMAGES, images))
}

fn run((first, wanted): (u64, u64)) -> Result<(), Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let begun = Instant::now();
    let (mut done, mut damages) = (0, 0);
    while done < wanted {
        let seed = first + done / IMAGES_OF_EACH * IMAGES;
        let recorded = runtime.block_on(runtime.spawn(Images::record(seed)))?;
        let images = IMAGES_OF_EACH.min(wanted - done);
        println!("{images} images from {SEED}={seed} on: {}", recorded.summary());
        for number in seed..seed + images {
            let looked = runtime.block_on(async {
                recorded.examine(number).await?;
                recorded.damage(number).await
            });
            match looked {
                Ok(is_reported) => damages += u64::from(is_reported),
                Err(broken) => {
                    let kept = broken.keep(Path::new(env!("CARGO_TARGET_TMPDIR")))?;
                    return Err(format!("after {done} images: {broken}\nkept in {}", kept.display()).into());
                }
            }
            done += 1;
        }
    }
    println!(
        "{done} images kept every promise; of as many flipped bits {damages} were reported and the others were where nothing counts; {:.0} s",
        begun.elapsed().as_secs_f64()
    );
    Ok(())
}
