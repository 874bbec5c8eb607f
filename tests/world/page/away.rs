//! A service that is away for a while, and a browser that is: the page says so, and goes on by itself.
//! Promise: it outlives the code below it.

use super::{ROWS, Trial};

#[tokio::test]
#[ignore = "needs Chromium"]
async fn the_page_goes_on_after_an_interruption() {
    let trial = Trial::start().await;
    a_browser_without_network_is_told_so(&trial).await;
    a_restarted_service_is_found_again(trial).await;
}

async fn a_browser_without_network_is_told_so(trial: &Trial) {
    trial.deliver_many("offline@example.test", 1).await;
    trial.open_inbox("offline@example.test").await;
    trial.browser.set_offline(true).await;
    trial
        .browser
        .until("document.querySelector('.banner')?.innerText.startsWith('The service cannot be reached')")
        .await;
    assert_eq!(trial.browser.count(ROWS).await, 1, "what was read stays");
    trial.server.send("offline@example.test", "meanwhile", "x").await;
    trial.browser.set_offline(false).await;
    trial.until_rows(2).await;
    trial.browser.until("!document.querySelector('.banner')").await;
    trial.expect_no_complaints().await;
}

async fn a_restarted_service_is_found_again(trial: Trial) {
    trial.deliver_many("restart@example.test", 2).await;
    trial.open_inbox("restart@example.test").await;
    let Trial { server, browser } = trial;
    let start_again = server.pause("").await;
    browser.until("document.querySelector('.banner')").await;
    assert_eq!(browser.count(ROWS).await, 2, "what was read stays");
    // A view that has nothing yet says it too.
    browser.press("n").await;
    browser.until("document.querySelector('.problem')").await;
    browser.press("/restart@example.test\u{e007}").await;
    browser.until("document.querySelector('.inbox .problem')").await;
    let trial = Trial { server: start_again().await, browser };
    trial.until_rows(2).await;
    trial.server.send("restart@example.test", "after the restart", "x").await;
    trial.until_rows(3).await;
    trial.browser.until("!document.querySelector('.banner, .problem')").await;
    trial.expect_no_complaints().await;
}
