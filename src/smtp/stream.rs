//! The stream of a connection: TCP or a Unix socket, with or without TLS.

use std::future::poll_fn;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use rustix::net::{RecvFlags, SendFlags};
use rustls::ServerConfig;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpStream, UnixStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use crate::model::TlsSession;

/// A connection to a client.
#[derive(Debug)]
pub(super) enum Stream {
    /// TCP in the clear.
    Tcp(TcpStream),
    /// A Unix socket in the clear.
    Unix(UnixStream),
    /// TLS over either.
    Tls(Box<TlsStream<Stream>>),
    /// A connection whose handshake failed.
    Closed,
}

impl Stream {
    /// Writes to a new socket as much as fits at once; writes nothing over TLS.
    pub(super) fn try_write(&self, octets: &[u8]) -> io::Result<usize> {
        match self {
            // The runtime does not know yet whether a new socket is ready, so the system is asked.
            Self::Tcp(stream) => rustix::net::send(stream, octets, SendFlags::NOSIGNAL).map_err(io::Error::from),
            Self::Unix(stream) => rustix::net::send(stream, octets, SendFlags::NOSIGNAL).map_err(io::Error::from),
            Self::Tls(_) | Self::Closed => Ok(0),
        }
    }

    /// Whether the socket has unread octets, encrypted or not. The answer is the system's, because the runtime may not know
    /// this socket yet. Nothing is read, and nothing waits.
    pub(super) fn has_octets(&self) -> bool {
        let peek =
            |socket: BorrowedFd<'_>| rustix::net::recv(socket, &mut [0; 1], RecvFlags::PEEK | RecvFlags::DONTWAIT);
        let octets = match self {
            Self::Tcp(stream) => peek(stream.as_fd()),
            Self::Unix(stream) => peek(stream.as_fd()),
            Self::Tls(stream) => return stream.get_ref().0.has_octets(),
            Self::Closed => return false,
        };
        octets.is_ok_and(|(octets, _)| octets > 0)
    }

    /// Whether the client has sent something before the greeting. Over TLS this reads an octet, so the client must be
    /// refused then.
    pub(super) async fn has_spoken(&mut self) -> bool {
        let Self::Tls(stream) = self else { return self.has_octets() };
        let mut octet = [0];
        let mut octet = ReadBuf::new(&mut octet);
        // Polled once, without waiting: the unread octets may be TLS records without data.
        let _ = poll_fn(|cx| Poll::Ready(Pin::new(&mut *stream).poll_read(cx, &mut octet))).await;
        !octet.filled().is_empty()
    }

    /// Does the server's side of a TLS handshake. The caller must drop all octets that it read before, because they were
    /// not encrypted. After an error the stream is closed; the client gets a TLS alert if there is one for the error.
    pub(super) async fn secure(&mut self, config: Arc<ServerConfig>) -> io::Result<TlsSession> {
        let plain = std::mem::replace(self, Self::Closed);
        let secured = TlsAcceptor::from(config).accept(plain).await?;
        let (_, session) = secured.get_ref();
        let version = session.protocol_version().and_then(|version| version.as_str()).unwrap_or("TLS");
        let cipher = session.negotiated_cipher_suite().and_then(|suite| suite.suite().as_str()).unwrap_or("unknown");
        // rustls gives its own identifiers; the log and the Received field use the official names.
        let described = TlsSession { version: version.replace('_', "."), cipher: cipher.replace("TLS13_", "TLS_") };
        *self = Self::Tls(Box::new(secured));
        Ok(described)
    }
}

impl AsyncRead for Stream {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Tcp(stream) => Pin::new(stream).poll_read(cx, buffer),
            Self::Unix(stream) => Pin::new(stream).poll_read(cx, buffer),
            Self::Tls(stream) => Pin::new(stream).poll_read(cx, buffer),
            Self::Closed => Poll::Ready(Ok(())),
        }
    }
}

impl AsyncWrite for Stream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, octets: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Tcp(stream) => Pin::new(stream).poll_write(cx, octets),
            Self::Unix(stream) => Pin::new(stream).poll_write(cx, octets),
            Self::Tls(stream) => Pin::new(stream).poll_write(cx, octets),
            Self::Closed => Poll::Ready(Err(io::ErrorKind::NotConnected.into())),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Tcp(stream) => Pin::new(stream).poll_flush(cx),
            Self::Unix(stream) => Pin::new(stream).poll_flush(cx),
            Self::Tls(stream) => Pin::new(stream).poll_flush(cx),
            Self::Closed => Poll::Ready(Ok(())),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Tcp(stream) => Pin::new(stream).poll_shutdown(cx),
            Self::Unix(stream) => Pin::new(stream).poll_shutdown(cx),
            Self::Tls(stream) => Pin::new(stream).poll_shutdown(cx),
            Self::Closed => Poll::Ready(Ok(())),
        }
    }
}
