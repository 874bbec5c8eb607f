//! The findings of a check.

use serde::Serialize;

/// The kinds of findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FindingKind {
    /// The registry is missing, or is not what was written.
    RegistryDamaged,
    /// A segment's header is not valid, so that none of it can be read.
    SegmentHeader,
    /// A segment that had something alive is missing.
    SegmentMissing,
    /// Octets of a segment where a group was are not a group.
    Group,
    /// The header or the meta of a record is damaged.
    Record,
    /// An Email has no whole record.
    Email,
    /// A pending event has no whole record.
    Event,
}

impl FindingKind {
    /// The name in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::RegistryDamaged => "registry-damaged",
            Self::SegmentHeader => "segment-header",
            Self::SegmentMissing => "segment-missing",
            Self::Group => "group",
            Self::Record => "record",
            Self::Email => "email",
            Self::Event => "event",
        }
    }
}

/// One finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Finding {
    /// The kind of damage.
    pub kind: FindingKind,
    /// The segment of the journal; `None` for damage of the registry alone.
    pub segment: Option<u64>,
    /// The octet in the segment's file.
    pub offset: Option<u64>,
    /// A sentence for the operator.
    pub detail: String,
}

impl Finding {
    pub(in crate::store) fn at(kind: FindingKind, segment: u64, offset: u64, detail: impl Into<String>) -> Self {
        Self { kind, segment: Some(segment), offset: Some(offset), detail: detail.into() }
    }

    pub(in crate::store) fn of(kind: FindingKind, detail: impl Into<String>) -> Self {
        Self { kind, segment: None, offset: None, detail: detail.into() }
    }
}
