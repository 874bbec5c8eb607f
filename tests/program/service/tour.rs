//! The tour of README.
//! Promise: it outlives the code below it.

use crate::support::tour;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_tour_of_a_new_user() {
    tour::take(&[]).await;
}
