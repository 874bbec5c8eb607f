//! The example in Rust that verifies a delivery, as the webhooks guide shows it.

#[path = "../../examples/verify.rs"]
mod verify;

pub use verify::verify;
