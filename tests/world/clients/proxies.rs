//! `HAProxy` in front of the program names its clients.
//! Promise: it outlives the code below it.

use std::net::{Ipv4Addr, SocketAddr};
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

use super::serve;
use crate::support::programs;
use crate::support::reserved::Reserved;
use crate::support::smtp_peer::SmtpPeer;
use crate::support::until::until_some;

/// A running `HAProxy`, which is killed when this is dropped.
struct HaProxy {
    child: Child,
    front: Reserved,
    _dir: TempDir,
}

impl HaProxy {
    /// One that listens on loopback and hands each connection on to `back`. `server` says more about that.
    fn start(mode: &str, option: &str, back: SocketAddr, server: &str) -> Self {
        let front = Reserved::new();
        let configuration = format!(
            "defaults\n mode {mode}\n timeout connect 5s\n timeout client 20s\n timeout server 20s\n\
             listen front\n bind {}\n {option}\n server tempmail {back} {server}\n",
            front.address
        );
        let dir = tempfile::tempdir().expect("directory");
        let file = dir.path().join("haproxy.cfg");
        std::fs::write(&file, configuration).expect("write");
        let mut command = Command::new(programs::find("haproxy"));
        let child = command.arg("-db").arg("-f").arg(&file).stderr(Stdio::null()).spawn().expect("haproxy");
        Self { child, front, _dir: dir }
    }

    /// A connection from 127.0.0.N, which `HAProxy` does not connect from by itself.
    async fn connect_from(&mut self, number: u8) -> TcpStream {
        until_some("haproxy listens", async || {
            assert_eq!(self.child.try_wait().expect("its state"), None, "haproxy has ended");
            let socket = TcpSocket::new_v4().expect("a socket");
            socket.bind(SocketAddr::from((Ipv4Addr::new(127, 0, 0, number), 0))).expect("bind");
            socket.connect(self.front.address).await.ok()
        })
        .await
    }
}

impl Drop for HaProxy {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs HAProxy"]
async fn haproxy_names_clients_of_smtp() {
    let (_dir, daemon) = serve(&["--proxy-from", "127.0.0.0/8"]);
    for (to, send) in [("one@example.test", "send-proxy"), ("two@example.test", "send-proxy-v2")] {
        let mut haproxy = HaProxy::start("tcp", "", daemon.smtp, send);
        let mut peer = SmtpPeer::over(haproxy.connect_from(9).await);
        peer.expect("220").await;
        peer.deliver(to, "hi\r\n").await;
        // Here HTTP wants a header of a proxy too, unlike the control socket.
        let read = daemon.tempmail(&["read", to, "--latest", "--raw"]);
        assert!(read.stdout.contains("([127.0.0.9])"), "{send}: {read:?}");
    }
    daemon.stop();
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs HAProxy"]
async fn haproxy_names_clients_of_http() {
    let (_dir, daemon) = serve(&["--trusted-proxies", "127.0.0.1", "--rate-limit", "1"]);
    let mut haproxy = HaProxy::start("http", "option forwardfor", daemon.http, "");
    let mut statuses = Vec::new();
    for client in [2, 2, 3] {
        let mut stream = haproxy.connect_from(client).await;
        let request =
            "GET /api/mail/messages?to=hello@example.test HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
        stream.write_all(request.as_bytes()).await.expect("write");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.expect("an answer");
        statuses.push(answer.split(' ').nth(1).expect("a status").to_owned());
    }
    assert_eq!(statuses, ["200", "429", "200"], "each client has a rate limit of its own");
    daemon.stop();
}
