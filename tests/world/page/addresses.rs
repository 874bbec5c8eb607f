//! The addresses of this browser: their newest mail, and codes that arrive while another view is shown.
//! Promise: it outlives the code below it.

use serde_json::json;

use super::{Trial, watch};

/// Notes what a page would notify of, in a browser that permits it.
const NOTIFICATIONS: &str = "(() => {
    const notified = [];
    Object.defineProperty(globalThis, 'notified', { value: notified });
    globalThis.Notification = class {
        static permission = 'granted';
        constructor(title, { body, tag }) { notified.push([title, body, tag]); }
        close() {}
    };
})()";
const ROW: &str = ".lines li:first-child";

#[tokio::test]
#[ignore = "needs Chromium"]
async fn addresses_are_watched() {
    let trial = Trial::start().await;
    trial.browser.before_documents(NOTIFICATIONS).await;
    the_newest_mail_of_each_is_shown(&trial).await;
    a_code_is_told_wherever_one_is(&trial).await;
    a_hidden_tab_is_notified(&trial).await;
    few_requests_are_made(&trial).await;
}

async fn the_newest_mail_of_each_is_shown(trial: &Trial) {
    trial.server.send("one@example.test", "before", "Your code is 111222.").await;
    for address in ["two@example.test", "one@example.test"] {
        trial.open_inbox(address).await;
    }
    trial.open("").await;
    trial.browser.until(&format!("document.querySelector('{ROW} .latest')?.innerText.includes('before')")).await;
    assert_eq!(trial.browser.text(&format!("{ROW} .count")).await, "Unread: 1");
    trial.browser.until("document.querySelector('.lines li:last-child .latest')?.innerText === 'No mail yet'").await;
    assert_eq!(trial.browser.title().await, "tempmail", "an old code is no news");
    trial.server.send("two@example.test", "after", "x").await;
    trial.browser.until("document.querySelector('.lines li:last-child .latest')?.innerText.includes('after')").await;
    trial.expect_no_complaints().await;
}

async fn a_code_is_told_wherever_one_is(trial: &Trial) {
    trial.go("domains").await;
    trial.browser.until("document.querySelector('table')").await;
    trial.server.send("one@example.test", "Sign in", "Your verification code is 482913.").await;
    trial.browser.until("document.title === '482913 · Domains · tempmail'").await;
    assert!(trial.browser.text(".notice").await.contains("Code for one@example.test: 482913"));
    trial.browser.click(".notice button").await;
    trial.browser.until("document.title === 'Domains · tempmail'").await;
    assert_eq!(trial.browser.clipboard().await, "482913");
    // It is told once, and not by the inbox again.
    trial.go("inbox/one@example.test").await;
    trial.browser.until("document.querySelector('.chip')").await;
    assert_eq!(trial.browser.title().await, "(2) one@example.test · tempmail");
    trial.server.send("one@example.test", "Again", "Your verification code is 777888.").await;
    trial.browser.until("document.title.startsWith('777888 · (3) one@')").await;
    assert_eq!(trial.browser.count(".notice .undo, .notice button").await, 0, "its chip is in view");
    trial.expect_no_complaints().await;
}

async fn a_hidden_tab_is_notified(trial: &Trial) {
    assert_eq!(trial.browser.eval("notified").await, json!([]), "whoever looks at the page is not notified");
    // A headless browser hides no tab.
    trial.browser.eval("void Object.defineProperty(document, 'hidden', { value: true })").await;
    let hidden = trial.browser.window().await;
    trial.browser.open_tab().await;
    watch(&trial.browser).await;
    trial.server.send("two@example.test", "Sign in", "Your verification code is 135790.").await;
    trial.browser.turn_to(&hidden).await;
    trial.browser.until("document.title.startsWith('135790') && notified.length > 0").await;
    let notified = trial.browser.eval("notified.map(([title, body]) => [title, body])").await;
    assert_eq!(notified, json!([["135790", "two@example.test\nbob@example.com"]]));
    trial.expect_no_complaints().await;
}

/// Once an address is known, a look at it asks for an id alone.
async fn few_requests_are_made(trial: &Trial) {
    let looks = "performance.getEntriesByType('resource').map(({ name }) => name).filter((name) => name.includes('messages?to=two'))";
    trial.browser.until(&format!("{looks}.filter((name) => name.endsWith('limit=1&fields=id')).length >= 2")).await;
    let whole = trial.browser.eval(&format!("{looks}.filter((name) => name.includes('limit=20')).length")).await;
    assert!(whole.as_u64() <= Some(4), "{whole}");
}
