//! How soon mail is taken again after a kill, with a large store.

use std::io::{BufRead, BufReader, Write};
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempmail::config::{Config, Revision};
use tempmail::model::{Address, Delivery, Envelope, Greeting, Protocol, Subaddressing, Timestamp};
use tempmail::random;
use tempmail::store::{EmbeddedStore, Store, StoreOptions};

use crate::support::Result;
use crate::support::reserved::Reserved;

const MAIL_OCTETS: usize = 16 << 10;
/// Deliveries at once while the store is filled.
const AT_ONCE: usize = 100;
const SENDERS: usize = 50;
/// Messages of each sender before the kill: with 16 KB each a little less than a checkpoint's worth, which is replayed.
const MESSAGES: usize = 36;
/// How long the daemon may take to listen.
const PATIENCE: Duration = Duration::from_secs(60);
const KILLS: usize = 3;

/// Fills a store with so many gigabytes, and kills the daemon on it under load a few times; prints the time from its start
/// to the first 220.
pub(crate) fn run(gigabytes: usize) -> Result<()> {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
    let data = dir.path().join("data");
    std::fs::create_dir(&data)?;
    let mails = (gigabytes << 30) / MAIL_OCTETS;
    tokio::runtime::Runtime::new()?.block_on(fill(&data, mails))?;
    println!("{mails} messages of 16 KB, {gigabytes} GB");
    for kill in 1..=KILLS {
        let reserved = Reserved::new();
        let address = reserved.address;
        let (mut daemon, first) = start(&data, address)?;
        let senders: Vec<_> = (0..SENDERS).map(|_| std::thread::spawn(move || send(address).is_ok())).collect();
        let are_all_taken = senders.into_iter().all(|sender| sender.join().unwrap_or(false));
        daemon.0.kill()?;
        daemon.0.wait()?;
        let begun = Instant::now();
        let (again, after_kill) = start(&data, address)?;
        drop(again);
        println!(
            "kill {kill}: {} messages taken: {are_all_taken}; 220 after {first:.2?} in order, {after_kill:.2?} after the kill; {:.2?} with the stop",
            SENDERS * MESSAGES,
            begun.elapsed()
        );
    }
    Ok(())
}

fn message(n: usize, at: Timestamp) -> Option<Delivery> {
    let recipient: Address = format!("user{}@example.test", n % 10_000).parse().ok()?;
    Some(Delivery {
        envelope: Envelope::new(
            IpAddr::from([192, 0, 2, 1]),
            "client.example".into(),
            Protocol::plain(Greeting::Ehlo),
            "sender@example.com".into(),
            [(recipient.to_string(), recipient.mailbox(Subaddressing::Keep))],
            || random::email_id(at),
        ),
        raw: vec![b'x'; MAIL_OCTETS].into(),
        received_at: at,
        expires_at: at.plus(Duration::from_hours(24)),
    })
}

async fn fill(data: &Path, mails: usize) -> Result<()> {
    let config = Config::of_revision(Revision::Two, data.into());
    let store = EmbeddedStore::open(data, &StoreOptions::from_config(&config))?;
    let millis = std::time::UNIX_EPOCH.elapsed()?.as_millis();
    let now = Timestamp::from_millis(i64::try_from(millis)?);
    for first in (0..mails).step_by(AT_ONCE) {
        let deliveries = (first..mails.min(first + AT_ONCE)).filter_map(|n| message(n, now));
        for received in futures_util::future::join_all(deliveries.map(|delivery| store.receive(delivery))).await {
            received?;
        }
    }
    store.close().await?;
    Ok(())
}

/// A process that ends with its owner.
struct Daemon(Child);

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts the daemon. Returns how long it took until a client was greeted.
fn start(data: &Path, address: SocketAddr) -> Result<(Daemon, Duration)> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tempmail"));
    command.args(["serve", "--smtp-listen", &address.to_string(), "--http-listen", "127.0.0.1:0"]);
    command.args(["--domain", "example.test"]).arg("--data-dir").arg(data);
    command.env_clear().env("XDG_CONFIG_HOME", data).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let begun = Instant::now();
    let mut daemon = Daemon(command.spawn()?);
    while begun.elapsed() < PATIENCE {
        if let Ok(stream) = TcpStream::connect(address) {
            expect(&mut BufReader::new(stream), "220")?;
            return Ok((daemon, begun.elapsed()));
        }
        if let Some(status) = daemon.0.try_wait()? {
            return Err(format!("the daemon ended with {status}").into());
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    Err("the daemon does not listen".into())
}

/// Sends its messages, each of which must be accepted.
fn send(address: SocketAddr) -> std::result::Result<(), String> {
    let talk = || -> Result<()> {
        let mut peer = BufReader::new(TcpStream::connect(address)?);
        expect(&mut peer, "220")?;
        let line = format!("{}\r\n", "x".repeat(62));
        let message = format!("Subject: x\r\n\r\n{}.\r\n", line.repeat(MAIL_OCTETS / 64));
        let mut commands = vec![("EHLO c.test\r\n", "250")];
        for _ in 0..MESSAGES {
            commands.extend([
                ("MAIL FROM:<>\r\n", "250"),
                ("RCPT TO:<ann@example.test>\r\n", "250"),
                ("DATA\r\n", "354"),
            ]);
            commands.push((&message, "250"));
        }
        for (command, code) in commands {
            peer.get_mut().write_all(command.as_bytes())?;
            expect(&mut peer, code)?;
        }
        Ok(())
    };
    talk().map_err(|error| error.to_string())
}

/// Reads a reply, which must begin with `code`.
fn expect(peer: &mut BufReader<TcpStream>, code: &str) -> Result<()> {
    loop {
        let mut line = String::new();
        peer.read_line(&mut line)?;
        if !line.starts_with(code) {
            return Err(format!("{line:?} in place of {code}").into());
        }
        if line.as_bytes().get(3) != Some(&b'-') {
            return Ok(());
        }
    }
}
