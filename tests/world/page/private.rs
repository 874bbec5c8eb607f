//! Private inboxes of a browser: one click makes one, and its mail is there for this browser alone.
//! Promise: it outlives the code below it.

use serde_json::{Value, json};
use tempfile::NamedTempFile;

use super::{ROWS, Trial, watch};
use crate::support::answer::Answer;
use crate::support::browser::Browser;
use crate::support::browser::keys::ENTER;
use crate::support::test_server::TestServer;
use crate::support::until::until;
use crate::support::webhook_sink::WebhookSink;

const KEY: &str = "JSON.parse(localStorage.getItem('tempmail.key') ?? '\"\"')";
/// What the page keeps and shows, and what it has asked for, but for the one place of the key.
const ELSEWHERE: &str =
    "JSON.stringify([location.href, document.title, document.cookie, { ...sessionStorage }, history.state,
    Object.entries({ ...localStorage }).filter(([name]) => name !== 'tempmail.key'), document.documentElement.outerHTML,
    performance.getEntriesByType('resource').map(({ name }) => name)])";
const LEFT: &str = "document.querySelector('.lease .left')?.textContent";
const PROLONG: &str = ".lease button";
const END: &str = ".lease button + button";

impl Trial {
    /// Takes a private inbox by a click on the first view.
    pub(super) async fn take(&self) -> String {
        self.open("").await;
        self.browser.click("#main .primary").await;
        self.browser.until("document.querySelector('.nothing') && document.querySelector('.lease .left')").await;
        self.browser.text("h1").await
    }

    async fn key(&self) -> String {
        self.browser.eval(KEY).await.as_str().expect("a key").to_owned()
    }

    /// The same service in another browser, which knows nothing of the first.
    async fn in_another_browser(self) -> (Self, Browser) {
        let stranger = Browser::start().await;
        watch(&stranger).await;
        (Self { server: self.server, browser: stranger }, self.browser)
    }
}

#[tokio::test]
#[ignore = "needs Chromium"]
async fn a_private_address_is_for_its_browser_alone() {
    let log = NamedTempFile::new().expect("a file");
    let writer = log.reopen().expect("the same file");
    let subscriber = tracing_subscriber::fmt().with_max_level(tracing::Level::DEBUG);
    let subscriber = subscriber.with_writer(move || writer.try_clone().expect("a copy")).finish();
    // With one subscriber alone, the threads of other tests would say for all that nobody wants the events.
    let _second = tracing::Dispatch::new(tracing::subscriber::NoSubscriber::new());
    let _guard = tracing::subscriber::set_default(subscriber);
    let trial = Trial::with("access-log = 'full'\nlease-max = '2d'").await;
    let address = a_click_makes_one(&trial).await;
    it_is_there_again_after_a_reload(&trial, &address).await;
    its_html_is_shown_as_that_of_any_mail(&trial, &address).await;
    several_are_side_by_side(&trial, &address).await;
    its_time_is_prolonged_as_far_as_it_may(&trial, &address).await;
    its_time_runs_and_is_prolonged(&trial, &address).await;
    a_key_can_be_saved(&trial).await;
    let key = trial.key().await;
    assert!(!trial.browser.eval(ELSEWHERE).await.to_string().contains(&key), "the key is in one place");
    trial.expect_no_complaints().await;
    let (trial, own) = trial.in_another_browser().await;
    another_browser_sees_nothing(&trial, &address).await;
    a_key_opens_them_elsewhere(&trial, &address, &key).await;
    let trial = Trial { browser: own, ..trial };
    one_that_is_ended_is_gone(&trial, &address).await;
    a_key_without_an_address_is_forgotten(&trial).await;
    let lines = std::fs::read_to_string(log.path()).expect("the lines");
    assert!(lines.contains("http request"), "the log has requests");
    assert!(!lines.contains(&key[..12]), "the log has no key");
}

async fn a_click_makes_one(trial: &Trial) -> String {
    let address = trial.take().await;
    assert!(address.ends_with("@example.test"), "{address}");
    assert!(trial.key().await.starts_with("tmk_"));
    trial.server.send(&address, "Sign in", "Your verification code is 482913.").await;
    trial.browser.until("document.querySelector('.chip')?.innerText.trim() === '482913'").await;
    trial.browser.press("jo").await;
    trial.browser.until("document.querySelector('.code output')?.innerText === '482913'").await;
    address
}

async fn it_is_there_again_after_a_reload(trial: &Trial, address: &str) {
    trial.open("").await;
    trial.browser.until(&format!("document.querySelector('.lines a bdi')?.innerText === '{address}'")).await;
    trial.browser.until("document.querySelector('.lines .chip')?.innerText.trim() === '482913'").await;
    trial.browser.until("document.querySelector('.lines .left')?.textContent").await;
    let stored = trial.browser.eval("localStorage.getItem('tempmail.addresses')").await;
    assert!(!stored.to_string().contains(address), "the service says which they are: {stored}");
    trial.browser.click(".lines a").await;
    trial.until_rows(1).await;
    trial.open_inbox(address).await;
    trial.until_rows(1).await;
    trial.expect_no_complaints().await;
}

/// A frame sends no key, so it shows a ticket. What any mail may show and load, this one may, too.
async fn its_html_is_shown_as_that_of_any_mail(trial: &Trial, address: &str) {
    let sink = WebhookSink::start().await;
    let html = format!(
        "<p style='color: rgb(1, 2, 3)'>Inside <a href=\"https://shop.test/a\">a link</a></p><img src=\"{}\">",
        sink.url("/pixel.png")
    );
    let message = format!(
        "Subject: html\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: text/html\r\n\r\n{html}\
         \r\n--b\r\nContent-Type: text/plain\r\nContent-Disposition: attachment; filename=a.txt\r\n\r\nx\r\n--b--\r\n"
    );
    trial.deliver(address, &message).await;
    trial.until_rows(2).await;
    trial.browser.click(&format!("{ROWS} a")).await;
    trial.browser.until("isLoaded(document.querySelector('.pane iframe'))").await;
    let frame = trial
        .browser
        .eval("[new URL(document.querySelector('iframe').src).pathname.split('/').at(-1), document.querySelector('iframe').contentDocument]");
    assert_eq!(frame.await, json!(["html", null]), "nothing of the frame reaches the page");
    assert!(trial.browser.style_in_frame("iframe", "p", "color").await.contains("1, 2, 3"));
    assert!(sink.requests().is_empty(), "nothing is loaded by itself");
    trial.browser.click(".choice button:last-child").await;
    sink.wait_for(1).await;
    let request = sink.requests().remove(0);
    assert_eq!((request.path.as_str(), request.header("referer")), ("/pixel.png", None), "nobody gets the ticket");
    trial.browser.until("isLoaded(document.querySelector('.pane iframe'))").await;
    let (known, window) = (trial.browser.windows().await, trial.browser.window().await);
    trial.browser.click_in_frame("iframe", "a").await;
    trial.browser.turn_to_new(&known).await;
    trial.browser.until("document.querySelector('.host')?.innerText === 'shop.test'").await;
    trial.browser.close_window().await;
    trial.browser.turn_to(&window).await;
    saves_through_memory(trial, ".attachments button", 1).await;
    saves_through_memory(trial, ".mail-head button", message.len()).await;
    trial.expect_no_complaints().await;
}

/// A click on a link for a download would send no key.
async fn saves_through_memory(trial: &Trial, selector: &str, octets_min: usize) {
    let note = "void (globalThis.saved = 0, URL.createObjectURL = ((made) => (blob) => (saved = blob.size, made.call(URL, blob)))(URL.createObjectURL))";
    trial.browser.eval(note).await;
    trial.browser.click(selector).await;
    trial.browser.until(&format!("saved >= {octets_min}")).await;
}

async fn several_are_side_by_side(trial: &Trial, first: &str) {
    let second = trial.take().await;
    assert_ne!(second, first);
    trial.browser.until("document.querySelectorAll('.strip a').length === 2").await;
    assert_eq!(trial.browser.text(".strip [aria-current] bdi").await, second);
    let key = trial.key().await;
    trial.server.send(first, "for the first", "x").await;
    trial
        .browser
        .until("document.querySelector('.strip a:not([aria-current]) .count')?.innerText === 'Unread: 1'")
        .await;
    trial.browser.click(".strip a:not([aria-current])").await;
    trial.until_rows(3).await;
    assert_eq!(trial.subjects().await[0], "for the first");
    assert_eq!(trial.key().await, key, "one key opens both");
    trial.expect_no_complaints().await;
}

/// The service permits some time from now on, whatever is left.
async fn its_time_is_prolonged_as_far_as_it_may(trial: &Trial, address: &str) {
    let path = format!("/api/addresses?address={address}");
    let long = trial.server.admin("PATCH", &path).json(&json!({ "forSeconds": 2 * 86_400 - 60, "idleSeconds": 3600 }));
    assert_eq!(Answer::to(long).await.status, 200);
    let held_until = async || {
        let held = trial.server.admin_get(&path).await["addresses"][0]["heldUntil"].clone();
        held.as_str().expect("a time").to_owned()
    };
    let before = held_until().await;
    trial.open_inbox(address).await;
    // It is being read, so that its time alone ends it.
    trial.browser.until(&format!("/^1 day.* left .ends after 1 hr unread/.test({LEFT})")).await;
    trial.browser.click(PROLONG).await;
    let said = format!("document.querySelector('.notice')?.innerText.startsWith('{address} is yours until')");
    trial.browser.until(&said).await;
    assert!(held_until().await >= before, "prolonging shortens nothing");
    let busy = trial.server.admin("PATCH", &path).json(&json!({ "idleSeconds": 0 }));
    assert_eq!(Answer::to(busy).await.status, 200);
    trial.expect_no_complaints().await;
}

async fn its_time_runs_and_is_prolonged(trial: &Trial, address: &str) {
    let path = format!("/api/addresses?address={address}");
    let short = trial.server.admin("PATCH", &path).json(&json!({ "forSeconds": 59 }));
    assert_eq!(Answer::to(short).await.status, 200);
    trial.open_inbox(address).await;
    trial.browser.until(&format!("{LEFT}?.endsWith('sec left')")).await;
    let before = trial.browser.eval(&format!("parseInt({LEFT})")).await;
    trial.browser.until(&format!("parseInt({LEFT}) < {before}")).await;
    trial.browser.click(PROLONG).await;
    trial.browser.until(&format!("{LEFT}?.startsWith('1 day')")).await;
    let said = format!("document.querySelector('.notice')?.innerText.startsWith('{address} is yours until')");
    trial.browser.until(&said).await;
    trial.expect_no_complaints().await;
}

async fn a_key_can_be_saved(trial: &Trial) {
    trial.open("").await;
    trial.browser.click(".bar a[href='#/key']").await;
    trial.browser.click(".card .tools button").await;
    trial.browser.until("document.querySelector('.notice')?.innerText === 'Copied: Key'").await;
    assert_eq!(trial.browser.clipboard().await, trial.key().await);
    saves_through_memory(trial, ".card .tools button + button", 40).await;
}

async fn another_browser_sees_nothing(trial: &Trial, address: &str) {
    let mails = trial.server.admin_get(&format!("/api/mail/messages?to={address}")).await;
    let id = mails["emails"][0]["id"].as_str().expect("an id").to_owned();
    trial.open_inbox(address).await;
    assert_eq!((trial.browser.count(ROWS).await, trial.browser.count(".lease *").await), (0, 0));
    trial.open(&format!("mail/{id}")).await;
    trial.browser.until("document.querySelector('.problem')?.innerText.includes('This mail is gone')").await;
    trial.expect_no_complaints().await;
}

async fn a_key_opens_them_elsewhere(trial: &Trial, address: &str, key: &str) {
    trial.open("about").await;
    trial.browser.click("#main a[href='#/key']").await;
    trial.browser.until("document.querySelector('form.card')").await;
    for (wrong, said) in [("tmk_wrong", true), ("nonsense", true), (key, false)] {
        trial.browser.eval("void (document.querySelector('.card input').value = '')").await;
        trial.browser.type_into(".card input", wrong).await;
        trial.browser.press(ENTER).await;
        if said {
            trial
                .browser
                .until("document.querySelector('.card input').validationMessage.startsWith('No private inbox')")
                .await;
            assert_eq!(trial.browser.eval(KEY).await, "", "what opens nothing is not kept");
        }
    }
    trial.browser.until("document.querySelectorAll('.lines .left').length === 2").await;
    trial.open_inbox(address).await;
    trial.until_rows(3).await;
    // Another key takes its place, until that is undone.
    let (status, other) = trial.server.admin_post("/api/addresses", &json!({ "localPart": "other" })).await;
    assert_eq!(status, 201, "{other}");
    trial.open("key").await;
    trial.browser.type_into(".card input", other["key"].as_str().expect("a key")).await;
    trial.browser.press(ENTER).await;
    trial.browser.until("document.querySelector('.lines a bdi')?.innerText === 'other@example.test'").await;
    trial.browser.click(".notice button").await;
    trial.browser.until("document.querySelectorAll('.lines .left').length === 2").await;
    assert_eq!(trial.key().await, key);
    trial.expect_no_complaints().await;
}

async fn one_that_is_ended_is_gone(trial: &Trial, address: &str) {
    trial.open_inbox(address).await;
    trial.browser.click(END).await;
    trial.browser.until("document.querySelectorAll('.lines .left').length === 1").await;
    trial.browser.click(".undo").await;
    trial.browser.until("document.querySelectorAll('.lines .left').length === 2").await;
    trial.open_inbox(address).await;
    trial.until_rows(3).await;
    trial.browser.click(END).await;
    trial.browser.until("document.querySelector('.undo')").await;
    trial.browser.until("!document.querySelector('.undo')").await;
    let path = format!("/api/mail/messages?to={address}");
    until("the end of its mail", async || trial.server.admin_get(&path).await["total"] == 0).await;
    // The other one stays.
    trial.open("").await;
    trial.browser.click(".lines a").await;
    trial.browser.until("document.querySelector('.lease .left')").await;
    trial.expect_no_complaints().await;
}

/// The last address ends on another device.
async fn a_key_without_an_address_is_forgotten(trial: &Trial) {
    let address = trial.browser.text("h1").await;
    let ended = trial.server.admin("DELETE", &format!("/api/addresses?address={address}"));
    assert_eq!(Answer::to(ended).await.status, 200);
    trial
        .browser
        .until("document.querySelector('.notice')?.innerText.startsWith('Your private inboxes have ended')")
        .await;
    trial.browser.until("document.querySelector('.lease')?.innerText.includes('no longer private')").await;
    assert_eq!(trial.browser.eval(KEY).await, Value::from(""));
    trial.open("").await;
    trial.browser.until("document.querySelector('form.row')").await;
    assert_eq!(trial.browser.count(".lines .left").await, 0);
    trial.expect_no_complaints().await;
}

#[tokio::test]
#[ignore = "needs Chromium"]
async fn where_private_inboxes_alone_take_mail_the_page_offers_no_others() {
    const BUTTONS: &str = ".welcome > .row button, form.row button";
    let trial = Trial::with("accept = 'leased'").await;
    trial.open("").await;
    trial.browser.until("document.querySelector('form.row')").await;
    trial.browser.until(&format!("document.querySelectorAll('{BUTTONS}').length === 2")).await;
    assert_eq!(trial.browser.text("form.row button").await.trim(), "Make it private");
    trial.take().await;
    trial.expect_no_complaints().await;
    let trial = Trial { server: TestServer::live("").await, ..trial };
    trial.open("").await;
    trial.browser.until(&format!("document.querySelectorAll('{BUTTONS}').length === 4")).await;
}
