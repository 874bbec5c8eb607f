//! What the tests run against and with.

pub(crate) mod dns_zone;
pub(crate) mod domain_store;
