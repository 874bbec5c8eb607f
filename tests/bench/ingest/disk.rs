//! The disk by itself.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::time::Instant;

use crate::support::{Result, figures};

const APPENDS: usize = 200;

/// How many microseconds an fdatasync takes after 4 KB are appended to a file in `dir`, in the median.
pub(crate) fn sync_micros(dir: &Path) -> Result<f64> {
    let path = dir.join("sync-probe");
    let mut file = File::create(&path)?;
    let mut micros = Vec::with_capacity(APPENDS);
    for _ in 0..APPENDS {
        file.write_all(&[b'x'; 4 << 10])?;
        let begun = Instant::now();
        file.sync_data()?;
        micros.push(begun.elapsed().as_secs_f64() * 1_000_000.0);
    }
    fs::remove_file(path)?;
    Ok(figures::median(&mut micros))
}
