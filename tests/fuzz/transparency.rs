//! The decoder of DATA's transparency beside the rules of RFC 5321 section 4.5.2, applied to the whole at once.
//! Promise: it outlives the code below it.

use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::TestCaseResult;
use tempmail::smtp::Decoder;

use crate::corpus;
use crate::input::{self, Input};

/// Content, and what follows the end; `None` if there was no end.
pub(crate) type Decoded = (Vec<u8>, Option<Vec<u8>>);

fn decode(pieces: &[&[u8]]) -> Decoded {
    let mut decoder = Decoder::default();
    let mut content = Vec::new();
    for (index, piece) in pieces.iter().enumerate() {
        let mut input = *piece;
        if decoder.decode(&mut input, |octets| content.extend_from_slice(octets)) {
            return (content, Some([input, &pieces[index + 1..].concat()].concat()));
        }
        assert!(input.is_empty());
    }
    (content, None)
}

/// Looks for the end, then takes a dot away behind each CRLF. DATA's own CRLF counts as one.
pub(crate) fn reference(wire: &[u8]) -> Decoded {
    let wire = [b"\r\n", wire].concat();
    let (stuffed, rest) = match memchr::memmem::find(&wire, b"\r\n.\r\n") {
        Some(at) => (&wire[..at + 2], Some(wire[at + 5..].to_vec())),
        // What may still become the end belongs to nothing yet.
        None if wire.ends_with(b"\r\n.") => (&wire[..wire.len() - 1], None),
        None if wire.ends_with(b"\r\n.\r") => (&wire[..wire.len() - 2], None),
        None => (&wire[..], None),
    };
    let mut content = Vec::new();
    let mut from = 0;
    for at in memchr::memmem::find_iter(stuffed, b"\r\n.") {
        content.extend_from_slice(&stuffed[from..at + 2]);
        from = at + 3;
    }
    content.extend_from_slice(&stuffed[from..]);
    (content.split_off(2), rest)
}

/// What a client makes of content: a dot more before each line that begins with one, CRLF and the final dot.
fn stuff(content: &[u8]) -> Vec<u8> {
    let mut wire = b"\r\n".to_vec();
    for &octet in content {
        if octet == b'.' && wire.ends_with(b"\r\n") {
            wire.push(b'.');
        }
        wire.push(octet);
    }
    wire.extend_from_slice(if wire.ends_with(b"\r\n") { b".\r\n" } else { b"\r\n.\r\n" });
    wire.split_off(2)
}

fn check(input: &Input) -> TestCaseResult {
    let expected = reference(&input.octets);
    prop_assert_eq!(&decode(&[&input.octets]), &expected, "in one piece");
    prop_assert_eq!(&decode(&input.pieces()), &expected, "in pieces");
    let single: Vec<&[u8]> = input.octets.chunks(1).collect();
    prop_assert_eq!(&decode(&single), &expected, "octet by octet");

    // The same octets as content, there and back.
    let mut content = input.octets.clone();
    let wire = [stuff(&content), b"NOOP\r\n".to_vec()].concat();
    if !content.is_empty() && !content.ends_with(b"\r\n") {
        content.extend_from_slice(b"\r\n");
    }
    prop_assert_eq!(decode(&[&wire]), (content, Some(b"NOOP\r\n".to_vec())), "stuffed and back");
    Ok(())
}

#[test]
fn the_decoder_agrees_with_the_rules() {
    let seeds = corpus::seeds("transparency").into_iter().map(|(_, octets)| octets).collect();
    let ends = proptest::collection::vec(select(b"\r\r\r\n\n\n...\0a".to_vec()), 0..60);
    let octets =
        prop_oneof![3 => ends, 1 => input::mutated(seeds), 1 => proptest::collection::vec(any::<u8>(), 0..200)];
    corpus::run("transparency", input::cut(octets), check, Input::whole);
}
