//! `DELETE /api/mail/delete`: Emails by `id`, or those of an address by `to`, which a filter may narrow.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use futures_util::future::try_join_all;
use serde::Serialize;

use super::Api;
use super::filter::Filter;
use super::memory::Asker;
use super::principal::Principal;
use super::problem::{Code, Problem};
use super::query::{self, Query};
use super::search::{EMAILS_MAX, Found};
use crate::model::{EmailId, Mailbox};

/// The most ids in one request.
const IDS_MAX: usize = 100;

/// The number of deletions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Deleted {
    pub(super) deleted: u64,
    /// With a filter, whether all Emails of the address were looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) complete: Option<bool>,
}

impl Deleted {
    /// So many deletions.
    pub(super) const fn number(deleted: u64) -> Self {
        Self { deleted, complete: None }
    }
}

/// Deletes Emails and answers with their number. An unknown id and an empty mailbox are not errors.
pub(super) async fn delete(
    State(api): State<Arc<Api>>,
    principal: Principal,
    asker: Asker,
    query: Query,
) -> Result<Json<Deleted>, Problem> {
    let ids = query.all("id").map(query::id).collect::<Result<Vec<_>, _>>()?;
    let deleted = match (query.get("to")?, &ids[..]) {
        (Some(_), []) => {
            let mailbox = query.address("to")?.mailbox(api.config.mail.subaddressing);
            api.permit(principal, &mailbox)?;
            let filter = Filter::of(&query)?;
            if filter.is_empty() {
                Deleted::number(api.store.delete_all(&mailbox, api.clock.now()).await?)
            } else {
                delete_found(&api, &asker, &mailbox, &filter).await?
            }
        }
        (None, [_, ..]) if ids.len() <= IDS_MAX => {
            let deletions = ids.iter().map(|id| delete_one(&api, principal, &asker, *id));
            let deleted = try_join_all(deletions).await?;
            Deleted::number(deleted.into_iter().map(u64::from).sum())
        }
        (None, []) => return Err(Problem::new(Code::ParameterMissing, "either 'to' or 'id' must be given")),
        (None, _) => {
            let detail = format!("a request deletes at most {IDS_MAX} ids");
            return Err(Problem::new(Code::ParameterRepeated, detail));
        }
        (Some(_), _) => {
            return Err(Problem::new(Code::ParametersConflict, "'to' and 'id' can't be given together"));
        }
    };
    Ok(Json(deleted))
}

/// Deletes the Emails of a mailbox that one search finds.
async fn delete_found(api: &Arc<Api>, asker: &Asker, mailbox: &Mailbox, filter: &Filter) -> Result<Deleted, Problem> {
    let Found { emails, next, .. } = api.search(asker, mailbox, filter, u64::MAX, EMAILS_MAX).await?;
    let now = api.clock.now();
    let deleted = try_join_all(emails.iter().map(|listed| api.store.delete(listed.id, now))).await?;
    Ok(Deleted { deleted: deleted.into_iter().map(u64::from).sum(), complete: Some(next.is_none()) })
}

/// Deletes one Email, if `principal` may. `false` if there is none.
pub(super) async fn delete_one(
    api: &Arc<Api>,
    principal: Principal,
    asker: &Asker,
    id: EmailId,
) -> Result<bool, Problem> {
    // This check reads the Email's envelope. The administrator needs no check, so a damaged Email can be deleted.
    if principal == Principal::Public {
        match api.email(principal, asker, id).await {
            Ok(_) => {}
            Err(problem) if problem.code() == Code::NotFound => return Ok(false),
            Err(problem) => return Err(problem),
        }
    }
    Ok(api.store.delete(id, api.clock.now()).await?)
}
