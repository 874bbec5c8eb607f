//! `/api/admin/messages` and `/api/admin/mailboxes`: the mail of all addresses.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::Serialize;

use crate::http::Api;
use crate::http::memory::Asker;
use crate::http::principal::Principal;
use crate::http::problem::{Code, Problem};
use crate::http::query::Query;
use crate::mime::Message;
use crate::model::{EmailId, StoredEmail, Timestamp};
use crate::reader;
use crate::store::{NewestPage, NewestQuery};

/// An Email without its content.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct NewestJson {
    id: EmailId,
    recipient: String,
    from: String,
    subject: String,
    received_at: String,
    expires_at: String,
    /// The size as received, in octets.
    size: u64,
}

/// A mailbox with Emails.
#[derive(Debug, Serialize)]
pub(super) struct MailboxJson {
    /// The address as the newest Email has it.
    address: String,
    messages: u64,
    /// When the newest Email was received.
    newest: String,
    octets: u64,
}

#[derive(Debug, Serialize)]
pub(super) struct MessagesJson {
    emails: Vec<NewestJson>,
    #[serde(flatten)]
    foot: Foot,
}

#[derive(Debug, Serialize)]
pub(super) struct MailboxesJson {
    mailboxes: Vec<MailboxJson>,
    #[serde(flatten)]
    foot: Foot,
}

/// What follows the entries of a page.
#[derive(Debug, Serialize)]
struct Foot {
    /// How many there are; null for those of one domain.
    total: Option<u64>,
    limit: u64,
    /// The value of `after` for the next page; null at the end.
    next: Option<String>,
}

/// The page that a request is about.
struct Wanted {
    query: NewestQuery,
    limit: u64,
}

impl Wanted {
    fn of(api: &Api, query: &Query, by_mailbox: bool) -> Result<Self, Problem> {
        let limit = query.limit(api.config.http.page_size_default as u64, api.config.http.page_size_max as u64)?;
        let after = query.opt("after", Code::AfterInvalid)?;
        // Ignored like an unknown parameter, it would give the first page for ever.
        if query.get("page")?.is_some() {
            let detail = "this list has no 'page' any more; the 'next' of an answer is the 'after' of the next page";
            return Err(Problem::new(Code::PageInvalid, detail));
        }
        let domain = query.opt("domain", Code::DomainInvalid)?;
        let page_size = usize::try_from(limit).unwrap_or(usize::MAX);
        Ok(Self { query: NewestQuery { by_mailbox, domain, after, limit: page_size }, limit })
    }

    fn foot(&self, found: &NewestPage) -> Foot {
        Foot { total: found.total, limit: self.limit, next: found.next.map(|next| next.to_string()) }
    }
}

/// `GET /api/admin/messages?domain=&after=&limit=`, newest first.
pub(super) async fn messages(
    State(api): State<Arc<Api>>,
    asker: Asker,
    query: Query,
) -> Result<Json<MessagesJson>, Problem> {
    let wanted = Wanted::of(&api, &query, false)?;
    let found = api.store.newest(wanted.query.clone(), api.clock.now()).await?;
    let foot = wanted.foot(&found);
    let mut emails = Vec::with_capacity(found.emails.len());
    for newest in found.emails {
        emails.extend(shown(&api, &asker, newest.listed.id, NewestJson::of).await?);
    }
    Ok(Json(MessagesJson { emails, foot }))
}

/// `GET /api/admin/mailboxes?domain=&after=&limit=`, in the order of the newest Email of each.
pub(super) async fn mailboxes(
    State(api): State<Arc<Api>>,
    asker: Asker,
    query: Query,
) -> Result<Json<MailboxesJson>, Problem> {
    let wanted = Wanted::of(&api, &query, true)?;
    let found = api.store.newest(wanted.query.clone(), api.clock.now()).await?;
    let foot = wanted.foot(&found);
    let mut mailboxes = Vec::with_capacity(found.emails.len());
    for newest in found.emails {
        let address = |email: &StoredEmail| email.recipient().map(|recipient| recipient.address.clone());
        let address = shown(&api, &asker, newest.listed.id, address).await?;
        mailboxes.extend(address.map(|address| MailboxJson {
            address,
            messages: newest.mailbox_emails,
            newest: newest.listed.received_at.to_interface(),
            octets: newest.mailbox_octets,
        }));
    }
    Ok(Json(MailboxesJson { mailboxes, foot }))
}

/// Shows one Email. `None` if it was removed meanwhile, or if it is damaged, which is logged.
async fn shown<T>(
    api: &Arc<Api>,
    asker: &Asker,
    id: EmailId,
    show: impl FnOnce(&StoredEmail) -> Option<T>,
) -> Result<Option<T>, Problem> {
    match api.email(Principal::Administrator, asker, id).await {
        Ok((email, _room)) => Ok(show(&email)),
        Err(problem) if problem.code() == Code::NotFound => Ok(None),
        Err(problem) if problem.code() == Code::EmailDamaged => {
            tracing::error!(%id, "a list lacks an Email that is damaged on the disk");
            Ok(None)
        }
        Err(problem) => Err(problem),
    }
}

impl NewestJson {
    /// The fields of an Email; `None` only if its envelope lacks it.
    fn of(email: &StoredEmail) -> Option<Self> {
        let from_and_subject = |message: &Message<'_>| {
            (message.from().unwrap_or(&email.envelope.reverse_path).to_owned(), message.subject().to_owned())
        };
        let (from, subject) = reader::read(&email.raw, from_and_subject);
        Some(Self {
            id: email.listed.id,
            recipient: email.recipient()?.address.clone(),
            from,
            subject,
            received_at: Timestamp::to_interface(email.listed.received_at),
            expires_at: Timestamp::to_interface(email.listed.expires_at),
            size: email.listed.size_octets,
        })
    }
}
