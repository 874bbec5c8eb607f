//! Deleting messages: one, or all.

use std::sync::Arc;

use futures_util::stream::{self, StreamExt, TryStreamExt};

use super::walk::query;
use super::window::Viewer;
use crate::http::Api;
use crate::http::delete::delete_one;
use crate::http::problem::{Code, Problem};
use crate::model::EmailId;

/// How many Emails are deleted at once. The store makes them durable together.
const AT_ONCE: usize = 32;

/// Deletes the message of an Email: all its Emails that the viewer may delete. An unknown id is no error.
pub(super) async fn delete_message(api: &Arc<Api>, viewer: &Viewer, id: EmailId) -> Result<(), Problem> {
    let ids = match api.email(viewer.principal, &viewer.asker, id).await {
        Ok((email, _room)) => email.envelope.recipients.iter().map(|recipient| recipient.id).collect(),
        Err(problem) if problem.code() == Code::EmailDamaged => vec![id],
        Err(problem) => return unless_hidden(problem),
    };
    delete_emails(api, viewer, ids).await
}

/// Deletes every Email that the viewer may delete and that was there at the call.
pub(super) async fn delete_all(api: &Arc<Api>, viewer: &Viewer) -> Result<(), Problem> {
    let mut after = None;
    loop {
        let page = api.store.newest(query(after), api.clock.now()).await?;
        delete_emails(api, viewer, page.emails.into_iter().map(|newest| newest.listed.id).collect()).await?;
        after = page.next;
        if after.is_none() {
            return Ok(());
        }
    }
}

async fn delete_emails(api: &Arc<Api>, viewer: &Viewer, ids: Vec<EmailId>) -> Result<(), Problem> {
    let deletions = ids.into_iter().map(|id| async move {
        match delete_one(api, viewer.principal, &viewer.asker, id).await {
            Ok(_) => Ok(()),
            Err(problem) => unless_hidden(problem),
        }
    });
    stream::iter(deletions).buffer_unordered(AT_ONCE).try_collect().await
}

/// No error for a message that the viewer can't see.
fn unless_hidden(problem: Problem) -> Result<(), Problem> {
    match problem.code() {
        Code::NotFound | Code::RoleAddress => Ok(()),
        _ => Err(problem),
    }
}
