//! What was shown of an Email, so that the same can be shown again without reading its message anew.

use std::ops::Range;

use super::text;
use crate::mime::SingleBody;

/// The JSON of an Email: all of it, or all but the body, which is made again of its octets in the message.
#[derive(Debug)]
pub struct Kept {
    json: Box<[u8]>,
    body: Option<Box<Body>>,
}

#[derive(Debug)]
struct Body {
    /// Where its text belongs in the JSON.
    at: usize,
    part: SingleBody,
    /// CRC-32C of its octets in the message. It tells damage and punched octets from them; the octets of another message are
    /// not looked for, since no place of a message is used again while it is listed.
    crc: u32,
}

/// Where the text of the body is in the JSON that was written, and the body in its message, if that can be read alone.
#[derive(Debug)]
pub struct WrittenBody {
    pub(super) text: Range<usize>,
    pub(super) body: Option<SingleBody>,
}

impl WrittenBody {
    /// How many octets of the JSON the text is.
    pub fn length(&self) -> usize {
        self.text.len()
    }
}

impl Kept {
    /// All of the JSON.
    pub fn whole(json: &[u8]) -> Self {
        Self { json: json.into(), body: None }
    }

    /// The JSON, which was written of the message `raw`, without the body. `None` if that is no single part, or not shown.
    pub fn without_body(json: &[u8], WrittenBody { text, body }: WrittenBody, raw: &[u8]) -> Option<Self> {
        let part = body?;
        let crc = crc32c::crc32c(raw.get(part.range.clone())?);
        let rest = [&json[..text.start], &json[text.end..]].concat();
        let body = Body { at: text.start, part, crc };
        Some(Self { json: rest.into(), body: Some(body.into()) })
    }

    /// Where the octets of the body are in those of the message. Empty if they are not needed.
    pub fn range(&self) -> Range<usize> {
        self.body.as_ref().map_or(0..0, |body| body.part.range.clone())
    }

    /// The octets of memory that it takes.
    pub fn octets(&self) -> usize {
        let of_body = self.body.as_deref().map_or(0, |body| size_of::<Body>() + body.part.charset_octets());
        size_of::<Self>() + self.json.len() + of_body
    }

    /// Appends the whole JSON. `octets` are those of the message in [`Kept::range`]. `false` if they are others than those it
    /// was made of: then nothing is appended.
    pub fn write(&self, json: &mut Vec<u8>, octets: &[u8]) -> bool {
        let Some(Body { at, part, crc }) = self.body.as_deref() else {
            json.extend_from_slice(&self.json);
            return true;
        };
        if crc32c::crc32c(octets) != *crc {
            return false;
        }
        json.extend_from_slice(&self.json[..*at]);
        text::body(json, &part.text(octets), part.is_html);
        json.extend_from_slice(&self.json[*at..]);
        true
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::email::{self, Fields, tests::email};

    /// What is kept of a mail without its body, and the JSON that was written.
    fn kept(raw: &[u8], fields: Fields) -> (Option<Kept>, Vec<u8>) {
        let mut json = b"[".to_vec();
        let written = email::write(&mut json, &email(raw.to_vec()), fields).expect("it is in its envelope");
        (Kept::without_body(&json[1..], written, raw), json)
    }

    fn again(kept: &Kept, raw: &[u8]) -> Vec<u8> {
        let mut json = b"[".to_vec();
        assert!(kept.write(&mut json, &raw[kept.range()]));
        json
    }

    #[test]
    fn a_body_of_one_part_is_kept_as_its_place() {
        let alternative = "Content-Type: multipart/alternative; boundary=b\n\n--b\n\nplain\n--b\nContent-Type: text/html\n\n\
                           <b>\"html\"</b>\n--b--\n";
        let mixed = "Content-Type: multipart/mixed; boundary=b\n\n--b\n\none\n--b\n\ntwo\n--b--\n";
        for (raw, is_kept) in [
            ("From: a@b.test\nSubject: \"s\"\n\na 'text'\r\n<with>\r& all\0\t\\", true),
            ("\n\u{feff}mark", true),
            ("Content-Transfer-Encoding: base64\n\naGVs\r\nbG8=", true),
            (
                "Content-Type: text/html; charset=latin1\nContent-Transfer-Encoding: quoted-printable\n\n<p>gr=FCn=\n",
                true,
            ),
            (alternative, true),
            (mixed, false),
            ("Content-Type: image/png\n\npng", false),
            ("Subject: no body", false),
        ] {
            let (kept, json) = kept(raw.as_bytes(), Fields::SIX);
            assert_eq!(kept.is_some(), is_kept, "{raw}");
            let Some(kept) = kept else { continue };
            assert_eq!(again(&kept, raw.as_bytes()), json, "{raw}");
        }
        assert!(kept(b"\nbody", Fields::WITHOUT_BODY).0.is_none(), "no body is shown");
    }

    #[test]
    fn all_that_a_sender_makes_long_counts() {
        let charset = "x".repeat(1_000);
        let raw = format!("Content-Type: text/plain; charset={charset}\nContent-Transfer-Encoding: base64\n\nYWJj");
        let (kept, _) = kept(raw.as_bytes(), Fields::SIX);
        assert!(kept.is_some_and(|kept| kept.octets() > 1_000));
    }

    proptest! {
        #[test]
        fn what_is_written_again_is_the_same_and_never_of_other_octets(
            head in "(Subject: [ -~]{0,20}\r\n)?",
            kind in "plain|html|PLAIN; format=flowed",
            charset in "utf-8|us-ascii|iso-8859-1|utf-16|x",
            encoding in "7bit|8bit|base64|quoted-printable",
            body in proptest::collection::vec(any::<u8>(), 1..300),
            flipped in any::<prop::sample::Index>(),
        ) {
            let head = format!(
                "{head}Content-Type: text/{kind}; charset={charset}\r\nContent-Transfer-Encoding: {encoding}\r\n\r\n"
            );
            let mut raw = [head.as_bytes(), &body].concat();
            let (Some(kept), json) = kept(&raw, Fields::SIX) else { return Ok(()) };
            prop_assert_eq!(again(&kept, &raw), json);
            raw[head.len() + flipped.index(body.len())] ^= 1;
            let mut json = Vec::new();
            prop_assert!(!kept.write(&mut json, &raw[kept.range()]) && json.is_empty());
        }
    }
}
