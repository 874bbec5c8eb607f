//! What each tool does.

use rmcp::model::{CallToolResult, ContentBlock, JsonObject};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::{Value, json};

use super::super::one_mail;
use super::answers::{Answer, Deleted, FoundCode, FreshAddress, Inbox, Mail};
use super::arguments::{self, bad};
use super::session::Session;
use super::text::{self, Fence, LINE_CHARS_MAX};
use super::wait;
use crate::error::{Error, Exit};
use crate::model::{Address, DomainName, EmailId};
use crate::random::LocalPartPrefix;

/// Why a call has no answer.
pub(super) enum Failure {
    /// The call itself is wrong, which is an error of the protocol.
    Refused(ErrorData),
    /// The tool has failed, and the model is told why.
    Failed(Error),
}

impl From<ErrorData> for Failure {
    fn from(error: ErrorData) -> Self {
        Self::Refused(error)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

/// The answer of a tool.
pub(super) fn answered(answer: &impl Answer, fence: &Fence) -> CallToolResult {
    let mut result = CallToolResult::structured(json!(answer));
    result.content = vec![ContentBlock::text(answer.text(fence))];
    result
}

/// The answer of a tool that has failed: the sentence and the hint of the command line.
pub(super) fn failed(error: &Error) -> CallToolResult {
    let hint = error.what_to_do().map(|hint| format!("\nhint: {hint}")).unwrap_or_default();
    CallToolResult::error(vec![ContentBlock::text(text::body(&format!("error: {error}{hint}")).0)])
}

pub(super) async fn new_address(session: &Session, given: Option<JsonObject>) -> Result<CallToolResult, Failure> {
    let given: arguments::NewAddress = arguments::read(given)?;
    let domain = given.domain.as_deref().map(|text| arguments::value::<DomainName>("domain", text)).transpose()?;
    if let Some(prefix) = &given.prefix {
        arguments::value::<LocalPartPrefix>("prefix", prefix)?;
    }
    if let Some(domain) = &domain {
        session.check_domain(domain)?;
    }
    let domain = domain.as_ref().or(session.domain_default());
    let query = [("domain", domain.map(ToString::to_string)), ("prefix", given.prefix.clone())];
    let fresh: Value = session.client().await?.get("/api/addresses/random", &query).await.map_err(Error::from)?;
    let member = |name: &str| text::line(fresh[name].as_str().unwrap_or_default(), LINE_CHARS_MAX);
    let answer = FreshAddress { address: member("address"), domain: member("domain") };
    Ok(answered(&answer, &Fence::new()))
}

pub(super) async fn wait_for_mail(
    session: &Session,
    context: &RequestContext<RoleServer>,
    given: Option<JsonObject>,
) -> Result<CallToolResult, Failure> {
    let detail = wait::mail(session, context, arguments::read(given)?, None).await?;
    let fence = Fence::new();
    Ok(answered(&Mail::of(&detail, &fence), &fence))
}

pub(super) async fn wait_for_code(
    session: &Session,
    context: &RequestContext<RoleServer>,
    given: Option<JsonObject>,
) -> Result<CallToolResult, Failure> {
    let detail = wait::mail(session, context, arguments::read(given)?, Some("code")).await?;
    let found = FoundCode::of(&detail).ok_or_else(|| {
        Error::new(Exit::Unavailable, "the service finds no codes in mail").hint("read_mail shows the whole mail")
    })?;
    Ok(answered(&found, &Fence::new()))
}

pub(super) async fn list_inbox(session: &Session, given: Option<JsonObject>) -> Result<CallToolResult, Failure> {
    let given: arguments::List = arguments::read(given)?;
    let limit = given.limit()?;
    let address: Address = arguments::value("address", &given.address)?;
    session.check(&address)?;
    let page = session.client().await?.newest(&address, limit).await.map_err(Error::from)?;
    Ok(answered(&Inbox::of(&page), &Fence::new()))
}

pub(super) async fn read_mail(session: &Session, given: Option<JsonObject>) -> Result<CallToolResult, Failure> {
    let given: arguments::Read = arguments::read(given)?;
    let id: EmailId = arguments::value("id", &given.id)?;
    let detail = session.client().await?.email(id).await.map_err(one_mail::refused)?;
    session.check_recipient(&detail.email.recipient)?;
    let fence = Fence::new();
    Ok(answered(&Mail::of(&detail, &fence), &fence))
}

pub(super) async fn delete_mail(session: &Session, given: Option<JsonObject>) -> Result<CallToolResult, Failure> {
    let given: arguments::Delete = arguments::read(given)?;
    let deleted = match (given.id.as_deref(), given.address.as_deref()) {
        (Some(id), None) => delete_one(session, arguments::value("id", id)?).await?,
        (None, Some(address)) => {
            let address: Address = arguments::value("address", address)?;
            session.check(&address)?;
            session
                .client()
                .await?
                .delete("/api/mail/delete", &[("to", Some(address.to_string()))])
                .await
                .map_err(Error::from)?
        }
        _ => return Err(bad("arguments", "exactly one of id and address is needed").into()),
    };
    Ok(answered(&Deleted { deleted }, &Fence::new()))
}

async fn delete_one(session: &Session, id: EmailId) -> Result<u64, Error> {
    let client = session.client().await?;
    let detail = client.email(id).await?;
    session.check_recipient(&detail.email.recipient)?;
    Ok(client.delete("/api/mail/delete", &[("id", Some(id.to_string()))]).await?)
}
