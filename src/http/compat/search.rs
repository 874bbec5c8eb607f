//! The search for messages, newest first, within bounds.

use std::sync::Arc;

use super::mailpit::query::Search;
use super::walk::Readable;
use super::window::Viewer;
use crate::http::mail::scan::EMAILS_MAX;
use crate::http::{Api, Problem};
use crate::mime::Message;
use crate::model::{Listed, StoredEmail};

impl Api {
    /// The messages that a search finds and that the viewer may read, newest first, at most `limit`. Each is an Email
    /// that the viewer may read.
    ///
    /// Looks at as many of the newest messages as a search of one inbox does.
    pub(super) async fn matching(
        self: &Arc<Self>,
        viewer: &Viewer,
        search: &Search,
        limit: usize,
    ) -> Result<Vec<Listed>, Problem> {
        let messages = self.newest_messages(EMAILS_MAX).await?.messages;
        let rows = messages.into_iter().take(EMAILS_MAX).map(|message| Readable(message, viewer.principal)).collect();
        let search = search.clone();
        let is_met = move |email: &StoredEmail, message: &Message<'_>| search.is_met(email, message);
        let (mut found, _) = self.scan(&viewer.asker, rows, limit, |_| true, is_met).await?;
        found.truncate(limit);
        Ok(found)
    }
}
