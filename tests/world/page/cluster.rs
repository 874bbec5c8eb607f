//! The page over mail that is kept in a cluster.

use super::{Trial, arriving, deleting};
use crate::support::keyspaces;

#[tokio::test]
async fn the_page_is_the_same_over_a_cluster() {
    let Some(keyspace) = keyspaces::empty("the page over a cluster").await else { return };
    let settings = keyspaces::settings(&keyspace);
    let Some(trial) = Trial::with("the page over a cluster", &settings).await else { return };
    arriving::mail_appears_without_a_reload(&trial).await;
    arriving::what_was_read_is_no_longer_marked(&trial).await;
    deleting::buttons_delete_and_undo(&trial).await;
    deleting::the_other_window_follows(&trial).await;
}
