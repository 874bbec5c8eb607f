//! All views of the page, each with something in it, for tests that look at each.

use serde_json::json;

use super::Trial;

const TO: &str = "views@example.test";
const MAIL: &str = "From: Ann <ann@shop.test>\r\nReply-To: help@shop.test\r\nSubject: Your code\r\nMIME-Version: 1.0\r\n\
    Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: text/html\r\n\r\n\
    <p>Your code is 482913. <a href=\"https://shop.test/confirm?token=1\">Confirm your address</a></p>\
    <img src=\"https://shop.test/a.png\">\r\n\
    --b\r\nContent-Type: application/pdf\r\nContent-Disposition: attachment; filename=a.pdf\r\n\r\nx\r\n--b--\r\n";

/// A view, or a state of one.
pub(super) struct View {
    /// What it is called in file names.
    pub(super) name: &'static str,
    place: String,
    /// True once it has everything.
    is_ready: &'static str,
    /// What is pressed then, for a dialog.
    keys: &'static str,
    token: Option<String>,
}

/// Permits the webhook of the views.
pub(super) const SETTINGS: &str = "webhook-allow = ['127.0.0.0/8']";

/// Puts something into each view. The service has [`SETTINGS`].
pub(super) async fn prepare(trial: &Trial) -> Vec<View> {
    trial.deliver(TO, MAIL).await;
    trial.server.send(TO, "A second mail", "Some text with https://example.com/ in it.").await;
    let registered = json!({ "recipient": TO, "url": "http://127.0.0.1:9/hook", "secret": "a secret of some length" });
    let (status, webhook) = trial.server.admin_post("/api/webhooks", &registered).await;
    assert_eq!(status, 201, "{webhook}");
    trial.open_inbox(TO).await;
    let place = "document.querySelector('.mails li:last-child a').getAttribute('href').slice(2)";
    let mail = trial.browser.eval(place).await.as_str().expect("a place").to_owned();
    let inbox = format!("inbox/{TO}");
    let view = |name, place: &str, is_ready| View { name, place: place.to_owned(), is_ready, keys: "", token: None };
    let token = Some(trial.new_token("admin").await);
    let private = format!("inbox/{}", trial.take().await);
    trial.take().await;
    let two = "document.querySelector('.lease .left') && document.querySelector('.strip a') && document.querySelector('.nothing')";
    let known = "document.querySelector('form.row') && document.querySelector('.lines .count')
        && [...document.querySelectorAll('.lines .latest')].every((it) => it.textContent)";
    let registration = "document.querySelector('form.card') && document.querySelector('table')";
    vec![
        view("address", "", known),
        view("inbox-empty", "inbox/nobody@example.test", "document.querySelector('.nothing')"),
        view("inbox", &inbox, "document.querySelector('.mails a')"),
        view("inbox-private", &private, two),
        view("key", "key", "document.querySelector('.card .tools') && document.querySelector('form.card')"),
        view("mail", &mail, "isLoaded(document.querySelector('.pane iframe'))"),
        view("domains", "domains", "document.querySelector('table')"),
        view("webhooks", &format!("webhooks/{TO}"), registration),
        view("about", "about", "document.querySelector('.facts')"),
        view(
            "leave",
            "leave/https%3A%2F%2Fshop.test%2Fconfirm",
            "document.querySelector('.row:not([inert]) .button.primary')",
        ),
        View { keys: "?", ..view("keys", &inbox, "document.querySelector('.mails a')") },
        View {
            token: token.clone(),
            ..view("overview", "overview", "document.querySelector('.plots + h2 + div table')")
        },
        View { token: token.clone(), ..view("all-mail", "all", "document.querySelector('.mails a')") },
        View { token: token.clone(), ..view("webhooks-of-token", &format!("webhooks/{TO}"), registration) },
    ]
}

impl View {
    /// Loads the page and goes there.
    pub(super) async fn show(&self, trial: &Trial) {
        trial.forget_tab().await;
        if let Some(token) = &self.token {
            trial.open("about").await;
            trial.type_token(token).await;
            trial.go(&self.place).await;
        } else {
            trial.open(&self.place).await;
        }
        trial.browser.until(self.is_ready).await;
        if !self.keys.is_empty() {
            trial.browser.press(self.keys).await;
            trial.browser.until("document.querySelector('dialog[open]')").await;
        }
    }
}
