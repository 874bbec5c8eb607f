//! HTTP clients that keep their connections, each asking again as soon as it has its answer.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use crate::support::Result;
use crate::support::figures::{per_second, percentile};

/// How long a client waits for octets of an answer.
const TIMEOUT: Duration = Duration::from_secs(60);

/// What a request costs.
#[derive(Clone, Copy)]
pub(crate) struct Measured {
    /// Answers per second of all clients together.
    pub(crate) rate: f64,
    pub(crate) p50: Duration,
    pub(crate) p99: Duration,
}

/// One client.
pub(crate) struct Client {
    stream: BufReader<TcpStream>,
    server: SocketAddr,
    body: Vec<u8>,
}

/// An answer, as far as anybody here asks.
pub(crate) struct Answer<'a> {
    pub(crate) status: u16,
    pub(crate) body: &'a [u8],
}

impl Client {
    pub(crate) fn connect(server: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect(server)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(TIMEOUT))?;
        Ok(Self { stream: BufReader::with_capacity(64 * 1024, stream), server, body: Vec::new() })
    }

    pub(crate) fn get(&mut self, path: &str) -> Result<Answer<'_>> {
        let request = format!("GET {path} HTTP/1.1\r\nHost: {}\r\n\r\n", self.server);
        self.stream.get_mut().write_all(request.as_bytes())?;
        let status = self.line()?.split(' ').nth(1).and_then(|status| status.parse().ok()).ok_or("no HTTP status")?;
        let (mut length, mut is_chunked) = (0, false);
        loop {
            let line = self.line()?;
            let Some((name, value)) = line.split_once(':') else { break };
            match name.to_ascii_lowercase().as_str() {
                "content-length" => length = value.trim().parse()?,
                "transfer-encoding" => is_chunked = true,
                _ => {}
            }
        }
        self.body.clear();
        if is_chunked {
            loop {
                let size = usize::from_str_radix(&self.line()?, 16)?;
                self.take(size)?;
                self.line()?;
                if size == 0 {
                    break;
                }
            }
        } else {
            self.take(length)?;
        }
        Ok(Answer { status, body: &self.body })
    }

    fn line(&mut self) -> Result<String> {
        let mut line = String::new();
        self.stream.read_line(&mut line)?;
        Ok(line.trim_end().to_owned())
    }

    fn take(&mut self, octets: usize) -> Result<()> {
        let before = self.body.len();
        self.body.resize(before + octets, 0);
        Ok(self.stream.read_exact(&mut self.body[before..])?)
    }
}

/// A request for a path, whose right answer is 200.
#[derive(Clone)]
pub(crate) struct Request {
    pub(crate) path: String,
}

/// Makes each request once.
pub(crate) fn once(server: SocketAddr, requests: &[Request]) -> Result<()> {
    let mut client = Client::connect(server)?;
    requests.iter().try_for_each(|request| client.get(&request.path).map(drop))
}

/// Has `connections` clients make the requests in turn for `time`.
pub(crate) fn run(server: SocketAddr, connections: usize, time: Duration, requests: &[Request]) -> Result<Measured> {
    let begun = Instant::now();
    let one = |first: usize| -> std::result::Result<Vec<Duration>, String> {
        let mut times = Vec::new();
        let mut client = Client::connect(server).map_err(|error| error.to_string())?;
        // Clients that go through the requests side by side would all ask for one thing at a time.
        let mut next = first * requests.len() / connections;
        while begun.elapsed() < time {
            let request = &requests[next % requests.len()];
            let sent_at = Instant::now();
            let answer = client.get(&request.path).map_err(|error| error.to_string())?;
            if answer.status != 200 {
                return Err(format!("{} for {}", answer.status, request.path));
            }
            times.push(sent_at.elapsed());
            next += 1;
        }
        Ok(times)
    };
    let all: std::result::Result<Vec<_>, String> = thread::scope(|scope| {
        let clients: Vec<_> = (0..connections).map(|first| scope.spawn(move || one(first))).collect();
        clients.into_iter().map(|client| client.join().map_err(|_| "a client panicked".to_owned())?).collect()
    });
    let mut times: Vec<Duration> = all?.concat();
    let rate = per_second(times.len(), begun.elapsed());
    times.sort();
    Ok(Measured { rate, p50: percentile(&times, 50), p99: percentile(&times, 99) })
}
