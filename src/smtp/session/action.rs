//! What a session asks its connection to do.

use std::time::Duration;

use bytes::Bytes;

use crate::model::{Address, DomainName, Protocol};
use crate::smtp::reasons::End;

/// What the connection has to do next.
#[derive(Debug, PartialEq, Eq)]
pub enum Action {
    /// All octets are used up: write the replies, then read more.
    Read,
    /// Enough replies are pending: write them, then go on with the remaining octets.
    Write,
    /// Write the replies, and read nothing for so long: a fault on purpose. Then go on.
    Wait(Duration),
    /// Hand the message to the store, and the store's answer to [`Session::stored`](super::Session::stored); then go on.
    Store(Message),
    /// Ask about a domain that is unknown here, then go on: another node may have registered it.
    LookUp(DomainName),
    /// Write the replies, drop every octet that was read and not used, and do the TLS handshake; then call
    /// [`Session::secured`](super::Session::secured).
    StartTls,
    /// Write the replies and close the connection.
    Close(End),
}

/// A complete message with its envelope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The name of the client in its greeting.
    pub helo: String,
    /// How the message arrived.
    pub protocol: Protocol,
    /// The sender without brackets and source route; empty for the null sender.
    pub reverse_path: String,
    /// From one to [`recipients_max`](crate::smtp::SmtpSettings::recipients_max) recipients; one may be there twice.
    pub recipients: Vec<Address>,
    /// The octets as sent; after DATA without the dot-stuffing and without the final dot.
    pub raw: Bytes,
}
