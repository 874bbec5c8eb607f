//! A mail as it is judged.

use std::cell::OnceCell;

use super::host::Host;
use crate::cli::read;
use crate::client::EmailDetail;
use crate::mime;

/// What is judged of a longer text.
const TEXT_OCTETS_MAX: usize = 1024 * 1024;
/// Columns that break no line of a mail that has only HTML.
const WIDTH: u16 = 1_000;

/// A mail with what assertions need of it, made once and when it is needed.
pub(super) struct Mail<'a> {
    pub(super) detail: &'a EmailDetail,
    text: OnceCell<String>,
}

impl<'a> Mail<'a> {
    pub(super) fn new(detail: &'a EmailDetail) -> Self {
        Self { detail, text: OnceCell::new() }
    }

    /// The text that `read` shows, with LF at line ends.
    pub(super) fn text(&self) -> &str {
        self.text.get_or_init(|| {
            let mut text = read::text(self.detail, WIDTH).replace("\r\n", "\n");
            text.truncate(text.floor_char_boundary(TEXT_OCTETS_MAX));
            text
        })
    }

    /// Whether the body has HTML of its own.
    pub(super) fn has_html(&self) -> bool {
        let message = &self.detail.email.message;
        !message.is_empty() && *message != mime::from_text(&self.detail.body_text)
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
