//! What a check found.

use std::fmt;

use serde::{Serialize, Serializer};

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Verdict {
    Ok,
    /// The service works, but perhaps not as was meant, or it can't be known.
    Warning,
    /// The service does not work, or soon will not.
    Failure,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // It heeds a width.
        f.pad(match self {
            Self::Ok => "ok",
            Self::Warning => "warning",
            Self::Failure => "failure",
        })
    }
}

impl Serialize for Verdict {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A line of the result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Finding {
    /// The check: one word.
    pub(super) check: &'static str,
    pub(super) verdict: Verdict,
    /// What was found.
    pub(super) found: String,
    /// What to do, in one sentence; nothing where all is well.
    pub(super) advice: Option<String>,
}

impl Finding {
    pub(super) fn ok(check: &'static str, found: impl Into<String>) -> Self {
        Self { check, verdict: Verdict::Ok, found: found.into(), advice: None }
    }

    pub(super) fn warning(check: &'static str, found: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { check, verdict: Verdict::Warning, found: found.into(), advice: Some(advice.into()) }
    }

    pub(super) fn failure(check: &'static str, found: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { check, verdict: Verdict::Failure, found: found.into(), advice: Some(advice.into()) }
    }
}
