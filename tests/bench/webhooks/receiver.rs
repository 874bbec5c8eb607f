//! A receiver on several ports, each with its own origin. It has as little HTTP as possible, so that the benchmark does not
//! measure the receiver. Or it is a usual web server.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::sleep;
use std::time::{Duration, Instant};

use axum::Router;
use axum::extract::State;
use axum::routing::post;
use axum::serve::ListenerExt;
use bytes::Bytes;
use hyper::HeaderMap;
use hyper::header::{CONNECTION, CONTENT_LENGTH, HOST, HeaderName, HeaderValue};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;
use tokio::sync::watch;

use crate::support::Result;

/// A wait for requests fails after so long without any.
const PATIENCE: Duration = Duration::from_secs(60);
const OK: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";

/// Fields that every sender sets itself.
const OF_THE_SENDER: [HeaderName; 3] = [CONNECTION, CONTENT_LENGTH, HOST];

/// What the receiver does with every request.
#[derive(Clone, Copy)]
pub(crate) enum Conduct {
    /// Answered 200 after a while.
    Answers(Duration),
    /// Answered 200 at once, by axum.
    Serves,
    /// Answered with this.
    Says(&'static [u8]),
    /// Answered with this and one octet more each second, without end.
    Drips(&'static [u8]),
    /// Answered with this and as many octets more as the connection takes, without end.
    Pours(&'static [u8]),
    /// Never answered.
    Hangs,
    /// Never answered; the connection ends.
    Closes,
    /// No connection is accepted.
    Refuses,
}

impl Conduct {
    pub(crate) const FAILS: Self = Self::Says(b"HTTP/1.1 500 Failed\r\ncontent-length: 0\r\n\r\n");
    /// Every way in which a receiver can be bad.
    pub(crate) const BAD: [Self; 10] = [
        Self::Refuses,
        Self::Hangs,
        Self::Closes,
        Self::FAILS,
        Self::Says(b"HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n"),
        Self::Drips(b"HTTP/1.1 200 OK\r\nx-slow: "),
        Self::Pours(b"HTTP/1.1 200 OK\r\nx-endless: "),
        Self::Drips(b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n"),
        Self::Pours(b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n"),
        Self::Drips(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 "),
    ];
}

/// A request as it was received, without the headers of its connection.
#[derive(Clone, Default)]
pub(crate) struct Example {
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

#[derive(Default)]
struct Seen {
    count: AtomicUsize,
    /// The numbers in the subjects of the mails, each with the time of the request.
    arrivals: Mutex<Vec<(usize, Instant)>>,
    first: Mutex<Example>,
    /// Whether responses are held back.
    is_held: watch::Sender<bool>,
}

/// A running receiver. It ends when it is dropped.
pub(crate) struct Receiver {
    addresses: Vec<SocketAddr>,
    seen: Arc<Seen>,
    _runtime: Runtime,
}

impl Receiver {
    /// A receiver on so many addresses. Each is another host, since the ports of one host share its limits.
    pub(crate) fn start(hosts: usize, conduct: Conduct) -> Result<Self> {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
        let seen = Arc::<Seen>::default();
        let mut addresses = Vec::new();
        for host in (1..=u16::MAX).take(hosts) {
            let [high, low] = host.to_be_bytes();
            let listener = runtime.block_on(TcpListener::bind(SocketAddr::from(([127, 1, high, low], 0))))?;
            addresses.push(listener.local_addr()?);
            let seen = Arc::clone(&seen);
            match conduct {
                Conduct::Serves => runtime.spawn(serve_web(listener, seen)),
                // The address stays known, and nobody listens there.
                Conduct::Refuses => runtime.spawn(async { drop(listener) }),
                _ => runtime.spawn(accept(listener, conduct, seen)),
            };
        }
        Ok(Self { addresses, seen, _runtime: runtime })
    }

    pub(crate) fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// How many requests came.
    pub(crate) fn count(&self) -> usize {
        self.seen.count.load(Ordering::Relaxed)
    }

    /// Waits until so many requests have come. Returns when that was.
    pub(crate) fn wait_for(&self, count: usize) -> Result<Instant> {
        let (mut before, mut changed_at) = (0, Instant::now());
        loop {
            let now = self.count();
            if now >= count {
                return Ok(Instant::now());
            }
            if now > before {
                (before, changed_at) = (now, Instant::now());
            } else if changed_at.elapsed() > PATIENCE {
                return Err(format!("{now} of {count} requests came").into());
            }
            sleep(Duration::from_millis(1));
        }
    }

    /// The first request.
    pub(crate) fn example(&self) -> Example {
        locked(&self.seen.first).clone()
    }

    /// From now on no request is answered.
    pub(crate) fn hold(&self) {
        self.seen.is_held.send_replace(true);
    }

    /// Answers the requests that were held back, and all others from now on.
    pub(crate) fn let_go(&self) {
        self.seen.is_held.send_replace(false);
    }

    /// The numbers of the mails whose events came since the last call, each with its time.
    pub(crate) fn take_arrivals(&self) -> Vec<(usize, Instant)> {
        std::mem::take(&mut *locked(&self.seen.arrivals))
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A receiver with a web server. It stops when the receiver does.
async fn serve_web(listener: TcpListener, seen: Arc<Seen>) {
    let listener = listener.tap_io(|stream| {
        // The peer notices when a connection ends.
        let _ = stream.set_nodelay(true);
    });
    let router = Router::new().route("/hook", post(take)).with_state(seen);
    let _ = axum::serve(listener, router).await;
}

async fn take(State(seen): State<Arc<Seen>>, mut headers: HeaderMap, body: Bytes) {
    for name in OF_THE_SENDER {
        headers.remove(name);
    }
    note(&seen, move || headers, &body);
    // The sender is as long-lived as the receiver.
    let _ = seen.is_held.subscribe().wait_for(|is_held| !is_held).await;
}

async fn accept(listener: TcpListener, conduct: Conduct, seen: Arc<Seen>) {
    while let Ok((stream, _)) = listener.accept().await {
        let seen = Arc::clone(&seen);
        // The peer notices when a connection ends.
        tokio::spawn(async move { serve(stream, conduct, &seen).await });
    }
}

async fn serve(mut stream: TcpStream, conduct: Conduct, seen: &Seen) -> Option<()> {
    stream.set_nodelay(true).ok()?;
    let mut buffer = Vec::with_capacity(16 << 10);
    let mut is_held = seen.is_held.subscribe();
    loop {
        let (head, end) = loop {
            if let Some(whole) = whole(&buffer) {
                break whole;
            }
            if stream.read_buf(&mut buffer).await.ok()? == 0 {
                return None;
            }
        };
        note(seen, || headers(&buffer[..head]), &buffer[head..end]);
        is_held.wait_for(|is_held| !is_held).await.ok()?;
        buffer.drain(..end);
        match conduct {
            Conduct::Answers(after) => {
                if !after.is_zero() {
                    tokio::time::sleep(after).await;
                }
                stream.write_all(OK).await.ok()?;
            }
            Conduct::Says(answer) => stream.write_all(answer).await.ok()?,
            Conduct::Drips(first) => {
                stream.write_all(first).await.ok()?;
                loop {
                    tokio::time::sleep(Duration::from_secs(1)).await;
                    stream.write_all(b"x").await.ok()?;
                }
            }
            Conduct::Pours(first) => {
                stream.write_all(first).await.ok()?;
                loop {
                    stream.write_all(&[b'x'; 16 << 10]).await.ok()?;
                }
            }
            Conduct::Hangs => while stream.read(&mut [0; 1024]).await.ok()? > 0 {},
            Conduct::Closes | Conduct::Refuses | Conduct::Serves => return None,
        }
    }
}

/// Where the body of the first request starts and ends, once all of it is there.
fn whole(buffer: &[u8]) -> Option<(usize, usize)> {
    let head = buffer.windows(4).position(|window| window == b"\r\n\r\n")? + 4;
    let fields = std::str::from_utf8(&buffer[..head]).ok()?;
    let mut fields = fields.split("\r\n").filter_map(|line| line.split_once(": "));
    let (_, length) = fields.find(|(name, _)| name.eq_ignore_ascii_case("content-length"))?;
    let end = head + length.parse::<usize>().ok()?;
    (buffer.len() >= end).then_some((head, end))
}

fn note(seen: &Seen, headers: impl FnOnce() -> HeaderMap, body: &[u8]) {
    let now = Instant::now();
    if seen.count.fetch_add(1, Ordering::Relaxed) == 0 {
        *locked(&seen.first) = Example { headers: headers(), body: Bytes::copy_from_slice(body) };
    }
    let name = b"\"subject\":\"";
    let Some(at) = body.windows(name.len()).position(|window| window == name) else { return };
    let digits = body[at + name.len()..].iter().take_while(|octet| octet.is_ascii_digit());
    let number = digits.fold(0, |number: usize, digit| number * 10 + usize::from(digit - b'0'));
    locked(&seen.arrivals).push((number, now));
}

/// The header fields, except those that every sender sets itself.
fn headers(head: &[u8]) -> HeaderMap {
    let lines = std::str::from_utf8(head).unwrap_or_default().split("\r\n");
    let fields = lines.filter_map(|line| line.split_once(": "));
    let fields =
        fields.filter_map(|(name, value)| Some((name.parse::<HeaderName>().ok()?, HeaderValue::from_str(value).ok()?)));
    fields.filter(|(name, _)| !OF_THE_SENDER.contains(name)).collect()
}
