//! The search for messages, newest first, within bounds.

use std::sync::Arc;

use super::mailpit::query::Search;
use super::walk::Message;
use super::window::Viewer;
use crate::http::Api;
use crate::http::batch;
use crate::http::problem::Problem;
use crate::http::search::{EMAILS_MAX, OCTETS_MAX};
use crate::model::Listed;
use crate::reader;
use crate::store::StoreError;

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
        let mut unread = self.newest_messages(EMAILS_MAX).await?.messages;
        unread.truncate(EMAILS_MAX);
        let mut unread = unread.into_iter();
        let (mut found, mut octets) = (Vec::new(), 0);
        while let Some(length) = batch::length(unread.as_slice(), Message::size_octets) {
            let batch: Vec<Message> = unread.by_ref().take(length).collect();
            octets += batch.iter().map(Message::size_octets).sum::<u64>();
            found.extend(self.meeting(viewer, search.clone(), batch).await?);
            if found.len() >= limit || octets >= OCTETS_MAX {
                break;
            }
        }
        found.truncate(limit);
        Ok(found)
    }

    /// Those messages of a batch that a search finds.
    async fn meeting(
        self: &Arc<Self>,
        viewer: &Viewer,
        search: Search,
        batch: Vec<Message>,
    ) -> Result<Vec<Listed>, Problem> {
        let room = self.reserve_rendered(&viewer.asker, batch.iter().map(Message::size_octets)).await?;
        let (api, principal) = (Arc::clone(self), viewer.principal);
        let reading = async move {
            let _room = room;
            let mut meeting = Vec::new();
            for message in batch {
                let Some(email) = message.load(&api, principal).await? else { continue };
                if reader::read(&email.raw, |message| search.is_met(&email, message)) {
                    meeting.push(email.listed);
                }
            }
            Ok::<_, StoreError>(meeting)
        };
        Ok(self.reader.run(reading).await?)
    }
}
