//! A token stays in its tab, or in the browser by choice, until it is forgotten.
//! Promise: it outlives the code below it.

use super::{Trial, watch};

const HAS_TOKEN: &str = "document.querySelector('#foot .plain + .plain')";
const STORED: &str =
    "[localStorage, sessionStorage].map((it) => Object.values({ ...it }).filter((it) => it.startsWith('tm_')).length)";

#[tokio::test]
#[ignore = "needs Chromium"]
async fn a_token_is_kept_as_long_as_was_chosen() {
    let trial = Trial::start().await;
    let token = trial.new_token("read").await;
    of_a_tab(&trial, &token).await;
    of_the_browser(&trial, &token).await;
    one_that_is_revoked_can_be_forgotten(&trial).await;
}

async fn of_a_tab(trial: &Trial, token: &str) {
    trial.open("about").await;
    trial.type_token(token).await;
    trial.open("about").await;
    trial.browser.until(HAS_TOKEN).await;
    assert_eq!(trial.browser.eval(STORED).await, serde_json::json!([0, 1]));
    let first = trial.browser.window().await;
    trial.browser.open_window().await;
    watch(&trial.browser).await;
    trial.open("about").await;
    trial.browser.until("document.querySelector('input[type=password]')").await;
    trial.browser.close_window().await;
    trial.browser.turn_to(&first).await;
    trial.browser.click("#foot .plain + .plain").await;
    trial.browser.until(&format!("!{HAS_TOKEN}")).await;
    assert_eq!(trial.browser.eval(STORED).await, serde_json::json!([0, 0]));
    trial.expect_no_complaints().await;
}

async fn of_the_browser(trial: &Trial, token: &str) {
    trial.open("about").await;
    trial.browser.click("#main input[type=checkbox]").await;
    trial.type_token(token).await;
    assert_eq!(trial.browser.eval(STORED).await, serde_json::json!([1, 0]));
    let first = trial.browser.window().await;
    let second = trial.browser.open_window().await;
    watch(&trial.browser).await;
    trial.open("all").await;
    trial.browser.until(HAS_TOKEN).await;
    trial.browser.until("document.querySelector('.nothing')").await;
    // What one window forgets, no other keeps.
    trial.browser.turn_to(&first).await;
    trial.browser.click("#foot .plain + .plain").await;
    trial.browser.turn_to(&second).await;
    trial.browser.until(&format!("!{HAS_TOKEN}")).await;
    assert_eq!(trial.browser.eval(STORED).await, serde_json::json!([0, 0]));
    trial.expect_no_complaints().await;
    trial.browser.close_window().await;
    trial.browser.turn_to(&first).await;
}

async fn one_that_is_revoked_can_be_forgotten(trial: &Trial) {
    trial.open("about").await;
    trial.browser.eval("sessionStorage.setItem('tempmail.token', 'tm_wrong')").await;
    trial.open("inbox/a@example.test").await;
    trial.browser.until("document.querySelector('.problem')?.innerText.startsWith('The token is wrong')").await;
    trial.browser.click(".problem > button").await;
    trial.browser.until("document.querySelector('.nothing')").await;
    trial.expect_no_complaints().await;
}
