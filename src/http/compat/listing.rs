//! A list of messages as JSON, written in pieces as the client takes them.

use std::sync::Arc;
use std::vec;

use axum::body::Bytes;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value};

use super::mailpit::summary;
use super::walk::Message;
use super::window::Viewer;
use crate::http::Api;
use crate::http::batch;
use crate::http::pieces::{self, Pieces};
use crate::http::problem::Problem;
use crate::store::StoreError;

/// The body of an answer, and how much of it was written.
struct Listing {
    api: Arc<Api>,
    viewer: Viewer,
    unread: vec::IntoIter<Message>,
    /// The members of the object that follow the list, without `count`.
    foot: Map<String, Value>,
    written: usize,
    is_ended: bool,
}

/// The answer with these messages and what follows them. Its first piece is written before this returns.
///
/// A message that is removed meanwhile, is damaged, or may not be read by the viewer is left out.
pub(super) async fn write(
    api: Arc<Api>,
    viewer: Viewer,
    messages: Vec<Message>,
    foot: Map<String, Value>,
) -> Result<Response, Problem> {
    let fields = [(header::CONTENT_TYPE, "application/json")];
    let listing = Listing { api, viewer, unread: messages.into_iter(), foot, written: 0, is_ended: false };
    Ok((fields, pieces::body(listing, b"{\"messages\":[".to_vec()).await?).into_response())
}

impl Pieces for Listing {
    fn is_ended(&self) -> bool {
        self.is_ended
    }

    /// The next piece of the body after `json`: messages, and the foot after the last one.
    async fn next(&mut self, mut json: Vec<u8>) -> Result<Bytes, Problem> {
        let Some(length) = batch::length(self.unread.as_slice(), Message::size_octets) else {
            self.end(&mut json)?;
            return Ok(json.into());
        };
        let batch: Vec<Message> = self.unread.by_ref().take(length).collect();
        let octets = batch.iter().map(Message::size_octets);
        let room = self.api.reserve_rendered(&self.viewer.asker, octets).await?;
        let (api, principal) = (Arc::clone(&self.api), self.viewer.principal);
        let reading = async move {
            let mut entries = Vec::with_capacity(batch.len());
            for message in &batch {
                entries.extend(message.load(&api, principal).await?.as_ref().and_then(summary::render));
            }
            Ok::<_, StoreError>((entries, room))
        };
        let (entries, room) = self.api.reader.run(reading).await?;
        for entry in entries {
            if self.written > 0 {
                json.push(b',');
            }
            json.extend_from_slice(&entry);
            self.written += 1;
        }
        if self.unread.as_slice().is_empty() {
            self.end(&mut json)?;
        } else if json.is_empty() {
            // An empty piece would end the body.
            json.push(b' ');
        }
        Ok(room.hold(json.into_boxed_slice()))
    }
}

impl Listing {
    fn end(&mut self, json: &mut Vec<u8>) -> Result<(), Problem> {
        self.is_ended = true;
        self.foot.insert("count".to_owned(), self.written.into());
        let members = serde_json::to_string(&self.foot).map_err(|_| Problem::internal())?;
        json.extend_from_slice(b"],");
        json.extend_from_slice(members.trim_start_matches('{').as_bytes());
        Ok(())
    }
}
