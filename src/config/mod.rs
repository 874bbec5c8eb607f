//! The settings of the daemon: one struct, validated once.
//!
//! Flags > `TEMPMAIL_*` > the TOML file > the defaults of the revision. One table, [`SETTINGS`], makes the flags, the
//! variables, the keys of the file and the rows of the configuration guide; `constants` has those that only tests set. A new
//! setting is a field of its struct, its default and one entry, all three in one file of `settings`.
//!
//! ```text
//! settings   structs, defaults, table    setting   one entry of it     args, file   flags and TOML to values
//! constants  what only tests set             removed  what is gone, and what replaces it
//! load       which source wins          check     values that depend on each other or contradict
//! value, parse, words   text to values  error     what can be wrong    paths        default places
//! endpoint   where LMTP listens       fault_rule   rules for faults on purpose    store_location   where mail is kept
//! effective  every value and its origin           template   a file with every default
//! ```

mod args;
mod check;
mod constants;
mod effective;
mod endpoint;
mod error;
mod fault_rule;
mod file;
mod load;
mod parse;
mod paths;
mod removed;
mod setting;
mod settings;
mod store_location;
mod template;
pub mod value;
mod words;

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use crate::model::Secret;

pub use args::ServeArgs;
pub use check::exposed_faults;
pub use constants::Constants;
pub use effective::SettingInEffect;
pub use endpoint::Endpoint;
pub use error::{ConfigError, ConfigProblem, Contradiction, KeyLocation, ValueOrigin, Warning};
pub use fault_rule::fault_rule;
pub use load::{Loaded, Sources, check_file, load};
pub use paths::{default_data_dir, user_config_file};
pub use setting::{Setting, Shape};
pub use settings::{
    CassandraConfig, DomainsConfig, HttpConfig, MailConfig, PublicConfig, SETTINGS, SUBJECTS, SmtpConfig, StoreConfig,
    Subject, TlsConfig, WebhooksConfig,
};
pub use store_location::{StoreLocation, StoreLocationError};
pub use template::template;

/// One of the two revisions of the interface: a preset of defaults.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub enum Revision {
    /// No webhooks; 10 MB messages; the MX is verified daily.
    One,
    /// Webhooks; 300 KB messages; the MX is verified every 12 hours.
    #[default]
    Two,
}

impl Revision {
    /// 1 or 2.
    pub const fn number(self) -> u8 {
        match self {
            Self::One => 1,
            Self::Two => 2,
        }
    }
}

/// How log lines are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// One JSON object per line.
    Json,
}

/// The most recipients of one message. The store has room for the envelope of so many.
pub const SMTP_RECIPIENTS_MAX: usize = 100;

/// Whether SMTP offers AUTH.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SmtpAuth {
    /// It does not.
    #[default]
    Off,
    /// It does, and takes any credentials.
    AcceptAny,
}

/// Who may use a part of the HTTP interface.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PublicAccess {
    /// Anybody.
    #[default]
    Open,
    /// Callers with a token. Others are asked for one.
    Token,
    /// Callers with a token. Others are told that the part is not for them.
    Off,
}

impl fmt::Display for PublicAccess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Open => "open",
            Self::Token => "token",
            Self::Off => "off",
        })
    }
}

/// Whether each HTTP request has a line in the log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AccessLog {
    /// None has.
    #[default]
    Off,
    /// Each has, with the network of its client: the /24 of an IPv4 address, the /48 of an IPv6 address.
    Masked,
    /// Each has, with the address of its client.
    Full,
}

impl fmt::Display for AccessLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Off => "off",
            Self::Masked => "masked",
            Self::Full => "full",
        })
    }
}

/// Whose interface HTTP offers besides its own, for test suites that were written for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CompatApi {
    /// Nobody's.
    #[default]
    Off,
    /// That of Mailpit, version 1.
    Mailpit,
}

impl fmt::Display for CompatApi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Off => "off",
            Self::Mailpit => "mailpit",
        })
    }
}

/// Every setting of `tempmail serve`, with its value in effect. Each room has a part of its own.
#[derive(Clone, Debug)]
pub struct Config {
    /// Where everything that must last is kept.
    pub data_dir: PathBuf,
    /// The preset that the defaults came from.
    pub revision: Revision,
    /// How log lines are written.
    pub log_format: LogFormat,
    /// What holds for every mail.
    pub mail: MailConfig,
    /// How mail is received.
    pub smtp: SmtpConfig,
    /// What secures SMTP.
    pub tls: TlsConfig,
    /// How mail is given out.
    pub http: HttpConfig,
    /// What callers without a token may do.
    pub public: PublicConfig,
    /// Which domains receive mail.
    pub domains: DomainsConfig,
    /// What webhooks may use.
    pub webhooks: WebhooksConfig,
    /// How mail is kept.
    pub store: StoreConfig,
    /// How a cluster is asked, where mail is kept in one.
    pub cassandra: CassandraConfig,
    /// What is the same in every installation.
    pub constants: Constants,
    /// The value of `TEMPMAIL_ADMIN_TOKEN`, a token with the scope `admin` for containers. It is no setting, so nothing
    /// shows it.
    pub admin_token: Option<Secret>,
    /// For each key of [`SETTINGS`] where its value came from. A key that is missing has the default of the revision.
    pub origins: BTreeMap<&'static str, ValueOrigin>,
}

impl Config {
    /// The defaults of a revision, with `data_dir` as the data directory.
    pub fn of_revision(revision: Revision, data_dir: PathBuf) -> Self {
        Self {
            data_dir,
            revision,
            log_format: LogFormat::default(),
            mail: MailConfig::of_revision(revision),
            smtp: SmtpConfig::default(),
            tls: TlsConfig::default(),
            http: HttpConfig::of_revision(revision),
            public: PublicConfig::default(),
            domains: DomainsConfig::of_revision(revision),
            webhooks: WebhooksConfig::default(),
            store: StoreConfig::default(),
            cassandra: CassandraConfig::default(),
            constants: Constants::default(),
            admin_token: None,
            origins: BTreeMap::new(),
        }
    }
}
