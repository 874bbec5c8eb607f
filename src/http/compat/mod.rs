//! The interface of Mailpit, for test suites that were written for it. The setting `compat-api` opens it.
//!
//! It shows the mail of all inboxes, so [`gate`] decides who may use it. A message with several recipients is one
//! message here, as it is there, although it is one Email for each recipient.
//!
//! ```text
//! gate      who may use it               refusal   errors as the original has them
//! window    which part of a list is wanted, and who asks for it
//! walk      the newest messages of all inboxes     search   those that a query finds
//! listing   a list as JSON, piece by piece         removal  deleting messages
//! fields    header fields as they were received    mailpit  the handlers and the JSON
//! ```
//!
//! None of this is in the description of the interface: it belongs to another project.

mod fields;
mod gate;
mod listing;
mod mailpit;
mod refusal;
mod removal;
mod search;
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
    match config.http.compat_api {
        CompatApi::Off => Router::new(),
        CompatApi::Mailpit => {
            mailpit::routes().layer(middleware::from_fn_with_state(Gate::new(config, Arc::clone(auth)), gate::pass))
        }
    }
}
