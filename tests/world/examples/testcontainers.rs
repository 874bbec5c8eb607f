//! The modules for Testcontainers, with its libraries as they are, on a stand-in for the engine whose containers are processes
//! of the binary.
//! Promise: it outlives the code below it.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use serde_json::json;
use tempfile::TempDir;
use tokio::task::block_in_place;

use super::sign_up::copied;
use crate::support::files::path;
use crate::support::http;
use crate::support::programs;

/// Each driver starts a container, reads the greeting of SMTP, lists two inboxes that are empty, and stops the container.
const PYTHON: &str = r#"
import socket
from tempmail_testcontainers import TempmailContainer
with TempmailContainer() as tempmail:
    host, port = tempmail.smtp.split(":")
    print(socket.create_connection((host, int(port))).recv(3).decode())
    print(tempmail.inbox().list(), tempmail.inbox(private=True).list())
"#;
const NODE: &str = r"
import { once } from 'node:events';
import { connect } from 'node:net';
import { startContainer } from './tempmail.testcontainers.mjs';
const tempmail = await startContainer();
const [host, port] = tempmail.smtp.split(':');
const socket = connect(Number(port), host);
console.log(String((await once(socket, 'data'))[0]).slice(0, 3));
socket.destroy();
const lists = [await tempmail.inbox(), await tempmail.inbox({ isPrivate: true })].map((inbox) => inbox.list());
console.log(...(await Promise.all(lists)).map((list) => JSON.stringify(list)));
await tempmail.stop();
";
const GO: &str = r#"package tempmail

import (
	"context"
	"fmt"
	"net"
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	stop, err := StartContainer(context.Background())
	if err != nil {
		panic(err)
	}
	code := m.Run()
	stop()
	os.Exit(code)
}

func TestInboxes(t *testing.T) {
	greeting := make([]byte, 3)
	must(must(net.Dial("tcp", SMTP)).Read(greeting))
	fmt.Println(string(greeting))
	fmt.Println(NewInbox(t).List(nil), NewPrivateInbox(t).List(nil))
}
"#;
const JAVA: &str = r#"
import java.net.Socket;

class Driver {
    public static void main(String[] args) throws Exception {
        Tempmail tempmail = TempmailContainer.service();
        String[] smtp = tempmail.smtp().split(":");
        try (Socket socket = new Socket(smtp[0], Integer.parseInt(smtp[1]))) {
            System.out.println(new String(socket.getInputStream().readNBytes(3)));
        }
        System.out.println(Tempmail.strings("id", tempmail.inbox(false).list("")) + " "
                + Tempmail.strings("id", tempmail.inbox(true).list("")));
    }
}
"#;

/// A stand-in for the engine. It is killed when this is dropped.
struct Engine {
    child: Child,
    address: String,
}

impl Engine {
    fn start() -> Self {
        let mut command = Command::new(path("target/fixtures/python/bin/python"));
        command.arg(path("tests/fixtures/engine.py")).arg(env!("CARGO_BIN_EXE_tempmail"));
        command.arg(path(".package/Containerfile")).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().expect("tests/fixtures/install.sh");
        let mut port = String::new();
        BufReader::new(child.stdout.take().expect("stdout")).read_line(&mut port).expect("a port");
        Self { child, address: format!("127.0.0.1:{}", port.trim()) }
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs a driver among the examples. No container may be left.
async fn starts_and_stops(dir: &TempDir, name: &str, driver: &str, program: &str, args: &[&str]) {
    let engine = Engine::start();
    std::fs::write(dir.path().join(name), driver).expect("a file");
    let mut command = Command::new(programs::find(program));
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("TEMPMAIL_")) {
        command.env_remove(name);
    }
    command.args(args).current_dir(dir.path()).env("NO_PROXY", "*").env("PYTHONDONTWRITEBYTECODE", "1");
    command.env("INSTALLED", path("target/fixtures")).env("DOCKER_HOST", format!("tcp://{}", engine.address));
    command.env("TESTCONTAINERS_RYUK_DISABLED", "true").env("TESTCONTAINERS_CONNECTION_MODE", "docker_host");
    let output = block_in_place(|| programs::run(&mut command, ""));
    let said = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(said.contains("220\n[] []\n"), "{said}");
    let left = http::get(engine.address.parse().expect("an address"), "/containers/json").await;
    assert_eq!(left, (200, json!([])));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs tests/fixtures/install.sh"]
async fn the_module_in_python() {
    let python = path("target/fixtures/python/bin/python").display().to_string();
    starts_and_stops(&copied(), "driver.py", PYTHON, &python, &["driver.py"]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs Node and tests/fixtures/install.sh"]
async fn the_module_in_node() {
    starts_and_stops(&copied(), "driver.mjs", NODE, "node", &["driver.mjs"]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs Go and tests/fixtures/install.sh"]
async fn the_module_in_go() {
    let dir = copied();
    for name in ["go.mod", "go.sum"] {
        std::fs::copy(path("target/fixtures/go").join(name), dir.path().join(name)).expect("a copy");
    }
    let args = ["test", "-mod=mod", "-count=1", "-v", "tempmail.go", "tempmail_container.go", "driver_test.go"];
    starts_and_stops(&dir, "driver_test.go", GO, "go", &args).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a JDK, JUnit and tests/fixtures/install.sh"]
async fn the_module_in_java() {
    let script = "all=\"/usr/share/java/junit-jupiter-api.jar:$INSTALLED/java/*\" && mkdir classes && \
        javac -cp \"$all:/usr/share/java/*\" -d classes Tempmail.java TempmailContainer.java Driver.java && \
        exec java -cp \"classes:$all\" Driver";
    starts_and_stops(&copied(), "Driver.java", JAVA, "sh", &["-c", script]).await;
}
