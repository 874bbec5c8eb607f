//! What a session asks its connection to do.

use bytes::Bytes;

use crate::model::{Address, Protocol};

/// What the connection has to do next.
#[derive(Debug, PartialEq, Eq)]
pub enum Step {
    /// All octets are used up: write the replies, then read more.
    Read,
    /// Enough replies are waiting: write them, then go on with what is left of the octets.
    Write,
    /// Hand the message to the store and its answer to [`Session::stored`](super::Session::stored), then go on.
    Store(Message),
    /// Write the replies, throw away every octet that was read and not used, and secure the connection; then go on with
    /// [`Session::secured`](super::Session::secured).
    StartTls,
    /// Write the replies and close.
    Close(End),
}

/// A message that has come in whole, with its transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// What the client called itself.
    pub helo: String,
    /// How it came in.
    pub protocol: Protocol,
    /// Without brackets and source route; empty for the null sender.
    pub reverse_path: String,
    /// At least one and at most [`recipients_max`](crate::smtp::SmtpSettings::recipients_max), as often as they were named.
    pub recipients: Vec<Address>,
    /// The octets as sent; after DATA without transparency and the final dot.
    pub raw: Bytes,
}

/// Why a session ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The client said QUIT.
    Quit,
    /// The client closed the connection, or it broke.
    Gone,
    /// Nothing came for too long.
    Idle,
    /// The client did not read the replies for too long.
    RepliesUnread,
    /// A command line took too long.
    SlowCommand,
    /// A message took too long for its size, or what should have come before it did.
    SlowMessage,
    /// The session has lasted long enough, and no transaction was open.
    LifeOver,
    /// The client was slower than it may be while places or memory are scarce, and not slower than it may be else.
    Stressed,
    /// All places were taken, and this client kept the server waiting longest.
    MadeRoom,
    /// What the client sends can no longer be told from commands.
    OutOfStep,
    /// The client sent something before it was greeted.
    SpokeFirst,
    /// The administrator refuses the client.
    Refused,
    /// The client made too many errors in a row.
    TooManyErrors,
    /// The handshake of TLS failed or took too long.
    TlsFailed,
    /// The service is stopping.
    Stopping,
    /// The store could not tell whether it kept a message, so there was nothing true to say.
    OutcomeUnknown,
    /// It had not ended when the service had waited long enough for it.
    CutOff,
    /// By a panic.
    Panicked,
}

impl End {
    /// Every reason, each at the place of its number.
    pub(in crate::smtp) const ALL: [Self; 18] = [
        Self::Quit,
        Self::Gone,
        Self::Idle,
        Self::RepliesUnread,
        Self::SlowCommand,
        Self::SlowMessage,
        Self::LifeOver,
        Self::Stressed,
        Self::MadeRoom,
        Self::OutOfStep,
        Self::SpokeFirst,
        Self::Refused,
        Self::TooManyErrors,
        Self::TlsFailed,
        Self::Stopping,
        Self::OutcomeUnknown,
        Self::CutOff,
        Self::Panicked,
    ];

    /// The word for counters.
    pub(in crate::smtp) const fn label(self) -> &'static str {
        match self {
            Self::Quit => "quit",
            Self::Gone => "gone",
            Self::Idle => "idle",
            Self::RepliesUnread => "repliesUnread",
            Self::SlowCommand => "slowCommand",
            Self::SlowMessage => "slowMessage",
            Self::LifeOver => "lifeOver",
            Self::Stressed => "stressed",
            Self::MadeRoom => "madeRoom",
            Self::OutOfStep => "outOfStep",
            Self::SpokeFirst => "spokeFirst",
            Self::Refused => "refused",
            Self::TooManyErrors => "tooManyErrors",
            Self::TlsFailed => "tlsFailed",
            Self::Stopping => "stopping",
            Self::OutcomeUnknown => "outcomeUnknown",
            Self::CutOff => "cutOff",
            Self::Panicked => "panicked",
        }
    }

    /// The word for the log.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Quit => "quit",
            Self::Gone => "gone",
            Self::Idle => "idle",
            Self::RepliesUnread => "replies not read",
            Self::SlowCommand => "slow command",
            Self::SlowMessage => "slow message",
            Self::LifeOver => "end of its life",
            Self::Stressed => "too slow under stress",
            Self::MadeRoom => "made room",
            Self::OutOfStep => "out of step",
            Self::SpokeFirst => "spoke before the greeting",
            Self::Refused => "client refused",
            Self::TooManyErrors => "too many errors",
            Self::TlsFailed => "TLS failed",
            Self::Stopping => "stopping",
            Self::OutcomeUnknown => "outcome unknown",
            Self::CutOff => "cut off",
            Self::Panicked => "panic",
        }
    }
}
