//! `tempmail new`: a fresh address.

use super::Context;
use crate::client::text;
use crate::error::{Error, Exit};
use crate::model::DomainName;
use crate::random::LocalPartPrefix;

/// Make an address that nobody can guess
///
/// Prints the address alone. Nothing is created: an address has an inbox as soon as mail arrives. The domain is one of
/// the administrator's if there is one.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  tempmail new
  tempmail new --domain example.org --prefix signup
  addr=$(tempmail new) && echo \"$addr\" && tempmail inbox \"$addr\"")]
pub(super) struct New {
    /// The domain, which must be active
    #[arg(long, value_name = "DOMAIN")]
    domain: Option<DomainName>,

    /// What the address begins with, before a hyphen and 17 random characters
    #[arg(long, value_name = "TEXT")]
    prefix: Option<String>,
}

impl New {
    pub(super) async fn run(self, cx: &Context) -> Result<(), Error> {
        if let Some(prefix) = &self.prefix {
            prefix.parse::<LocalPartPrefix>().map_err(|error| Error::new(Exit::Usage, format!("--prefix: {error}")))?;
        }
        let fresh = cx.client().await?.random_address(self.domain.as_ref(), self.prefix.as_deref()).await?;
        cx.answer(&fresh, text(&fresh, "address"))?;
        if fresh["pattern"].is_string() {
            let (pattern, domain) = (text(&fresh, "pattern"), text(&fresh, "domain"));
            cx.hint(&format!(
                "the service takes mail for {pattern}; this address is at {domain}, --domain names another"
            ));
        }
        Ok(())
    }
}
