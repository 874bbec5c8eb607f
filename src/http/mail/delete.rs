//! `DELETE /api/mail/delete`: Emails by `id`, or those of an address by `to`, which a filter may narrow.

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use futures_util::future::{join_all, try_join_all};
use serde::Serialize;

use super::filter::Filter;
use super::scan::{EMAILS_MAX, Found};
use crate::http::{Api, Caller, Code, Problem, Query};
use crate::model::{EmailId, Mailbox};

/// The most ids in one request.
const IDS_MAX: usize = 100;

/// The number of deletions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(in crate::http) struct Deleted {
    #[serde(rename = "deleted")]
    count: u64,
    /// With a filter, whether all Emails of the address were looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::http) complete: Option<bool>,
    /// With several ids, those that named no Email.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(in crate::http) missing: Vec<EmailId>,
}

impl Deleted {
    /// So many deletions.
    pub(in crate::http) const fn number(count: u64) -> Self {
        Self { count, complete: None, missing: Vec::new() }
    }
}

/// Deletes Emails and answers with their number. An unknown id and an empty mailbox are not errors.
pub(in crate::http) async fn delete(
    State(api): State<Arc<Api>>,
    mut caller: Caller,
    query: Query,
) -> Result<Json<Deleted>, Problem> {
    let ids = query.all("id")?;
    let deleted = match (query.get("to")?, &ids[..]) {
        (Some(_), []) => {
            let mailbox = api.mailbox(&mut caller, &query.address("to")?).await?;
            let filter = Filter::of(&query)?;
            let before = before(&query)?;
            if filter.is_empty() {
                Deleted::number(api.store.delete_all(&mailbox, before, api.clock.now()).await?)
            } else {
                delete_found(&api, &caller, &mailbox, &filter, before).await?
            }
        }
        (None, [_, ..]) if ids.len() <= IDS_MAX => delete_each(&api, &caller, &ids).await?,
        (None, []) => return Err(Problem::new(Code::ParameterMissing, "either 'to' or 'id' must be given")),
        (None, _) => {
            return Err(Problem::misplaced("id", format!("a request deletes at most {IDS_MAX} ids")));
        }
        (Some(_), _) => {
            return Err(Problem::misplaced("id", "'to' and 'id' can't be given together"));
        }
    };
    Ok(Json(deleted))
}

/// The sequence number below which Emails are deleted. The last page of a walk has no cursor, and none is not all.
fn before(query: &Query) -> Result<u64, Problem> {
    match query.get("cursor")? {
        Some("") => Err(Problem::invalid("cursor", "'cursor' must be the 'nextCursor' of an answer")),
        _ => Ok(query.cursor()?.unwrap_or(u64::MAX)),
    }
}

/// Deletes the Emails of a mailbox that one search finds.
async fn delete_found(
    api: &Arc<Api>,
    caller: &Caller,
    mailbox: &Mailbox,
    filter: &Filter,
    before: u64,
) -> Result<Deleted, Problem> {
    let Found { emails, next, .. } = api.search(caller, mailbox, filter, before, EMAILS_MAX).await?;
    let deleted = delete_all(api, emails.into_iter().map(|listed| listed.id)).await?;
    Ok(Deleted { complete: Some(next.is_none()), ..Deleted::number(deleted.len() as u64) })
}

/// Deletes Emails by their ids. If one of them is refused, all of them stay.
async fn delete_each(api: &Arc<Api>, caller: &Caller, ids: &[EmailId]) -> Result<Deleted, Problem> {
    // Deletions run at the same time, and in a cluster two of one Email may both find it.
    let named: BTreeSet<EmailId> = ids.iter().copied().collect();
    let found = try_join_all(named.iter().map(|id| is_deletable(api, caller, *id))).await?;
    let found = named.iter().zip(found).filter(|(_, is_found)| *is_found).map(|(id, _)| *id);
    let deleted = delete_all(api, found).await?;
    // For a single id, the number says it.
    let missing = if ids.len() > 1 { named.difference(&deleted).copied().collect() } else { Vec::new() };
    Ok(Deleted { missing, ..Deleted::number(deleted.len() as u64) })
}

/// Deletes these Emails and returns those that were there. All deletions end before a failure is told, so that none goes
/// on afterwards.
pub(in crate::http) async fn delete_all(
    api: &Api,
    ids: impl Iterator<Item = EmailId>,
) -> Result<BTreeSet<EmailId>, Problem> {
    let now = api.clock.now();
    let deletions = ids.map(async |id| Ok::<_, Problem>(api.store.delete(id, now).await?.then_some(id)));
    join_all(deletions).await.into_iter().filter_map(Result::transpose).collect()
}

/// Whether `caller` may delete an Email; `false` if there is none. For the administrator always `true`, even if there is none.
async fn is_deletable(api: &Arc<Api>, caller: &Caller, id: EmailId) -> Result<bool, Problem> {
    // This check reads the Email's envelope. The administrator needs no check, so a damaged Email can be deleted.
    if caller.reads_all() {
        return Ok(true);
    }
    match api.email(caller, id).await {
        Ok(_) => Ok(true),
        Err(problem) if problem.code() == Code::NotFound => Ok(false),
        Err(problem) => Err(problem),
    }
}
