//! A page that the service refuses says why, in the look of the page.
//! Promise: it outlives the code below it.

use super::Trial;
use crate::support::http;

#[tokio::test]
#[ignore = "needs Chromium"]
async fn a_refused_page_says_so_and_goes_on() {
    // One request every ten seconds.
    let trial = Trial::with("rate-limit = 6").await;
    let url = format!("http://{}/api/domains/active", trial.server.http());
    while http::client().get(&url).send().await.expect("an answer").status() != 429 {}
    trial.browser.open(&format!("http://{}/", trial.server.http())).await;
    assert_eq!(trial.browser.text("h1").await, "Too many requests");
    let again = trial.browser.eval("Number(document.querySelector('meta[http-equiv=refresh]').content)").await;
    assert!(again.as_u64() >= Some(10), "it goes on by itself: {again}");
    trial.browser.set_size(360, 740).await;
    trial.expect_to_fit("the refusal").await;
    let ground = "getComputedStyle(document.body).backgroundColor";
    for (is_dark, colour) in [(false, "rgb(246, 247, 249)"), (true, "rgb(17, 21, 28)")] {
        trial.browser.set_dark(is_dark).await;
        trial.browser.until(&format!("{ground} === '{colour}'")).await;
    }
    trial.expect_no_complaints().await;
}
