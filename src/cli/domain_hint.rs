//! Whether mail can come for an address at all: reading asks for no domain, so that somebody could wait for ever.

use super::Context;
use crate::client::Client;
use crate::model::{Address, DomainStatus};

/// Says on standard error why no mail comes for `address`, where its domain is not served or deactivated; whether it did.
/// Where the service can't tell, nothing is said.
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
