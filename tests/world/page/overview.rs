//! What holders of a token see of the whole service.
//! Promise: it outlives the code below it.

use std::time::Duration;

use super::Trial;

#[tokio::test]
#[ignore = "needs Chromium"]
async fn the_plots_show_the_last_hour_at_once() {
    let trial = Trial::start().await;
    trial.deliver_many("ann@example.test", 3).await;
    for _ in 0..3 {
        trial.server.pass(Duration::from_secs(10)).await;
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    trial.open("overview").await;
    trial.type_token(&trial.new_token("read").await).await;
    trial.browser.until("document.querySelector('.plots + h2 + div table')").await;
    let plots = "[...document.querySelectorAll('.plot')].map((it) => [it.querySelector('figcaption span').innerText,
        it.querySelector('output').innerText, it.querySelector('polyline').getAttribute('points').split(' ').length])";
    let plots = trial.browser.eval(plots).await;
    let plots: Vec<(String, String, u64)> = serde_json::from_value(plots).expect("plots");
    assert_eq!(plots.len(), 6, "{plots:?}");
    assert!(plots.iter().all(|(_, _, points)| *points >= 3), "{plots:?}");
    let latest = |title: &str| plots.iter().find(|(name, ..)| name == title).map(|(_, latest, _)| latest.as_str());
    assert_eq!((latest("Mails received per minute"), latest("Mails stored")), (Some("3"), Some("3")), "{plots:?}");
    let paths =
        "performance.getEntriesByType('resource').map(({ name }) => name).filter((name) => name.includes('metrics'))";
    assert_eq!(trial.browser.count("table a[href='#/inbox/ann%40example.test']").await, 1);
    assert_eq!(trial.browser.eval(paths).await, serde_json::json!([]));
    trial.expect_no_complaints().await;
}
