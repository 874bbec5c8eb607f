//! The start of Firefox, and its own protocol of remote control, Marionette: messages over TCP, each with its length and a
//! colon before it, whose commands are those of `WebDriver`.

use std::fs;
use std::net::Ipv4Addr;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufStream};
use tokio::net::TcpStream;
use tokio::sync::Mutex;

use super::{Browser, Session, programs};
use crate::support::until::until_some;

/// It takes any free port, and names go to a proxy that is not there, so that only this machine is reached.
const PREFERENCES: &str = "user_pref('marionette.port', 0);
user_pref('network.proxy.type', 1);
user_pref('network.proxy.http', '127.0.0.1');
user_pref('network.proxy.http_port', 9);
user_pref('network.proxy.ssl', '127.0.0.1');
user_pref('network.proxy.ssl_port', 9);
user_pref('network.proxy.no_proxies_on', '127.0.0.1');
";

impl Browser {
    /// Starts Firefox.
    pub(crate) async fn firefox() -> Self {
        let home = tempfile::tempdir().expect("directory");
        fs::write(home.path().join("user.js"), PREFERENCES).expect("preferences");
        let mut command = Command::new(programs::find("firefox-esr"));
        command.args(["--marionette", "--headless", "--no-remote", "--profile"]).arg(home.path());
        command.env("HOME", home.path()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
        let process = command.spawn().expect("Firefox");
        let port = home.path().join("MarionetteActivePort");
        let port = until_some("Firefox", async || fs::read_to_string(&port).ok()?.trim().parse().ok()).await;
        Self { process, session: Session::Firefox(Marionette::connect(port).await), _home: home }
    }
}

/// A connection to Firefox.
pub(super) struct Marionette(Mutex<BufStream<TcpStream>>);

impl Marionette {
    async fn connect(port: u16) -> Self {
        let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await.expect("a connection");
        let mut stream = BufStream::new(stream);
        // It begins with what it is.
        read(&mut stream).await;
        let marionette = Self(Mutex::new(stream));
        marionette.ask("WebDriver:NewSession", json!({})).await.expect("a session");
        marionette
    }

    /// Carries out what `WebDriver` asks for by this path. The error is that of the browser, as JSON.
    pub(super) async fn command(&self, path: &str, body: &Value) -> Result<Value, Value> {
        let name = match path {
            "/url" => "Navigate",
            "/title" => "GetTitle",
            "/execute/async" => "ExecuteAsyncScript",
            "/element" => "FindElement",
            "/actions" => "PerformActions",
            _ => {
                let id = path.strip_prefix("/element/").and_then(|rest| rest.strip_suffix("/click"));
                let id = id.unwrap_or_else(|| panic!("no test asks Firefox for {path}"));
                return self.ask("WebDriver:ElementClick", json!({ "id": id })).await;
            }
        };
        self.ask(&format!("WebDriver:{name}"), if body.is_null() { json!({}) } else { body.clone() }).await
    }

    async fn ask(&self, name: &str, parameters: Value) -> Result<Value, Value> {
        let mut stream = self.0.lock().await;
        let message = json!([0, 1, name, parameters]).to_string();
        stream.write_all(format!("{}:{message}", message.len()).as_bytes()).await.expect("write");
        stream.flush().await.expect("write");
        let mut answer = read(&mut stream).await;
        let error = answer[2].take();
        if error.is_null() { Ok(answer[3]["value"].take()) } else { Err(error) }
    }
}

async fn read(stream: &mut BufStream<TcpStream>) -> Value {
    let mut length = Vec::new();
    stream.read_until(b':', &mut length).await.expect("a length");
    let length = std::str::from_utf8(&length).ok().and_then(|text| text.trim_end_matches(':').parse().ok());
    let mut message = vec![0; length.expect("a length")];
    stream.read_exact(&mut message).await.expect("a message");
    serde_json::from_slice(&message).expect("JSON")
}
