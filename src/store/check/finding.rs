//! What a check finds wrong.

use serde::Serialize;

/// The kinds of findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FindingKind {
    /// There is a journal and no index.
    IndexMissing,
    /// redb can't read its file, or not all of it.
    IndexDamaged,
    /// A segment's header is not valid: none of it can be read.
    SegmentHeader,
    /// A segment that is needed is not there.
    SegmentMissing,
    /// Octets of a segment are no group of records, though one was there.
    Group,
    /// A record's header does not read back.
    Record,
    /// A record's content does not read back, and no Email needs it.
    Content,
    /// An Email has no whole record.
    Email,
    /// An event that waits has no whole record.
    Event,
    /// Rows of the index contradict each other.
    Rows,
}

impl FindingKind {
    /// The word for it, as in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::IndexMissing => "index-missing",
            Self::IndexDamaged => "index-damaged",
            Self::SegmentHeader => "segment-header",
            Self::SegmentMissing => "segment-missing",
            Self::Group => "group",
            Self::Record => "record",
            Self::Content => "content",
            Self::Email => "email",
            Self::Event => "event",
            Self::Rows => "rows",
        }
    }
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Finding {
    /// What kind of thing.
    pub kind: FindingKind,
    /// The segment of the journal; `None` for what is in the index alone.
    pub segment: Option<u64>,
    /// The octet in the segment's file.
    pub offset: Option<u64>,
    /// A sentence for a person.
    pub detail: String,
}

impl Finding {
    pub(in crate::store) fn at(kind: FindingKind, segment: u64, offset: u64, detail: impl Into<String>) -> Self {
        Self { kind, segment: Some(segment), offset: Some(offset), detail: detail.into() }
    }

    pub(in crate::store) fn index(kind: FindingKind, detail: impl Into<String>) -> Self {
        Self { kind, segment: None, offset: None, detail: detail.into() }
    }
}
