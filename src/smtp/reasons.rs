//! Why a session ended and which limit refused something. Each reason has one word, for the log and for the metrics.

/// Defines an enum whose variants have a word each, with the list of all variants in order.
macro_rules! reasons {
    (
        $(#[$about:meta])*
        pub enum $name:ident { $($(#[$about_variant:meta])* $variant:ident = $word:literal,)+ }
    ) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name { $($(#[$about_variant])* $variant,)+ }

        impl $name {
            /// All variants, each at the index of its number.
            pub(super) const ALL: &[Self] = &[$(Self::$variant,)+];

            /// The word in the log and in the metrics.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)+ }
            }
        }
    };
}

reasons! {
    /// Why a session ended.
    pub enum End {
        /// The client sent QUIT.
        Quit = "quit",
        /// The client closed the connection, or the connection broke.
        Gone = "gone",
        /// The client sent nothing for too long.
        Idle = "idle",
        /// The client did not read the replies for too long.
        RepliesUnread = "repliesUnread",
        /// A command line took too long.
        SlowCommand = "slowCommand",
        /// A transaction took too long for the size of its message.
        SlowMessage = "slowMessage",
        /// The session reached its maximum age while no transaction was open.
        LifeOver = "lifeOver",
        /// The client was too slow for the shorter timeout while connections or memory are scarce.
        Stressed = "stressed",
        /// All connections were taken, and this one had kept the server waiting longest.
        Evicted = "evicted",
        /// The size of a BDAT chunk cannot be read, so its octets cannot be told from commands.
        OutOfSync = "outOfSync",
        /// The client sent something before the greeting.
        SpokeFirst = "spokeFirst",
        /// The administrator refuses the client.
        Refused = "refused",
        /// The client made too many errors in a row.
        TooManyErrors = "tooManyErrors",
        /// The TLS handshake failed or took too long.
        TlsFailed = "tlsFailed",
        /// The service is stopping.
        Stopping = "stopping",
        /// The store does not know whether it stored a message, so no reply would be true.
        OutcomeUnknown = "outcomeUnknown",
        /// A fault on purpose ended the session.
        Fault = "fault",
        /// The session was still running when the service stopped waiting for it.
        CutOff = "cutOff",
        /// The session panicked.
        Panicked = "panicked",
    }
}

reasons! {
    /// A limit that refuses a connection or a part of a session. A limit that ends a session is an [`End`].
    pub enum Limit {
        /// `max-smtp-connections`
        Connections = "connections",
        /// The connections of one client at once.
        ClientConnections = "connectionsPerClient",
        /// The new connections of one client in a minute.
        ConnectionRate = "connectionsPerMinute",
        /// The length of a command line.
        LineLength = "lineLength",
        /// The length of a line of a message.
        TextLineLength = "textLineLength",
        /// The number of recipients of a message.
        Recipients = "recipients",
        /// `max-message-size`
        MessageSize = "messageSize",
        /// The memory for incoming messages.
        Memory = "memory",
        /// The part of that memory that one client may have.
        ClientMemory = "memoryPerClient",
        /// The number of Received fields of a message.
        Hops = "hops",
    }
}
