//! The body of a list: Emails as JSON, written in pieces as the client takes them.

use std::sync::Arc;
use std::vec;

use axum::body::{Body, Bytes};
use serde::Serialize;

use super::Api;
use super::batch;
use super::fields::Fields;
use super::memory::{Asker, Room};
use super::pieces::{self, Pieces};
use super::problem::Problem;
use crate::model::Listed;
use crate::store::StoreError;

/// Room for the end of the body, in octets.
const FOOT_OCTETS: usize = 160;

/// The beginning of the body.
const BEGINNING: &[u8] = b"{\"emails\":[";

/// The members of the answer after the Emails. Those that are `None` are left out.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Foot {
    /// Readable Emails in the mailbox. With a filter, those that passed it among the scanned ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) total: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) page: Option<u64>,
    pub(super) limit: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) pages: Option<u64>,
    /// With a filter, how many Emails it looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) scanned: Option<usize>,
    /// With a filter, whether it looked at all Emails, from the cursor on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) complete: Option<bool>,
    /// With a cursor, that of the next page, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) next_cursor: Option<String>,
}

impl Foot {
    /// The end of a page that is known by its number.
    pub(super) fn of_page(total: u64, page: u64, limit: u64) -> Self {
        let pages = Some(total.div_ceil(limit));
        Self { total: Some(total), page: Some(page), limit, pages, ..Self::default() }
    }

    /// Writes the end of the body: the end of the list, and the other members of the object.
    fn write(&self, json: &mut Vec<u8>) -> Result<(), Problem> {
        let members = serde_json::to_string(self).map_err(|_| Problem::internal())?;
        json.extend_from_slice(b"],");
        json.extend_from_slice(members.trim_start_matches('{').as_bytes());
        Ok(())
    }
}

/// The body of the answer, and how much of it was written.
pub(super) struct Page {
    api: Arc<Api>,
    asker: Asker,
    unread: vec::IntoIter<Listed>,
    /// The fields of each Email; `None` for the six of the interface.
    fields: Option<Fields>,
    foot: Foot,
    /// Whether an Email was written.
    has_emails: bool,
    /// Whether the foot was written.
    is_ended: bool,
}

impl Pieces for Page {
    fn is_ended(&self) -> bool {
        self.is_ended
    }

    /// The next piece of the body after `json`: Emails, and the foot after the last one.
    async fn next(&mut self, mut json: Vec<u8>) -> Result<Bytes, Problem> {
        while let Some(batch) = self.next_batch() {
            let (emails, room) = self.render(batch).await?;
            // Each is followed by a comma, or by the members of the foot.
            json.reserve(emails.iter().map(|email| email.len() + 1).sum::<usize>() + FOOT_OCTETS);
            for email in &emails {
                if self.has_emails {
                    json.push(b',');
                }
                json.extend_from_slice(email);
                self.has_emails = true;
            }
            let is_last = self.unread.as_slice().is_empty();
            if is_last {
                self.end(&mut json)?;
            }
            // A batch of which nothing is left must not end the body's stream.
            if is_last || !emails.is_empty() {
                return Ok(room.hold(json));
            }
        }
        self.end(&mut json)?;
        Ok(json.into())
    }
}

impl Page {
    /// The body of an answer with these Emails. Its first piece is written before this returns.
    ///
    /// An Email that is removed meanwhile is left out. A damaged Email is left out too and logged, so that the others stay
    /// readable. If the store fails before the first octet, the answer is an error. After that, the body breaks off, and
    /// clients see that it is incomplete.
    pub(super) async fn write(
        api: Arc<Api>,
        asker: Asker,
        emails: Vec<Listed>,
        fields: Option<Fields>,
        foot: Foot,
    ) -> Result<Body, Problem> {
        let unread = emails.into_iter();
        let page = Self { api, asker, unread, fields, foot, has_emails: false, is_ended: false };
        pieces::body(page, BEGINNING.to_vec()).await
    }

    fn end(&mut self, json: &mut Vec<u8>) -> Result<(), Problem> {
        self.is_ended = true;
        self.foot.write(json)
    }

    /// The JSON of each Email that is still there, and the room that it takes. Only Emails that were not rendered lately
    /// need a thread of the reader.
    async fn render(&self, batch: Vec<Listed>) -> Result<(Vec<Bytes>, Room), Problem> {
        let (rendered, reader, store) = (&self.api.rendered, &self.api.reader, &self.api.store);
        let known = batch.iter().map(|listed| rendered.get(listed, self.fields.as_ref()));
        if let Some(emails) = known.collect::<Option<Vec<Bytes>>>() {
            let room = self.api.reserve(&self.asker, emails.iter().map(|email| email.len() as u64 + 1).sum()).await?;
            return Ok((emails, room));
        }
        let room = self.api.reserve_rendered(&self.asker, batch.iter().map(|listed| listed.size_octets)).await?;
        let (store, rendered, fields) = (Arc::clone(store), rendered.clone(), self.fields.clone());
        let reading = async move {
            let mut emails = Vec::with_capacity(batch.len());
            for listed in &batch {
                emails.extend(rendered.read(&*store, listed, fields.as_ref()).await?);
            }
            Ok::<_, StoreError>((emails, room))
        };
        Ok(reader.run(reading).await?)
    }

    /// The next Emails that are read in one go.
    fn next_batch(&mut self) -> Option<Vec<Listed>> {
        let length = batch::length(self.unread.as_slice(), |listed| listed.size_octets)?;
        Some(self.unread.by_ref().take(length).collect())
    }
}
