//! A receiver of webhooks that behaves as a test says, path by path, and keeps the requests.
//!
//! It works on bare sockets, because no HTTP server would do half of what it does.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

/// What a path does with a request after reading all of it.
#[derive(Clone, Debug)]
pub enum Behaviour {
    /// Answers with a status, headers and a body, and keeps the connection open.
    Answer(u16, Vec<(&'static str, String)>, Vec<u8>),
    /// Behaves like each of these once, in their order, and then always like the last one.
    InTurn(Vec<Behaviour>),
    /// Never answers, and keeps the connection open.
    Hang,
    /// Sends a header section octet by octet, and never ends it.
    SlowHeader,
    /// Answers with the status and a body that never ends.
    EndlessBody(u16),
    /// Answers with the status and only the start of a body.
    UnfinishedBody(u16),
    /// Answers 200 with this many header fields of 1,000 octets.
    HugeHeaders(usize),
    /// Sends these octets and closes the connection.
    Raw(&'static [u8]),
    /// Closes the connection without an answer.
    Close,
}

impl Behaviour {
    /// Answers with a status alone.
    pub fn status(status: u16) -> Self {
        Self::Answer(status, Vec::new(), Vec::new())
    }

    /// Answers with a status and one header field.
    pub fn with_header(status: u16, name: &'static str, value: &str) -> Self {
        Self::Answer(status, vec![(name, value.to_owned())], Vec::new())
    }
}

/// A request as it was received.
#[derive(Clone, Debug)]
pub struct Request {
    /// The method.
    pub method: String,
    /// The path with its query.
    pub path: String,
    /// The header fields in their order, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The raw body.
    pub body: Vec<u8>,
}

impl Request {
    /// The value of a header field, which must not be there twice.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut values = self.headers.iter().filter(|(other, _)| other == name).map(|(_, value)| value.as_str());
        let value = values.next();
        assert_eq!(values.next(), None, "{name} is there twice");
        value
    }
}

#[derive(Default)]
struct Seen {
    scripts: HashMap<String, Behaviour>,
    requests: Vec<Request>,
    dialled: Vec<SocketAddr>,
    endless_octets: usize,
}

/// A running receiver. It stops when it is dropped. A path without a script answers 404.
pub struct WebhookSink {
    address: SocketAddr,
    seen: Arc<Mutex<Seen>>,
    count: watch::Receiver<usize>,
    _accepting: JoinSet<()>,
}

impl WebhookSink {
    /// A receiver on a free port of 127.0.0.1.
    pub async fn start() -> Self {
        Self::on(vec![TcpListener::bind("127.0.0.1:0").await.expect("a free port")])
    }

    /// A receiver on the same free port of 127.0.0.1 and 127.0.0.2. [`WebhookSink::dialled`] says which one was dialled.
    pub async fn start_on_two() -> Self {
        for _ in 0..100 {
            let first = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
            let port = first.local_addr().expect("bound address").port();
            if let Ok(second) = TcpListener::bind(("127.0.0.2", port)).await {
                return Self::on(vec![first, second]);
            }
        }
        panic!("no port is free on both addresses");
    }

    fn on(listeners: Vec<TcpListener>) -> Self {
        let address = listeners[0].local_addr().expect("bound address");
        let seen = Arc::<Mutex<Seen>>::default();
        let counter = Arc::new(watch::Sender::new(0));
        let count = counter.subscribe();
        let mut accepting = JoinSet::new();
        for listener in listeners {
            accepting.spawn(accept(listener, seen.clone(), counter.clone()));
        }
        Self { address, seen, count, _accepting: accepting }
    }

    /// The address on which it listens.
    pub fn addr(&self) -> SocketAddr {
        self.address
    }

    /// The URL of a path that starts with `/`.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Sets the behaviour for requests to `path` (without a query) from now on.
    pub fn script(&self, path: &str, behaviour: Behaviour) {
        self.seen.lock().expect("seen").scripts.insert(path.to_owned(), behaviour);
    }

    /// Every request so far.
    pub fn requests(&self) -> Vec<Request> {
        self.seen.lock().expect("seen").requests.clone()
    }

    /// How many connections were accepted.
    pub fn connections(&self) -> usize {
        self.seen.lock().expect("seen").dialled.len()
    }

    /// The address that each connection was opened to.
    pub fn dialled(&self) -> Vec<SocketAddr> {
        self.seen.lock().expect("seen").dialled.clone()
    }

    /// How many octets of endless bodies were sent.
    pub fn endless_octets(&self) -> usize {
        self.seen.lock().expect("seen").endless_octets
    }

    /// Waits until there have been at least `count` requests.
    pub async fn wait_for(&self, count: usize) -> Vec<Request> {
        let mut seen = self.count.clone();
        let waiting = seen.wait_for(|seen| *seen >= count);
        tokio::time::timeout(Duration::from_mins(1), waiting).await.expect("requests in time").expect("the sink runs");
        self.requests()
    }
}

async fn accept(listener: TcpListener, seen: Arc<Mutex<Seen>>, counter: Arc<watch::Sender<usize>>) {
    let mut connections = JoinSet::new();
    loop {
        let Ok((stream, _)) = listener.accept().await else { continue };
        seen.lock().expect("seen").dialled.push(stream.local_addr().expect("a connected socket"));
        let counter = counter.clone();
        let mut connection = Connection { stream, buffer: Vec::new(), seen: seen.clone() };
        connections.spawn(async move {
            while let Some(request) = connection.request().await {
                let behaviour = record(&connection.seen, request);
                counter.send_modify(|count| *count += 1);
                if !connection.behave(behaviour).await {
                    return;
                }
            }
        });
        while connections.try_join_next().is_some() {}
    }
}

fn record(seen: &Mutex<Seen>, request: Request) -> Behaviour {
    let mut seen = seen.lock().expect("seen");
    let path = request.path.split('?').next().unwrap_or_default().to_owned();
    seen.requests.push(request);
    match seen.scripts.get_mut(&path) {
        Some(Behaviour::InTurn(turns)) if turns.len() > 1 => turns.remove(0),
        Some(Behaviour::InTurn(turns)) => turns.first().expect("a turn").clone(),
        Some(behaviour) => behaviour.clone(),
        None => Behaviour::status(404),
    }
}

struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
    seen: Arc<Mutex<Seen>>,
}

impl Connection {
    /// The next request; `None` if the client went away.
    async fn request(&mut self) -> Option<Request> {
        let end = loop {
            if let Some(at) = self.buffer.windows(4).position(|window| window == b"\r\n\r\n") {
                break at + 4;
            }
            self.more().await?;
        };
        let head = String::from_utf8(self.buffer.drain(..end).collect()).expect("headers are ASCII");
        let mut lines = head.trim_end().split("\r\n");
        let mut words = lines.next()?.split(' ');
        let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
        let field = |line: &str| {
            let (name, value) = line.split_once(':').expect("a header field");
            (name.to_ascii_lowercase(), value.trim().to_owned())
        };
        let headers: Vec<(String, String)> = lines.map(field).collect();
        let length = headers.iter().find(|(name, _)| name == "content-length");
        let length = length.map_or(0, |(_, value)| value.parse().expect("a length"));
        while self.buffer.len() < length {
            self.more().await?;
        }
        let body = self.buffer.drain(..length).collect();
        Some(Request { method, path, headers, body })
    }

    async fn more(&mut self) -> Option<()> {
        let count = self.stream.read_buf(&mut self.buffer).await.ok()?;
        (count > 0).then_some(())
    }

    /// Handles a request. Returns whether the connection stays open.
    async fn behave(&mut self, behaviour: Behaviour) -> bool {
        match behaviour {
            Behaviour::Answer(status, headers, body) => {
                let fields: String = headers.iter().flat_map(|(name, value)| [name, ": ", value, "\r\n"]).collect();
                let head = format!("HTTP/1.1 {status} Scripted\r\n{fields}content-length: {}\r\n\r\n", body.len());
                self.send(&[head.as_bytes(), &body].concat()).await
            }
            Behaviour::InTurn(_) => panic!("turns do not nest"),
            Behaviour::Hang => self.until_left().await,
            Behaviour::SlowHeader => {
                let mut is_there = self.send(b"HTTP/1.1 200 OK\r\nx-slow: ").await;
                while is_there {
                    // A receiver that is slow, and never silent for as long as a timeout.
                    tokio::time::sleep(Duration::from_millis(5)).await;
                    is_there = self.send(b"a").await;
                }
                false
            }
            Behaviour::EndlessBody(status) => {
                let head = format!("HTTP/1.1 {status} Scripted\r\nconnection: close\r\n\r\n");
                let mut is_there = self.send(head.as_bytes()).await;
                while is_there {
                    is_there = self.send(&[b'x'; 4096]).await;
                    self.seen.lock().expect("seen").endless_octets += 4096;
                }
                false
            }
            Behaviour::UnfinishedBody(status) => {
                let head = format!("HTTP/1.1 {status} Scripted\r\ncontent-length: 100\r\n\r\nthe start");
                self.send(head.as_bytes()).await && self.until_left().await
            }
            Behaviour::HugeHeaders(count) => {
                let line = |number| format!("x-{number}: {}\r\n", "a".repeat(1000));
                let fields: String = (0..count).map(line).collect();
                let head = format!("HTTP/1.1 200 OK\r\n{fields}content-length: 0\r\n\r\n");
                self.send(head.as_bytes()).await
            }
            Behaviour::Raw(octets) => {
                self.send(octets).await;
                false
            }
            Behaviour::Close => false,
        }
    }

    async fn send(&mut self, octets: &[u8]) -> bool {
        self.stream.write_all(octets).await.is_ok()
    }

    async fn until_left(&mut self) -> bool {
        while self.more().await.is_some() {}
        false
    }
}
