//! The fixtures for test suites, run against the program and an application that sends mail.
//! Promise: it outlives the code below it.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};

use axum::extract::State;
use axum::http::StatusCode;
use axum::{Router, routing::post};
use serde_json::Value;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::task::block_in_place;

use crate::support::files::path;
use crate::support::program::{Program, local};
use crate::support::programs;
use crate::support::smtp_peer::SmtpPeer;

/// The link that the application mails. The examples expect it.
const LINK: &str = "https://app.test/verify?token=8f2a3c4d5e6b";

/// Which service an example uses.
enum Service {
    /// That of `TEMPMAIL_URL`.
    Given(Program),
    /// One that it starts itself, by a script in this directory.
    Own(PathBuf),
}

impl Service {
    /// What the example needs to find it.
    fn variables(&self) -> Vec<(&'static str, String)> {
        match self {
            Self::Given(daemon) => {
                let url = format!("http://{}", daemon.http);
                vec![("TEMPMAIL_URL", url.clone()), ("TEMPMAIL_SERVER", url)]
            }
            Self::Own(directory) => {
                let (program, arguments) = (directory.join("started"), directory.join("arguments"));
                let text = "#!/bin/sh\nprintf '%s\\n' \"$@\" \"$$\" >\"$ARGUMENTS\" && exec \"$BINARY\" \"$@\"\n";
                std::fs::write(&program, text).expect("a file");
                std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).expect("permissions");
                let (program, arguments) = (program.display().to_string(), arguments.display().to_string());
                let binary = env!("CARGO_BIN_EXE_tempmail").to_owned();
                vec![("TEMPMAIL_BIN", program), ("ARGUMENTS", arguments), ("BINARY", binary)]
            }
        }
    }

    /// The data directory of one that the example has started.
    fn data_dir(directory: &Path) -> PathBuf {
        let arguments = std::fs::read_to_string(directory.join("arguments")).expect("the example starts a service");
        assert!(arguments.starts_with("serve\n--dev\n"), "{arguments}");
        let (_, data) = arguments.split_once("--data-dir\n").expect("a data directory");
        PathBuf::from(data.lines().next().expect("a path"))
    }

    fn smtp(&self) -> SocketAddr {
        match self {
            Self::Given(daemon) => daemon.smtp,
            Self::Own(directory) => {
                let status = local(&Self::data_dir(directory), &["status", "--json"]);
                let status: Value = serde_json::from_str(&status.stdout).expect("the status");
                status["smtpListen"][0].as_str().expect("SMTP").parse().expect("an address")
            }
        }
    }

    /// Nothing is left of one that the example has started.
    fn end(self) {
        match self {
            Self::Given(daemon) => daemon.stop(),
            Self::Own(directory) => {
                let data = Self::data_dir(&directory);
                assert!(!data.exists(), "{} is left", data.display());
                let arguments = std::fs::read_to_string(directory.join("arguments")).expect("the file");
                let process = arguments.lines().last().expect("its number");
                // One that has ended and that nobody has asked for has no command any more.
                let command = std::fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
                assert!(command.is_empty(), "the service runs on as {process}");
            }
        }
    }
}

/// An application under test: it mails a code to whoever signs up.
struct App {
    service: Service,
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
    let smtp = block_in_place(|| app.service.smtp());
    // As from a queue: first something else, and after the answer to the request.
    tokio::spawn(async move {
        let from = "From: App <no-reply@app.test>\r\n";
        let welcome = format!("{from}Subject: Welcome\r\n\r\nWelcome to our app, founded in 2024.");
        SmtpPeer::greeted(smtp).await.deliver(&email, &welcome).await;
        let text = format!("Your verification code is {code}.\r\nOr verify your address here: {LINK}");
        let mail = format!("{from}Subject: Confirm your address\r\n\r\n{text}");
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

/// Runs a command in a copy of the examples, with the addresses of the application and of a service. It must confirm so many
/// addresses.
async fn confirms_at(service: Service, dir: &Path, count: usize, program: &str, args: &[&str]) {
    let mut command = Command::new(programs::find(program));
    // Compilers keep what they have built and fetched in the home of the caller.
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("TEMPMAIL_")) {
        command.env_remove(name);
    }
    command.envs(service.variables());
    let app = Arc::new(App { service, codes: Mutex::default(), confirmed: Mutex::default() });
    let router =
        Router::new().route("/sign-up", post(sign_up)).route("/confirm", post(confirm)).with_state(Arc::clone(&app));
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("bind");
    let app_url = format!("http://{}", listener.local_addr().expect("address"));
    let (end, ended) = tokio::sync::oneshot::channel::<()>();
    let serving = axum::serve(listener, router).with_graceful_shutdown(async { ended.await.expect("an end") });
    let serving = tokio::spawn(async { serving.await.expect("the application") });

    let binaries = Path::new(env!("CARGO_BIN_EXE_tempmail")).parent().expect("a directory").to_owned();
    let programs_path = std::env::var_os("PATH").unwrap_or_default();
    let all = std::iter::once(binaries).chain(std::env::split_paths(&programs_path));
    command.args(args).current_dir(dir).env("NO_PROXY", "*").env("APP_URL", app_url);
    command.env("PATH", std::env::join_paths(all).expect("a path"));
    command.env("XDG_CONFIG_HOME", dir).env("XDG_STATE_HOME", dir).env("PYTHONDONTWRITEBYTECODE", "1");
    tokio::task::spawn_blocking(move || programs::run(&mut command, "")).await.expect("the example");
    end.send(()).expect("the application");
    serving.await.expect("its end");
    let app = Arc::into_inner(app).expect("no request");
    assert_eq!(app.confirmed.into_inner().expect("confirmed").len(), count);
    block_in_place(|| app.service.end());
}

/// A copy of the examples, with the packages of npm that they name.
pub(super) fn copied() -> TempDir {
    let dir = tempfile::tempdir().expect("a directory");
    for entry in std::fs::read_dir(path("tests/examples")).expect("the examples") {
        let entry = entry.expect("an entry");
        std::fs::copy(entry.path(), dir.path().join(entry.file_name())).expect("a copy");
    }
    symlink(path("target/fixtures/node_modules"), dir.path().join("node_modules")).expect("a link");
    dir
}

/// Runs a command beside a service.
async fn confirms_beside(count: usize, program: &str, args: &[&str]) {
    let (dir, data) = (copied(), tempfile::tempdir().expect("a directory"));
    let daemon = block_in_place(|| Program::serve(data.path(), &[]));
    confirms_at(Service::Given(daemon), dir.path(), count, program, args).await;
}

/// Runs a command beside a service, and once more without one.
async fn confirms(count: usize, program: &str, args: &[&str]) {
    confirms_beside(count, program, args).await;
    let dir = copied();
    confirms_at(Service::Own(dir.path().to_owned()), dir.path(), count, program, args).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs curl"]
async fn the_example_in_shell_confirms_an_address() {
    confirms_beside(1, "sh", &["sign_up.sh"]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs pytest"]
async fn the_fixture_for_pytest_confirms_addresses() {
    confirms(2, "pytest", &["-q", "-p", "no:cacheprovider", "test_sign_up.py"]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs Node"]
async fn the_helper_for_node_confirms_addresses() {
    confirms(2, "node", &["--test", "sign_up.test.mjs"]).await;
}

/// Runs the suite of `node:test` in another framework, whose names another line imports.
async fn confirms_in(framework: &str, command: &str) {
    let line = format!("import {{ afterAll as after, beforeAll as before, test }} from '{framework}';");
    let edit = format!("sed -i \"s#^import .* from 'node:test';#{line}#\" sign_up.test.mjs");
    confirms(2, "sh", &["-c", &format!("{edit} && exec node {command} sign_up.test.mjs")]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs Node and tests/fixtures/install.sh"]
async fn the_helper_for_node_confirms_addresses_in_vitest_and_jest() {
    confirms_in("vitest", "node_modules/vitest/vitest.mjs run").await;
    let jest = "--experimental-vm-modules node_modules/jest/bin/jest.js --config={}";
    confirms_in("@jest/globals", jest).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs Node and tests/fixtures/install.sh"]
async fn the_fixture_for_playwright_confirms_addresses() {
    let cli = "node_modules/@playwright/test/cli.js";
    confirms(2, "node", &[cli, "test", "--workers=1", "--reporter=line", "sign_up.spec.mjs"]).await;
}

/// What these commands do in Cypress itself is not seen here: its program comes from no registry of packages.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs Node"]
async fn the_commands_for_cypress_confirm_addresses_without_it() {
    let stand_in = path("tests/fixtures/cypress.mjs").display().to_string();
    confirms(2, "node", &["--import", &stand_in, "sign_up.cy.mjs"]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs Go"]
async fn the_helper_for_go_confirms_addresses() {
    confirms(2, "go", &["test", "-count=1", "tempmail.go", "sign_up_test.go"]).await;
}

/// Debian's package of `JUnit` has a program of its own for what Maven and Gradle do elsewhere.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a JDK and JUnit"]
async fn the_extension_for_junit_confirms_addresses() {
    let script = "mkdir -p classes && javac -cp '/usr/share/java/*' -d classes Tempmail.java SignUpTest.java && \
        java -cp 'classes:/usr/share/java/*' org.junit.platform.console.ConsoleLauncher --select-class SignUpTest";
    confirms(2, "sh", &["-c", script]).await;
}

/// The example is a test of these tests, which does something only here.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs nothing else"]
async fn the_helper_for_rust_confirms_addresses() {
    let tests = std::env::current_exe().expect("these tests").display().to_string();
    confirms(2, &tests, &["--ignored", "--test-threads=1", "on_demand_in_rust::"]).await;
}

#[path = "../../examples/sign_up.rs"]
mod on_demand_in_rust;
