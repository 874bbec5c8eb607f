//! What can go wrong with a store in use.

/// Why a store could not do what it was asked. Cloned to every caller whose change was in the same group.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// The disk is full, or so nearly that the message could not be kept for sure. Nothing changed.
    #[error("the disk is full")]
    Full,
    /// The store failed; the text is for the log. Nothing changed; trying again later may work.
    #[error("the store failed: {0}")]
    Failed(String),
    /// The change may or may not have been made; only a later read can tell.
    #[error("the store failed before the outcome of the change was known")]
    OutcomeUnknown,
    /// The store is closing.
    #[error("the store is closing")]
    Stopping,
    /// What is on disk is not what was written there.
    #[error("segment {segment} of the journal is damaged at offset {offset}")]
    Damaged {
        /// Number of the segment.
        segment: u64,
        /// Octet in its file.
        offset: u64,
    },
    /// The message is larger than the store was opened for.
    #[error("the message is larger than {limit} octets")]
    TooLarge {
        /// The largest message in octets.
        limit: u64,
    },
}
