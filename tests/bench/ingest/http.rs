//! A GET over a connection that is kept: as little as the benchmark needs, so that it measures no client.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use super::Result;

/// The largest answer that is read, in octets.
const BODY_OCTETS_MAX: u64 = 1 << 20;

/// A connection to the daemon.
pub(crate) struct Http {
    stream: BufReader<TcpStream>,
    host: SocketAddr,
}

impl Http {
    pub(crate) fn connect(host: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect(host)?;
        stream.set_read_timeout(Some(Duration::from_secs(10)))?;
        Ok(Self { stream: BufReader::new(stream), host })
    }

    /// The status and body of `GET path`.
    pub(crate) fn get(&mut self, path: &str) -> Result<(u16, Vec<u8>)> {
        let request = format!("GET {path} HTTP/1.1\r\nHost: {}\r\n\r\n", self.host);
        self.stream.get_mut().write_all(request.as_bytes())?;
        let status_line = self.line()?;
        let status = status_line.split(' ').nth(1).and_then(|status| status.parse().ok()).ok_or("no HTTP answer")?;
        let mut length = 0;
        loop {
            let line = self.line()?;
            if line.is_empty() {
                break;
            }
            if let Some((name, value)) = line.split_once(':').filter(|(name, _)| !name.is_empty()) {
                if name.eq_ignore_ascii_case("content-length") {
                    length = value.trim().parse::<u64>()?;
                } else if name.eq_ignore_ascii_case("transfer-encoding") {
                    return Err("an answer in chunks, which this client does not read".into());
                }
            }
        }
        if length > BODY_OCTETS_MAX {
            return Err("an answer that is too long".into());
        }
        let mut body = Vec::new();
        (&mut self.stream).take(length).read_to_end(&mut body)?;
        Ok((status, body))
    }

    fn line(&mut self) -> Result<String> {
        let mut line = String::new();
        (&mut self.stream).take(64 << 10).read_line(&mut line)?;
        let whole = line.strip_suffix("\r\n").ok_or("the connection ended amid an answer")?;
        Ok(whole.to_owned())
    }
}
