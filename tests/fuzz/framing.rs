//! Where messages begin and end, read off a whole dialog by the rules: which octets are a line, a chunk, a message. What
//! each line came to is taken from the replies.

use crate::play::MESSAGE_END_CODES;
use crate::transparency;

/// The longest command line in octets, CRLF included.
const LINE_OCTETS_MAX: usize = 2048;

/// The chunk that a line announces: its size, and whether it is the last (RFC 3030 section 2).
fn chunk(line: &[u8]) -> Option<(usize, bool)> {
    let words: Vec<&[u8]> = line.split(|octet| b" \t".contains(octet)).filter(|word| !word.is_empty()).collect();
    let (size, is_last) = match words[..] {
        [verb, size] if verb.eq_ignore_ascii_case(b"BDAT") => (size, false),
        [verb, size, last] if verb.eq_ignore_ascii_case(b"BDAT") && last.eq_ignore_ascii_case(b"LAST") => (size, true),
        _ => return None,
    };
    let digits = str::from_utf8(size).ok().filter(|size| size.bytes().all(|octet| octet.is_ascii_digit()))?;
    // More than fits is more than will come.
    Some((digits.parse().unwrap_or(usize::MAX), is_last))
}

/// Takes a line without its CRLF off `wire`.
fn line<'a>(wire: &mut &'a [u8]) -> Option<&'a [u8]> {
    let end = memchr::memmem::find(wire, b"\r\n")?;
    let line = &wire[..end];
    *wire = &wire[end + 2..];
    Some(line)
}

/// The contents that `wire` hands over, given the codes of the replies to it, the greeting first.
pub(crate) fn contents(mut wire: &[u8], codes: &[u16]) -> Vec<Vec<u8>> {
    let mut contents = Vec::new();
    let mut codes = codes.iter().copied().skip(1);
    let mut chunks: Option<Vec<u8>> = None;
    let mut is_answer = false;
    while let Some(line) = line(&mut wire) {
        let is_command = !is_answer && line.len() + 2 <= LINE_OCTETS_MAX && !line.iter().any(|o| b"\r\n".contains(o));
        if let Some((octets, is_last)) = chunk(line).filter(|_| is_command) {
            let Some((content, rest)) = wire.split_at_checked(octets) else { break };
            wire = rest;
            let Some(code) = codes.next() else { break };
            if is_last {
                let whole = [chunks.take().unwrap_or_default(), content.to_vec()].concat();
                contents.extend(MESSAGE_END_CODES.contains(&code).then_some(whole));
            } else if code == 250 {
                chunks.get_or_insert_default().extend_from_slice(content);
            }
            continue;
        }
        let Some(code) = codes.next() else { break };
        is_answer = code == 334;
        if code == 354 {
            assert!(chunks.is_none(), "DATA within chunks");
            let (content, Some(rest)) = transparency::reference(wire) else { break };
            wire = &wire[wire.len() - rest.len()..];
            let Some(code) = codes.next() else { break };
            contents.extend(MESSAGE_END_CODES.contains(&code).then_some(content));
        }
        let verb = line.trim_ascii().get(..4).unwrap_or_default().to_ascii_uppercase();
        if is_command && code == 250 && matches!(&verb[..], b"RSET" | b"HELO" | b"EHLO") {
            chunks = None;
        }
    }
    contents
}
