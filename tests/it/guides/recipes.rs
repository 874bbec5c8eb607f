//! README's recipe for test suites, run as it is shown.

use std::process::Command;

use super::{blocks, file};
use crate::support::programs;
use crate::support::test_server::TestServer;

const TEST: &str = r#"
import smtplib, sys, threading

def send(address):
    with smtplib.SMTP(sys.argv[1], int(sys.argv[2])) as server:
        server.sendmail("shop@example.com", [address], "Subject: Your code\r\n\r\n493817\r\n")

address = new_address()
threading.Timer(0.3, send, [address]).start()
mail = wait_for_mail(address)
assert (mail["recipient"], mail["subject"]) == (address, "Your code"), mail
try:
    wait_for_mail(new_address(), seconds=0.2)
except TimeoutError:
    sys.exit(0)
sys.exit("mail for an address that has none")
"#;

#[tokio::test]
async fn a_test_finds_the_mail_that_comes_after_it_began_to_wait() {
    let Some(python) = programs::find("python3", "README's recipe for a test suite") else { return };
    let server = TestServer::start().await;
    let readme = file("README.md");
    let recipe = blocks(&readme, "python")[0].replace("http://127.0.0.1:8080", &format!("http://{}", server.http()));
    let mut command = Command::new(python);
    command.args([
        "-c",
        &format!("{recipe}\n{TEST}"),
        &server.smtp().ip().to_string(),
        &server.smtp().port().to_string(),
    ]);
    command.env("NO_PROXY", "*");
    tokio::task::spawn_blocking(move || programs::run(&mut command, "")).await.expect("the recipe");
    server.stop().await;
}
