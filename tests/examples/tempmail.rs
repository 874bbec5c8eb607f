//! Inboxes of tempmail for tests. Copy this file into `tests/`. It needs reqwest with the features `json` and `query`,
//! `serde_json` and tempfile. Whatever fails panics.
//!
//! The service is that of `TEMPMAIL_URL`, with a token or key in `TEMPMAIL_TOKEN` if it needs one. Without `TEMPMAIL_URL`
//! one runs until it is dropped: `TEMPMAIL_BIN`, or tempmail in `PATH`.
#![allow(dead_code, reason = "a suite uses a part of it")]

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use reqwest::{Client, Method, RequestBuilder};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A service.
pub struct Tempmail {
    /// Where it answers HTTP.
    pub url: String,
    /// Where it takes mail, as `HOST:PORT`, if somebody said.
    pub smtp: Option<String>,
    own: Option<(Child, TempDir)>,
}

impl Tempmail {
    /// The service of `TEMPMAIL_URL`, or one of its own.
    pub fn start() -> Self {
        if let Ok(url) = std::env::var("TEMPMAIL_URL") {
            return Self { url, smtp: std::env::var("TEMPMAIL_SMTP").ok(), own: None };
        }
        let directory = tempfile::tempdir().expect("a directory");
        let program = std::env::var("TEMPMAIL_BIN").unwrap_or_else(|_| "tempmail".to_owned());
        let mut command = Command::new(program);
        command.args(["serve", "--dev", "--log-format", "json", "--smtp-listen", "127.0.0.1:0"]);
        command.args(["--http-listen", "127.0.0.1:0", "--data-dir"]).arg(directory.path().join("data"));
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("tempmail");
        let mut log = BufReader::new(child.stderr.take().expect("its log")).lines().map_while(Result::ok);
        let mut service = Self { url: String::new(), smtp: None, own: Some((child, directory)) };
        let mut said = String::new();
        for line in log.by_ref() {
            let entry: Value = serde_json::from_str(&line).unwrap_or_default();
            if entry["message"] == "ready" {
                let first = |list: &Value| list.as_str().and_then(|list| list.split(',').next()).map(str::to_owned);
                service.smtp = first(&entry["smtp"]);
                service.url = format!("http://{}", first(&entry["http"]).expect("where it answers"));
                std::thread::spawn(move || log.for_each(drop));
                return service;
            }
            said += &(line + "\n");
        }
        panic!("tempmail does not start: {said}");
    }

    /// A new address.
    pub async fn inbox(&self) -> Inbox<'_> {
        let made = answer(self.request(Method::GET, "/api/addresses/random", None)).await;
        Inbox { service: self, address: text(&made["address"]), key: None }
    }

    /// A new address whose mail only its key and the administrator read, and which lives for an hour.
    pub async fn private_inbox(&self) -> Inbox<'_> {
        let request = self.request(Method::POST, "/api/addresses", None);
        let made = answer(request.json(&json!({"forSeconds": 3600}))).await;
        Inbox { service: self, address: text(&made["address"]), key: made["key"].as_str().map(str::to_owned) }
    }

    fn request(&self, method: Method, path: &str, key: Option<&str>) -> RequestBuilder {
        let request = Client::new().request(method, format!("{}{path}", self.url));
        match key.map(str::to_owned).or_else(|| std::env::var("TEMPMAIL_TOKEN").ok()) {
            Some(key) => request.bearer_auth(key),
            None => request,
        }
    }
}

/// The JSON of an answer, or null if it has no content.
async fn answer(request: RequestBuilder) -> Value {
    let answer = request.send().await.expect("an answer");
    let (status, body) = (answer.status(), answer.text().await.expect("an answer"));
    assert!(status.is_success(), "{status}: {body}");
    if body.is_empty() { Value::Null } else { serde_json::from_str(&body).expect("JSON") }
}

impl Drop for Tempmail {
    fn drop(&mut self) {
        if let Some((child, _)) = &mut self.own {
            // It may have ended already.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// The mail of one address. Filters are `subject`, `from`, `since` and `has`.
pub struct Inbox<'s> {
    service: &'s Tempmail,
    pub address: String,
    key: Option<String>,
}

impl Inbox<'_> {
    /// The oldest mail that passes the filters, within so many seconds, at most 300.
    pub async fn wait(&self, seconds: u32, filters: &[(&str, &str)]) -> Value {
        let seconds = seconds.to_string();
        let query = [&[("to", &*self.address), ("timeout", &seconds)], filters].concat();
        let mail = self.ask(Method::GET, "/api/mail/wait", &query).await;
        assert!(!mail.is_null(), "no such mail for {} within {seconds} s: {filters:?}", self.address);
        mail
    }

    /// The best code of the oldest mail that has one, within a minute.
    pub async fn wait_for_code(&self) -> String {
        text(&self.wait(60, &[("has", "code")]).await["codes"][0]["code"])
    }

    /// The best link of the oldest mail that has one, within a minute.
    pub async fn wait_for_link(&self) -> String {
        text(&self.wait(60, &[("has", "link")]).await["links"][0]["url"])
    }

    /// The newest hundred mails that pass the filters, newest first, without details.
    pub async fn list(&self, filters: &[(&str, &str)]) -> Vec<Value> {
        let query = [&[("to", &*self.address), ("limit", "100")], filters].concat();
        self.ask(Method::GET, "/api/mail/messages", &query).await["emails"].as_array().expect("a list").clone()
    }

    /// One mail, with its text, headers, codes, links and attachments.
    pub async fn read(&self, id: &str) -> Value {
        self.ask(Method::GET, &format!("/api/mail/messages/{id}"), &[]).await
    }

    /// Deletes one mail, or all of the address. Returns how many there were.
    pub async fn delete(&self, id: Option<&str>) -> u64 {
        let which = id.map_or(("to", &*self.address), |id| ("id", id));
        self.ask(Method::DELETE, "/api/mail/delete", &[which]).await["deleted"].as_u64().expect("a number")
    }

    /// Ends a private inbox.
    pub async fn end(self) {
        self.ask(Method::DELETE, "/api/addresses", &[("address", &self.address)]).await;
    }

    async fn ask(&self, method: Method, path: &str, query: &[(&str, &str)]) -> Value {
        answer(self.service.request(method, path, self.key.as_deref()).query(query)).await
    }
}

fn text(value: &Value) -> String {
    value.as_str().expect("a text").to_owned()
}
