//! Warns when no mail can arrive at an address, since its domain is not served.
//!
//! Reading mail checks no domain, so without the hint a user could wait for ever.

use super::Context;
use crate::client::Client;
use crate::model::{Address, DomainStatus};

/// Prints a hint if the domain of `address` is not served or is deactivated. Returns whether it did.
///
/// Prints nothing if the service does not answer.
pub(super) async fn hint_unless_served(cx: &Context, client: &Client, address: &Address) -> bool {
    let name = address.domain();
    let Ok(domains) = client.domains().await else { return false };
    let mut covering = domains.iter().filter(|domain| domain.covers(name)).peekable();
    if covering.peek().is_none() {
        cx.hint(&format!("no mail is received for {name}; see `tempmail domain list`"));
        return true;
    }
    let is_deactivated = covering.all(|domain| domain.status == DomainStatus::Deactivated);
    if is_deactivated {
        cx.hint(&format!(
            "{name} is deactivated: its MX record points elsewhere; see `tempmail domain check-dns {name}`"
        ));
    }
    is_deactivated
}
