//! As much of the native protocol, version 4, as tells whether a node is ready.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// How long a node may take to say what it supports.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long a node may take for a query. It may wait for another one, and gives up before this.
const PATIENCE_WITH_QUERY: Duration = Duration::from_secs(15);
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
/// How a result begins that has rows.
const ROWS: [u8; 4] = [0, 0, 0, 2];
/// Where such a result has its first value: after its kind, its flags, and the numbers of its columns and of its rows.
const VALUES_AT: usize = 16;

/// Asks the node what it supports.
pub(super) fn is_supported(node: SocketAddr) -> Result<(), String> {
    ask(&mut connect(node, PATIENCE)?, OPTIONS, &[], SUPPORTED).map(drop)
}

/// The first value of the query's result, asked at that level, as the protocol encodes it. `None` if it has no rows.
pub(super) fn value(node: SocketAddr, query: &str, consistency: u16) -> Result<Option<Vec<u8>>, String> {
    let mut connection = connect(node, PATIENCE_WITH_QUERY)?;
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
    if !result.starts_with(&ROWS) {
        return Ok(None);
    }
    let Some((length, value)) = result.get(VALUES_AT..).and_then(<[u8]>::split_first_chunk::<4>) else {
        return Ok(None);
    };
    let length = usize::try_from(u32::from_be_bytes(*length)).expect("a length");
    Ok(value.get(..length).map(<[u8]>::to_vec))
}

fn connect(node: SocketAddr, patience: Duration) -> Result<TcpStream, String> {
    let connection = TcpStream::connect_timeout(&node, patience).map_err(|error| error.to_string())?;
    connection.set_read_timeout(Some(patience)).expect("a timeout");
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
