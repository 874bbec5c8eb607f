//! A request of HTTP/1.0, where the answer ends with the connection: as little as the benchmark needs.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use super::Result;

/// The largest answer that is read, in octets.
const ANSWER_OCTETS_MAX: u64 = 1 << 20;

/// The status and body of what answers a request such as `GET /healthz`, with a body of JSON unless it is empty.
pub(crate) fn ask(host: SocketAddr, request: &str, json: &str) -> Result<(u16, Vec<u8>)> {
    let stream = TcpStream::connect(host)?;
    stream.set_read_timeout(Some(Duration::from_secs(10)))?;
    exchange(stream, &host.to_string(), request, json)
}

/// The same over a connection to `host`.
pub(crate) fn exchange(mut stream: impl Read + Write, host: &str, request: &str, json: &str) -> Result<(u16, Vec<u8>)> {
    let fields = format!("Host: {host}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n", json.len());
    stream.write_all(format!("{request} HTTP/1.0\r\n{fields}\r\n{json}").as_bytes())?;
    let mut answer = Vec::new();
    stream.take(ANSWER_OCTETS_MAX).read_to_end(&mut answer)?;
    let head_end = answer.windows(4).position(|window| window == b"\r\n\r\n").ok_or("no HTTP answer")?;
    let head = std::str::from_utf8(&answer[..head_end])?;
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).ok_or("no HTTP status")?;
    Ok((status, answer.split_off(head_end + 4)))
}
