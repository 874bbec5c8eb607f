//! As much of the native protocol, version 4, as tells whether a node is ready.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// How long a node may take for one answer. It takes longer if it asks a node that does not answer.
const PATIENCE: Duration = Duration::from_secs(15);
/// The longest answer that is read, in octets.
const LONGEST: usize = 1 << 20;

const REQUEST: u8 = 0x04;
const RESPONSE: u8 = 0x84;

const ERROR: u8 = 0x00;
const STARTUP: u8 = 0x01;
const READY: u8 = 0x02;
const OPTIONS: u8 = 0x05;
const SUPPORTED: u8 = 0x06;
const QUERY: u8 = 0x07;
const RESULT: u8 = 0x08;

/// The consistency level of one replica. Those of two and three have their numbers too.
pub(super) const ONE: u16 = 1;
/// The flag of a query whose result needs no description of its columns.
const SKIP_METADATA: u8 = 0x02;
/// Where such a result has the number of its rows: after its kind, its flags and the number of its columns.
const ROWS_AT: usize = 12;

/// Asks the node what it supports.
pub(super) fn is_supported(node: SocketAddr) -> Result<(), String> {
    ask(&mut connect(node)?, OPTIONS, &[], SUPPORTED).map(drop)
}

/// How many rows the query gives, asked at that level.
pub(super) fn rows(node: SocketAddr, query: &str, consistency: u16) -> Result<u32, String> {
    let mut connection = connect(node)?;
    // A map of one pair: what version of the query language is meant.
    let mut startup = vec![0, 1];
    for text in ["CQL_VERSION", "3.0.0"] {
        startup.extend(u16::try_from(text.len()).expect("short").to_be_bytes());
        startup.extend(text.as_bytes());
    }
    ask(&mut connection, STARTUP, &startup, READY)?;
    let mut body = u32::try_from(query.len()).expect("short").to_be_bytes().to_vec();
    body.extend(query.as_bytes());
    body.extend(consistency.to_be_bytes());
    body.push(SKIP_METADATA);
    let result = ask(&mut connection, QUERY, &body, RESULT)?;
    let rows = result.get(ROWS_AT..ROWS_AT + 4).ok_or("a result without rows")?;
    Ok(u32::from_be_bytes(rows.try_into().expect("four octets")))
}

fn connect(node: SocketAddr) -> Result<TcpStream, String> {
    let connection = TcpStream::connect_timeout(&node, PATIENCE).map_err(|error| error.to_string())?;
    connection.set_read_timeout(Some(PATIENCE)).expect("a timeout");
    Ok(connection)
}

/// Sends a frame, and returns the body of the answer, which must be of that kind.
fn ask(connection: &mut TcpStream, opcode: u8, body: &[u8], expected: u8) -> Result<Vec<u8>, String> {
    let mut frame = vec![REQUEST, 0, 0, 0, opcode];
    frame.extend(u32::try_from(body.len()).expect("short").to_be_bytes());
    frame.extend(body);
    connection.write_all(&frame).map_err(|error| error.to_string())?;
    let mut header = [0; 9];
    connection.read_exact(&mut header).map_err(|error| error.to_string())?;
    let [version, _, _, _, answer, length @ ..] = header;
    let length = usize::try_from(u32::from_be_bytes(length)).expect("a length");
    assert!(version == RESPONSE && length <= LONGEST, "not an answer of this protocol: {header:?}");
    let mut body = vec![0; length];
    connection.read_exact(&mut body).map_err(|error| error.to_string())?;
    match answer {
        answer if answer == expected => Ok(body),
        // After its code and the length of its text.
        ERROR => Err(String::from_utf8_lossy(body.get(6..).unwrap_or_default()).into_owned()),
        other => Err(format!("an answer of kind {other}")),
    }
}
