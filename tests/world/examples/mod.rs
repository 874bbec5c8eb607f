//! The examples of the guides, run by the programs that they are written for.

mod commands;
mod containers;
mod sign_up;
mod testcontainers;
mod verify;
