//! The examples for test suites, run against the program and an application that sends mail.
//! Promise: it outlives the code below it.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};

use axum::extract::State;
use axum::http::StatusCode;
use axum::{Router, routing::post};
use tokio::net::TcpListener;

use crate::support::files::path;
use crate::support::program::Program;
use crate::support::programs;
use crate::support::smtp_peer::SmtpPeer;

/// An application under test: it mails a code to whoever signs up.
struct App {
    smtp: SocketAddr,
    codes: Mutex<HashMap<String, String>>,
    confirmed: Mutex<Vec<String>>,
}

fn fields(form: &str) -> HashMap<String, String> {
    url::form_urlencoded::parse(form.as_bytes()).into_owned().collect()
}

async fn sign_up(State(app): State<Arc<App>>, form: String) -> StatusCode {
    let email = fields(&form)["email"].clone();
    let code = format!("{:06}", rand::random_range(0..1_000_000));
    app.codes.lock().expect("codes").insert(email.clone(), code.clone());
    let smtp = app.smtp;
    // As from a queue: first something else, and after the answer to the request.
    tokio::spawn(async move {
        let from = "From: App <no-reply@app.test>\r\n";
        let welcome = format!("{from}Subject: Welcome\r\n\r\nWelcome to our app, founded in 2024.");
        SmtpPeer::greeted(smtp).await.deliver(&email, &welcome).await;
        let mail = format!("{from}Subject: Confirm your address\r\n\r\nYour verification code is {code}.");
        SmtpPeer::greeted(smtp).await.deliver(&email, &mail).await;
    });
    StatusCode::ACCEPTED
}

async fn confirm(State(app): State<Arc<App>>, form: String) -> StatusCode {
    let fields = fields(&form);
    let is_right = app.codes.lock().expect("codes").get(&fields["email"]) == fields.get("code");
    if !is_right {
        return StatusCode::FORBIDDEN;
    }
    app.confirmed.lock().expect("confirmed").push(fields["email"].clone());
    StatusCode::OK
}

/// Runs a command with the addresses of both services; the example must confirm exactly one address.
async fn confirms(program: &str, args: &[&str]) {
    let dir = tempfile::tempdir().expect("directory");
    let daemon = Program::serve(dir.path(), &[]);
    let app = Arc::new(App { smtp: daemon.smtp, codes: Mutex::default(), confirmed: Mutex::default() });
    let router =
        Router::new().route("/sign-up", post(sign_up)).route("/confirm", post(confirm)).with_state(Arc::clone(&app));
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("bind");
    let app_url = format!("http://{}", listener.local_addr().expect("address"));
    let serving = tokio::spawn(async move { axum::serve(listener, router).await });

    let binaries = Path::new(env!("CARGO_BIN_EXE_tempmail")).parent().expect("a directory").to_owned();
    let programs_path = std::env::var_os("PATH").unwrap_or_default();
    let all = std::iter::once(binaries).chain(std::env::split_paths(&programs_path));
    let tempmail_url = format!("http://{}", daemon.http);
    let mut command = Command::new(programs::find(program));
    // Compilers keep what they have built and fetched in the home of the caller.
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("TEMPMAIL_")) {
        command.env_remove(name);
    }
    command.args(args).current_dir(path("tests/examples")).env("NO_PROXY", "*").env("APP_URL", app_url);
    command.env("TEMPMAIL_URL", &tempmail_url).env("TEMPMAIL_SERVER", &tempmail_url);
    command
        .env("PATH", std::env::join_paths(all).expect("a path"))
        .env("XDG_CONFIG_HOME", dir.path())
        .env("XDG_STATE_HOME", dir.path());
    command.env("PYTHONDONTWRITEBYTECODE", "1");
    tokio::task::spawn_blocking(move || programs::run(&mut command, "")).await.expect("the example");
    serving.abort();
    assert_eq!(app.confirmed.lock().expect("confirmed").len(), 1);
    daemon.stop();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs curl"]
async fn the_example_in_shell_confirms_an_address() {
    confirms("sh", &["sign_up.sh"]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs pytest"]
async fn the_example_for_pytest_confirms_an_address() {
    for example in ["test_sign_up.py", "test_private_inbox.py"] {
        confirms("pytest", &["-q", "-p", "no:cacheprovider", example]).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs Node"]
async fn the_example_for_node_confirms_an_address() {
    for example in ["sign_up.test.mjs", "private_inbox.test.mjs"] {
        confirms("node", &["--test", example]).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs Go"]
async fn the_example_for_go_confirms_an_address() {
    confirms("go", &["test", "-count=1", "sign_up_test.go"]).await;
}

/// Debian's package of `JUnit` has a program of its own for what Maven and Gradle do elsewhere.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a JDK and JUnit"]
async fn the_example_for_junit_confirms_an_address() {
    for class in ["SignUpTest", "PrivateInboxTest"] {
        let script = format!(
            "classes=$(mktemp -d) && trap 'rm -rf \"$classes\"' EXIT && all='/usr/share/java/*' && \
            javac -cp \"$all\" -d \"$classes\" {class}.java && \
            java -cp \"$classes:$all\" org.junit.platform.console.ConsoleLauncher --select-class {class}"
        );
        confirms("sh", &["-c", &script]).await;
    }
}
