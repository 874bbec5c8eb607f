//! The corpus of hostile mails, each opened in the page with everything that the page can show of it.
//! Promise: it outlives the code below it.

use serde_json::Value;

use super::super::{ROWS, Trial};
use crate::page::scripts::SCRIPT;
use crate::page::scripts::corpus::CORPUS;
use crate::support::http;
use crate::support::smtp_peer::SmtpPeer;
use crate::support::webhook_sink::{Behaviour, WebhookSink};

const TO: &str = "hostile@example.test";
/// Shows all of the open mail: its header fields, its source and its text.
const SHOW_ALL: &str = "(() => {
    for (const details of document.querySelectorAll('.pane details')) details.open = true;
    document.querySelector('.choice button + button')?.click();
})()";
/// The kinds of elements in the page that it never makes itself.
const FOREIGN: &str = "[...document.body.querySelectorAll('*')].map((it) => it.localName).filter((name) =>
    !/^(a|article|bdi|button|dd|details|div|dl|dt|footer|form|h1|h2|h3|header|iframe|input|li|main|nav|noscript|ol|option|output|p|path|pre|section|select|small|span|summary|svg|table|tbody|td|th|time|tr|ul)$/.test(name))";

#[tokio::test]
#[ignore = "needs Chromium"]
async fn no_hostile_mail_does_anything_in_the_page() {
    let trial = Trial::start().await;
    let sink = WebhookSink::start().await;
    scripts_would_be_noticed(&trial, &sink).await;
    let mut peer = SmtpPeer::greeted(trial.server.smtp()).await;
    trial.open_inbox(TO).await;
    for (name, hostile) in CORPUS {
        peer.deliver(TO, &hostile.message(SCRIPT, &sink.url("/remote"))).await;
        let (_, newest) = http::get(trial.server.http(), &format!("/api/mail/messages?to={TO}&limit=1")).await;
        let id = newest["emails"][0]["id"].as_str().expect("id").to_owned();
        // The page of an empty inbox has elements that others have not.
        trial.browser.until(&format!("document.querySelector('{ROWS}')")).await;
        trial.go(&format!("inbox/{TO}/{id}")).await;
        let is_shown = "document.querySelector('.pane .mail-head') && (!document.querySelector('iframe') || isLoaded(document.querySelector('iframe')))";
        trial
            .browser
            .until(&format!("location.hash.endsWith('{id}') && document.querySelector('.pane details') && {is_shown}"))
            .await;
        expect_harmless(&trial, &sink, name).await;
        trial.browser.eval(SHOW_ALL).await;
        trial
            .browser
            .until("document.querySelector('.pane pre') && !document.querySelector('.pane .loading, .problem')")
            .await;
        expect_harmless(&trial, &sink, name).await;
        trial.browser.eval("void document.querySelector('.back').click()").await;
    }
    assert!(trial.browser.count(ROWS).await >= 50, "they are in the list");
    trial.expect_no_complaints().await;
}

async fn expect_harmless(trial: &Trial, sink: &WebhookSink, name: &str) {
    assert!(!has_run(trial).await, "{name}: its script ran");
    assert_eq!(trial.browser.eval(FOREIGN).await, Value::Array(Vec::new()), "{name}: elements of its own");
    assert_eq!(trial.browser.count("iframe:not([sandbox='allow-popups allow-popups-to-escape-sandbox'])").await, 0);
    let requests = sink.requests();
    let loaded: Vec<_> = requests.iter().filter(|it| it.path.starts_with("/remote")).map(|it| &it.path).collect();
    assert!(loaded.is_empty(), "{name} loads {loaded:?}");
}

/// Whether the script of the mails ran in the page or in a frame: it makes a title.
async fn has_run(trial: &Trial) -> bool {
    fn is_marked(node: &Value) -> bool {
        let children = node["children"].as_array().into_iter().flatten();
        let is_title = node["nodeName"] == "TITLE" && node["children"][0]["nodeValue"] == "ran";
        is_title || children.chain(node.get("contentDocument")).any(is_marked)
    }
    is_marked(&trial.browser.tree().await)
}

/// The counter-test: a script in a frame of a page without protection.
async fn scripts_would_be_noticed(trial: &Trial, sink: &WebhookSink) {
    let html = |text: String| Behaviour::Answer(200, vec![("content-type", "text/html".to_owned())], text.into());
    sink.script("/bare", html("<iframe src=/framed sandbox=allow-scripts></iframe>".to_owned()));
    sink.script("/framed", html(format!("<script>{SCRIPT}</script>")));
    trial.browser.open(&sink.url("/bare")).await;
    assert!(has_run(trial).await, "a script in a frame is noticed");
}
