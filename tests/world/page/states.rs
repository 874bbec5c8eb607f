//! What the page says and does in its less happy states.
//! Promise: it outlives the code below it.

use std::time::Duration;

use tokio::time::sleep;

use super::{ROWS, Trial, watch};
use crate::support::browser::Browser;
use crate::support::browser::keys::ENTER;
use crate::support::http;
use crate::support::test_server::TestServer;

impl Trial {
    /// The same browser with another daemon.
    async fn with_server(self, server: TestServer) -> Self {
        self.server.stop().await;
        Self { server, ..self }
    }

    async fn until_text(&self, text: &str) {
        self.browser.until(&format!("document.body.innerText.includes({})", serde_json::Value::from(text))).await;
    }
}

#[tokio::test]
#[ignore = "needs Chromium"]
async fn the_page_explains_its_states() {
    let trial = Trial::start().await;
    an_empty_inbox_says_how_to_try_it(&trial).await;
    a_mail_that_is_deleted_elsewhere_says_so(&trial).await;
    a_role_address_and_no_address_are_refused(&trial).await;
    refusals_say_what_to_do(&trial).await;
    let trial = trial.with_server(TestServer::live("retention = '15s'").await).await;
    a_mail_that_expires_says_so(&trial).await;
}

async fn an_empty_inbox_says_how_to_try_it(trial: &Trial) {
    trial.open_inbox("empty@example.test").await;
    trial.until_text("tempmail send-test empty@example.test").await;
    trial.browser.click(".nothing button").await;
    trial.until_text("Copied").await;
    assert_eq!(trial.browser.clipboard().await, "tempmail send-test empty@example.test");
    // Whatever a shell would read otherwise is in no command.
    trial.open_inbox("a$b'c@example.test").await;
    assert_eq!(trial.browser.count(".nothing code").await, 0);
    trial.expect_no_complaints().await;
}

async fn a_mail_that_is_deleted_elsewhere_says_so(trial: &Trial) {
    trial.deliver_many("elsewhere@example.test", 2).await;
    trial.open_inbox("elsewhere@example.test").await;
    trial.browser.press("jo").await;
    trial.browser.until("document.querySelector('.pane details')").await;
    let url = format!("http://{}/api/mail/delete?to=elsewhere@example.test", trial.server.http());
    assert_eq!(http::client().delete(url).send().await.expect("an answer").status(), 200);
    trial.until_rows(0).await;
    trial.browser.until("document.querySelector('.pane .banner')?.innerText.startsWith('This mail is gone')").await;
    assert_eq!(trial.browser.count(".pane details").await, 2, "its reader may go on");
    // A link to it says so too.
    let place = trial.browser.eval("location.hash.slice(2)").await;
    trial.open(place.as_str().expect("a place")).await;
    trial.until_text("This mail is gone").await;
    trial.expect_no_complaints().await;
}

async fn a_role_address_and_no_address_are_refused(trial: &Trial) {
    for (address, said) in [
        ("postmaster@company.com", "only the administrator may read it"),
        ("admin@company.com", "only the administrator may read it"),
        ("nonsense", "not an email address"),
        ("", "not an email address"),
    ] {
        trial.open(&format!("inbox/{address}")).await;
        trial.until_text(said).await;
        assert_eq!(trial.browser.count(".loading").await, 0, "{address}");
    }
    trial.expect_no_complaints().await;
}

async fn refusals_say_what_to_do(trial: &Trial) {
    for (address, url, said) in [
        ("a@example.test", "http://127.0.0.1/hook", "Use one that everybody on the Internet can reach"),
        ("a@unknown.example", "https://example.org/hook", "Choose one of its domains, or add this one first"),
    ] {
        trial.open(&format!("webhooks/{address}")).await;
        trial.browser.type_into("form.card input[type=url]", url).await;
        trial.browser.press(ENTER).await;
        trial.until_text(said).await;
    }
    trial.open("domains").await;
    trial.browser.type_into("#main input[type=text]", "company.example").await;
    trial.browser.click("#main button.primary").await;
    trial.until_text("its administrator has set no mail host").await;
    trial.expect_no_complaints().await;
}

async fn a_mail_that_expires_says_so(trial: &Trial) {
    trial.deliver_many("expires@example.test", 1).await;
    trial.open_inbox("expires@example.test").await;
    trial.browser.press("jo").await;
    trial.browser.until("document.querySelector('.pane details')").await;
    trial.until_rows(0).await;
    trial.browser.until("document.querySelector('.pane .problem')?.innerText.includes('This mail is gone')").await;
    trial.expect_no_complaints().await;
}

#[tokio::test]
#[ignore = "needs Chromium"]
async fn the_page_goes_on_after_a_limit_and_with_a_token() {
    let browser = Browser::start().await;
    watch(&browser).await;
    let server = TestServer::live("rate-limit = 60").await;
    let trial = Trial { server, browser };
    a_limit_passes_by_itself(&trial).await;
    let closed = TestServer::live("public = ['webhooks', 'domains', 'web']").await;
    let trial = trial.with_server(closed).await;
    a_token_opens_a_closed_service(&trial).await;
    trial.expect_no_complaints().await;
}

async fn a_limit_passes_by_itself(trial: &Trial) {
    trial.server.send("limited@example.test", "a mail", "x").await;
    trial.open("about").await;
    // Somebody else at this address uses up the limit, and what comes back of it each second.
    let url = format!("http://{}/api/mail/messages?to=limited@example.test", trial.server.http());
    let status = async || http::client().get(&url).send().await.expect("an answer").status();
    while status().await != 429 {}
    let is_refused = async {
        trial.go("inbox/limited@example.test").await;
        trial.until_text("too many requests").await;
    };
    let goes_on = async {
        loop {
            status().await;
            sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::select! { () = is_refused => {}, () = goes_on => {} }
    let said = trial.browser.text(".problem p").await;
    assert!(said.contains(" sec"), "it says when: {said}");
    trial.until_rows(1).await;
    trial.browser.until("!document.querySelector('.problem')").await;
    trial.expect_no_complaints().await;
}

async fn a_token_opens_a_closed_service(trial: &Trial) {
    const HTML: &str =
        "Subject: closed\r\nContent-Type: text/html\r\n\r\n<p>Inside <a href=\"https://shop.test/a\">a link</a></p>";
    trial.deliver("closed@example.test", HTML).await;
    trial.open("inbox/closed@example.test").await;
    trial.until_text("This service asks for a token").await;
    trial.type_token("wrong").await;
    trial.until_text("The token is wrong").await;
    trial.type_token(&trial.new_token("read").await).await;
    trial.until_rows(1).await;
    trial.server.send("closed@example.test", "another", "x").await;
    trial.until_rows(2).await;
    trial.browser.click(&format!("{ROWS}:last-child a")).await;
    trial.browser.until("isLoaded(document.querySelector('.pane iframe'))").await;
    let known = trial.browser.windows().await;
    let window = trial.browser.window().await;
    trial.browser.click_in_frame("iframe", "a").await;
    trial.browser.turn_to_new(&known).await;
    trial.browser.until("document.querySelector('.host')?.innerText === 'shop.test'").await;
    trial.browser.close_window().await;
    trial.browser.turn_to(&window).await;
    trial.browser.click("#foot .plain + .plain").await;
    trial.until_text("This service asks for a token").await;
    assert_eq!(trial.browser.count(ROWS).await, 0, "nothing of it is left");
    let stored = "JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])";
    assert!(!trial.browser.eval(stored).await.to_string().contains("tm_"), "a forgotten token is kept nowhere");
    trial.expect_no_complaints().await;
}
