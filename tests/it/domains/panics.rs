//! A panic during a check.
//! Promise: it outlives the code below it.

use std::sync::Arc;

use serde_json::json;

use super::Setup;

#[tokio::test]
async fn a_panic_costs_one_domain_its_answer() {
    let setup = Setup::new().await;
    setup.register_many(3).await;
    let clock = Arc::clone(&setup.server.clock);
    let Setup { zone, server } = setup;
    let zone = Arc::new(zone);
    // The check of each domain reads the time once it has its answer.
    let asked = Arc::clone(&zone);
    clock.panic_when(move || asked.mx_questions("d1.test") == 2);
    let (status, round) = server.admin_post("/api/admin/domains/verify", &json!({})).await;
    assert_eq!(status, 200);
    assert_eq!([&round["checked"], &round["failed"], &round["deactivated"]], [3, 1, 0]);
    assert_eq!(server.get("/api/domains/active").await.json(), json!(["d0.test", "d1.test", "d2.test"]));
}
