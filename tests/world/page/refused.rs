//! A page that the service refuses says why, in the look of the page.
//! Promise: it outlives the code below it.

use super::Trial;
use crate::support::http;

#[tokio::test]
#[ignore = "needs Chromium"]
async fn a_refused_page_says_so_and_goes_on() {
    let trial = Trial::with("rate-limit = 600").await;
    trial.open("").await;
    let ground = "getComputedStyle(document.body).backgroundColor";
    let of_page = trial.browser.eval(ground).await;
    let url = format!("http://{}/api/domains/active", trial.server.http());
    while http::client().get(&url).send().await.expect("an answer").status() != 429 {}
    trial.browser.set_size(360, 740).await;
    trial.browser.open("about:blank").await;
    trial.browser.open(&format!("http://{}/", trial.server.http())).await;
    assert_eq!(trial.browser.text("h1").await, "Too many requests");
    assert_eq!(trial.browser.eval(ground).await, of_page);
    trial.expect_to_fit("the refusal").await;
    trial.expect_no_complaints().await;
    // It goes on by itself.
    trial.browser.until("document.querySelector('#main form.row')").await;
    trial.expect_no_complaints().await;
}
