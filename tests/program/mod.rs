//! Tests of the binary as a process: no type of the library is named here.

mod abuse;
mod cli;
mod service;
