//! The page over mail that is kept in a cluster.
//! Promise: it outlives the code below it.

use super::{Trial, arriving, deleting};
use crate::support::keyspaces;

#[tokio::test]
#[ignore = "needs Chromium and Cassandra"]
async fn the_page_is_the_same_over_a_cluster() {
    let keyspace = keyspaces::empty().await;
    let trial = Trial::with(&keyspaces::settings(&keyspace)).await;
    arriving::mail_appears_without_a_reload(&trial).await;
    arriving::what_was_read_is_no_longer_marked(&trial).await;
    deleting::buttons_delete_and_undo(&trial).await;
    deleting::the_other_window_follows(&trial).await;
}
