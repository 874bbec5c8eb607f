//! Warns when no mail can arrive at an address, since its domain is not served.
//!
//! Reading mail checks no domain, so without the hint a user could wait for ever.

use serde_json::Value;

use super::Context;
use crate::client::Client;
use crate::model::{Address, DomainName, DomainPattern};

/// Prints a hint if the domain of `address` is not served or is deactivated. Returns whether it did.
///
/// Prints nothing if the service does not answer.
pub(super) async fn hint_unless_served(cx: &Context, client: &Client, address: &Address) -> bool {
    let name = address.domain();
    let Ok(domains) = client.get::<Vec<Value>>("/api/domains", &[]).await else { return false };
    let mut covering = domains.iter().filter(|domain| covers(domain, name)).peekable();
    if covering.peek().is_none() {
        cx.hint(&format!("no mail is received for {name}; see `tempmail domain list`"));
        return true;
    }
    let is_deactivated = covering.all(|domain| domain["status"] == "deactivated");
    if is_deactivated {
        cx.hint(&format!(
            "{name} is deactivated: its MX record points elsewhere; see `tempmail domain check-dns {name}`"
        ));
    }
    is_deactivated
}

/// Whether mail for `name` falls under an entry of the list of domains.
fn covers(domain: &Value, name: &DomainName) -> bool {
    let pattern = domain["domain"].as_str().and_then(|text| text.parse::<DomainPattern>().ok());
    pattern.is_some_and(|pattern| pattern.matches(name))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_pattern_covers_what_it_says() {
        let name: DomainName = "a.example.test".parse().expect("name");
        let covers = |pattern: &str| covers(&json!({ "domain": pattern }), &name);
        assert!(covers("*") && covers("*.example.test") && covers("a.example.test"));
        assert!(!covers("example.test"));
    }
}
