//! Listening sockets that a service manager such as systemd hands over.
//! Mechanism: it goes with sockets that are handed over.

use std::net::{SocketAddr, TcpListener};
use std::os::fd::OwnedFd;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::support::command::{Outcome, wait};
use crate::support::http;
use crate::support::program::{Program, serve_command};
use crate::support::smtp_peer::SmtpPeer;
use crate::support::until::until;

/// Two listening sockets of the manager, which stay open.
struct Manager {
    smtp: TcpListener,
    http: TcpListener,
}

impl Manager {
    fn new() -> Self {
        Self::with_smtp_at("127.0.0.1:0")
    }

    fn with_smtp_at(address: &str) -> Self {
        let bind = |address| TcpListener::bind(address).expect("bind");
        Self { smtp: bind(address), http: bind("127.0.0.1:0") }
    }

    fn smtp(&self) -> SocketAddr {
        self.smtp.local_addr().expect("address")
    }

    /// A command that hands both sockets to the program of `command`, without its arguments that name addresses.
    fn hand_over(&self, command: &mut Command, names: &str) {
        let script = "exec 3<&0 4<&1 </dev/null >/dev/null; export LISTEN_PID=$$ LISTEN_FDS=2; exec \"$@\"";
        let mut shell = Command::new("sh");
        shell.args(["-c", script, "sh"]).arg(command.get_program());
        let mut args = command.get_args();
        while let Some(arg) = args.next() {
            if arg == "--smtp-listen" || arg == "--http-listen" {
                args.next();
            } else {
                shell.arg(arg);
            }
        }
        shell.env_clear().envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let copy = |listener: &TcpListener| Stdio::from(OwnedFd::from(listener.try_clone().expect("a copy")));
        shell.env("LISTEN_FDNAMES", names).stderr(Stdio::piped());
        shell.stdin(copy(&self.smtp)).stdout(copy(&self.http));
        *command = shell;
    }

    fn serve(&self, data_dir: &std::path::Path) -> Program {
        Program::serve_with(data_dir, &[], |command| self.hand_over(command, "smtp:http"))
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_connection_is_refused_while_the_daemon_is_replaced() {
    let dir = tempfile::tempdir().expect("directory");
    let manager = Manager::new();
    let first = manager.serve(dir.path());
    assert_eq!((first.smtp, first.http), (manager.smtp(), manager.http.local_addr().expect("address")));
    SmtpPeer::greeted(first.smtp).await.deliver("hello@example.test", "Subject: before\r\n\r\n").await;
    first.stop();
    // No daemon answers now, but no client is refused.
    let mut meanwhile = Vec::new();
    for _ in 0..3 {
        meanwhile.push(SmtpPeer::connect(manager.smtp()).await);
    }
    let second = manager.serve(dir.path());
    for peer in &mut meanwhile {
        peer.expect("220").await;
        peer.deliver("hello@example.test", "Subject: meanwhile\r\n\r\n").await;
    }
    let inbox = second.tempmail(&["inbox", "hello@example.test", "-o", "id"]);
    assert_eq!(inbox.stdout.lines().count(), 4, "{inbox:?}");
    second.stop();
}

/// Clients come and go all the time. One of the two daemons serves each of them completely.
#[tokio::test(flavor = "multi_thread")]
async fn no_client_is_refused_or_cut_short_during_a_replacement() {
    let dir = tempfile::tempdir().expect("directory");
    let manager = Manager::new();
    let mut daemon = manager.serve(dir.path());
    let (address, is_over, all) = (manager.smtp(), Arc::<AtomicBool>::default(), Arc::<AtomicU64>::default());
    let clients: Vec<_> = (0..4)
        .map(|number| {
            let (is_over, all) = (Arc::clone(&is_over), Arc::clone(&all));
            tokio::spawn(async move {
                let (to, mut delivered) = (format!("c{number}@example.test"), 0_u64);
                while !is_over.load(Ordering::Relaxed) {
                    // The stop ends a session with a reply. The client sends mail again that was not accepted by then.
                    let is_delivered = SmtpPeer::connect(address).await.delivers(&to, "hi\r\n").await;
                    delivered += u64::from(is_delivered);
                    all.fetch_add(u64::from(is_delivered), Ordering::Relaxed);
                }
                (to, delivered)
            })
        })
        .collect();
    for _ in 0..3 {
        let before = all.load(Ordering::Relaxed);
        until("the clients are at work", async || all.load(Ordering::Relaxed) >= before + 8).await;
        daemon.stop();
        daemon = manager.serve(dir.path());
    }
    is_over.store(true, Ordering::Relaxed);
    for client in clients {
        let (to, delivered) = client.await.expect("neither refused nor reset");
        assert!(delivered > 0);
        assert_eq!(http::total(daemon.http, &to).await, delivered, "{to}");
    }
    daemon.stop();
}

#[test]
fn a_socket_that_nothing_uses_stops_the_start() {
    let dir = tempfile::tempdir().expect("directory");
    let manager = Manager::new();
    let mut command = serve_command(dir.path());
    manager.hand_over(&mut command, "smtp:web");
    let Outcome { code, stderr: said, .. } = wait(command.spawn().expect("run")).into();
    assert_eq!(code, Some(78), "{said}");
    assert!(said.contains("'web'") && said.contains("FileDescriptorName="), "{said}");
}

/// Here the settings themselves name only addresses of loopback.
#[test]
fn what_is_for_loopback_alone_does_not_go_with_a_socket_that_strangers_reach() {
    let dir = tempfile::tempdir().expect("directory");
    let everywhere = Manager::with_smtp_at("0.0.0.0:0");
    for (setting, value) in [("smtp-auth", "accept-any"), ("domain", "*")] {
        let mut command = serve_command(dir.path());
        command.args([&format!("--{setting}"), value]);
        everywhere.hand_over(&mut command, "smtp:http");
        let Outcome { code, stderr: said, .. } = wait(command.spawn().expect("run")).into();
        assert_eq!(code, Some(78), "{said}");
        assert!(said.contains(setting) && said.contains(&everywhere.smtp().to_string()), "{said}");
        let local = Manager::new();
        let args = [&format!("--{setting}"), value];
        Program::serve_with(dir.path(), &args, |command| local.hand_over(command, "smtp:http")).stop();
    }
}
