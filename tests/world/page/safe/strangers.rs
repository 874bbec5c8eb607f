//! Fields of strangers with markup, with characters that turn or hide text, and with far too much text.
//! Promise: it outlives the code below it.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::Value;

use super::super::Trial;

const TO: &str = "strangers@example.test";
const MARKUP: &str = "<img src=x onerror=alert(1)><b>bold</b><script>alert(1)</script>&lt;i&gt;";
/// Right-to-left override, isolates, zero-width characters, an escape of terminals, and a line separator.
const BIDI: &str = "evil\u{202e}gpj.exe\u{2066}x\u{2069}\u{200b}\u{200f}\u{feff}\u{1b}[31m\u{2028}end";
/// Elements that such mails would make.
const FOREIGN: &str = "document.querySelectorAll('body img, body b, body i, body script').length";
/// All text of the page and all values of attributes, but the text of the mail and its source.
const TEXTS: &str = "[...document.body.querySelectorAll('*')].filter((it) => !it.closest('.text, pre')).flatMap((it) =>
    [...it.attributes].map(({ value }) => value).concat([...it.childNodes].filter((node) => node.nodeType === 3).map((node) => node.data))
).join('\\n')";

/// A word of a header field that may hold any text.
fn word(text: &str) -> String {
    let pieces: Vec<String> = text.chars().collect::<Vec<_>>().chunks(12).map(|piece| piece.iter().collect()).collect();
    let words = pieces.iter().map(|piece| format!("=?utf-8?b?{}?=", BASE64_STANDARD.encode(piece)));
    words.collect::<Vec<_>>().join("\r\n ")
}

/// Octets as they are written in addresses.
fn encoded(octets: impl Iterator<Item = u8>) -> String {
    octets.map(|octet| format!("%{octet:02X}")).collect::<Vec<_>>().concat()
}

/// A mail whose sender, subject, further field, body and attachment have this text.
fn message(text: &str) -> String {
    let (word, body) = (word(text), BASE64_STANDARD.encode(text));
    let body: Vec<_> = body.as_bytes().chunks(76).map(|line| String::from_utf8_lossy(line)).collect();
    let name = encoded(text.bytes().take(600));
    format!(
        "From: {word} <bob@example.com>\r\nReply-To: {word} <eve@example.com>\r\nCc: {word} <cc@example.com>\r\n\
         Subject: {word}\r\nX-Stranger: {word}\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n\
         --b\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\n{}\r\n\
         --b\r\nContent-Type: application/octet-stream\r\nContent-Disposition: attachment;\r\n filename*=utf-8''{name}\r\n\r\nx\r\n--b--\r\n",
        body.join("\r\n")
    )
}

#[tokio::test]
#[ignore = "needs Chromium"]
async fn fields_of_strangers_stay_text_and_fit() {
    let trial = Trial::start().await;
    let long = "W".repeat(10_000);
    let blanks = format!("{}x", "a ".repeat(5_000));
    for text in [MARKUP, BIDI, &long, &blanks] {
        trial.deliver(TO, &message(text)).await;
    }
    // Without any field, and with fields of 8-bit octets.
    trial.deliver(TO, "\r\n").await;
    for (width, mails) in [(360, 5), (1280, 5)] {
        trial.browser.set_size(width, 740).await;
        trial.open_inbox(TO).await;
        trial.until_rows(mails).await;
        expect_text(&trial, "the list").await;
        for row in 1..=mails {
            trial.go("inbox/strangers@example.test").await;
            trial.browser.until("!document.querySelector('.inbox.open')").await;
            trial.browser.click(&format!(".mails li:nth-child({row}) a")).await;
            trial.browser.until("document.querySelector('.pane .mail-head')").await;
            trial.browser.eval("document.querySelectorAll('.pane details').forEach((it) => (it.open = true))").await;
            trial.browser.until("document.querySelector('.pane pre')").await;
            expect_text(&trial, &format!("the mail in row {row}")).await;
        }
    }
    an_address_of_a_stranger_stays_text(&trial).await;
}

/// An address comes from a link, which anybody may have written.
async fn an_address_of_a_stranger_stays_text(trial: &Trial) {
    for text in [MARKUP, BIDI, &"W".repeat(10_000)] {
        let encoded = encoded(text.bytes());
        for view in ["inbox", "webhooks", "leave/https:/", "mail", "constructor", "__proto__"] {
            trial.open(&format!("{view}/{encoded}")).await;
            expect_text(trial, &format!("{view} of {:?}", text.chars().take(40).collect::<String>())).await;
        }
    }
}

/// Nothing became an element, what hides is visible, and the page is as wide as its window.
async fn expect_text(trial: &Trial, what: &str) {
    assert_eq!(trial.browser.eval(FOREIGN).await, 0, "{what}: elements");
    let texts = trial.browser.eval(TEXTS).await;
    let hidden = |c: char| matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200b}' | '\u{200f}' | '\u{1b}' | '\u{2028}' | '\u{feff}');
    let text = texts.as_str().expect("text");
    if let Some(at) = text.find(hidden) {
        let start = text[..at].char_indices().rev().nth(40).map_or(0, |(index, _)| index);
        panic!("{what}: a hidden character in {:?}", text[start..].chars().take(80).collect::<String>());
    }
    let title = trial.browser.title().await;
    assert!(!title.contains(hidden), "{what}: {title:?}");
    trial.expect_to_fit(what).await;
    assert_eq!(trial.browser.eval("complaints").await, Value::Array(Vec::new()), "{what}");
}
