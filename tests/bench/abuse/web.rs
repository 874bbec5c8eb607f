//! Clients of HTTP that never come to the end of a request.

use std::io::Write;
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::crowd::{address, connect, is_open};
use super::verdict;
use crate::support::figures::percentile;
use crate::support::{Result, http};

/// How often a client sends an octet.
const OCTET_EVERY: Duration = Duration::from_secs(1);
/// How many threads the clients share.
const HANDS: usize = 8;
/// How long honest requests are measured alone.
const ALONE: Duration = Duration::from_secs(5);
/// After so long the measurement ends.
const PATIENCE: Duration = Duration::from_mins(1);
const GONE_WITHIN: Duration = Duration::from_secs(15);
const P99_MAX: Duration = Duration::from_millis(100);
/// What slow clients begin with: a head, and a body.
const STARTS: [&[u8]; 2] = [
    b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: ",
    b"POST /api/domains HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 9999\r\n\r\n{",
];

/// How long slow clients stay, and how long others wait for an answer meanwhile.
pub(crate) fn slow(server: SocketAddr, clients: usize) -> Result<()> {
    let alone = answered(server, |begun| begun.elapsed() < ALONE)?;
    let is_over = AtomicBool::new(false);
    let (stayed, beside) = thread::scope(|scope| {
        let honest = scope.spawn(|| answered(server, |_| !is_over.load(Ordering::Relaxed)).ok());
        let hand = |hand: usize| scope.spawn(move || stay(server, (hand..clients).step_by(HANDS)).ok());
        let hands: Vec<_> = (0..HANDS).map(hand).collect();
        let stayed: Option<Vec<Duration>> = hands.into_iter().map(|hand| hand.join().ok().flatten()).collect();
        is_over.store(true, Ordering::Relaxed);
        (stayed, honest.join().ok().flatten())
    });
    let longest = stayed.and_then(|stayed| stayed.into_iter().max()).ok_or("the slow clients could not connect")?;
    let beside = beside.ok_or("an honest client was not answered")?;
    let p99 = percentile(&beside, 99);
    println!(
        "{clients} slow clients of HTTP: the last was gone after {longest:.1?}; target of {GONE_WITHIN:?} {}",
        verdict(longest < GONE_WITHIN)
    );
    println!(
        "  {} other requests: p99 {p99:.1?}, {:.1?} alone; target of {P99_MAX:?} {}",
        beside.len(),
        percentile(&alone, 99),
        verdict(p99 < P99_MAX)
    );
    Ok(())
}

/// How long honest requests took, each on a connection of its own; sorted.
fn answered(server: SocketAddr, goes_on: impl Fn(Instant) -> bool) -> Result<Vec<Duration>> {
    let (begun, mut times) = (Instant::now(), Vec::new());
    while goes_on(begun) {
        let asked = Instant::now();
        let (status, _) = http::ask(server, "GET /api/mail/messages?to=honest@example.test", "")?;
        if status != 200 {
            return Err(format!("an honest client got {status}").into());
        }
        times.push(asked.elapsed());
    }
    times.sort();
    Ok(times)
}

/// Connects these clients, which then send an octet a second. Returns how long the last one stayed.
fn stay(server: SocketAddr, numbers: impl Iterator<Item = usize>) -> Result<Duration> {
    let start = |number: usize| -> Result<(Instant, TcpStream)> {
        let mut stream = connect(address(number)?, server)?;
        stream.write_all(STARTS[number / HANDS % STARTS.len()])?;
        stream.set_nonblocking(true)?;
        Ok((Instant::now(), stream))
    };
    let mut clients = numbers.map(start).collect::<Result<Vec<_>>>()?;
    let (begun, mut longest) = (Instant::now(), Duration::ZERO);
    while !clients.is_empty() && begun.elapsed() < PATIENCE {
        thread::sleep(OCTET_EVERY);
        clients.retain_mut(|(connected, stream)| {
            // A client that has just been closed is noticed at its next turn.
            let _ = stream.write_all(b"x");
            let stays = is_open(stream);
            if !stays {
                longest = longest.max(connected.elapsed());
            }
            stays
        });
    }
    Ok(if clients.is_empty() { longest } else { PATIENCE })
}
