//! A headless Chromium, driven through chromedriver by the `WebDriver` protocol of the W3C, or a headless Firefox, driven
//! by the protocol that it speaks itself.
//!
//! input     clicks, keys and text, as from a person
//! script    what the page says to an expression, and waiting for it
//! windows   several windows and tabs
//! devtools  what only Chromium offers: themes, sizes, no network, the clipboard, pictures
//! firefox   the start of Firefox, and its protocol

mod devtools;
mod firefox;
mod input;
mod script;
mod windows;

pub(crate) use input::keys;

use firefox::Marionette;

use std::io::{BufRead, BufReader};
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use reqwest::{Client, Method};
use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{http, programs};

/// How often chromedriver is started at most, each time with another port.
const STARTS_MAX: usize = 5;

/// A browser. It begins with one tab, and methods are about the tab that was opened or chosen last. It reaches this machine by address alone, and nothing else. It ends when this is dropped.
pub(crate) struct Browser {
    process: Child,
    session: Session,
    _home: TempDir,
}

/// How commands reach it.
enum Session {
    /// Through chromedriver, at this URL.
    Chromium(Client, String),
    Firefox(Marionette),
}

impl Browser {
    /// Starts Chromium.
    pub(crate) async fn start() -> Self {
        let chromium = programs::find("chromium");
        let home = tempfile::tempdir().expect("directory");
        let arguments = [
            "--headless=new".to_owned(),
            "--no-sandbox".to_owned(),
            "--disable-dev-shm-usage".to_owned(),
            "--disable-background-networking".to_owned(),
            "--disable-component-update".to_owned(),
            "--no-first-run".to_owned(),
            // Otherwise each sandboxed page gets a process of its own, which takes most of the time.
            "--disable-site-isolation-trials".to_owned(),
            "--disable-features=IsolateSandboxedIframes,SpareRendererForSitePerProcess".to_owned(),
            "--renderer-process-limit=1".to_owned(),
            "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1".to_owned(),
            format!("--user-data-dir={}", home.path().display()),
        ];
        let options = json!({ "binary": chromium, "args": arguments });
        let program = programs::find("chromedriver");
        let (process, port) =
            (0..STARTS_MAX).find_map(|_| start(&program, home.path())).expect("a chromedriver that runs");
        let url = format!("http://127.0.0.1:{port}/session");
        let mut browser = Self { process, session: Session::Chromium(http::client(), url.clone()), _home: home };
        let capabilities = json!({ "capabilities": { "alwaysMatch": { "goog:chromeOptions": options } } });
        let created = browser.command(Method::POST, "", capabilities).await;
        let url = format!("{url}/{}", created["sessionId"].as_str().expect("a session"));
        browser.session = Session::Chromium(http::client(), url);
        browser
    }

    /// Opens a page and waits until it has loaded.
    pub(crate) async fn open(&self, url: &str) {
        self.command(Method::POST, "/url", json!({ "url": url })).await;
    }

    /// The title of the page.
    pub(crate) async fn title(&self) -> String {
        self.command(Method::GET, "/title", Value::Null).await.as_str().expect("a title").to_owned()
    }

    /// The address of the page. A download has none.
    pub(crate) async fn url(&self) -> String {
        self.command(Method::GET, "/url", Value::Null).await.as_str().expect("an address").to_owned()
    }

    async fn command(&self, method: Method, path: &str, body: Value) -> Value {
        let answer = self.try_command(method, path, &body).await;
        answer.unwrap_or_else(|error| panic!("{path} {body}: {error}"))
    }

    /// The error is that of the driver, as JSON.
    async fn try_command(&self, method: Method, path: &str, body: &Value) -> Result<Value, Value> {
        let (http, session) = match &self.session {
            Session::Chromium(http, session) => (http, session),
            Session::Firefox(marionette) => return marionette.command(path, body).await,
        };
        let mut request = http.request(method, format!("{session}{path}"));
        if !body.is_null() {
            request = request.json(body);
        }
        let answer: Value = request.send().await.expect("an answer").json().await.expect("JSON");
        let value = answer["value"].clone();
        if value.get("error").is_some() { Err(value) } else { Ok(value) }
    }
}

/// Starts chromedriver at a free port. `None` if somebody else took the port.
///
/// Left to itself it takes a free port of IPv6, and ends if that of IPv4 is not free, which is likely after tests that made
/// thousands of connections.
fn start(program: &Path, home: &Path) -> Option<(Child, u16)> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
    let port = listener.local_addr().expect("an address").port();
    drop(listener);
    let mut command = Command::new(program);
    command.arg(format!("--port={port}")).env("HOME", home).process_group(0);
    let mut driver = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("chromedriver");
    let stdout = driver.stdout.take().expect("stdout");
    let mut lines = BufReader::new(stdout).lines().map(|line| line.expect("a line"));
    if lines.any(|line| line.contains("started successfully")) {
        return Some((driver, port));
    }
    driver.wait().expect("the end of chromedriver");
    None
}

impl Drop for Browser {
    fn drop(&mut self) {
        // Everything that it started is in its group: with a driver goes the browser.
        let group = Pid::from_child(&self.process);
        let _ = kill_process_group(group, Signal::KILL);
        let _ = self.process.wait();
    }
}
