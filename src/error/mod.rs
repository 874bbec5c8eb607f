//! The errors that the command line shows, each with its [exit code](Exit).
//!
//! Causes that come from another program (an HTTP problem, an SMTP reply) become an exit code here and nowhere else.

mod exit;

use std::fmt;
use std::io::ErrorKind;

use crate::config::{ConfigError, ConfigProblem, Endpoint};
use crate::daemon::{BindError, DaemonError};
use crate::store::{OpenError, StoreError};
use crate::tls::CertificateError;

pub use exit::Exit;

/// An error for the user: its cause, a hint on what to do about it, and the exit code.
#[derive(Debug)]
pub struct Error {
    exit: Exit,
    cause: Box<dyn std::error::Error + Send + Sync>,
    hint: Option<String>,
}

impl Error {
    /// An error that ends the program with `exit`.
    pub fn new(exit: Exit, cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self { exit, cause: cause.into(), hint: None }
    }

    /// A wrong command line: exit code 2.
    pub fn usage(cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::new(Exit::Usage, cause)
    }

    /// Ends the program with `exit` and no word: what it has printed says why, or nobody reads it.
    pub fn ending(exit: Exit) -> Self {
        Self::new(exit, "")
    }

    /// Whether there is nothing to say.
    pub fn is_silent(&self) -> bool {
        self.cause.to_string().is_empty()
    }

    /// Adds a hint on what to do. The hint may have several lines.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The same error with another exit code.
    #[must_use]
    pub fn ending_with(mut self, exit: Exit) -> Self {
        self.exit = exit;
        self
    }

    /// The exit code.
    pub const fn exit(&self) -> Exit {
        self.exit
    }

    /// What happened, as an error of its own.
    pub fn cause(&self) -> &(dyn std::error::Error + 'static) {
        &*self.cause
    }

    /// The hint on what to do.
    pub fn what_to_do(&self) -> Option<&str> {
        self.hint.as_deref()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.cause.fmt(f)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.cause.source()
    }
}

impl From<StoreError> for Error {
    fn from(error: StoreError) -> Self {
        Self::new(Exit::of_store(&error), error)
    }
}

impl From<OpenError> for Error {
    fn from(error: OpenError) -> Self {
        let (exit, hint) = match &error {
            OpenError::Locked { .. } => {
                (Exit::Taken, "stop that process, or choose another data directory with --data-dir")
            }
            OpenError::Io { .. } => (Exit::Failure, "see that this user can write there and that the disk has room"),
            OpenError::Disk { .. } => (
                Exit::Failure,
                "copy the data directory to another disk with ddrescue, and run `tempmail db check --salvage` on the copy",
            ),
            OpenError::Full { .. } => {
                (Exit::Failure, "make some room on that file system and start again; nothing is lost")
            }
            OpenError::Damaged { .. } | OpenError::Registry(_) => (
                Exit::Failure,
                "nothing was changed; `tempmail db check` says what is wrong, and `tempmail db check --salvage` goes on without it",
            ),
            OpenError::Cluster { .. } => (
                Exit::Unavailable,
                "see that the nodes in store run and can be reached from here, and that dc, user, password-file and ca in store fit",
            ),
            OpenError::NoKeyspace { .. } => (
                Exit::Failure,
                "see that store in TEMPMAIL_STORE or in the configuration file names the right one; `tempmail serve` makes it",
            ),
            OpenError::Restoring { .. } => (
                Exit::Failure,
                "wait for its end; if it was interrupted, restore into another keyspace, and drop this one",
            ),
            OpenError::Schema { found, known } if found < known => (
                Exit::Failure,
                "nothing was changed; make a backup with the version that made it, and restore that into another keyspace with this version",
            ),
            OpenError::Schema { .. } => (Exit::Failure, "use the version that made it, or a newer one"),
            OpenError::NotBuiltIn => (
                Exit::BadConfig,
                "the packages have it; from the source: cargo install --locked --features cassandra --path .",
            ),
            OpenError::SegmentTooSmall { .. } | OpenError::Setting { .. } => return Self::new(Exit::BadConfig, error),
            OpenError::NotOurs { .. } | OpenError::Missing { .. } | OpenError::Empty | OpenError::Format { .. } => {
                return Self::new(Exit::Failure, error);
            }
        };
        Self::new(exit, error).hint(hint)
    }
}

impl From<BindError> for Error {
    fn from(error: BindError) -> Self {
        match error {
            BindError::InUse { .. } => Self::new(Exit::Taken, error)
                .hint("stop that process, or choose another address for what listens there"),
            BindError::NoSocket(_) => Self::new(Exit::BadConfig, error),
            BindError::HandedOver => Self::new(Exit::BadConfig, error).hint(
                "disable the socket unit, and list its addresses in smtp-listen, smtps-listen, lmtp-listen, http-listen or \
                 https-listen",
            ),
            BindError::Io { error: ref cause, .. } => {
                let exit = match cause.kind() {
                    ErrorKind::PermissionDenied => Exit::NotAllowed,
                    ErrorKind::AddrNotAvailable => Exit::BadConfig,
                    _ => Exit::Failure,
                };
                let hint = match error {
                    BindError::Io { address: Endpoint::Unix(_), .. } => {
                        "see that its directory is there and that this user may make files in it"
                    }
                    _ => "choose an address of this machine and a port that this user may use",
                };
                Self::new(exit, error).hint(hint)
            }
        }
    }
}

impl From<CertificateError> for Error {
    fn from(error: CertificateError) -> Self {
        Self::new(Exit::BadConfig, error)
    }
}

impl From<DaemonError> for Error {
    fn from(error: DaemonError) -> Self {
        match error {
            DaemonError::Open(error) => error.into(),
            DaemonError::Store(error) => error.into(),
            DaemonError::Caller(_) | DaemonError::TaskEnded { .. } | DaemonError::Io(_) => {
                Self::new(Exit::Failure, error)
            }
        }
    }
}

impl From<ConfigError> for Error {
    fn from(error: ConfigError) -> Self {
        let is_about = |is: fn(&ConfigProblem) -> bool| error.problems.iter().any(is);
        let hint = if is_about(|problem| matches!(problem, ConfigProblem::NoDataDir)) {
            "give --data-dir DIR"
        } else if is_about(|problem| matches!(problem, ConfigProblem::Unreadable(..))) {
            "give another file with --config, or make one with `tempmail config init`"
        } else {
            "`tempmail help reference` explains each setting"
        };
        Self::new(Exit::BadConfig, error).hint(hint)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_of_the_store_has_one_exit_code() {
        assert_eq!(Error::from(StoreError::Full).exit(), Exit::Failure);
        assert_eq!(Error::from(StoreError::WriterEnded).exit(), Exit::Failure);
        assert_eq!(Error::from(StoreError::Stopping).exit(), Exit::Unavailable);
        assert_eq!(Error::from(StoreError::TooLarge { limit: 1 }).exit(), Exit::Usage);
    }
}
