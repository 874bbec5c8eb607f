//! The page by keyboard alone.
//! Promise: it outlives the code below it.

use serde_json::Value;

use super::{ROWS, Trial, views};
use crate::support::browser::keys::{ENTER, ESCAPE, TAB};

/// More presses of the tabulator than any view has controls.
const TABS_MAX: usize = 80;
/// What has the focus, by its place among all elements, and whether that is seen. A frame shows the focus within itself.
const FOCUS: &str = "(() => {
    const it = document.activeElement;
    const { outlineStyle, outlineWidth } = getComputedStyle(it);
    const isSeen = it.matches('iframe') || (it.matches(':focus-visible') && outlineStyle !== 'none' && parseFloat(outlineWidth) > 0);
    return [[...document.querySelectorAll('*')].indexOf(it), isSeen, it.outerHTML.slice(0, 200)];
})()";
/// The controls that are shown, each by its place among all elements.
const CONTROLS: &str = "[...document.querySelectorAll('*')].flatMap((it, index) =>
    it.matches('a[href], button, input, select, summary, iframe, [tabindex=\"0\"]') && it.checkVisibility({ visibilityProperty: true })
        && (!document.querySelector('dialog[open]') || it.closest('dialog')) ? [[index, it.outerHTML.slice(0, 200)]] : [])";

#[tokio::test]
#[ignore = "needs Chromium"]
async fn keys_do_everything() {
    let trial = Trial::with(views::SETTINGS).await;
    letters_go_through_an_inbox(&trial).await;
    letters_are_text_in_a_field(&trial).await;
    enter_follows_and_presses(&trial).await;
    tabs_reach_each_control_of_each_view(&trial).await;
}

async fn letters_go_through_an_inbox(trial: &Trial) {
    trial.deliver_many("letters@example.test", 3).await;
    trial.open_inbox("letters@example.test").await;
    for (key, mail) in [("j", "mail 3"), ("j", "mail 2"), ("j", "mail 1"), ("j", "mail 1"), ("k", "mail 2")] {
        trial.browser.press(key).await;
        trial.browser.until(&format!("document.activeElement.innerText.includes('{mail}')")).await;
    }
    trial.browser.press("o").await;
    trial.browser.until("document.querySelector('.mail-head h1')?.innerText === 'mail 2'").await;
    trial.browser.press("u").await;
    trial.browser.until("!document.querySelector('.inbox.open')").await;
    trial.browser.until("document.activeElement.innerText.includes('mail 2')").await;
    trial.browser.press("c").await;
    trial.browser.until("document.querySelector('.notice')?.innerText.includes('letters@example.test')").await;
    assert_eq!(trial.browser.clipboard().await, "letters@example.test");
    trial.browser.press("?").await;
    trial.browser.until("document.querySelector('dialog[open]')").await;
    assert_eq!(trial.browser.count("dialog kbd").await, 10);
    trial.browser.press("#").await;
    assert_eq!(trial.browser.count(ROWS).await, 3, "keys of the page are off under a dialog");
    trial.browser.press(ESCAPE).await;
    trial.browser.until("!document.querySelector('dialog')").await;
    trial.browser.press("u").await;
    trial.browser.until("location.hash === '#/'").await;
    trial.browser.press("n").await;
    trial.browser.until("/^#\\/inbox\\/.+%40example.test$/.test(location.hash)").await;
    let first = trial.browser.eval("location.hash").await;
    trial.browser.press("n").await;
    trial.browser.until(&format!("location.hash.includes('inbox/') && location.hash !== {first}")).await;
    trial.expect_no_complaints().await;
}

async fn letters_are_text_in_a_field(trial: &Trial) {
    trial.open("about").await;
    trial.browser.press("/").await;
    trial.browser.until("document.activeElement.id === 'go'").await;
    trial.browser.press("jn?#@example.test").await;
    assert_eq!(trial.browser.eval("document.activeElement.value").await, "jn?#@example.test");
    trial.browser.press(ENTER).await;
    trial.browser.until("document.querySelector('.inbox h1')?.innerText === 'jn?#@example.test'").await;
    trial.expect_no_complaints().await;
}

async fn enter_follows_and_presses(trial: &Trial) {
    trial.deliver_many("enter@example.test", 1).await;
    trial.open_inbox("enter@example.test").await;
    trial.browser.press(TAB).await;
    trial.browser.press(ENTER).await;
    trial.browser.until("document.activeElement.id === 'main'").await;
    trial.browser.press("j").await;
    trial.browser.press(ENTER).await;
    trial.browser.until("document.querySelector('.mail-head h1')?.innerText === 'mail 1'").await;
    trial.browser.eval("document.querySelector('.pane [aria-label=Delete]').focus()").await;
    trial.browser.press(ENTER).await;
    trial.until_rows(0).await;
    trial.browser.eval("document.querySelector('.undo').focus()").await;
    trial.browser.press(ENTER).await;
    trial.until_rows(1).await;
    trial.expect_no_complaints().await;
}

async fn tabs_reach_each_control_of_each_view(trial: &Trial) {
    for view in views::prepare(trial).await {
        view.show(trial).await;
        tabs_reach_each_control(trial, view.name).await;
        trial.expect_no_complaints().await;
    }
}

async fn tabs_reach_each_control(trial: &Trial, view: &str) {
    let controls = trial.browser.eval(CONTROLS).await;
    let mut missing: Vec<&Value> = controls.as_array().expect("controls").iter().collect();
    assert!(!missing.is_empty(), "{view} has controls");
    for _ in 0..TABS_MAX {
        if missing.is_empty() {
            return;
        }
        trial.browser.press(TAB).await;
        let focus = trial.browser.eval(FOCUS).await;
        let position = missing.iter().position(|control| control[0] == focus[0]);
        if let Some(position) = position {
            assert_eq!(focus[1], true, "{view}: no focus is seen on {}", focus[2]);
            missing.remove(position);
        }
    }
    panic!("{view}: no tab reaches {missing:?}");
}
