//! Where a value came from, and everything that can be wrong with the settings.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::value::{ValueError, show_duration};
use super::{Revision, setting};

/// The source of a value in effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValueOrigin {
    /// The command line.
    Flag,
    /// A variable `TEMPMAIL_*`.
    Environment,
    /// The configuration file.
    File {
        /// Its path.
        path: PathBuf,
        /// The line of the key, counted from 1.
        line: usize,
    },
    /// The defaults of a revision.
    Default(Revision),
}

impl fmt::Display for ValueOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag => f.write_str("flag"),
            Self::Environment => f.write_str("environment"),
            Self::File { path, line } => write!(f, "{}:{line}", path.display()),
            Self::Default(revision) => write!(f, "default of revision {}", revision.number()),
        }
    }
}

/// A key at the place where it was given: what an error begins with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyLocation {
    /// The key.
    pub key: String,
    /// Where it stands.
    pub origin: ValueOrigin,
}

impl fmt::Display for KeyLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.origin {
            ValueOrigin::Flag => write!(f, "--{}", self.key),
            ValueOrigin::Environment => f.write_str(&setting::variable(&self.key)),
            ValueOrigin::File { .. } => write!(f, "{}: {}", self.origin, self.key),
            ValueOrigin::Default(_) => write!(f, "{} ({})", self.key, self.origin),
        }
    }
}

/// Everything that is wrong with the settings, one line each. `serve` ends with exit code 78.
#[derive(Debug, thiserror::Error)]
#[error("{}", lines(.problems))]
pub struct ConfigError {
    /// At least one.
    pub problems: Vec<ConfigProblem>,
}

fn lines(problems: &[ConfigProblem]) -> String {
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

/// One thing that is wrong with the settings.
#[derive(Debug, thiserror::Error)]
pub enum ConfigProblem {
    /// A value that the setting does not accept.
    #[error("{location}: {error}")]
    Value {
        /// Where the value stands.
        location: KeyLocation,
        /// What is wrong and what is accepted.
        error: ValueError,
    },
    /// A key of the file that is no setting.
    #[error("{location}: unknown key{}", did_you_mean(.nearest.as_deref()))]
    UnknownKey {
        /// Where the key stands.
        location: KeyLocation,
        /// The setting with the most similar name, if one is similar.
        nearest: Option<String>,
    },
    /// A setting that is gone and asked for more than there is now.
    #[error("{location}: there is no such setting any more: {instead}")]
    Removed {
        /// Where the value stands.
        location: KeyLocation,
        /// What replaces it.
        instead: &'static str,
    },
    /// A value of the file whose TOML type no setting takes.
    #[error("{location}: {found} is not accepted here; accepted is {accepted}")]
    Type {
        /// Where the value stands.
        location: KeyLocation,
        /// The TOML type found.
        found: &'static str,
        /// What is accepted.
        accepted: &'static str,
    },
    /// The file is no TOML.
    #[error("{}:{line}: {message}", .path.display())]
    Syntax {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: usize,
        /// What the parser says.
        message: String,
    },
    /// The file cannot be read.
    #[error("cannot read the configuration file {}: {error}", .path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// The environment names no home and nothing names a data directory.
    #[error("no data directory: neither --data-dir, TEMPMAIL_DATA_DIR, XDG_DATA_HOME nor HOME is set")]
    NoDataDir,
    /// The token of the environment is too short or has other characters. The message does not show it.
    #[error("{variable}: a token has at least {octets_min} visible ASCII characters; `openssl rand -hex 32` makes one")]
    AdminToken {
        /// The variable.
        variable: &'static str,
        /// The shortest length.
        octets_min: usize,
    },
    /// Two values that contradict each other.
    #[error("{location}: {contradiction}")]
    Contradiction {
        /// Where the value stands that should be changed.
        location: KeyLocation,
        /// What contradicts what.
        contradiction: Contradiction,
    },
}

impl ConfigProblem {
    /// The line of the file that it is about, counted from 1.
    pub fn line(&self) -> Option<usize> {
        match self {
            Self::Syntax { line, .. } => Some(*line),
            Self::Value { location, .. }
            | Self::UnknownKey { location, .. }
            | Self::Removed { location, .. }
            | Self::Type { location, .. }
            | Self::Contradiction { location, .. } => match location.origin {
                ValueOrigin::File { line, .. } => Some(line),
                _ => None,
            },
            Self::Unreadable { .. } | Self::NoDataDir | Self::AdminToken { .. } => None,
        }
    }
}

/// Two values that contradict each other.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Contradiction {
    /// The default page is larger than the largest.
    #[error("{default} is more than page-size-max, which is {max}")]
    PageSizes {
        /// `page-size-default`.
        default: usize,
        /// `page-size-max`.
        max: usize,
    },
    /// Revision 1 fixes the largest page.
    #[error("{max} is more than 100, the most that revision 1 has; use revision 2")]
    PageSizeOfRevisionOne {
        /// `page-size-max`.
        max: usize,
    },
    /// Two of the largest messages do not fit into a segment.
    #[error("{segment} is less than twice max-message-size, which is {message}")]
    SegmentTooSmall {
        /// `segment-size`, as it is written.
        segment: String,
        /// `max-message-size`, as it is written.
        message: String,
    },
    /// The largest message does not fit into the memory for incoming messages.
    #[error("{budget} is less than max-message-size, which is {message}")]
    BodyBudgetTooSmall {
        /// `smtp-body-budget`, as it is written.
        budget: String,
        /// `max-message-size`, as it is written.
        message: String,
    },
    /// A wildcard domain where strangers can reach SMTP.
    #[error(
        "'{pattern}' takes mail for any domain, but mail is received on {listen}, which is not loopback; listen on loopback or set accept-any-domain"
    )]
    WildcardBeyondLoopback {
        /// The domain.
        pattern: String,
        /// The first listening address that is not loopback.
        listen: SocketAddr,
    },
    /// Credentials that nobody checks where strangers can reach SMTP.
    #[error("any credentials are accepted only while SMTP listens on loopback, and {0} is not")]
    AuthBeyondLoopback(SocketAddr),
    /// A wildcard domain where strangers may come through a proxy.
    #[error(
        "'{pattern}' takes mail for any domain, but with proxy-from clients from anywhere may come through a proxy; unset proxy-from or set accept-any-domain"
    )]
    WildcardBehindProxy {
        /// The domain.
        pattern: String,
    },
    /// Credentials that nobody checks where strangers may come through a proxy.
    #[error(
        "any credentials are accepted only from this machine, but with proxy-from clients from anywhere may come through a proxy"
    )]
    AuthBehindProxy,
    /// Faults where strangers can reach SMTP.
    #[error(
        "faults are permitted only while mail is received on loopback, and {0} is not; listen on loopback or set fault-anywhere"
    )]
    FaultBeyondLoopback(SocketAddr),
    /// Faults where strangers may come through a proxy.
    #[error(
        "faults are permitted only from this machine, but with proxy-from clients from anywhere may come through a proxy; unset proxy-from or set fault-anywhere"
    )]
    FaultBehindProxy,
    /// An address that can be bound once is to be bound twice.
    #[error("{0} is listed twice among smtp-listen, smtps-listen, lmtp-listen, http-listen and https-listen")]
    AddressTwice(SocketAddr),
    /// A certificate of our own where there is another.
    #[error("a certificate is made only where there is none; set either tls-self-signed or tls-cert")]
    TwoCertificates,
    /// A key for nothing.
    #[error("a key without a certificate; set tls-cert as well")]
    KeyWithoutCertificate,
    /// TLS that nothing can secure.
    #[error("TLS needs a certificate; set tls-cert and tls-key, or tls-self-signed for development")]
    TlsWithoutCertificate,
    /// A setting of a cluster, and no cluster.
    #[error("there is no cluster while store is embedded; set store to its URL, or unset this")]
    NoCluster,
    /// A user who cannot prove who it is.
    #[error("a user without a password; set cassandra-password-file as well")]
    UserWithoutPassword,
    /// A password of nobody.
    #[error("a password without a user; set cassandra-user as well")]
    PasswordWithoutUser,
    /// Authorities for connections without certificates.
    #[error("without TLS nothing is checked by it; set cassandra-tls to on")]
    CaWithoutTls,
    /// Other nodes would get an address that means every interface.
    #[error("is every address of this machine; name the one that other nodes see in peer-address")]
    PeerAddressMissing,
    /// Nobody would listen at the address that other nodes get.
    #[error("needs peer-listen")]
    PeerListenMissing,
    /// A cap that a cluster cannot keep.
    #[error("a store in a cluster has no cap of a domain; unset this, or keep mail in data-dir (store = embedded)")]
    DomainCapInCluster,
    /// Mail that lives longer than a cluster remembers its deletion.
    #[error(
        "a store in a cluster remembers deletions for 10 days, so retention and webhook-grace together may be at most {}; \
         they are {}, shorten one of them",
        show_duration(*.max),
        show_duration(*.sum)
    )]
    LifeBeyondCluster {
        /// The longest time.
        max: Duration,
        /// That of the settings.
        sum: Duration,
    },
}

/// Something that is probably not what was meant, but stops nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Warning {
    /// A variable `TEMPMAIL_*` that nothing reads.
    #[error("{name} is set, but there is no such setting{}", did_you_mean(.nearest.as_deref()))]
    UnknownVariable {
        /// The variable.
        name: String,
        /// The variable with the most similar name, if one is similar.
        nearest: Option<String>,
    },
    /// A setting that is gone and not missed.
    #[error("{location}: there is no such setting any more: {instead}")]
    Removed {
        /// Where the value stands.
        location: KeyLocation,
        /// What replaces it.
        instead: &'static str,
    },
    /// A public address has no effect without a name for MX records.
    #[error("public-address has no effect without an mx-host")]
    PublicAddressWithoutMxHost,
}

fn did_you_mean(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |nearest| format!("; did you mean {nearest}?"))
}

/// The candidate most like `word`, if it is like it at all.
pub(super) fn nearest<'a>(word: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let likeness = |candidate: &str| strsim::jaro_winkler(&word.to_lowercase().replace('_', "-"), candidate);
    candidates
        .map(|candidate| (likeness(&candidate.to_lowercase().replace('_', "-")), candidate))
        .filter(|(likeness, _)| *likeness >= 0.75)
        .max_by(|(a, _), (b, _)| a.total_cmp(b))
        .map(|(_, candidate)| candidate)
}

/// The place of `key` at line `line` of the file `path`.
pub(super) fn in_file(key: &str, path: &Path, line: usize) -> KeyLocation {
    KeyLocation { key: key.to_owned(), origin: ValueOrigin::File { path: path.to_owned(), line } }
}
