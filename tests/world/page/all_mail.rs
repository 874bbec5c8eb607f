//! All mail of the service in one list, for those who may read it.
//! Promise: it outlives the code below it.

use super::{ROWS, Trial};

#[tokio::test]
#[ignore = "needs Chromium"]
async fn all_mail_is_one_list() {
    let trial = Trial::start().await;
    strangers_see_none(&trial).await;
    mail_of_all_addresses_appears_by_itself(&trial).await;
    a_filter_finds_senders_recipients_and_subjects(&trial).await;
    a_mail_is_opened_and_deleted(&trial).await;
    a_filter_looks_through_older_mail(&trial).await;
}

async fn strangers_see_none(trial: &Trial) {
    trial.open("").await;
    trial.browser.until("document.querySelector('form.row')").await;
    assert_eq!(trial.browser.count("#head nav a[href='#/all']").await, 0);
    trial.go("all").await;
    trial
        .browser
        .until("document.querySelector('.problem')?.innerText.startsWith('This service asks for a token')")
        .await;
    trial.type_token(&trial.new_token("admin").await).await;
    trial.browser.until("document.querySelector('.nothing')").await;
    trial.browser.until("document.querySelector(\"#head nav a[href='#/all'][aria-current]\")").await;
}

async fn mail_of_all_addresses_appears_by_itself(trial: &Trial) {
    for (number, address) in ["ann@example.test", "bob@example.test", "postmaster@example.test"].into_iter().enumerate()
    {
        trial.server.send(address, &format!("to number {number}"), "x").await;
        trial.until_rows(number + 1).await;
    }
    assert_eq!(trial.subjects().await, ["to number 2", "to number 1", "to number 0"]);
    assert_eq!(trial.browser.text(&format!("{ROWS}:last-child .preview")).await, "To ann@example.test");
    assert_eq!(trial.browser.text("h1 + .count").await, "3 mails");
    trial.expect_no_complaints().await;
}

async fn a_filter_finds_senders_recipients_and_subjects(trial: &Trial) {
    trial.deliver("eve@example.test", "From: Shop <no-reply@shop.test>\r\nSubject: Your ORDER\r\n\r\nx").await;
    trial.until_rows(4).await;
    for (field, text, count) in
        [(1, "shop", 1), (2, "ANN@", 1), (2, "example.test", 4), (3, "order", 1), (3, "nowhere", 0)]
    {
        let selector = format!(".filter input:nth-child({field})");
        trial.browser.type_into(&selector, text).await;
        trial.until_rows(count).await;
        trial.expect_no_complaints().await;
        let clear = format!(
            "(() => {{ const it = document.querySelector('{selector}'); it.value = ''; it.dispatchEvent(new Event('input', {{ bubbles: true }})); }})()"
        );
        if count == 0 {
            assert_eq!(trial.browser.text(".nothing").await, "No mail passes the filter");
        }
        trial.browser.eval(&clear).await;
        trial.until_rows(4).await;
    }
    // What arrives passes it or not.
    trial.browser.type_into(".filter input:nth-child(2)", "ann@").await;
    trial.until_rows(1).await;
    trial.server.send("bob@example.test", "hidden", "x").await;
    trial.server.send("ann@example.test", "shown", "x").await;
    trial.until_rows(2).await;
    assert_eq!(trial.subjects().await, ["shown", "to number 0"]);
}

async fn a_mail_is_opened_and_deleted(trial: &Trial) {
    trial.browser.click(&format!("{ROWS}:first-child a")).await;
    trial.browser.until("document.querySelector('.mail-head h1')?.innerText === 'shown'").await;
    trial.browser.until("location.hash.startsWith('#/all/')").await;
    trial.browser.press("#").await;
    trial.until_rows(1).await;
    trial.browser.press("z").await;
    trial.until_rows(2).await;
    trial.browser.press("u").await;
    trial.expect_no_complaints().await;
}

async fn a_filter_looks_through_older_mail(trial: &Trial) {
    trial.server.send("old@example.test", "needle", "x").await;
    trial.deliver_many("hay@example.test", 1_100).await;
    trial.open("all").await;
    trial.browser.type_into(".filter input:nth-child(3)", "needle").await;
    // So far it looks by itself, and then it asks.
    trial.browser.until("document.querySelector('.end button')").await;
    assert_eq!(trial.browser.count(ROWS).await, 0);
    trial.browser.click(".end button").await;
    trial.until_rows(1).await;
    trial.expect_no_complaints().await;
}
