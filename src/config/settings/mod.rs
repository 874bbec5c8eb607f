//! The settings: a struct of clap's for each subject, whose fields are the flags, the variables and the keys of the file.
//!
//! The comment of a field is its meaning in help, guide and template, with its bounds. Hidden ones are constants that nobody
//! sets but tests.
//!
//! Fields of one name in two structs need an `id`. A list has a `value_delimiter`, which is how the table knows it.

mod constants;
mod domains;
mod http;
mod leases;
mod service;
mod smtp;
mod webhooks;

use std::time::Duration;

pub use constants::Constants;
pub use domains::DomainsConfig;
pub use http::{AccessLog, CompatApi, HttpConfig, PublicConfig};
pub use leases::{Accept, LeasesConfig};
pub use service::{LogFormat, MailConfig, Revision, SenderVerdicts, StoreConfig};
pub use smtp::{Certificate, SmtpAuth, SmtpConfig, TlsConfig};
pub use webhooks::WebhooksConfig;

const SECOND: Duration = Duration::from_secs(1);
const DAY: Duration = Duration::from_hours(24);
const KB: u64 = 1 << 10;
const MB: u64 = 1 << 20;
const GB: u64 = 1 << 30;

/// Several values. The name keeps clap from taking each of them for a text of its own: a list is one text.
type List<T> = Vec<T>;
/// A value or none. The name keeps clap from taking none for a flag that is not given: it is a text as well.
type Maybe<T> = Option<T>;
