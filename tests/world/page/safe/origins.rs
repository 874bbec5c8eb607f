//! What a page of another origin learns of the mail, and the images that a mail brings along.
//! Promise: it outlives the code below it.

use serde_json::{Value, json};

use super::super::Trial;
use crate::support::webhook_sink::{Behaviour, WebhookSink};

/// Asks in frames for a mail with the right code and for one with a wrong code. The answer is which became a page.
const ASK: &str = "Promise.all(['482913', '000000'].map(async (code) => {
    const frame = document.createElement('iframe');
    frame.src = `http://{server}/api/mail/wait?timeout=0&to=code@example.test&subject=${code}`;
    document.body.append(frame);
    await new Promise((done) => setTimeout(done, 3000));
    return frame.contentDocument === null;
}))";
/// A GIF of 40 by 30 pixels.
const GIF: &str = "R0lGODlhKAAeAIAAAAAAAP///ywAAAAAAQABAAACAkQBADs=";

#[tokio::test]
#[ignore = "needs Chromium"]
async fn a_page_of_another_origin_learns_no_code() {
    // Where each page may ask, the frames differ: that is how a code was read.
    for (settings, expected) in [("http-allowed-origins = '*'", [true, false]), ("", [true, true])] {
        let trial = Trial::with(settings).await;
        let sink = WebhookSink::start().await;
        let fields = vec![("content-type", "text/html".to_owned())];
        sink.script("/page", Behaviour::Answer(200, fields, b"<p>a page".to_vec()));
        trial.deliver("code@example.test", "Subject: Your code is 482913\r\n\r\n482913").await;
        trial.browser.open(&sink.url("/page")).await;
        let asked = ASK.replace("{server}", &trial.server.http().to_string());
        assert_eq!(trial.browser.eval(&asked).await, json!(expected), "{settings}");
    }
}

#[tokio::test]
#[ignore = "needs Chromium"]
async fn images_of_a_mail_are_shown() {
    let trial = Trial::start().await;
    let message = format!(
        "Subject: an image\r\nContent-Type: multipart/related; boundary=r\r\n\r\n--r\r\nContent-Type: text/html\r\n\r\n\
         <p>x</p><img src=\"cid:logo@x\">\r\n--r\r\nContent-Type: image/gif\r\nContent-ID: <logo@x>\r\n\
         Content-Disposition: inline\r\nContent-Transfer-Encoding: base64\r\n\r\n{GIF}\r\n--r--\r\n"
    );
    trial.deliver("inline@example.test", &message).await;
    trial.open_inbox("inline@example.test").await;
    trial.browser.press("jo").await;
    trial.browser.until("isLoaded(document.querySelector('iframe'))").await;
    let tree = trial.browser.tree().await;
    let image = image_of_a_frame(&tree, false).expect("an image");
    let shown = trial.browser.devtools("DOM.getBoxModel", json!({ "nodeId": image })).await;
    assert_eq!((&shown["model"]["width"], &shown["model"]["height"]), (&json!(40), &json!(30)), "{shown}");
    trial.expect_no_complaints().await;
}

/// The node of the first image within a frame.
fn image_of_a_frame(node: &Value, is_framed: bool) -> Option<u64> {
    if is_framed && node["nodeName"] == "IMG" {
        return node["nodeId"].as_u64();
    }
    let children = node["children"].as_array().into_iter().flatten();
    let inner = node.get("contentDocument").and_then(|inner| image_of_a_frame(inner, true));
    inner.or_else(|| children.into_iter().find_map(|child| image_of_a_frame(child, is_framed)))
}
