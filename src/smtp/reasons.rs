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
        /// The client was too slow for the shorter deadlines while connections or memory are scarce.
        Crowded = "crowded",
        /// The size of a BDAT chunk cannot be read, so its octets cannot be told from commands.
        OutOfSync = "outOfSync",
        /// A BDAT chunk is so large that it would never arrive in time.
        ChunkTooLarge = "chunkTooLarge",
        /// The client speaks HTTP.
        NotSmtp = "notSmtp",
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
    /// What refuses a connection or a part of a session, mostly a limit. A limit that ends a session is an [`End`].
    pub enum Limit {
        /// `max-smtp-connections`
        Connections = "connections",
        /// The connections of one client, or of its network, at once.
        ClientConnections = "connectionsPerClient",
        /// The new connections of one client, or of its network, in a minute.
        ConnectionRate = "connectionsPerMinute",
        /// The length of a command line.
        LineLength = "lineLength",
        /// The number of recipients of a message.
        Recipients = "recipients",
        /// The recipients of one client, or of its network, in a minute.
        RecipientRate = "recipientsPerMinute",
        /// The recipients of one client, or of its network, in the time that mail is kept.
        RecipientsKept = "recipientsKept",
        /// The octets of mail of one client, or of its network, in a minute.
        OctetRate = "octetsPerMinute",
        /// `max-message-size`
        MessageSize = "messageSize",
        /// The memory for incoming messages.
        Memory = "memory",
        /// The part of that memory that one client, or its network, may have.
        ClientMemory = "memoryPerClient",
        /// A TLS handshake that failed or took too long.
        TlsHandshake = "tlsHandshake",
        /// A connection of a proxy without a valid PROXY header.
        ProxyHeader = "proxyHeader",
    }
}
