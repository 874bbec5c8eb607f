//! `/api/admin`: paths for the administrator and for bearers of tokens. [`super::authentication`] gives any other caller 401
//! for every path.

mod backup;
mod domains;
mod faults;
mod mail;
mod status;
mod tokens;
mod webhooks;

use std::sync::Arc;

use axum::extract::State;
use axum::routing::any;
use axum::{Json, Router};

use super::Api;
use super::route::{delete, get, post};
use crate::config::{Revision, SettingInEffect};

/// The routes of `/api/admin` and below. Revision 1 has no webhooks.
pub(super) fn routes(revision: Revision) -> Router<Arc<Api>> {
    let mut below = Router::new()
        .route("/domains", get(domains::list).merge(post(domains::add)).merge(delete(domains::remove)))
        .route("/domains/verify", post(domains::verify))
        .route("/status", get(status::show))
        .route("/config", get(config))
        .route("/stats", get(status::stats))
        .route("/messages", get(mail::messages))
        .route("/mailboxes", get(mail::mailboxes))
        .route("/tokens", get(tokens::list).merge(post(tokens::create)).merge(delete(tokens::revoke)))
        .route("/faults", get(faults::list).merge(post(faults::add)).merge(delete(faults::remove)))
        .route("/backup", get(backup::show))
        .fallback(super::unknown_path);
    if revision == Revision::Two {
        below = below
            .route("/webhooks", get(webhooks::list).merge(delete(webhooks::remove)))
            .route("/webhooks/{id}/deliveries", get(webhooks::deliveries))
            .route("/webhooks/{id}/replay", post(webhooks::replay))
            .route("/webhooks/{id}/test", post(webhooks::test));
    }
    // The nested router does not handle its own path with a slash at the end.
    Router::new().nest("/api/admin", below).route("/api/admin/", any(super::unknown_path))
}

/// `GET /api/admin/config`: every setting in effect, in the order of the guide.
async fn config(State(api): State<Arc<Api>>) -> Json<Vec<SettingInEffect>> {
    Json(api.config.in_effect())
}
