//! `/api/admin/messages` and `/api/admin/mailboxes`: the mail of all addresses.

use std::sync::Arc;

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde_json::json;

use crate::email::Fields;
use crate::http::mail::rows::{Entry, Row, Shown};
use crate::http::mail::{list, writer};
use crate::http::{Api, Caller, Problem, Query};
use crate::model::{Listed, StoredEmail};
use crate::store::{NewestEmail, NewestPage, NewestQuery};

/// `GET /api/admin/messages?domain=&after=&limit=&fields=`, newest first.
pub(super) async fn messages(State(api): State<Arc<Api>>, caller: Caller, query: Query) -> Result<Response, Problem> {
    let fields = list::fields(&query, Fields::WITHOUT_BODY)?;
    let shown = |newest: NewestEmail| Shown { listed: newest.listed, fields };
    answer(api, caller, &query, ("emails", false), shown).await
}

/// `GET /api/admin/mailboxes?domain=&after=&limit=`, in the order of the newest Email of each.
pub(super) async fn mailboxes(State(api): State<Arc<Api>>, caller: Caller, query: Query) -> Result<Response, Problem> {
    answer(api, caller, &query, ("mailboxes", true), |newest| newest).await
}

/// A page of the list `name`, whose entries are `shown`. Its `total` is null for one domain, and for a caller who may not
/// know. `next` is the `after` of the next page; null at the end.
async fn answer<E: Entry>(
    api: Arc<Api>,
    caller: Caller,
    query: &Query,
    (name, by_mailbox): (&str, bool),
    shown: impl FnMut(NewestEmail) -> E,
) -> Result<Response, Problem> {
    let limit = query.limit(api.config.http.page_size_default, api.config.http.page_size_max)?;
    let NewestPage { emails, total, next } =
        api.store.newest(wanted(query, limit, by_mailbox)?, api.clock.now()).await?;
    let total = api.known_total(&caller, total).await?;
    let foot = json!({ "total": total, "limit": limit, "next": next.map(|next| next.to_string()) }).to_string();
    let body = writer::body(api, caller, name, emails.into_iter().map(shown).collect(), |_| foot).await?;
    Ok(([(header::CONTENT_TYPE, "application/json")], body).into_response())
}

/// The page that a query is about.
fn wanted(query: &Query, limit: usize, by_mailbox: bool) -> Result<NewestQuery, Problem> {
    let after = query.opt("after")?;
    // Ignored like an unknown parameter, it would give the first page for ever.
    if query.get("page")?.is_some() {
        let detail = "this list has no 'page' any more; the 'next' of an answer is the 'after' of the next page";
        return Err(Problem::invalid("page", detail));
    }
    let domain = query.opt("domain")?;
    Ok(NewestQuery { by_mailbox, domain, after, limit })
}

impl Row for NewestEmail {
    fn listed(&self) -> &Listed {
        &self.listed
    }
}

/// The mailbox of an Email, which is the newest in it. The address is as that Email has it.
impl Entry for NewestEmail {
    fn room(&self) -> u64 {
        self.listed.size_octets
    }

    fn load_quick(&self, api: &Api) -> Option<StoredEmail> {
        api.store.load_cached(&self.listed)
    }

    fn write(&self, _: &Api, email: &StoredEmail, json: &mut Vec<u8>) -> bool {
        let Some(recipient) = email.recipient() else { return false };
        let mailbox = json!({
            "address": recipient.address,
            "messages": self.mailbox_emails,
            "newest": self.listed.received_at.to_interface(),
            "octets": self.mailbox_octets,
        });
        serde_json::to_writer(json, &mailbox).is_ok()
    }
}
