//! What reaches the disk and in which order, as strace shows it, and a disk that is full.

mod full;
mod order;
mod power_cut;
