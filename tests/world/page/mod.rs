//! The page in a real browser, over a real daemon and real SMTP.
//!
//! A start of a browser takes seconds, so each test has one browser for a group of checks, each with an inbox of its own.

mod accessible;
mod addresses;
mod all_mail;
mod arriving;
mod away;
#[cfg(feature = "cassandra")]
mod cluster;
mod deleting;
mod firefox;
mod keyboard;
mod languages;
mod many;
mod overview;
mod pictures;
mod private;
mod refused;
mod safe;
mod scripts;
mod speed;
mod states;
mod tokens;
mod views;

use serde_json::{Value, json};

use crate::support::browser::Browser;
use crate::support::browser::keys::ENTER;
use crate::support::smtp_peer::SmtpPeer;
use crate::support::test_server::TestServer;

/// Collects in each document what the browser has to complain about, in front of the page's own scripts.
const WATCH: &str = "(() => {
    const complaints = [];
    Object.defineProperty(globalThis, 'complaints', { value: complaints });
    addEventListener('securitypolicyviolation', (event) =>
        complaints.push(`policy: ${event.violatedDirective} ${event.blockedURI} ${event.sourceFile}`), true);
    addEventListener('error', (event) => complaints.push(`error: ${event.message} ${event.target?.src ?? ''}`), true);
    addEventListener('unhandledrejection', (event) => complaints.push(`rejection: ${event.reason}`));
    const frames = new WeakSet();
    Object.defineProperty(globalThis, 'isLoaded', { value: (frame) => frames.has(frame) });
    document.addEventListener('load', (event) => event.target instanceof HTMLIFrameElement && frames.add(event.target), true);
    const { error } = console;
    console.error = (...said) => { complaints.push(`console: ${said.join(' ')}`); error(...said); };
})()";

/// The rows of the list.
const ROWS: &str = ".mails li";

/// A daemon and a browser, in which each page is watched.
struct Trial {
    server: TestServer,
    browser: Browser,
}

impl Trial {
    async fn start() -> Self {
        Self::with("").await
    }

    /// With these settings.
    async fn with(settings: &str) -> Self {
        let browser = Browser::start().await;
        watch(&browser).await;
        Self { server: TestServer::live(settings).await, browser }
    }

    /// Loads the page at a place, the part after `#/`. A change of the place alone would load nothing.
    async fn open(&self, place: &str) {
        self.browser.open("about:blank").await;
        self.browser.open(&self.url(place)).await;
        self.browser.until("document.querySelector('#main > *')").await;
    }

    /// Loads the page at an inbox, and waits until the list is there.
    async fn open_inbox(&self, address: &str) {
        self.open(&format!("inbox/{address}")).await;
        self.browser.until("document.querySelector('.mails li, .nothing')").await;
    }

    /// Goes to another place within the page.
    async fn go(&self, place: &str) {
        self.browser.eval(&format!("void (location.hash = '#/{place}')")).await;
    }

    fn url(&self, place: &str) -> String {
        format!("http://{}/#/{place}", self.server.http())
    }

    /// Delivers a whole message over SMTP.
    async fn deliver(&self, to: &str, message: &str) {
        SmtpPeer::greeted(self.server.smtp()).await.deliver(to, message).await;
    }

    /// Delivers this many mails, `mail 1` first.
    async fn deliver_many(&self, to: &str, count: usize) {
        let mut peer = SmtpPeer::greeted(self.server.smtp()).await;
        for number in 1..=count {
            peer.deliver(to, &format!("From: bob@example.com\r\nSubject: mail {number}\r\n\r\nx")).await;
        }
    }

    /// Waits until the list has this many rows.
    async fn until_rows(&self, count: usize) {
        self.browser.until(&format!("document.querySelectorAll('{ROWS}').length === {count}")).await;
    }

    /// The subjects in the list.
    async fn subjects(&self) -> Vec<String> {
        let all = self.browser.eval("[...document.querySelectorAll('.subject')].map((it) => it.textContent)").await;
        all.as_array().expect("subjects").iter().map(|it| it.as_str().expect("text").to_owned()).collect()
    }

    /// Creates a token of a scope, once for each scope.
    async fn new_token(&self, scope: &str) -> String {
        let body = json!({ "name": format!("a-{scope}"), "scope": scope });
        let (status, created) = self.server.admin_post("/api/admin/tokens", &body).await;
        assert_eq!(status, 201, "{created}");
        created["token"].as_str().expect("a token").to_owned()
    }

    /// Types a token into the form that asks for one. The tab has it until it is forgotten.
    async fn type_token(&self, token: &str) {
        self.browser.type_into("#main input[type=password]", token).await;
        self.browser.press(ENTER).await;
        self.browser.until("document.querySelector('#foot .plain + .plain')").await;
    }

    /// Forgets what this tab keeps.
    async fn forget_tab(&self) {
        self.browser.eval("(() => { try { sessionStorage.clear() } catch {} })()").await;
    }

    /// Fails if the page is wider than its window. `what` names it.
    async fn expect_to_fit(&self, what: &str) {
        let widths = self.browser.eval("[document.documentElement.scrollWidth, innerWidth]").await;
        assert!(widths[0].as_u64() <= widths[1].as_u64(), "{what}: {widths}");
    }

    /// Fails if the browser has complained about the page since it was loaded.
    async fn expect_no_complaints(&self) {
        assert_eq!(self.browser.eval("complaints").await, Value::Array(Vec::new()));
    }
}

/// Watches the tab that was opened last.
async fn watch(browser: &Browser) {
    browser.before_documents(WATCH).await;
    browser.permit_clipboard().await;
}
