//! No second message gets in inside the first.

use super::*;

/// Each octet sequence that some server took for the end of a message, then a second envelope.
#[test]
fn no_smuggled_message_gets_in() {
    for end in
        ["\n.\n", "\n.\r\n", "\r\n.\n", "\r.\r", "\r.\r\n", "\r\n.\r", "\r\r\n.\r\r\n", "\r\n\0.\r\n", "\n\n.\r\n"]
    {
        let smuggled = format!("x{end}{MAIL}RCPT TO:<eve@example.test>\r\nDATA\r\nevil");
        let dialog = format!("{EHLO}{MAIL}{RCPT}DATA\r\n{smuggled}\r\n.\r\nQUIT\r\n");
        let played = play(&dialog);
        assert_eq!(played.messages.len(), 1, "{end:?}");
        assert_eq!(codes(&played.replies)[3..], ["354", "250 2.0.0", "221 2.0.0"], "{end:?}");
        assert_eq!(played.messages[0].raw, format!("{smuggled}\r\n").replace("\r\n.", "\r\n"), "{end:?}");
    }
}

/// The sequences in and behind a chunk, at each cut: octets of the chunk are never commands, all others are.
#[test]
fn no_message_is_smuggled_in_a_chunk_or_behind_it() {
    for end in ["\n.\n", "\n.\r\n", "\r\n.\n", "\r\n.\r\n", "\r.\r", "\r\n\0.\r\n", ".\r\n", "\r\n"] {
        let smuggled = format!("x{end}{MAIL}RCPT TO:<eve@example.test>\r\nBDAT 4 LAST\r\nevil");
        let dialog = format!("{EHLO}{MAIL}{RCPT}BDAT {} LAST\r\n{smuggled}QUIT\r\n", smuggled.len());
        let whole = play(&dialog);
        assert_eq!(codes(&whole.replies)[3..], ["250 2.0.0", "221 2.0.0"], "{end:?}");
        assert_eq!((whole.messages.len(), &whole.messages[0].raw[..]), (1, smuggled.as_bytes()), "{end:?}");
        for at in 0..dialog.len() {
            let (first, second) = dialog.as_bytes().split_at(at);
            assert_eq!(play_cut(&[first, second], &OneDomain::default(), &[]), whole, "{end:?} at {at}");
        }
        // A message in chunks does not end like DATA: the rest is an unknown command.
        let dialog = format!("{EHLO}{MAIL}{RCPT}BDAT 1 LAST\r\nx{end}NOOP\r\n");
        let played = play(&dialog);
        assert_eq!((played.messages.len(), &played.messages[0].raw[..]), (1, &b"x"[..]), "{end:?}");
        let codes = codes(&played.replies);
        assert!(codes[4..codes.len() - 1].iter().all(|code| code == "500 5.5.2"), "{end:?}: {codes:?}");
    }
}
