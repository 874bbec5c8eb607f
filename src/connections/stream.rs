//! The stream of a connection: TCP or a Unix socket, with or without TLS.

use std::fmt::Debug;
use std::io::{self, IoSlice};
use std::os::fd::{AsFd, BorrowedFd};
use std::pin::Pin;
use std::task::{Context, Poll};

use rustix::net::{RecvFlags, SendFlags};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpStream, UnixStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use crate::model::TlsSession;
use crate::tls::ServerTls;

/// A stream in both directions.
pub trait Duplex: AsyncRead + AsyncWrite + Debug + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Debug + Send + Unpin> Duplex for T {}

/// A connection to a client.
#[derive(Debug)]
pub enum Stream {
    /// TCP in the clear.
    Tcp(TcpStream),
    /// A Unix socket in the clear.
    Unix(UnixStream),
    /// One within this process.
    Memory(Box<dyn Duplex>),
    /// TLS over any of them.
    Tls(Box<TlsStream<Stream>>),
    /// A connection that is at a handshake, or whose handshake failed.
    Closed,
}

impl Stream {
    /// Writes to a new socket as much as fits at once; writes nothing over TLS.
    pub fn try_write(&self, octets: &[u8]) -> io::Result<usize> {
        match self {
            // The runtime does not know yet whether a new socket is ready, so the system is asked.
            Self::Tcp(stream) => rustix::net::send(stream, octets, SendFlags::NOSIGNAL).map_err(io::Error::from),
            Self::Unix(stream) => rustix::net::send(stream, octets, SendFlags::NOSIGNAL).map_err(io::Error::from),
            Self::Memory(_) | Self::Tls(_) | Self::Closed => Ok(0),
        }
    }

    /// Whether the socket has unread octets, encrypted or not. The answer is the system's, because the runtime may not know
    /// this socket yet. Nothing is read, and nothing waits.
    pub fn has_octets(&self) -> bool {
        let peek =
            |socket: BorrowedFd<'_>| rustix::net::recv(socket, &mut [0; 1], RecvFlags::PEEK | RecvFlags::DONTWAIT);
        let octets = match self {
            Self::Tcp(stream) => peek(stream.as_fd()),
            Self::Unix(stream) => peek(stream.as_fd()),
            Self::Tls(stream) => return stream.get_ref().0.has_octets(),
            Self::Memory(_) | Self::Closed => return false,
        };
        octets.is_ok_and(|(octets, _)| octets > 0)
    }

    /// Whether it is in the clear.
    pub const fn is_plain(&self) -> bool {
        !matches!(self, Self::Tls(_))
    }

    /// Does the server's side of a TLS handshake. The caller must drop all octets that it read before, because they were
    /// not encrypted. On an error the client gets a TLS alert if there is one for the error.
    pub async fn secure(self, tls: ServerTls) -> io::Result<(Self, TlsSession)> {
        let secured = TlsAcceptor::from(tls).accept(self).await?;
        let (_, session) = secured.get_ref();
        let version = session.protocol_version().and_then(|version| version.as_str()).unwrap_or("TLS");
        let cipher = session.negotiated_cipher_suite().and_then(|suite| suite.suite().as_str()).unwrap_or("unknown");
        // rustls gives its own identifiers; the log and the Received field use the official names.
        let described = TlsSession { version: version.replace('_', "."), cipher: cipher.replace("TLS13_", "TLS_") };
        Ok((Self::Tls(Box::new(secured)), described))
    }
}

impl AsyncRead for Stream {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Tcp(stream) => Pin::new(stream).poll_read(cx, buffer),
            Self::Memory(stream) => Pin::new(stream).poll_read(cx, buffer),
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
            Self::Memory(stream) => Pin::new(stream).poll_write(cx, octets),
            Self::Unix(stream) => Pin::new(stream).poll_write(cx, octets),
            Self::Tls(stream) => Pin::new(stream).poll_write(cx, octets),
            Self::Closed => Poll::Ready(Err(io::ErrorKind::NotConnected.into())),
        }
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Tcp(stream) => Pin::new(stream).poll_write_vectored(cx, slices),
            Self::Memory(stream) => Pin::new(stream).poll_write_vectored(cx, slices),
            Self::Unix(stream) => Pin::new(stream).poll_write_vectored(cx, slices),
            Self::Tls(stream) => Pin::new(stream).poll_write_vectored(cx, slices),
            Self::Closed => Poll::Ready(Err(io::ErrorKind::NotConnected.into())),
        }
    }

    fn is_write_vectored(&self) -> bool {
        match self {
            Self::Tcp(stream) => stream.is_write_vectored(),
            Self::Memory(stream) => stream.is_write_vectored(),
            Self::Unix(stream) => stream.is_write_vectored(),
            Self::Tls(stream) => stream.is_write_vectored(),
            Self::Closed => false,
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Tcp(stream) => Pin::new(stream).poll_flush(cx),
            Self::Memory(stream) => Pin::new(stream).poll_flush(cx),
            Self::Unix(stream) => Pin::new(stream).poll_flush(cx),
            Self::Tls(stream) => Pin::new(stream).poll_flush(cx),
            Self::Closed => Poll::Ready(Ok(())),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Tcp(stream) => Pin::new(stream).poll_shutdown(cx),
            Self::Memory(stream) => Pin::new(stream).poll_shutdown(cx),
            Self::Unix(stream) => Pin::new(stream).poll_shutdown(cx),
            Self::Tls(stream) => Pin::new(stream).poll_shutdown(cx),
            Self::Closed => Poll::Ready(Ok(())),
        }
    }
}
