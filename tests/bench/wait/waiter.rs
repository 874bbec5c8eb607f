//! A request that waits, over a connection that is kept.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use crate::support::Result;

pub(crate) struct Waiter {
    stream: TcpStream,
    to: String,
    /// The id of the last mail.
    last: Option<String>,
}

/// A mail as a waiter got it.
pub(crate) struct Mail {
    /// When its first octet came.
    pub(crate) at: Instant,
    pub(crate) subject: usize,
}

impl Waiter {
    pub(crate) fn connect(server: SocketAddr, to: &str) -> Result<Self> {
        let stream = TcpStream::connect(server)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(Duration::from_secs(60)))?;
        Ok(Self { stream, to: to.to_owned(), last: None })
    }

    pub(crate) fn ask(&mut self) -> Result<()> {
        let since = self.last.as_ref().map_or(String::new(), |id| format!("&since={id}"));
        let target = format!("/api/mail/wait?to={}&timeout=300{since}", self.to);
        self.stream.write_all(format!("GET {target} HTTP/1.1\r\nHost: localhost\r\n\r\n").as_bytes())?;
        Ok(())
    }

    /// Waits for the answer.
    pub(crate) fn mail(&mut self) -> Result<Mail> {
        let (mut answer, mut buffer, mut at) = (Vec::new(), [0; 16 * 1024], None);
        loop {
            let octets = self.stream.read(&mut buffer)?;
            at.get_or_insert_with(Instant::now);
            if octets == 0 {
                return Err("the connection ended".into());
            }
            answer.extend_from_slice(&buffer[..octets]);
            let Some(head_end) = answer.windows(4).position(|window| window == b"\r\n\r\n") else { continue };
            let head = std::str::from_utf8(&answer[..head_end])?.to_lowercase();
            if !head.starts_with("http/1.1 200") {
                return Err(format!("the answer is {head}").into());
            }
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).ok_or("no length")?;
            let body = &answer[head_end + 4..];
            if body.len() < length.parse()? {
                continue;
            }
            let json: serde_json::Value = serde_json::from_slice(body)?;
            self.last = json["id"].as_str().map(str::to_owned);
            let subject = json["subject"].as_str().ok_or("no subject")?.parse()?;
            return Ok(Mail { at: at.ok_or("no octet")?, subject });
        }
    }
}
