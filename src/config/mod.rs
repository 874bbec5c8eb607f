//! The settings of the daemon: one struct of clap's, validated once.
//!
//! Flags > `TEMPMAIL_*` > the TOML file > what `dev` presets > the defaults of the revision. A setting is one field of a struct in `settings`: its
//! comment, its attribute and its type make the flag, the variable, the key of the file, the row of the guide and the line of
//! the template.
//!
//! ```text
//! settings   the structs                     setting   clap's arguments as a table     args   the flags of `serve`
//! load       which source wins               file      TOML to texts                   paths  default places
//! parse, address, list   texts to values       check     values that depend on each other or contradict
//! show       every value and its origin, and a file with every default                 error  what can be wrong
//! removed    what is gone, and what replaces it
//! endpoint   where LMTP listens       store_location   where mail is kept
//! ```

mod address;
mod args;
mod check;
mod endpoint;
mod error;
mod file;
mod list;
mod load;
mod parse;
mod paths;
mod removed;
mod setting;
mod settings;
mod show;
mod store_location;

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::model::Secret;

pub use args::ServeArgs;
pub use check::exposure;
pub use endpoint::Endpoint;
pub use error::{ConfigError, ConfigProblem, ValueOrigin};
pub use load::{Loaded, Sources, check_file, load};
pub use paths::{default_data_dir, user_config_file, user_state_dir};
pub use setting::{FIRST, Setting, Shape, settings};
pub use settings::{
    Accept, AccessLog, Certificate, CompatApi, Constants, DomainsConfig, HttpConfig, LeasesConfig, LogFormat,
    MailConfig, PublicConfig, Revision, SenderVerdicts, SmtpAuth, SmtpConfig, StoreConfig, TlsConfig, WebhooksConfig,
};
pub use show::{SettingInEffect, template};
pub use store_location::{Cluster, StoreLocation, Trust};

/// The most recipients of one message. The store has room for the envelope of so many.
pub const SMTP_RECIPIENTS_MAX: usize = 100;

/// The defaults of revision 1 that differ from those of revision 2.
const REVISION_ONE: &[(&str, &str)] = &[
    ("max-message-size", "10MB"),
    ("rate-limit", "off"),
    ("verify-every", "1d"),
    ("public", "read,delete,webhooks,domains"),
];

/// What `dev` sets, unless something else is given.
const DEV: &[(&str, &str)] = &[
    ("smtp-listen", "127.0.0.1:1025,[::1]:1025"),
    ("http-listen", "127.0.0.1:8025,[::1]:8025"),
    ("domain", "*"),
    ("smtp-auth", "accept-any"),
    ("role-addresses", "none"),
    ("compat-api", "mailpit"),
    ("public", "read,delete,webhooks,domains,web"),
];

/// Every setting of `tempmail serve`, with its value in effect. Each room has a part of its own.
#[derive(clap::Parser, Clone, Debug)]
#[command(no_binary_name = true, disable_help_flag = true, disable_version_flag = true, next_help_heading = "Service")]
pub struct Config {
    /// Directory where everything is stored
    // The default is an example: it depends on the environment.
    #[arg(long, value_name = "DIR", default_value = "/var/lib/tempmail", value_parser = parse::path)]
    pub data_dir: PathBuf,

    /// Revision of the interface, with defaults of its own; revision 1 has no webhooks
    #[arg(long, value_name = "1|2", default_value = "2")]
    pub revision: Revision,

    /// Catch all mail of an application under test: SMTP on port 1025, HTTP on 8025, any domain, any login, Mailpit's interface, all mail shown to every caller; beyond loopback only with trusted-network
    #[arg(
        long,
        value_name = "BOOL",
        default_value = "false",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true",
        action = clap::ArgAction::Set
    )]
    pub dev: bool,

    /// Log lines for people (text) or for programs (json)
    #[arg(long, value_name = "text|json", default_value = "text")]
    pub log_format: LogFormat,

    /// What holds for every mail.
    #[command(flatten)]
    pub mail: MailConfig,

    /// How mail is kept.
    #[command(flatten)]
    pub store: StoreConfig,

    /// How mail is received.
    #[command(flatten)]
    pub smtp: SmtpConfig,

    /// What secures SMTP and HTTP.
    #[command(flatten)]
    pub tls: TlsConfig,

    /// How mail is given out.
    #[command(flatten)]
    pub http: HttpConfig,

    /// Which domains receive mail.
    #[command(flatten)]
    pub domains: DomainsConfig,

    /// What holds for private inboxes.
    #[command(flatten)]
    pub leases: LeasesConfig,

    /// What webhooks may use.
    #[command(flatten)]
    pub webhooks: WebhooksConfig,

    /// What is the same in every installation.
    #[command(flatten)]
    pub constants: Constants,

    /// The value of `TEMPMAIL_ADMIN_TOKEN`, a token with the scope `admin` for containers. It is no setting, so nothing
    /// shows it.
    #[arg(skip)]
    pub admin_token: Option<Secret>,

    /// The texts that all this was read from.
    #[arg(skip)]
    given: BTreeMap<&'static str, load::Given>,
}
