//! Settings of what callers without a token may do.

use super::one;
use crate::config::PublicAccess;
use crate::config::setting::{Setting, Shape};
use crate::config::value::ValueError;

/// What callers without a token may do over HTTP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PublicConfig {
    /// Registering domains.
    pub domains: PublicAccess,
    /// Registering, listing and deleting webhooks.
    pub webhooks: PublicAccess,
    /// Deleting mail.
    pub delete: PublicAccess,
    /// Reading mail.
    pub read: PublicAccess,
}

/// In the order in which help lists them.
pub(super) const SETTINGS: &[Setting] = &[
    Setting::new(
        "public-domains",
        Shape::One,
        "open|token|off",
        "Who may register domains over HTTP: anybody (open), or callers with a token; off says that to others",
        |c, v| one(v, public_access).map(|access| c.public.domains = access),
        |c| vec![c.public.domains.to_string()],
    ),
    Setting::new(
        "public-webhooks",
        Shape::One,
        "open|token|off",
        "Who may register, list and delete webhooks over HTTP",
        |c, v| one(v, public_access).map(|access| c.public.webhooks = access),
        |c| vec![c.public.webhooks.to_string()],
    ),
    Setting::new(
        "public-delete",
        Shape::One,
        "open|token|off",
        "Who may delete mail over HTTP",
        |c, v| one(v, public_access).map(|access| c.public.delete = access),
        |c| vec![c.public.delete.to_string()],
    ),
    Setting::new(
        "public-read",
        Shape::One,
        "open|token|off",
        "Who may read mail over HTTP",
        |c, v| one(v, public_access).map(|access| c.public.read = access),
        |c| vec![c.public.read.to_string()],
    ),
];

fn public_access(text: &str) -> Result<PublicAccess, ValueError> {
    match text {
        "open" => Ok(PublicAccess::Open),
        "token" => Ok(PublicAccess::Token),
        "off" => Ok(PublicAccess::Off),
        _ => Err(ValueError::malformed(text, "open, token or off")),
    }
}
