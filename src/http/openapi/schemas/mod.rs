//! The schemas of bodies. They repeat what the handlers write and read, since some of that is streamed or read by hand.

mod admin;
mod domains;
mod mail;
mod service;
mod webhooks;

use serde_json::{Map, Value};

use super::schema::{Member, count, flag, list, object, uuid};
use crate::config::Revision;

/// All schemas of a revision by their names.
pub(super) fn all(revision: Revision) -> Map<String, Value> {
    let deleted = object(
        "The number of deletions.",
        [("deleted", count("How many were deleted."))],
        [
            ("complete", flag("With a filter: whether all Emails of the address were looked at.")),
            ("missing", list("With several ids: those that named no Email, if there are any.", uuid("An id."))),
        ],
    );
    let mut all = vec![("Deleted", deleted)];
    all.extend(mail::schemas());
    all.extend(domains::schemas());
    all.extend(service::schemas(revision));
    all.extend(admin::schemas());
    if revision == Revision::Two {
        all.extend(webhooks::schemas());
    }
    all.into_iter().map(|(name, schema): Member| (name.to_owned(), schema)).collect()
}
