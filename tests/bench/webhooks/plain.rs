//! Plain POSTs over kept connections: what the receiver and the machine can do.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::thread;
use std::time::Instant;

use crate::support::Result;

/// Posts `body` `requests` times, over `per_origin` connections to each address; requests per second.
pub(crate) fn rate(addresses: &[SocketAddr], per_origin: usize, requests: usize, body: &[u8]) -> Result<f64> {
    let connections = addresses.len() * per_origin;
    let request = format!(
        "POST /hook HTTP/1.1\r\nhost: receiver\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    let request = [request.as_bytes(), body].concat();
    let each = requests / connections;
    let begun = Instant::now();
    thread::scope(|scope| {
        let threads: Vec<_> = (0..connections)
            .map(|number| (addresses[number % addresses.len()], &request))
            .map(|(address, request)| scope.spawn(move || post(address, request, each).map_err(|e| e.to_string())))
            .collect();
        threads.into_iter().try_for_each(|thread| thread.join().map_err(|_| "a client panicked".to_owned())?)
    })?;
    Ok(super::per_second(each * connections, begun.elapsed()))
}

fn post(address: SocketAddr, request: &[u8], times: usize) -> Result<()> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_nodelay(true)?;
    let mut answer = [0; 1024];
    for _ in 0..times {
        stream.write_all(request)?;
        // The answers are short enough to come in one piece.
        let octets = stream.read(&mut answer)?;
        if !answer[..octets].starts_with(b"HTTP/1.1 200") {
            return Err("an answer other than 200".into());
        }
    }
    Ok(())
}
