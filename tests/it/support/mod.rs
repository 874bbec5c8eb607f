//! What tests share.

pub(crate) mod clock;
pub(crate) mod fixed_domains;
pub(crate) mod memory_store;
