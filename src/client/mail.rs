//! Mail as the interface shows it.

use serde::Deserialize;
use serde_json::Value;

/// The value of a member that is a text; empty if it is not there.
pub fn text<'v>(value: &'v Value, member: &str) -> &'v str {
    value[member].as_str().unwrap_or_default()
}

/// The texts of a list; none of anything else.
pub fn texts(list: &Value) -> impl Iterator<Item = &str> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str)
}

/// The value of a member that is a number, in digits; `-` if it is not there.
pub fn number(value: &Value, member: &str) -> String {
    value[member].as_number().map_or_else(|| "-".to_owned(), ToString::to_string)
}

/// A mail with all that the service says of it. It has an `id`; what else is not there is empty.
#[derive(Clone, Debug, PartialEq)]
pub struct Mail(pub Value);

impl Mail {
    /// UUID; knowing it is enough to read and delete the mail.
    pub fn id(&self) -> &str {
        self.text("id")
    }

    /// The value of a member that is a text.
    pub fn text(&self, member: &str) -> &str {
        text(&self.0, member)
    }

    /// The values of a member that is a list, such as `codes`, of which the best is the first.
    pub fn list(&self, member: &str) -> &[Value] {
        self.0[member].as_array().map(Vec::as_slice).unwrap_or_default()
    }

    /// The best one-time code.
    pub fn code(&self) -> Option<&str> {
        self.list("codes").first().map(|code| text(code, "code")).filter(|code| !code.is_empty())
    }

    /// The domain that its sender is proven to be of; empty if none is.
    pub fn verified(&self) -> &str {
        text(&self.0["authentication"], "verified")
    }

    /// Whether its sender is proven to be of `domain`, or of one below it.
    pub fn is_verified(&self, domain: &str) -> bool {
        let front = self.verified().strip_suffix(domain);
        front.is_some_and(|front| front.is_empty() || front.ends_with('.'))
    }

    /// Whether a later look may find out more about its sender.
    pub fn is_undecided(&self) -> bool {
        let found = &self.0["authentication"];
        let results = ["spf", "dmarc", "arc"].iter().map(|check| &found[*check]);
        let signatures = found["dkim"].as_array().into_iter().flatten();
        results.chain(signatures).any(|checked| checked["result"] == "temperror")
    }

    /// The sentence about who really sent it; empty if that was not checked.
    pub fn authentication(&self) -> &str {
        text(&self.0["authentication"], "summary")
    }

    /// The value of the first header field of this name, in any case.
    pub fn header(&self, name: &str) -> Option<&str> {
        let header = self.list("headers").iter().find(|header| text(header, "name").eq_ignore_ascii_case(name));
        header.map(|header| text(header, "value"))
    }
}

/// The newest mails of an address.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct MailPage {
    /// Newest first, without their bodies.
    pub emails: Vec<Value>,
    /// Mails in the whole inbox.
    pub total: u64,
}
