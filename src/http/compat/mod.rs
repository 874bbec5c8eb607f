//! The interfaces of Mailpit and MailHog, for test suites that were written for them. The setting `compat-api` chooses one.
//!
//! They show the mail of all inboxes, so [`gate`] decides who may use them. A message with several recipients is one
//! message here, as it is there, although it is one Email for each recipient.
//!
//! ```text
//! gate      who may use them             refusal   errors as these interfaces have them
//! window    which part of a list is wanted, and who asks for it
//! walk      the newest messages of all inboxes     search   those that fulfil a condition
//! listing   a list as JSON, piece by piece         removal  deleting messages
//! fields    header fields as they were received    text     texts that searches compare
//! mailpit, mailhog   the handlers and the JSON of each
//! ```
//!
//! None of this is in the description of the interface: it belongs to other projects.

mod fields;
mod gate;
mod listing;
mod mailhog;
mod mailpit;
mod refusal;
mod removal;
mod search;
mod text;
mod walk;
mod window;

use std::sync::Arc;

use axum::Router;
use axum::extract::Path;
use axum::extract::rejection::PathRejection;
use axum::middleware;

use super::Api;
use super::authentication::Authentication;
use crate::config::{CompatApi, Config};
use gate::Gate;

/// What a path has in the place of its names.
type InPath<T> = Result<Path<T>, PathRejection>;

/// The routes of the chosen interface.
pub(super) fn routes(config: &Config, auth: &Arc<Authentication>) -> Router<Arc<Api>> {
    let routes = match config.http.compat_api {
        CompatApi::Off => return Router::new(),
        CompatApi::MailHog => mailhog::routes(),
        CompatApi::Mailpit => mailpit::routes(),
    };
    routes.layer(middleware::from_fn_with_state(Gate::new(config, Arc::clone(auth)), gate::pass))
}
