//! Mail that arrives while an inbox is open.
//! Promise: it outlives the code below it.

use std::time::Instant;

use super::{ROWS, Trial};

#[tokio::test]
#[ignore = "needs Chromium"]
async fn mail_appears_by_itself_and_is_read() {
    let trial = Trial::start().await;
    mail_appears_without_a_reload(&trial).await;
    a_code_is_copied_from_its_chip(&trial).await;
    what_was_read_is_no_longer_marked(&trial).await;
    a_tab_in_the_background_has_new_mail_once_it_is_in_front(&trial).await;
}

pub(super) async fn mail_appears_without_a_reload(trial: &Trial) {
    trial.open_inbox("first@example.test").await;
    assert_eq!(trial.browser.count(".nothing").await, 1);
    trial.browser.eval("void (globalThis.isSame = true)").await;
    // The first mail may come before the stream, and the others do not.
    for number in 1..=3 {
        trial.server.send("first@example.test", &format!("mail {number}"), "x").await;
        let accepted = Instant::now();
        trial.until_rows(number).await;
        println!("mail {number} was shown {:?} after it was accepted", accepted.elapsed());
    }
    assert_eq!(trial.subjects().await, ["mail 3", "mail 2", "mail 1"]);
    assert_eq!(trial.browser.eval("globalThis.isSame").await, true, "nothing was loaded again");
    assert_eq!(trial.browser.text("#announcer").await.trim(), "New mail from bob@example.com: mail 3");
    assert_eq!(trial.browser.count(".nothing").await, 0);
    trial.expect_no_complaints().await;
}

async fn a_code_is_copied_from_its_chip(trial: &Trial) {
    trial.open_inbox("code@example.test").await;
    trial.server.send("code@example.test", "Sign in", "Your verification code is 482913.").await;
    trial.browser.until("document.querySelector('.chip')").await;
    assert_eq!(trial.browser.text(".chip").await.trim(), "482913");
    trial.browser.click(".chip").await;
    trial.browser.until("document.querySelector('.notice')?.innerText.includes('482913')").await;
    assert_eq!(trial.browser.clipboard().await, "482913");
    assert_eq!(trial.browser.count(".inbox.open").await, 0, "the mail stays closed");
    trial.browser.click(".bar .tools button").await;
    trial.browser.until("document.querySelector('#notices').innerText.includes('code@example.test')").await;
    assert_eq!(trial.browser.clipboard().await, "code@example.test");
    trial.expect_no_complaints().await;
}

pub(super) async fn what_was_read_is_no_longer_marked(trial: &Trial) {
    trial.deliver_many("read@example.test", 3).await;
    trial.open_inbox("read@example.test").await;
    assert_eq!(trial.browser.title().await, "(3) read@example.test · tempmail");
    trial.browser.click(&format!("{ROWS}:nth-child(2) a")).await;
    trial.browser.until("document.querySelector('.mail-head h1')?.innerText === 'mail 2'").await;
    trial.browser.until("document.querySelectorAll('.unread').length === 2").await;
    trial.browser.until("document.title === '(2) read@example.test · tempmail'").await;
    // The mark survives a reload, and new mail is counted at once.
    trial.open_inbox("read@example.test").await;
    assert_eq!(trial.browser.title().await, "(2) read@example.test · tempmail");
    trial.server.send("read@example.test", "mail 4", "x").await;
    trial.browser.until("document.title === '(3) read@example.test · tempmail'").await;
    trial.expect_no_complaints().await;
}

async fn a_tab_in_the_background_has_new_mail_once_it_is_in_front(trial: &Trial) {
    trial.open_inbox("hidden@example.test").await;
    let hidden = trial.browser.window().await;
    trial.browser.open_tab().await;
    trial.server.send("hidden@example.test", "while hidden", "x").await;
    trial.browser.close_window().await;
    trial.browser.turn_to(&hidden).await;
    trial.until_rows(1).await;
    trial.expect_no_complaints().await;
}
