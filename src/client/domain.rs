//! Domains as the interface shows them.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::model::{DomainName, DomainPattern, DomainStatus};

/// A domain as the list gives it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Domain {
    /// The name, or a pattern such as `*.example.test` that the administrator has fixed.
    pub domain: String,
    /// Whether mail is received for it.
    pub status: DomainStatus,
    /// UTC, `YYYY-MM-DD HH:MM:SS`; `None` for one from flags or file.
    pub added_at: Option<String>,
    /// In the same form; `None` before the first check.
    pub last_checked_at: Option<String>,
    /// What the last check found, in one sentence.
    pub last_check_result: Option<String>,
    /// `owner`, `email`, `pinned` and `fixed` for the administrator, and fields of a later server.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

impl Domain {
    /// Whether mail for `name` falls under this entry.
    pub fn covers(&self, name: &DomainName) -> bool {
        self.domain.parse::<DomainPattern>().is_ok_and(|pattern| pattern.matches(name))
    }
}

/// A domain to register.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NewDomain {
    /// Its name.
    pub domain: DomainName,
    /// Name of the owner.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// Contact address of the owner.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
}

/// What became of a registration.
#[derive(Clone, Debug, PartialEq)]
pub struct AddedDomain {
    /// The domain as it is now.
    pub domain: Domain,
    /// `false`: it was registered before and has been checked again.
    pub is_new: bool,
}

/// An address that nobody can guess.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FreshAddress {
    /// The address.
    pub address: String,
    /// Its domain.
    pub domain: String,
    /// The pattern of the settings that covers the domain; `None` if it has a name of its own.
    pub pattern: Option<String>,
}

/// What a round of verification did, in numbers of domains.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Round {
    /// Asked for.
    pub checked: u64,
    /// Deactivated, because their MX points elsewhere.
    pub deactivated: u64,
    /// Active again, because their MX points here again.
    pub reactivated: u64,
    /// Without an answer, and left as they were.
    pub failed: u64,
    /// Found elsewhere and left active, because there were too many of them at once.
    pub held_back: u64,
    /// Fields of a later server.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_pattern_covers_what_it_says() {
        let domain = |name: &str| -> Domain {
            serde_json::from_value(json!({"domain": name, "status": "active"})).expect("domain")
        };
        let name: DomainName = "a.example.test".parse().expect("name");
        assert!(domain("*").covers(&name));
        assert!(domain("*.example.test").covers(&name));
        assert!(domain("a.example.test").covers(&name));
        assert!(!domain("example.test").covers(&name));
    }
}
