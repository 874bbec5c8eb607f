//! The settings of `serve` as flags.

/// Every setting of `serve` as a flag.
#[derive(clap::Args, Debug, Default, Clone)]
pub struct ServeArgs {}
