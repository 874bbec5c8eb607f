//! The binary: parse, run, exit code.

use std::process::ExitCode;

use tempmail::cli::{Surroundings, run};

fn main() -> ExitCode {
    run(std::env::args_os(), Surroundings::of_process()).into()
}
