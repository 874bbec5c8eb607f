//! What reaches the disk and in which order, as strace shows it.

mod order;
mod power_cut;
