//! The page in Firefox: what people do most, and mail of strangers.
//! Promise: it outlives the code below it.

use serde_json::Value;

use super::scripts::SCRIPT;
use super::scripts::corpus::CORPUS;
use super::{ROWS, Trial};
use crate::support::browser::Browser;
use crate::support::http;
use crate::support::test_server::TestServer;
use crate::support::webhook_sink::{Behaviour, WebhookSink};

const SANDBOX: &str = "allow-popups allow-popups-to-escape-sandbox";

#[tokio::test]
#[ignore = "needs Firefox"]
async fn mail_is_shown_opened_and_deleted() {
    let trial = start().await;
    trial.open_inbox("fox@example.test").await;
    assert_eq!(trial.browser.count(".nothing").await, 1);
    trial.server.send("fox@example.test", "Sign in", "Your verification code is 482913.").await;
    trial.until_rows(1).await;
    assert_eq!(trial.browser.text(".chip").await.trim(), "482913");
    trial.browser.click(&format!("{ROWS} a")).await;
    trial.browser.until("document.querySelector('.mail-head h1')?.innerText === 'Sign in'").await;
    trial.browser.press("#").await;
    trial.browser.until("document.querySelector('.nothing')").await;
}

#[tokio::test]
#[ignore = "needs Firefox"]
async fn a_private_address_is_made_and_kept() {
    let trial = start().await;
    let address = trial.take().await;
    trial.deliver(&address, "Subject: html\r\nContent-Type: text/html\r\n\r\n<p>Inside</p>").await;
    trial.until_rows(1).await;
    trial.open_inbox(&address).await;
    trial.until_rows(1).await;
    trial.browser.click(&format!("{ROWS} a")).await;
    trial.browser.until("document.querySelector('.pane iframe')?.src.includes('/html?')").await;
    assert_eq!(trial.browser.eval("document.querySelector('iframe').contentDocument").await, Value::Null);
}

#[tokio::test]
#[ignore = "needs Firefox"]
async fn no_hostile_mail_loads_anything() {
    const TO: &str = "hostile@example.test";
    let trial = start().await;
    let sink = WebhookSink::start().await;
    requests_would_be_noticed(&trial, &sink).await;
    trial.open_inbox(TO).await;
    for (name, hostile) in CORPUS {
        trial.deliver(TO, &hostile.message(SCRIPT, &sink.url("/remote"))).await;
        let (_, newest) = http::get(trial.server.http(), &format!("/api/mail/messages?to={TO}&limit=1")).await;
        let id = newest["emails"][0]["id"].as_str().expect("id").to_owned();
        trial.go(&format!("inbox/{TO}/{id}")).await;
        let shown = format!("location.hash.endsWith('{id}') && document.querySelector('.pane .mail-head')");
        trial.browser.until(&format!("{shown} && !document.querySelector('.pane .loading')")).await;
        assert_eq!(trial.browser.count(&format!("iframe:not([sandbox='{SANDBOX}'])")).await, 0, "{name}");
        assert_ne!(trial.browser.title().await, "ran", "{name}: its script ran");
        trial.go(&format!("inbox/{TO}")).await;
        trial
            .browser
            .until(&format!("!document.querySelector('.inbox.open') && document.querySelector('{ROWS}')"))
            .await;
    }
    // A frame loads while the next mail is opened, so this comes last.
    let loaded: Vec<_> = sink.requests().into_iter().map(|it| it.path).filter(|it| it.starts_with("/remote")).collect();
    assert_eq!(loaded, ["/remote/noticed"]);
}

async fn start() -> Trial {
    Trial { server: TestServer::live("").await, browser: Browser::firefox().await }
}

/// The counter-test: a page without protection loads from the place that the mails name.
async fn requests_would_be_noticed(trial: &Trial, sink: &WebhookSink) {
    let html = vec![("content-type", "text/html".to_owned())];
    sink.script("/bare", Behaviour::Answer(200, html, "<img src=/remote/noticed>".into()));
    trial.browser.open(&sink.url("/bare")).await;
    assert_eq!(trial.browser.eval("document.images.length").await, Value::from(1));
}
