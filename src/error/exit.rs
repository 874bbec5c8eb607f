//! The one table of exit codes.

use std::process::ExitCode;

use serde::Serialize;

use crate::store::StoreError;

/// Every way in which the program can end. A number never changes its meaning, nor does its name in JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Exit {
    /// Success, or the reader of the output went away.
    Ok = 0,
    /// A failure that no other code names: a full disk, a damaged data directory.
    Failure = 1,
    /// The command line or a value in it is wrong.
    Usage = 2,
    /// No such message, webhook or registered domain.
    NotFound = 3,
    /// Not allowed.
    NotAllowed = 4,
    /// A conflict with existing data, or with a running daemon.
    Conflict = 5,
    /// The server cannot be reached, or cannot answer now.
    Unavailable = 6,
    /// Too many requests.
    RateLimited = 7,
    /// A check succeeded, and its result is negative.
    CheckFailed = 8,
    /// `sendmail`: its command line is wrong (`EX_USAGE` of sysexits).
    #[serde(rename = "usage")]
    MailUsage = 64,
    /// `sendmail`: the message is too large, or names no recipient (`EX_DATAERR`).
    MailData = 65,
    /// `sendmail`: a recipient is refused (`EX_NOUSER`).
    NoRecipient = 67,
    /// `sendmail`: the message is refused for good (`EX_UNAVAILABLE`).
    MailRefused = 69,
    /// `serve`: the port or the data directory is taken. `sendmail`: the mail can be sent later (`EX_TEMPFAIL`).
    Taken = 75,
    /// `serve`: the configuration is not valid.
    BadConfig = 78,
    /// A wait ended without a result.
    TimedOut = 124,
    /// `serve`: a second signal, as a shell shows SIGINT. A signal ends other commands itself.
    Interrupted = 130,
}

impl Exit {
    /// All exit codes, in the order of their numbers.
    pub const ALL: [Self; 17] = [
        Self::Ok,
        Self::Failure,
        Self::Usage,
        Self::NotFound,
        Self::NotAllowed,
        Self::Conflict,
        Self::Unavailable,
        Self::RateLimited,
        Self::CheckFailed,
        Self::MailUsage,
        Self::MailData,
        Self::NoRecipient,
        Self::MailRefused,
        Self::Taken,
        Self::BadConfig,
        Self::TimedOut,
        Self::Interrupted,
    ];

    /// The number that the process ends with.
    pub const fn code(self) -> u8 {
        self as u8
    }

    /// The exit code for an HTTP error. The problem's `code` decides first, then the status.
    ///
    /// `mx_mismatch` is a check that says no, `domain_unknown` names a domain that is not there; any other 422 is a request
    /// that is well formed and conflicts with what is there. `mx_host_unset` is a 503 like the others: nothing was found
    /// out about the domain.
    pub fn of_problem(status: u16, code: &str) -> Self {
        match (code, status) {
            ("mx_mismatch", _) => Self::CheckFailed,
            (_, 401 | 403 | 421) => Self::NotAllowed,
            ("domain_unknown", _) | (_, 404 | 410) => Self::NotFound,
            (_, 409 | 422) => Self::Conflict,
            (_, 429) => Self::RateLimited,
            (_, 408 | 502..=504) => Self::Unavailable,
            (_, 400..=499) => Self::Usage,
            _ => Self::Failure,
        }
    }

    /// What an SMTP reply that refuses means: `code` of RFC 5321 and, where the server gave one, the enhanced status
    /// code's subject and detail of RFC 3463.
    pub fn of_smtp(code: u16, enhanced: Option<(u16, u16)>) -> Self {
        match (code, enhanced) {
            (400..=499, Some((7, 0))) => Self::RateLimited,
            (452, Some((3, 1))) => Self::Failure,
            (400..=499, _) => Self::Unavailable,
            (552, _) | (500..=599, Some((3, 4))) => Self::Usage,
            (500..=599, Some((1, _))) => Self::NotFound,
            (500..=504, _) | (500..=599, Some((5, _))) => Self::Usage,
            (500..=599, Some((7, _))) => Self::NotAllowed,
            _ => Self::Failure,
        }
    }

    /// The same reply for the callers of `sendmail`, which know the codes of sysexits.
    pub fn of_smtp_in_sendmail(code: u16, enhanced: Option<(u16, u16)>) -> Self {
        match (code, enhanced) {
            (400..=499, _) => Self::Taken,
            (552, _) | (500..=599, Some((3, 4))) => Self::MailData,
            (500..=599, Some((1, _))) => Self::NoRecipient,
            _ => Self::MailRefused,
        }
    }

    /// What another error means for the callers of `sendmail`.
    #[must_use]
    pub const fn in_sendmail(self) -> Self {
        match self {
            Self::Usage => Self::MailUsage,
            Self::NotFound => Self::NoRecipient,
            Self::Unavailable | Self::RateLimited => Self::Taken,
            Self::Failure | Self::NotAllowed | Self::Conflict | Self::CheckFailed | Self::TimedOut => Self::MailRefused,
            exit => exit,
        }
    }

    /// The exit code for an error of the store.
    pub const fn of_store(error: &StoreError) -> Self {
        match error {
            StoreError::Full | StoreError::MailboxFull | StoreError::WriterEnded | StoreError::Damaged { .. } => {
                Self::Failure
            }
            StoreError::TooLarge { .. } => Self::Usage,
            StoreError::Failed(_) | StoreError::OutcomeUnknown | StoreError::Unconfirmed | StoreError::Stopping => {
                Self::Unavailable
            }
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_are_those_of_the_manual() {
        let codes: Vec<u8> = Exit::ALL.iter().map(|exit| exit.code()).collect();
        assert_eq!(codes, [0, 1, 2, 3, 4, 5, 6, 7, 8, 64, 65, 67, 69, 75, 78, 124, 130]);
    }

    #[test]
    fn an_http_problem_has_one_exit_code() {
        for (status, code, exit) in [
            (400, "address_invalid", Exit::Usage),
            (401, "token_required", Exit::NotAllowed),
            (403, "role_address", Exit::NotAllowed),
            (404, "not_found", Exit::NotFound),
            (405, "method_not_allowed", Exit::Usage),
            (408, "body_timeout", Exit::Unavailable),
            (409, "conflict", Exit::Conflict),
            (413, "body_too_large", Exit::Usage),
            (415, "media_type", Exit::Usage),
            (421, "host_not_allowed", Exit::NotAllowed),
            (422, "mx_mismatch", Exit::CheckFailed),
            (422, "limit_reached", Exit::Conflict),
            (422, "domain_unknown", Exit::NotFound),
            (400, "url_not_allowed", Exit::Usage),
            (400, "parameter_invalid", Exit::Usage),
            (429, "rate_limited", Exit::RateLimited),
            (500, "internal", Exit::Failure),
            (503, "mx_host_unset", Exit::Unavailable),
            (503, "store_failed", Exit::Unavailable),
            (507, "storage_full", Exit::Failure),
        ] {
            assert_eq!(Exit::of_problem(status, code), exit, "{status} {code}");
        }
    }

    #[test]
    fn an_smtp_refusal_has_one_exit_code() {
        for (code, enhanced, exit) in [
            (452, Some((3, 1)), Exit::Failure),
            (451, Some((3, 0)), Exit::Unavailable),
            (421, Some((3, 2)), Exit::Unavailable),
            (421, Some((7, 0)), Exit::RateLimited),
            (421, None, Exit::Unavailable),
            (550, Some((1, 2)), Exit::NotFound),
            (552, Some((3, 4)), Exit::Usage),
            (501, Some((5, 4)), Exit::Usage),
            (500, Some((5, 2)), Exit::Usage),
            (501, Some((1, 3)), Exit::NotFound),
            (550, Some((7, 1)), Exit::NotAllowed),
            (554, None, Exit::Failure),
        ] {
            assert_eq!(Exit::of_smtp(code, enhanced), exit, "{code} {enhanced:?}");
        }
    }

    #[test]
    fn the_callers_of_sendmail_get_the_codes_of_sysexits() {
        for (code, enhanced, number) in [
            (451, Some((3, 0)), 75),
            (421, Some((7, 0)), 75),
            (552, Some((3, 4)), 65),
            (550, Some((1, 2)), 67),
            (554, None, 69),
            (550, Some((7, 1)), 69),
        ] {
            assert_eq!(Exit::of_smtp_in_sendmail(code, enhanced).code(), number, "{code} {enhanced:?}");
        }
        assert_eq!(Exit::Unavailable.in_sendmail().code(), 75);
        assert_eq!(Exit::Usage.in_sendmail().code(), 64);
        assert_eq!(Exit::BadConfig.in_sendmail().code(), 78);
    }
}
