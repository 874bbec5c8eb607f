//! `/api/mail`: the mail of an address.
//!
//! ```text
//! list      a page of a mailbox                message, raw, attachment   one Email
//! wait      mail that is there or arrives      events   a stream of what happens
//! delete    by ids, or by address and filter   submit   messages that the administrator puts into inboxes
//! read      one Email by its id, for those who may     filter   which Emails pass
//! rows      what lists are made of, and the cache of their entries
//! scan      the rows that pass a filter        writer   a list in pieces
//! ```

pub(super) mod attachment;
pub(super) mod delete;
pub(super) mod events;
pub(super) mod filter;
pub(super) mod list;
pub(super) mod message;
pub(super) mod raw;
mod read;
pub(super) mod rows;
pub(super) mod scan;
pub(super) mod submit;
pub(super) mod wait;
pub(super) mod writer;
