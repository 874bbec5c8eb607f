//! What the tests share.

pub(crate) mod smtp_peer;
