//! A mail as it is judged.

use std::borrow::Cow;
use std::cell::OnceCell;

use super::host::Host;
use crate::cli::read;
use crate::client::EmailDetail;
use crate::mime;

/// A mail with what assertions need of it, made once and when it is needed.
pub(super) struct Mail<'a> {
    pub(super) detail: &'a EmailDetail,
    text: OnceCell<Cow<'a, str>>,
}

impl<'a> Mail<'a> {
    pub(super) fn new(detail: &'a EmailDetail) -> Self {
        Self { detail, text: OnceCell::new() }
    }

    /// The text that `read` shows.
    pub(super) fn text(&self) -> &str {
        self.text.get_or_init(|| read::text(self.detail))
    }

    /// The hosts that its links lead to, each once.
    pub(super) fn link_hosts(&self) -> Vec<Host> {
        let mut hosts = Vec::new();
        for host in mime::addresses(&self.detail.email.message).iter().filter_map(Host::of) {
            if !hosts.contains(&host) {
                hosts.push(host);
            }
        }
        hosts
    }
}
