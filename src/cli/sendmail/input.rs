//! The message from standard input.

use std::io::{self, BufRead, Read};

/// Reads a message of at most `octets_max`; `None` if it is longer. With `ends_at_dot` a line with only a dot ends it.
pub(super) fn message(mut input: impl BufRead, ends_at_dot: bool, octets_max: u64) -> io::Result<Option<Vec<u8>>> {
    let mut message = Vec::new();
    loop {
        let start = message.len();
        let room = (octets_max + 1).saturating_sub(start as u64);
        let read = (&mut input).take(room).read_until(b'\n', &mut message)?;
        if message.len() as u64 > octets_max {
            return Ok(None);
        }
        let is_dot = ends_at_dot && matches!(&message[start..], b".\n" | b".\r\n" | b".");
        if is_dot {
            message.truncate(start);
        }
        if is_dot || read == 0 {
            return Ok(Some(message));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(input: &[u8], ends_at_dot: bool, octets_max: u64) -> Option<Vec<u8>> {
        message(input, ends_at_dot, octets_max).expect("read")
    }

    #[test]
    fn a_line_with_only_a_dot_ends_the_message_if_asked_to() {
        for input in [&b"a\n.\nb\n"[..], b"a\n.\r\nb\n", b"a\n."] {
            assert_eq!(read(input, true, 100).as_deref(), Some(&b"a\n"[..]));
            assert_eq!(read(input, false, 100).as_deref(), Some(input));
        }
        assert_eq!(read(b"a\n..\n.b\n", true, 100).as_deref(), Some(&b"a\n..\n.b\n"[..]));
    }

    #[test]
    fn the_bound_is_kept_to_the_octet() {
        assert_eq!(read(b"12345", false, 5).as_deref(), Some(&b"12345"[..]));
        assert_eq!(read(b"123456", false, 5), None);
        assert_eq!(read(b"1\n2\n3\n4\n", false, 7), None);
        assert_eq!(read(b"", false, 0).as_deref(), Some(&b""[..]));
    }
}
