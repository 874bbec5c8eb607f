//! `DELETE /api/mail/delete`: one Email by `id`, or all of an address by `to`.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::Serialize;

use super::Api;
use super::memory::Asker;
use super::principal::Principal;
use super::problem::{Code, Problem};
use super::query::Query;
use crate::model::EmailId;

/// The number of deletions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Deleted {
    pub(super) deleted: u64,
}

/// Deletes Emails and answers with their number. An unknown id and an empty mailbox are not errors.
pub(super) async fn delete(
    State(api): State<Arc<Api>>,
    principal: Principal,
    asker: Asker,
    query: Query,
) -> Result<Json<Deleted>, Problem> {
    let deleted = match (query.get("to")?, query.get("id")?) {
        (Some(_), None) => {
            let mailbox = query.address("to")?.mailbox(api.config.mail.subaddressing);
            api.permit(principal, &mailbox)?;
            api.store.delete_all(&mailbox, api.clock.now()).await?
        }
        (None, Some(_)) => u64::from(delete_one(&api, principal, &asker, query.id("id")?).await?),
        (None, None) => return Err(Problem::new(Code::ParameterMissing, "either 'to' or 'id' must be given")),
        (Some(_), Some(_)) => {
            return Err(Problem::new(Code::ParametersConflict, "'to' and 'id' can't be given together"));
        }
    };
    Ok(Json(Deleted { deleted }))
}

async fn delete_one(api: &Arc<Api>, principal: Principal, asker: &Asker, id: EmailId) -> Result<bool, Problem> {
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
