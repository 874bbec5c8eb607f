//! An SMTP client that sends exactly the octets of a test.

use std::io::Write;
use std::net::SocketAddr;
use std::time::Duration;

use rustls::ClientConnection;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

/// How long a test waits for an expected event.
const PATIENCE: Duration = Duration::from_secs(20);

/// The most turns of the runtime until the server has read and answered what was sent.
const TURNS: usize = 8;

/// The stream of a peer.
pub(crate) trait Duplex: AsyncRead + AsyncWrite + Unpin + Send {}

impl<S: AsyncRead + AsyncWrite + Unpin + Send> Duplex for S {}

/// A raw connection to an SMTP server.
pub(crate) struct SmtpPeer {
    stream: BufReader<Box<dyn Duplex>>,
}

impl SmtpPeer {
    /// Connects and reads nothing. Octets are sent at once, however few they are.
    pub(crate) async fn connect(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).await.expect("connect");
        stream.set_nodelay(true).expect("a socket");
        Self::over(stream)
    }

    /// A peer on any stream.
    pub(crate) fn over(stream: impl Duplex + 'static) -> Self {
        Self { stream: BufReader::new(Box::new(stream)) }
    }

    /// The client's side of a TLS handshake, for the name `localhost`. The error is that of the handshake.
    pub(crate) async fn secure(self, connector: &TlsConnector) -> std::io::Result<Self> {
        // The server's alert may have come with its last reply.
        if self.stream.buffer().starts_with(b"\x15\x03") {
            return Err(std::io::ErrorKind::ConnectionAborted.into());
        }
        assert!(self.stream.buffer().is_empty(), "unexpected {:?}", self.stream.buffer().escape_ascii().to_string());
        let name = "localhost".try_into().expect("a name");
        Ok(Self::over(connector.connect(name, self.stream.into_inner()).await?))
    }

    /// Does a TLS handshake, and sends these octets as data together with its last octets.
    pub(crate) async fn secure_saying(self, connector: &TlsConnector, octets: &str) -> std::io::Result<Self> {
        let name = "localhost".try_into().expect("a name");
        let say = |tls: &mut ClientConnection| tls.writer().write_all(octets.as_bytes()).expect("room");
        Ok(Self::over(connector.connect_with(name, self.stream.into_inner(), say).await?))
    }

    /// Connects. `None` if nothing listens there.
    pub(crate) async fn try_connect(address: SocketAddr) -> Option<Self> {
        TcpStream::connect(address).await.ok().map(Self::over)
    }

    /// Connects and sends octets at once, before any other task of this thread runs.
    pub(crate) fn connect_saying(address: SocketAddr, octets: &str) -> Self {
        let mut stream = std::net::TcpStream::connect(address).expect("connect");
        stream.write_all(octets.as_bytes()).expect("write");
        stream.set_nonblocking(true).expect("non-blocking");
        Self::over(TcpStream::from_std(stream).expect("a socket"))
    }

    /// Connects and reads the greeting, which must be 220.
    pub(crate) async fn greeted(address: SocketAddr) -> Self {
        let mut peer = Self::connect(address).await;
        peer.expect("220").await;
        peer
    }

    /// Connects until the server has a free slot. A slot becomes free a moment after its connection has closed.
    pub(crate) async fn greeted_in_the_end(address: SocketAddr) -> Self {
        let attempts = async {
            loop {
                let mut peer = Self::connect(address).await;
                if peer.reply().await.starts_with("220") {
                    return peer;
                }
            }
        };
        timeout(PATIENCE, attempts).await.expect("a free place in time")
    }

    /// Sends octets as they are.
    pub(crate) async fn send(&mut self, octets: impl AsRef<[u8]>) {
        self.stream.write_all(octets.as_ref()).await.expect("write");
    }

    /// Sends octets in pieces, each a segment of its own. A server on the same runtime of one thread reads each by itself:
    /// it gets several turns before the next one is sent.
    pub(crate) async fn send_cut(&mut self, pieces: &[&[u8]]) {
        for piece in pieces {
            self.send(piece).await;
            for _ in 0..TURNS {
                tokio::task::yield_now().await;
            }
        }
    }

    /// One whole reply, its lines joined by CRLF; the empty string when the connection was closed.
    pub(crate) async fn reply(&mut self) -> String {
        let mut reply = String::new();
        loop {
            let start = reply.len();
            let read = timeout(PATIENCE, self.stream.read_line(&mut reply)).await.expect("a reply in time");
            if read.unwrap_or(0) == 0 || reply.as_bytes().get(start + 3) != Some(&b'-') {
                return reply.trim_end().to_owned();
            }
        }
    }

    /// Sends octets and reads a reply. If the server closes the connection, the reply is empty.
    pub(crate) async fn try_exchange(&mut self, octets: impl AsRef<[u8]>) -> String {
        // Replies that the server sent before it closed can still be read.
        let _ = self.stream.write_all(octets.as_ref()).await;
        self.reply().await
    }

    /// Delivers a message for one recipient, which must be accepted. A dot at the start of a line is doubled.
    pub(crate) async fn deliver(&mut self, recipient: &str, message: &str) {
        self.begin_data(recipient).await;
        let message = message.replace("\r\n.", "\r\n..");
        self.send(format!("{message}\r\n.\r\n")).await;
        self.expect("250 2.0.0").await;
    }

    /// Waits for the greeting and delivers a message; `false` if the service said 421 first, as one that stops does. Nothing
    /// else may be said, and no connection be lost.
    pub(crate) async fn delivers(mut self, recipient: &str, message: &str) -> bool {
        let (mail, rcpt) = ("MAIL FROM:<ann@sender.test>", format!("RCPT TO:<{recipient}>"));
        let message = format!("{message}.");
        let dialog = [("EHLO client.test", "250"), (mail, "250"), (&rcpt, "250"), ("DATA", "354"), (&message, "250")];
        let mut wanted = "220";
        for (says, next) in dialog.into_iter().chain([("QUIT", "")]) {
            let reply = self.reply().await;
            if reply.starts_with("421") {
                return false;
            }
            assert!(reply.starts_with(wanted), "expected {wanted}, got {reply:?}");
            self.send(format!("{says}\r\n")).await;
            wanted = next;
        }
        true
    }

    /// The next reply must begin like this.
    pub(crate) async fn expect(&mut self, start: &str) -> String {
        let reply = self.reply().await;
        assert!(reply.starts_with(start), "expected {start}, got {reply:?}");
        reply
    }

    /// Sends a command and reads the reply, which must begin like this.
    pub(crate) async fn command(&mut self, command: &str, start: &str) -> String {
        self.send(format!("{command}\r\n")).await;
        self.expect(start).await
    }

    /// The next replies must begin like these.
    pub(crate) async fn expect_all(&mut self, starts: &[&str]) {
        for start in starts {
            self.expect(start).await;
        }
    }

    /// Sends each command once the one before has its reply. The replies must begin like these.
    pub(crate) async fn dialog(&mut self, turns: &[(&str, &str)]) {
        for (command, start) in turns {
            self.command(command, start).await;
        }
    }

    /// Sends the commands up to DATA for one recipient, and reads the replies.
    pub(crate) async fn begin_data(&mut self, recipient: &str) {
        self.command("EHLO client.test", "250").await;
        self.command("MAIL FROM:<ann@sender.test>", "250 2.1.0").await;
        self.command(&format!("RCPT TO:<{recipient}>"), "250 2.1.5").await;
        self.command("DATA", "354").await;
    }

    /// The connection must be closed in order, without another octet. A reset could lose the last reply.
    pub(crate) async fn expect_closed(&mut self) {
        let mut rest = Vec::new();
        timeout(PATIENCE, self.stream.read_to_end(&mut rest)).await.expect("the end in time").expect("no reset");
        assert!(rest.is_empty(), "unexpected {:?}", rest.escape_ascii().to_string());
    }

    /// Nothing may come for a moment. Only time can show that a server does not reply.
    pub(crate) async fn expect_silence(&mut self) {
        let mut octet = [0];
        let read = timeout(Duration::from_millis(150), self.stream.read(&mut octet)).await;
        assert!(read.is_err(), "unexpected {octet:?} ({read:?})");
    }
}
