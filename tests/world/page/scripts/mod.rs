//! Hostile mails in a real browser: no script of theirs runs, and nothing of theirs is loaded from elsewhere.
//! Promise: it outlives the code below it.

pub(crate) mod corpus;

use serde_json::Value;

use crate::support::browser::Browser;
use crate::support::http;
use crate::support::smtp_peer::SmtpPeer;
use crate::support::test_server::TestServer;
use crate::support::webhook_sink::{Behaviour, WebhookSink};
use corpus::{CORPUS, Hostile};

/// The script of the mails. It sets the title of its page.
pub(crate) const SCRIPT: &str = "document.title=`ran`";
const TO: &str = "hello@example.test";
const LIST: &str = "/api/mail/messages?to=hello@example.test";
/// So many of the mails at least run their script when nothing protects the reader.
const DANGEROUS_MIN: usize = 30;

/// The daemon with all mails, a browser, and a machine that must not be asked.
struct Trial {
    server: TestServer,
    sink: WebhookSink,
    browser: Browser,
}

impl Trial {
    async fn start() -> Self {
        let browser = Browser::start().await;
        Self { server: TestServer::start().await, sink: WebhookSink::start().await, browser }
    }

    fn filled(&self, text: &str) -> String {
        corpus::filled(text, SCRIPT, &self.sink.url("/remote"))
    }

    /// Receives all mails. Returns the path of each.
    async fn receive_all(&self) -> Vec<String> {
        let mut peer = SmtpPeer::greeted(self.server.smtp()).await;
        let mut paths = Vec::new();
        for (_, hostile) in CORPUS {
            peer.deliver(TO, &hostile.message(SCRIPT, &self.sink.url("/remote"))).await;
            let (_, newest) = http::get(self.server.http(), &format!("{LIST}&limit=1")).await;
            paths.push(format!("/api/mail/messages/{}", newest["emails"][0]["id"].as_str().expect("id")));
        }
        paths
    }

    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.server.http())
    }

    /// Whether a script runs in the page.
    async fn runs(&self, url: &str) -> bool {
        self.browser.open(url).await;
        self.browser.title().await == "ran"
    }

    /// Serves HTML from another machine without any protection. Returns its URL.
    fn bare(&self, content_type: &str, html: impl Into<Vec<u8>>) -> String {
        let fields = vec![("content-type", content_type.to_owned())];
        self.sink.script("/bare", Behaviour::Answer(200, fields, html.into()));
        self.sink.url("/bare")
    }

    /// What was loaded from another machine: the path, and what for.
    fn loaded(&self) -> Vec<String> {
        let requests = self.sink.requests();
        let remote = requests.iter().filter(|request| request.path.starts_with("/remote"));
        remote.map(|it| format!("{} as {}", it.path, it.header("sec-fetch-dest").unwrap_or("?"))).collect()
    }
}

#[tokio::test]
#[ignore = "needs Chromium"]
async fn no_mail_runs_a_script_or_loads_anything() {
    let trial = Trial::start().await;
    assert!(CORPUS.len() >= 60);
    assert!(trial.runs(&trial.bare("text/html", format!("<script>{SCRIPT}</script>"))).await, "the mark works");
    let paths = trial.receive_all().await;
    for page in 1..=CORPUS.len().div_ceil(100) {
        assert!(!trial.runs(&trial.url(&format!("{LIST}&limit=100&page={page}"))).await, "the list as JSON");
    }
    for ((name, hostile), path) in CORPUS.iter().zip(&paths) {
        assert!(!trial.runs(&trial.url(&format!("{path}/html"))).await, "{name}");
        if let Hostile::Message(_) = hostile {
            assert!(!trial.runs(&trial.url(path)).await, "{name}: as JSON");
            assert!(!trial.runs(&trial.url(&format!("{path}/text"))).await, "{name}: as text");
        }
        for index in 0..attachments(&trial, path).await {
            let target = trial.url(&format!("{path}/attachments/{index}"));
            assert!(!trial.runs(&target).await, "{name}: {target}");
            assert_ne!(trial.browser.url().await, target, "{name}: it is saved, not shown");
        }
        // The HTML is safe by itself, without the policy that comes with it.
        let page = http::client().get(trial.url(&format!("{path}/html"))).send().await.expect("an answer");
        let page = page.bytes().await.expect("a page");
        assert!(!trial.runs(&trial.bare("text/html; charset=utf-8", page)).await, "{name}: without the policy");
        assert_eq!(trial.loaded(), [""; 0], "{name}");
    }
    images_are_loaded_only_when_they_are_wanted(&trial, &paths).await;
    most_mails_are_dangerous_without_protection(&trial).await;
}

async fn attachments(trial: &Trial, path: &str) -> usize {
    let (_, email): (_, Value) = http::get(trial.server.http(), path).await;
    email["attachments"].as_array().expect("attachments").len()
}

async fn images_are_loaded_only_when_they_are_wanted(trial: &Trial, paths: &[String]) {
    for ((name, _), path) in CORPUS.iter().zip(paths) {
        assert!(!trial.runs(&trial.url(&format!("{path}/html?remote=1"))).await, "{name}");
    }
    let loaded = trial.loaded();
    assert!(!loaded.is_empty(), "images are loaded");
    for request in &loaded {
        assert!(request.ends_with(".png as image"), "{loaded:?}");
    }
}

/// The counter-test: what the mails do when their HTML is shown as it is.
async fn most_mails_are_dangerous_without_protection(trial: &Trial) {
    let before = trial.loaded().len();
    let mut dangerous = Vec::new();
    for (name, hostile) in CORPUS {
        let (charset, html) = match hostile {
            Hostile::Html(html) => ("utf-8", html),
            Hostile::Charset(charset, html) => (*charset, html),
            Hostile::Message(_) => continue,
        };
        if trial.runs(&trial.bare(&format!("text/html; charset={charset}"), trial.filled(html))).await {
            dangerous.push(name);
        }
    }
    assert!(dangerous.len() >= DANGEROUS_MIN, "only these: {dangerous:?}");
    assert!(trial.loaded().len() > before + 10, "they load: {:?}", trial.loaded());
}
