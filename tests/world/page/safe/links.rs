//! Links and images of a mail, and what scripts of the page itself may not do.
//! Promise: it outlives the code below it.

use super::super::{Trial, watch};
use crate::support::webhook_sink::{Behaviour, WebhookSink};

#[tokio::test]
#[ignore = "needs Chromium"]
async fn links_are_shown_and_images_wait_for_a_button() {
    let trial = Trial::start().await;
    let sink = WebhookSink::start().await;
    text_never_becomes_markup(&trial).await;
    a_link_in_the_body_shows_where_it_leads(&trial, &sink).await;
    odd_links_hide_no_mail(&trial).await;
    images_of_others_wait_for_a_button(&trial, &sink).await;
}

/// Trusted Types forbid it, even if a script of the page tried.
async fn text_never_becomes_markup(trial: &Trial) {
    trial.open("").await;
    for way in [
        "document.body.innerHTML = '<b>x</b>'",
        "document.body.insertAdjacentHTML('beforeend', '<b>x</b>')",
        "new DOMParser().parseFromString('<b>x</b>', 'text/html')",
        "trustedTypes.createPolicy('x', {})",
    ] {
        let tried = format!("(() => {{ try {{ {way}; return ''; }} catch (error) {{ return error.name; }} }})()");
        assert_eq!(trial.browser.eval(&tried).await, "TypeError", "{way}");
    }
}

async fn a_link_in_the_body_shows_where_it_leads(trial: &Trial, sink: &WebhookSink) {
    let target = sink.url("/shop?a=1&b=%2F#part");
    let html = format!("<p><a href=\"{}\">https://bank.test/</a></p>", target.replace('&', "&amp;"));
    trial.deliver("link@example.test", &format!("Subject: a link\r\nContent-Type: text/html\r\n\r\n{html}")).await;
    trial.open_inbox("link@example.test").await;
    trial.browser.press("jo").await;
    trial.browser.until("isLoaded(document.querySelector('iframe'))").await;
    let (mail, known) = (trial.browser.window().await, trial.browser.windows().await);
    trial.browser.click_in_frame("iframe", "a").await;
    trial.browser.turn_to_new(&known).await;
    trial.browser.until("document.querySelector('.host')").await;
    let url = trial.browser.url().await;
    assert!(url.starts_with(&trial.url("leave/")), "{url}");
    assert_eq!(trial.browser.text(".host").await, target.split('/').nth(2).expect("a host"));
    assert_eq!(trial.browser.text(".long").await, target);
    assert_eq!(trial.browser.eval("opener").await, serde_json::Value::Null, "it knows no other tab");
    assert!(sink.requests().is_empty(), "nothing was asked yet");
    sink.script("/shop?a=1&b=%2F", Behaviour::status(200));
    trial.browser.click("a.button.primary").await;
    sink.wait_for(1).await;
    let request = &sink.requests()[0];
    assert_eq!((request.path.as_str(), request.header("referer")), ("/shop?a=1&b=%2F", None));
    trial.browser.close_window().await;
    trial.browser.turn_to(&mail).await;
    trial.expect_no_complaints().await;
}

/// What is no address for the browser may be one for the service, and the other way round.
async fn odd_links_hide_no_mail(trial: &Trial) {
    let links = [
        "https://[::1/",
        "https://a:99999/confirm",
        "https://%zz/verify",
        "https://exa mple.test/confirm",
        "javascript:alert(1)",
        "https://xn--a/confirm?token=abc",
        "https://\u{202e}tset.test/verify?token=1",
        "https:///confirm",
        "https://user:pw@[v1.x]/confirm",
    ];
    let paragraph = |link| format!("<p><a href=\"{link}\">Confirm your account</a> {link}</p>");
    let body = links.map(paragraph).concat();
    let message =
        format!("Subject: odd links\r\nContent-Type: text/html; charset=utf-8\r\n\r\nConfirm your account: {body}");
    trial.deliver("odd@example.test", &message).await;
    trial.open_inbox("odd@example.test").await;
    trial.browser.press("jo").await;
    trial.browser.until("document.querySelector('.mail-head h1')?.innerText === 'odd links'").await;
    let leading = "[...document.querySelectorAll('.pane .link a, .pane .text a')].filter((it) => !/^https?:$/.test(it.protocol)).length";
    assert_eq!(trial.browser.eval(leading).await, 0, "links lead to web pages");
    trial.expect_no_complaints().await;
}

async fn images_of_others_wait_for_a_button(trial: &Trial, sink: &WebhookSink) {
    let html = format!("<p>x</p><img src=\"{}\">", sink.url("/pixel.png"));
    trial.deliver("images@example.test", &format!("Subject: an image\r\nContent-Type: text/html\r\n\r\n{html}")).await;
    let before = sink.requests().len();
    trial.open_inbox("images@example.test").await;
    trial.browser.press("jo").await;
    trial.browser.until("isLoaded(document.querySelector('iframe'))").await;
    assert_eq!(sink.requests().len(), before, "nothing is loaded by itself");
    trial.browser.click(".choice button:last-child").await;
    sink.wait_for(before + 1).await;
    let requests = sink.requests();
    let request = requests.last().expect("a request");
    assert_eq!((request.path.as_str(), request.header("sec-fetch-dest")), ("/pixel.png", Some("image")));
    assert_eq!((request.header("referer"), request.header("cookie")), (None, None));
    // The next mail begins without them.
    let other = trial.browser.window().await;
    trial.browser.open_window().await;
    watch(&trial.browser).await;
    trial.open_inbox("images@example.test").await;
    trial.browser.press("jo").await;
    trial.browser.until("isLoaded(document.querySelector('iframe'))").await;
    assert_eq!(sink.requests().len(), before + 1);
    trial.browser.turn_to(&other).await;
    trial.expect_no_complaints().await;
}
