//! Deletions: they can be undone for a while, and happen after it, whatever becomes of the page.
//! Promise: it outlives the code below it.

use super::{ROWS, Trial, watch};
use crate::support::http;
use crate::support::until::until;

impl Trial {
    /// Waits until the service has this many mails for an address.
    async fn until_stored(&self, address: &str, count: u64) {
        until(format_args!("{count} mails of {address}"), async || {
            http::total(self.server.http(), address).await == count
        })
        .await;
    }

    async fn stored(&self, address: &str) -> u64 {
        http::total(self.server.http(), address).await
    }
}

#[tokio::test]
#[ignore = "needs Chromium"]
async fn deletions_are_undone_or_happen() {
    let trial = Trial::start().await;
    buttons_delete_and_undo(&trial).await;
    keys_delete_and_undo(&trial).await;
    all_mail_is_deleted_or_stays(&trial).await;
    a_deletion_happens_after_its_time(&trial).await;
    a_deletion_happens_when_the_page_is_closed(&trial).await;
    an_open_mail_is_deleted(&trial).await;
    a_mail_that_is_not_loaded_takes_no_rows_with_it(&trial).await;
}

async fn a_mail_that_is_not_loaded_takes_no_rows_with_it(trial: &Trial) {
    let address = "long@example.test";
    trial.deliver_many(address, 250).await;
    trial.open_inbox(address).await;
    let scrolled =
        format!("(document.querySelector('.end').scrollIntoView(), document.querySelectorAll('{ROWS}').length)");
    trial.browser.until(&format!("{scrolled} >= 100")).await;
    trial.browser.eval("document.querySelector('.mails li').scrollIntoView()").await;
    let path = format!("/api/mail/messages?to={address}&limit=1&page=250");
    let (_, oldest) = http::get(trial.server.http(), &path).await;
    let id = oldest["emails"][0]["id"].as_str().expect("an id");
    let url = format!("http://{}/api/mail/delete?id={id}", trial.server.http());
    http::client().delete(url).send().await.expect("an answer");
    trial.browser.until("document.querySelector('h1 + .count').innerText === '249 mails'").await;
    assert!(trial.browser.count(ROWS).await >= 100, "the list is as long as before");
    trial.expect_no_complaints().await;
}

#[tokio::test]
#[ignore = "needs Chromium"]
async fn two_windows_agree() {
    let trial = Trial::start().await;
    the_other_window_follows(&trial).await;
}

pub(super) async fn the_other_window_follows(trial: &Trial) {
    trial.deliver_many("both@example.test", 3).await;
    trial.open_inbox("both@example.test").await;
    let first = trial.browser.window().await;
    let second = trial.browser.open_window().await;
    watch(&trial.browser).await;
    trial.open_inbox("both@example.test").await;
    trial.browser.click(&format!("{ROWS}:first-child .marks button.quiet")).await;
    trial.until_rows(2).await;
    trial.browser.turn_to(&first).await;
    assert_eq!(trial.browser.count(ROWS).await, 3, "it can still be undone");
    trial.until_rows(2).await;
    assert_eq!(trial.subjects().await, ["mail 2", "mail 1"]);
    trial.server.send("both@example.test", "for both", "x").await;
    for window in [&second, &first] {
        trial.browser.turn_to(window).await;
        trial.until_rows(3).await;
        assert_eq!(trial.subjects().await, ["for both", "mail 2", "mail 1"]);
        trial.expect_no_complaints().await;
    }
}

pub(super) async fn buttons_delete_and_undo(trial: &Trial) {
    trial.deliver_many("buttons@example.test", 3).await;
    trial.open_inbox("buttons@example.test").await;
    trial.browser.click(&format!("{ROWS}:nth-child(2) .marks button.quiet")).await;
    trial.until_rows(2).await;
    assert_eq!(trial.subjects().await, ["mail 3", "mail 1"]);
    assert_eq!(trial.browser.text("h1 + .count").await, "2 mails");
    trial.browser.click("#notices .undo").await;
    trial.until_rows(3).await;
    assert_eq!(trial.subjects().await, ["mail 3", "mail 2", "mail 1"]);
    assert_eq!(trial.browser.count(".notice").await, 0);
    assert_eq!(trial.stored("buttons@example.test").await, 3);
    trial.expect_no_complaints().await;
}

async fn keys_delete_and_undo(trial: &Trial) {
    trial.deliver_many("keys@example.test", 4).await;
    trial.open_inbox("keys@example.test").await;
    trial.browser.press("jj#").await;
    trial.until_rows(3).await;
    assert_eq!(trial.subjects().await, ["mail 4", "mail 2", "mail 1"]);
    // The focus goes on to the next mail.
    trial.browser.press("#").await;
    trial.until_rows(2).await;
    assert_eq!(trial.subjects().await, ["mail 4", "mail 1"]);
    trial.browser.press("z").await;
    trial.until_rows(3).await;
    trial.browser.press("z").await;
    trial.until_rows(4).await;
    trial.browser.press("z").await;
    assert_eq!(trial.subjects().await, ["mail 4", "mail 3", "mail 2", "mail 1"]);
    trial.expect_no_complaints().await;
}

/// More mails than one page has, of which some come only with the next page.
async fn all_mail_is_deleted_or_stays(trial: &Trial) {
    trial.deliver_many("all@example.test", 120).await;
    trial.open_inbox("all@example.test").await;
    let delete_all = ".bar .tools button:last-child";
    trial.browser.click(delete_all).await;
    trial.until_rows(0).await;
    assert!(trial.browser.text(".notice").await.contains("120 mails deleted"));
    trial.browser.press("z").await;
    trial.browser.until("document.querySelectorAll('.mails li').length >= 50").await;
    assert_eq!(trial.stored("all@example.test").await, 120);
    trial.browser.click(delete_all).await;
    trial.until_rows(0).await;
    // Mail that arrives meanwhile was not there when all was deleted.
    trial.server.send("all@example.test", "later", "x").await;
    trial.until_rows(1).await;
    trial.until_stored("all@example.test", 1).await;
    trial.until_rows(1).await;
    assert_eq!(trial.subjects().await, ["later"]);
    trial.browser.until("document.querySelector('h1 + .count').innerText === '1 mail'").await;
    trial.expect_no_complaints().await;
}

async fn a_deletion_happens_after_its_time(trial: &Trial) {
    trial.deliver_many("after@example.test", 2).await;
    trial.open_inbox("after@example.test").await;
    trial.browser.press("j#").await;
    trial.until_rows(1).await;
    assert_eq!(trial.stored("after@example.test").await, 2);
    trial.until_stored("after@example.test", 1).await;
    trial.browser.until("!document.querySelector('.notice')").await;
    trial.browser.press("z").await;
    assert_eq!(trial.subjects().await, ["mail 1"]);
    trial.expect_no_complaints().await;
}

async fn a_deletion_happens_when_the_page_is_closed(trial: &Trial) {
    trial.deliver_many("closed@example.test", 2).await;
    let other = trial.browser.window().await;
    trial.browser.open_window().await;
    watch(&trial.browser).await;
    trial.open_inbox("closed@example.test").await;
    trial.browser.press("j#").await;
    trial.until_rows(1).await;
    assert_eq!(trial.stored("closed@example.test").await, 2);
    trial.browser.close_window().await;
    trial.browser.turn_to(&other).await;
    trial.until_stored("closed@example.test", 1).await;
    // A page that is left is closed too.
    trial.open_inbox("closed@example.test").await;
    trial.browser.press("j#").await;
    trial.until_rows(0).await;
    trial.browser.open("about:blank").await;
    trial.until_stored("closed@example.test", 0).await;
}

async fn an_open_mail_is_deleted(trial: &Trial) {
    trial.deliver_many("opened@example.test", 2).await;
    trial.open_inbox("opened@example.test").await;
    trial.browser.press("jo").await;
    trial.browser.until("document.querySelector('.mail-head h1')?.innerText === 'mail 2'").await;
    trial.browser.press("#").await;
    trial.browser.until("location.hash === '#/inbox/opened%40example.test'").await;
    trial.until_rows(1).await;
    trial.browser.press("z").await;
    trial.until_rows(2).await;
    trial.expect_no_complaints().await;
}
