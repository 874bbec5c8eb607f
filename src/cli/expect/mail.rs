//! A mail as it is judged.

use std::cell::OnceCell;

use super::host::Host;
use crate::cli::html::{self, HtmlReader};
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
    pub(super) html: &'a HtmlReader,
    text: OnceCell<Option<Text>>,
}

/// The text that a person reads.
pub(super) struct Text {
    pub(super) text: String,
    /// Whether nothing of it is missing.
    pub(super) is_whole: bool,
}

impl<'a> Mail<'a> {
    pub(super) fn new(detail: &'a EmailDetail, html: &'a HtmlReader) -> Self {
        Self { detail, html, text: OnceCell::new() }
    }

    /// The text that `read` shows, with LF at line ends. `None` if it cannot be made of the HTML in time.
    pub(super) fn text(&self) -> Option<&Text> {
        self.text.get_or_init(|| self.read_text()).as_ref()
    }

    fn read_text(&self) -> Option<Text> {
        let is_of_html = read::has_only_html(self.detail);
        let message = &self.detail.email.message;
        let whole = if is_of_html { self.html.to_text(message, WIDTH)? } else { self.detail.body_text.clone() };
        let mut text = whole.replace("\r\n", "\n");
        let is_whole = text.len() <= TEXT_OCTETS_MAX && !(is_of_html && html::is_cut(message));
        text.truncate(text.floor_char_boundary(TEXT_OCTETS_MAX));
        Some(Text { text, is_whole })
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
