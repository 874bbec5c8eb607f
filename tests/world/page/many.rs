//! An inbox with many mails.
//! Promise: it outlives the code below it.

use std::time::Instant;

use futures_util::future::join_all;
use tempmail::clock::Clock;

use super::Trial;
use crate::support::mail;

const TO: &str = "many@example.test";
const MAILS: usize = 10_000;
/// Mails of a page, as the page asks for them.
const PAGE: usize = 50;
/// Mails after which the patience of the test begins anew: a busy machine is no fault of the page.
const STEP: usize = 200;
/// Requests for the list beside those that a reader who scrolls needs.
const OTHERS_MAX: usize = 10;
/// Scrolls to the end again and again, as somebody who holds the key.
const SCROLL: &str =
    "void (globalThis.scrolling = setInterval(() => document.querySelector('.end').scrollIntoView(), 30))";

#[tokio::test]
#[ignore = "needs Chromium"]
async fn ten_thousand_mails_are_scrolled_to_the_end() {
    let trial = Trial::start().await;
    fill(&trial).await;
    trial.open_inbox(TO).await;
    trial.browser.eval("performance.setResourceTimingBufferSize(2000)").await;
    assert_eq!(trial.browser.text("h1 + .count").await, "10,000 mails");
    let begun = Instant::now();
    trial.browser.eval(SCROLL).await;
    for rows in (STEP..=MAILS).step_by(STEP) {
        trial.browser.until(&format!("document.querySelectorAll('.mails li').length >= {rows}")).await;
        if rows % 1_000 == 0 {
            println!("{rows} mails were scrolled through in {:?}", begun.elapsed());
        }
    }
    trial.browser.until("document.querySelector('.end').textContent === ''").await;
    trial.browser.eval("clearInterval(scrolling)").await;
    let lists = "performance.getEntriesByType('resource').filter(({ name }) => name.includes('/messages?')).length";
    let requests = trial.browser.eval(lists).await.as_u64().expect("a number");
    println!("{requests} requests for the list");
    assert!(requests <= (MAILS / PAGE + OTHERS_MAX) as u64, "{requests} requests");
    each_mail_is_there_once(&trial).await;
    the_list_is_still_usable(&trial).await;
    trial.expect_no_complaints().await;
}

/// Puts the mails into the store, in groups, as many senders at once do.
async fn fill(trial: &Trial) {
    let now = trial.server.clock.now();
    let numbers: Vec<usize> = (1..=MAILS).collect();
    for some in numbers.chunks(500) {
        let message = |number| format!("From: bob@example.com\r\nSubject: mail {number}\r\n\r\nx");
        let receive = |number| trial.server.store().receive(mail::delivery(&[TO], message(number), now));
        let received = join_all(some.iter().copied().map(receive)).await;
        assert!(received.into_iter().all(|stored| stored.is_ok()), "they are stored");
    }
}

async fn each_mail_is_there_once(trial: &Trial) {
    let subjects = "new Set([...document.querySelectorAll('.subject')].map((it) => it.textContent)).size";
    assert_eq!(trial.browser.eval(subjects).await, MAILS);
}

async fn the_list_is_still_usable(trial: &Trial) {
    let begun = Instant::now();
    trial.server.send(TO, "one more", "x").await;
    trial.until_rows(MAILS + 1).await;
    println!("one more mail was shown after {:?}", begun.elapsed());
    assert_eq!(trial.browser.eval("document.querySelector('.subject').textContent").await, "one more");
    let begun = Instant::now();
    trial.browser.press("jjj#").await;
    trial.until_rows(MAILS).await;
    println!("four keys took {:?}", begun.elapsed());
    trial.browser.press("z").await;
    trial.until_rows(MAILS + 1).await;
}
