//! A client of HTTP that asks and reads and does nothing else, so that thousands of requests take little time.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use memchr::memmem;
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::timeout;

/// A client at one address, with one connection at a time.
pub(crate) struct Caller {
    here: Ipv4Addr,
    server: SocketAddr,
    connection: Option<TcpStream>,
    /// Whether the connection has a stream, which ends it for other requests.
    has_stream: bool,
    /// What came and was not yet read.
    octets: Vec<u8>,
}

/// An answer: all of it, or the beginning of a stream.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    /// The lines of its fields.
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Reply {
    /// A header field. The server writes the names in lower case.
    pub(crate) fn field(&self, name: &str) -> Option<&str> {
        self.fields().find(|(other, _)| *other == name).map(|(_, value)| value)
    }

    pub(crate) fn fields(&self) -> impl Iterator<Item = (&str, &str)> {
        self.head.lines().filter_map(|line| line.split_once(": "))
    }

    pub(crate) fn text(&self) -> &str {
        str::from_utf8(&self.body).expect("UTF-8")
    }
}

impl Caller {
    /// A client at this address of loopback.
    pub(crate) fn at(here: impl Into<Ipv4Addr>, server: SocketAddr) -> Self {
        Self { here: here.into(), server, connection: None, has_stream: false, octets: Vec::new() }
    }

    /// Sends a request with these lines of header fields, and reads its answer; of a stream, what comes at first.
    pub(crate) async fn ask(&mut self, method: &str, target: &str, fields: &str, body: Option<&Value>) -> Reply {
        let end = body.map_or("\r\n".to_owned(), |body| {
            let body = body.to_string();
            format!("content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}", body.len())
        });
        let request = format!("{method} {target} HTTP/1.1\r\nhost: {}\r\naccept: */*\r\n{fields}{end}", self.server);
        if self.connection.is_none() || std::mem::take(&mut self.has_stream) {
            let socket = TcpSocket::new_v4().expect("a socket");
            socket.bind((self.here, 0).into()).expect("an address of loopback");
            self.connection = Some(socket.connect(self.server).await.expect("a connection"));
            self.octets.clear();
        }
        self.connection.as_mut().expect("one").write_all(request.as_bytes()).await.expect("a request");
        let head = String::from_utf8(self.through(b"\r\n\r\n").await).expect("text");
        let (first, head) = head.split_once("\r\n").expect("lines");
        assert!(first.starts_with("HTTP/1.1 "), "the answer before went on: {first}");
        let status = first.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
        let mut reply = Reply { status, head: head.to_owned(), body: Vec::new() };
        if method != "HEAD" && ![204, 304].contains(&status) {
            if let Some(octets) = reply.field("content-length") {
                reply.body = self.take(octets.parse().expect("a number")).await;
            } else if reply.field("content-type") == Some("text/event-stream") {
                self.has_stream = true;
                reply.body = self.chunk().await;
                reply.body.extend(self.rest(Duration::from_millis(2)).await);
            } else {
                while let Some(chunk) = Some(self.chunk().await).filter(|chunk| !chunk.is_empty()) {
                    reply.body.extend(chunk);
                }
            }
        }
        if reply.field("connection") == Some("close") {
            self.connection = None;
        }
        reply
    }

    /// What comes of a stream until nothing comes for a time.
    pub(crate) async fn rest(&mut self, time: Duration) -> Vec<u8> {
        let mut rest = Vec::new();
        while timeout(time, self.more()).await.is_ok() {}
        while !self.octets.is_empty() {
            rest.extend(self.chunk().await);
        }
        rest
    }

    async fn chunk(&mut self) -> Vec<u8> {
        let line = self.through(b"\r\n").await;
        let octets = str::from_utf8(&line).ok().and_then(|line| usize::from_str_radix(line.trim_end(), 16).ok());
        let octets = octets.expect("the size of a chunk");
        let mut chunk = self.take(octets + 2).await;
        chunk.truncate(octets);
        chunk
    }

    async fn through(&mut self, end: &[u8]) -> Vec<u8> {
        loop {
            if let Some(at) = memmem::find(&self.octets, end) {
                return self.take(at + end.len()).await;
            }
            self.more().await;
        }
    }

    async fn take(&mut self, octets: usize) -> Vec<u8> {
        while self.octets.len() < octets {
            self.more().await;
        }
        let rest = self.octets.split_off(octets);
        std::mem::replace(&mut self.octets, rest)
    }

    async fn more(&mut self) {
        let read = self.connection.as_mut().expect("a connection").read_buf(&mut self.octets).await.expect("octets");
        assert_ne!(read, 0, "the connection has ended: {:?}", self.octets.escape_ascii().to_string());
    }
}
