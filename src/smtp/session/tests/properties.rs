//! Properties of every dialog.

use proptest::prelude::*;

use super::*;

/// Lines of dialogs, complete and broken, in any order.
fn dialog() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => Just(EHLO.to_owned()),
        4 => Just(MAIL.to_owned()),
        4 => Just(RCPT.to_owned()),
        4 => Just("DATA\r\n".to_owned()),
        4 => Just("\r\n.\r\n".to_owned()),
        2 => Just(format!("{EHLO}{MAIL}{RCPT}DATA\r\n")),
        1 => Just("MAIL FROM:<> SIZE=2000\r\n".to_owned()),
        1 => Just("RCPT TO:<bob@other.test>\r\n".to_owned()),
        2 => Just("BDAT 5\r\n".to_owned()),
        2 => Just("BDAT 7\r\n\r\n.\r\nxy".to_owned()),
        2 => Just("BDAT 3 LAST\r\n".to_owned()),
        1 => Just("BDAT 0 LAST\r\n".to_owned()),
        1 => Just("BDAT 900\r\n".to_owned()),
        1 => Just(format!("{EHLO}{MAIL}{RCPT}BDAT 2\r\nhiBDAT 4 LAST\r\n.\r\n\n")),
        1 => Just("BDAT x\r\n".to_owned()),
        1 => Just("AUTH PLAIN AGEAYg==\r\n".to_owned()),
        2 => Just("AUTH LOGIN\r\n".to_owned()),
        1 => Just("YW5u\r\n".to_owned()),
        1 => Just("*\r\n".to_owned()),
        1 => Just("LHLO client.test\r\n".to_owned()),
        1 => Just("MAIL FROM:<\u{f5}@a.test> SMTPUTF8\r\nRCPT TO:<\u{f5}@example.test>\r\n".to_owned()),
        1 => Just("RSET\r\n".to_owned()),
        1 => Just("QUIT\r\n".to_owned()),
        1 => Just("..\r\n".to_owned()),
        1 => Just("\n.\n".to_owned()),
        1 => Just("\r".to_owned()),
        1 => Just("\n".to_owned()),
        1 => Just("text".to_owned()),
        1 => Just("x".repeat(1500)),
    ];
    proptest::collection::vec(piece, 0..25).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn cuts_change_neither_replies_nor_messages(dialog in dialog(), cuts in proptest::collection::vec(0usize..8000, 0..8)) {
        let octets = dialog.as_bytes();
        let policy = OneDomain::default();
        let outcomes = [Ok(()), Err(StoreError::Full)];
        let mut ends: Vec<usize> = cuts.into_iter().filter(|&cut| cut <= octets.len()).collect();
        ends.extend([0, octets.len()]);
        ends.sort_unstable();
        let pieces: Vec<&[u8]> = ends.windows(2).map(|ends| &octets[ends[0]..ends[1]]).collect();
        let single: Vec<&[u8]> = octets.chunks(1).collect();
        for dialect in [
            Dialect { purpose: Purpose::Smtp, offers_tls: false, offers_auth: true },
            Dialect { purpose: Purpose::Lmtp, offers_tls: false, offers_auth: false },
        ] {
            let whole = play_in(dialect, &[octets], &policy, &outcomes);
            prop_assert_eq!(&play_in(dialect, &pieces, &policy, &outcomes), &whole);
            prop_assert_eq!(&play_in(dialect, &single, &policy, &outcomes), &whole);
        }
    }

    #[test]
    fn any_octets_get_well_formed_replies(octets in proptest::collection::vec(any::<u8>(), 0..300)) {
        let played = play_cut(&[&octets], &OneDomain::default(), &[]);
        for line in played.replies.split_terminator("\r\n") {
            prop_assert!(line.len() <= 510 && line.bytes().all(|octet| matches!(octet, b' '..=b'~')));
            prop_assert!(line[..3].parse::<u16>().is_ok());
        }
    }
}
