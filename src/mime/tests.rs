//! Whole messages, hostile ones included.

use std::fmt::Write as _;

use proptest::prelude::*;

use super::limits::{HEADER_SECTION_OCTETS_MAX, PARTS_MAX};
use super::*;

/// The largest message that a revision permits.
const MESSAGE_OCTETS: usize = 10 * 1024 * 1024;

#[test]
fn a_text_mail_is_shown_escaped_with_its_lines() {
    let content = Message::new(
        b"From: Ann <ann@example.test>\r\nSubject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=\r\n\r\n<b>1</b>\r\n& 2\r\n",
    );
    assert_eq!(content.from().map(|from| from.address.as_str()), Some("ann@example.test"));
    assert_eq!(content.subject(), "Grüße");
    assert_eq!(content.html(), "&lt;b&gt;1&lt;/b&gt;<br>\n&amp; 2<br>\n");
    assert_eq!(content.text(), "<b>1</b>\n& 2\n");
    assert_eq!(content.attachments(), []);
    assert_eq!(content.headers()[0], ("From".into(), "Ann <ann@example.test>".into()));
}

#[test]
fn an_html_mail_is_shown_unchanged_and_rendered_as_text() {
    let content = Message::new(
        b"Content-Type: text/html; charset=iso-8859-1\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n\
          <p onclick=3D\"x\">gr=FCn</p>\r\n<script>1</script>\r\n",
    );
    assert_eq!(content.html(), "<p onclick=\"x\">grün</p>\r\n<script>1</script>\r\n");
    assert_eq!(content.text(), "grün");
}

#[test]
fn html_is_preferred_for_the_message_and_text_for_the_text() {
    let content = Message::new(
        b"Content-Type: multipart/mixed; boundary=m\n\n--m\nContent-Type: multipart/alternative; boundary=a\n\n\
          --a\n\nplain\n--a\nContent-Type: text/html\n\n<i>html</i>\n--a--\n\
          --m\nContent-Type: application/pdf; name=\"../a.pdf\"\nContent-Transfer-Encoding: base64\n\naGVsbG8=\n--m\n\
          Content-Type: message/rfc822\n\nSubject: inner\n\nx\n--m--\n",
    );
    assert_eq!(content.html(), "<i>html</i>");
    assert_eq!(content.text(), "plain");
    let attachments: Vec<_> = content
        .attachments()
        .iter()
        .map(|attachment| (attachment.index, attachment.filename.as_str(), attachment.size_octets))
        .collect();
    assert_eq!(attachments, [(0, "_a.pdf", 5), (1, "attachment-1.eml", 17)]);
    assert_eq!(content.attachments()[0].content_type, "application/pdf");
}

#[test]
fn a_mail_with_neither_text_nor_html_has_an_empty_message() {
    let content = Message::new(b"Content-Type: image/png\n\npng");
    assert_eq!((content.html(), content.text()), ("", ""));
    assert_eq!(content.attachments().len(), 1);
}

#[test]
fn nothing_at_all_is_an_empty_content() {
    let content = Message::new(b"");
    assert_eq!((content.from(), content.subject(), content.html(), content.text()), (None, "", "", ""));
    assert_eq!((content.head(), content.headers(), content.attachments()), (&Head::default(), &[][..], &[][..]));
}

#[test]
fn text_parts_around_an_attachment_are_all_shown() {
    let content = Message::new(
        b"Content-Type: multipart/mixed; boundary=m\n\n--m\n\nbefore\n--m\nContent-Type: image/png\n\nx\n--m\n\nafter\n--m--",
    );
    assert_eq!(content.text(), "before\nafter");
    assert_eq!(content.attachments().len(), 1);
}

#[test]
fn a_million_parts_are_bounded() {
    let mut raw = b"Subject: bomb\nContent-Type: multipart/mixed; boundary=b\n\n".to_vec();
    raw.extend_from_slice(&b"--b\nA:1\n\n\n".repeat(1_000_000));
    let content = Message::new(&raw);
    assert_eq!(content.subject(), "bomb");
    assert!(content.attachments().len() < PARTS_MAX);
    assert!(content.html().len() < 10_000);
}

#[test]
fn two_hundred_thousand_nested_multiparts_are_bounded() {
    let mut raw = String::from("Subject: bomb\n");
    for depth in 0..200_000 {
        let _ = write!(raw, "Content-Type: multipart/mixed; boundary={depth}\n\n--{depth}\n");
    }
    let content = Message::new(raw.as_bytes());
    assert_eq!(content.subject(), "bomb");
    assert!(content.html().len() < 2 * raw.len());
}

#[test]
fn deeply_nested_messages_do_not_overflow_the_stack() {
    let head = "Content-Type: message/rfc822\n\n";
    let raw = head.repeat(MESSAGE_OCTETS / head.len());
    let attachments = std::thread::Builder::new()
        .stack_size(256 * 1024)
        .spawn(move || Message::new(raw.as_bytes()).attachments().len())
        .expect("thread")
        .join()
        .expect("no overflow");
    assert_eq!(attachments, 1);
}

#[test]
fn huge_fields_are_bounded() {
    for (start, repeated) in [
        ("Content-Type: text/html", "; a*1=b"),
        ("Content-Type: text/html", "; a=b"),
        ("From: ", "g:a@b;,"),
        ("From: ", "(((("),
        ("Subject: ", "=?aa?q?"),
        ("Subject: ", "=?utf-8?b?YQ==?= "),
        ("X-", "a"),
        ("", "a:\n"),
        ("A: ", "b\n "),
    ] {
        let mut raw = start.to_owned();
        raw.push_str(&repeated.repeat(MESSAGE_OCTETS / repeated.len()));
        let content = Message::new(raw.as_bytes());
        let headers: usize = content.headers().iter().map(|(name, value)| name.len() + value.len()).sum();
        assert!(headers <= 2 * HEADER_SECTION_OCTETS_MAX, "{start}{repeated}");
    }
}

#[test]
fn delimiters_that_almost_match_are_bounded() {
    let mut raw = String::new();
    for depth in 0..100 {
        let boundary = format!("{}{depth:03}", "b".repeat(60));
        let _ = write!(raw, "Content-Type: multipart/mixed; boundary={boundary}\n\n--{boundary}\n");
    }
    raw.push('\n');
    raw.push_str(&format!("--{}xyz\n", "b".repeat(60)).repeat(50_000));
    assert_eq!(Message::new(raw.as_bytes()).text().lines().count(), 50_000);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn any_octets_give_a_content(raw in proptest::collection::vec(any::<u8>(), 0..2_000)) {
        let content = Message::new(&raw);
        let parts = content.html().len() + content.text().len() + content.attachments().len();
        prop_assert!(content.headers().len() + content.head().to.len() + parts <= 8 * raw.len() + 16);
        let bare = Message::without_body(&raw);
        prop_assert_eq!((bare.subject(), bare.from(), bare.html()), (content.subject(), content.from(), ""));
    }

    #[test]
    fn anything_that_looks_like_mail_gives_a_content(raw in "(Content-Type: (multipart/(mixed|alternative|related|digest); boundary=[ab]|text/(html|plain); charset=(utf-7|utf-16|iso-2022-jp|big5|koi8-r|x)|message/rfc822)\n|Content-Transfer-Encoding: (base64|quoted-printable)\n|Content-Disposition: attachment; filename\\*0\\*=\"?(utf-8''%[0-9a-f]{0,3}|=\\?utf-8\\?[qb]\\?[a-z=]{0,4}(\\?=)?)\n|From: [a-z<>@(\":;, ]{0,12}\n|\r?\n|--[ab](--)?\n|[a-z=&<>;/ ]{1,8}\n|[\u{80}-\u{2ff}]){0,40}") {
        let content = Message::new(raw.as_bytes());
        prop_assert!(content.attachments().len() < PARTS_MAX);
        for attachment in content.attachments() {
            prop_assert!(!attachment.filename.is_empty() && !attachment.filename.contains(['/', '\\', '\n']));
        }
        prop_assert!(!content.subject().contains(char::is_control));
    }
}
