//! Texts as JSON, without a copy of them in between.

use crate::mime::{Message, escape};

/// Appends a text as a JSON string.
pub(super) fn string(json: &mut Vec<u8>, text: &str) {
    json.push(b'"');
    escape_into(json, text.as_bytes());
    json.push(b'"');
}

/// Appends the body as HTML, as a JSON string. It is the text of [`Message::html`].
pub(super) fn html(json: &mut Vec<u8>, message: &Message<'_>) {
    json.push(b'"');
    message.html_parts().for_each(|(text, is_html)| body(json, text.as_bytes(), is_html));
    json.push(b'"');
}

/// Appends a part of the body, which is UTF-8, as HTML within a JSON string.
pub(super) fn body(json: &mut Vec<u8>, text: &[u8], is_html: bool) {
    if is_html { escape_into(json, text) } else { text_as_html(json, text) }
}

fn escape_into(json: &mut Vec<u8>, mut rest: &[u8]) {
    while let Some(position) = escape::special_of_json(rest) {
        json.extend_from_slice(&rest[..position]);
        push_special(json, rest[position]);
        rest = &rest[position + 1..];
    }
    json.extend_from_slice(rest);
}

/// Appends a plain text as HTML, escaped for JSON in the same pass.
fn text_as_html(json: &mut Vec<u8>, mut rest: &[u8]) {
    while let Some(position) = escape::special_of_html_in_json(rest) {
        json.extend_from_slice(&rest[..position]);
        rest = &rest[position..];
        if !escape::is_escaped(rest[0]) {
            push_special(json, rest[0]);
            rest = &rest[1..];
            continue;
        }
        let (html, octets) = escape::escaped(rest);
        // Most of them are line ends, which need no search for specials.
        match html.strip_suffix('\n') {
            Some(element) => {
                json.extend_from_slice(element.as_bytes());
                json.extend_from_slice(br"\n");
            }
            None => escape_into(json, html.as_bytes()),
        }
        rest = &rest[octets..];
    }
    json.extend_from_slice(rest);
}

fn push_special(json: &mut Vec<u8>, octet: u8) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let short = match octet {
        b'\n' => b'n',
        b'\r' => b'r',
        b'\t' => b't',
        0x08 => b'b',
        0x0c => b'f',
        b'"' | b'\\' => octet,
        _ => {
            json.extend_from_slice(b"\\u00");
            json.extend_from_slice(&[octet >> 4, octet & 15].map(|digit| HEX[usize::from(digit)]));
            return;
        }
    };
    json.extend_from_slice(&[b'\\', short]);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_text_is_the_json_that_serde_makes_of_it(text in "([\\x00-\\x7f]|.){0,120}") {
            let mut json = Vec::new();
            string(&mut json, &text);
            prop_assert_eq!(json, serde_json::to_vec(&text).expect("JSON"));
        }

        #[test]
        fn a_body_is_the_json_of_its_html(body in "([\\x00-\\x7f]|.){0,120}", kind in "plain|html") {
            let raw = format!("Content-Type: text/{kind}; charset=utf-8\r\n\r\n{body}");
            let message = Message::new(raw.as_bytes());
            let mut json = Vec::new();
            html(&mut json, &message);
            prop_assert_eq!(json, serde_json::to_vec(message.html()).expect("JSON"));
        }
    }
}
