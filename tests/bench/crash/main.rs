//! Power cuts by the thousand: as many images as requested, of the same kind as in the test `store::crash`.
//!
//! `cargo bench --bench crash -- [IMAGES]`: 1,000 if not said, 100 of each workload. It ends at the first image that breaks
//! a promise, with exit code 1, its seed and its files. `TEMPMAIL_CRASH_SEED=N` opens that one image.
//!
//! `cargo bench --bench crash -- start [GIGABYTES]`: how soon the binary takes mail again after a kill, with a store of 2 GB
//! if not said.

#[path = "../../it/store/crash/images/mod.rs"]
mod images;
mod start;
mod support;

use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use images::{IMAGES, Images, SEED};

/// Images if not said.
const IMAGES_WANTED: u64 = 1_000;
const IMAGES_OF_EACH: u64 = 100;
const GIGABYTES: usize = 2;
const USAGE: &str = "usage: cargo bench --bench crash -- [IMAGES | start [GIGABYTES]]";

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> ExitCode {
    // Cargo adds --bench by itself.
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    match run(&args.iter().map(String::as_str).collect::<Vec<_>>()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("crash: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &[&str]) -> Result<()> {
    if let Ok(seed) = std::env::var(SEED) {
        return examine(seed.parse()?, 1);
    }
    let first = u64::from(rand::random::<u32>()) * IMAGES;
    match args {
        [] => examine(first, IMAGES_WANTED),
        ["start"] => start::run(GIGABYTES),
        ["start", gigabytes] => start::run(gigabytes.parse().map_err(|_| USAGE)?),
        [images] => examine(first, images.parse().map_err(|_| USAGE)?),
        _ => Err(USAGE.into()),
    }
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
