//! What the shells are told that they may complete.

mod answers;
mod silence;
