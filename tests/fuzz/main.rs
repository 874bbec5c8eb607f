//! Fuzzing without a special compiler: seeds, mutations of them, and inputs made from a grammar.
//!
//! Each target runs every seed in `corpus/TARGET` first, then as many made-up inputs as `TEMPMAIL_FUZZ_CASES` says, or a
//! number that takes seconds. A failure prints the smallest input that it was found with, escaped; written to a file in
//! the target's corpus it is run first from then on.
//!
//! ```sh
//! PROPTEST_RNG_ALGORITHM=cc TEMPMAIL_FUZZ_CASES=1000000 cargo test --release --locked --test fuzz
//! ```

mod address;
mod command;
mod corpus;
mod framing;
mod input;
mod play;
mod proxy;
mod session;
mod transparency;
