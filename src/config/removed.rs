//! Settings that there are no more. A file that has one is answered with what replaces it, until the next release.

use super::setting::{Setting, Shape};

/// What becomes of a setting that is given although it is gone.
#[derive(Clone, Copy, Debug)]
pub(super) struct Removal {
    /// What its users do instead.
    pub(super) instead: &'static str,
    /// The values that closed or refused nothing and protected nobody; `None` is every value. With them the service starts
    /// and warns; with any other it would be less than it was asked to be, and so it does not start.
    harmless: Option<&'static [&'static str]>,
}

impl Removal {
    /// Whether the service can do without it.
    pub(super) fn is_harmless(&self, values: &[String]) -> bool {
        self.harmless.is_none_or(|harmless| values.iter().all(|value| harmless.contains(&value.as_str())))
    }
}

const fn removed(key: &'static str, harmless: Option<&'static [&'static str]>, instead: &'static str) -> Setting {
    Setting::new(key, Shape::Several, "VALUE", "", |_, _| Ok(()), |_| Vec::new()).gone(Removal { instead, harmless })
}

/// Every setting that is gone.
pub(super) const REMOVED: &[Setting] = &[
    removed("forwarded-field", Some(&["x-forwarded-for"]), "trusted proxies name the client in X-Forwarded-For"),
    removed("http-socket-mode", None, "HTTP has no Unix socket, and a reverse proxy reaches it on loopback"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::SETTINGS;

    #[test]
    fn what_is_gone_is_no_setting() {
        for gone in REMOVED {
            assert!(SETTINGS.iter().all(|setting| setting.key != gone.key), "{}", gone.key);
        }
    }
}
