//! How soon a request that waits gets its mail, and what requests that wait cost.

mod latency;
mod memory;
pub(crate) mod waiter;

pub(crate) use latency::run as latency;
pub(crate) use memory::run as memory;

/// Prints a figure.
fn figure(name: &str, value: f64, unit: &str, target: &str) {
    println!("{name:48} {value:10.3} {unit:10} {target}");
}
