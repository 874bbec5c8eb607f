//! Reads the corpus and builds its mails. `tests/corpus/README.md` describes the form of its files.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use encoding_rs::{Encoding, UTF_8};

/// A mail with what a person would find in it.
pub(super) struct Sample {
    pub(super) name: String,
    pub(super) raw: Vec<u8>,
    pub(super) codes: Vec<String>,
    /// Kind and address, the best first.
    pub(super) links: Vec<String>,
}

/// The samples of a part, in the order of its files and in them.
pub(super) fn samples(part: &str) -> Vec<Sample> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus").join(part);
    let mut paths: Vec<_> = fs::read_dir(&dir).expect("the corpus").map(|entry| entry.expect("entry").path()).collect();
    paths.sort();
    let mut samples = Vec::new();
    for path in paths {
        let octets = fs::read(&path).expect("a file");
        let file = path.file_name().expect("name").to_string_lossy().into_owned();
        if path.extension().is_some_and(|kind| kind == "eml") {
            samples.push(whole(file, octets));
        } else {
            let text = String::from_utf8(octets).expect("UTF-8");
            samples.extend(text.split("\n=== ").map(|text| described(&file, text.trim_start_matches("=== "))));
        }
    }
    samples
}

/// A raw message. Its fields `X-Expected` say what is in it.
fn whole(name: String, raw: Vec<u8>) -> Sample {
    let text = String::from_utf8_lossy(&raw).into_owned();
    let expected =
        text.lines().take_while(|line| !line.is_empty()).filter_map(|line| line.strip_prefix("X-Expected: "));
    let (codes, links) = expectations(expected);
    Sample { name, raw, codes, links }
}

fn expectations<'a>(expected: impl Iterator<Item = &'a str>) -> (Vec<String>, Vec<String>) {
    let (mut codes, mut links) = (Vec::new(), Vec::new());
    for line in expected {
        let (kind, value) = line.trim().split_once(' ').expect(line);
        match kind {
            "code" => codes.push(value.to_owned()),
            "verification" | "sign_in" | "reset" | "invite" | "unsubscribe" => {
                let url = url::Url::parse(value).expect(value);
                links.push(format!("{kind} {url}"));
            }
            kind => panic!("no kind: {kind}"),
        }
    }
    (codes, links)
}

fn described(file: &str, text: &str) -> Sample {
    let (title, rest) = text.split_once('\n').expect(text);
    let (head, body) = rest.split_once("\n\n").expect(title);
    let (name, options) = match title.split_once(" [") {
        Some((name, options)) => (name, options.trim_end_matches(']').split(' ').collect()),
        None => (title, Vec::new()),
    };
    let (codes, links) = expectations(head.lines().filter_map(|line| line.strip_prefix("! ")));
    let fields: Vec<&str> = head.lines().filter(|line| !line.starts_with("! ")).collect();
    let raw = Form::of(&options).message(&fields, body);
    Sample { name: format!("{file}: {name}"), raw, codes, links }
}

/// How a mail is encoded.
struct Form {
    charset: &'static Encoding,
    label: String,
    encoding: Option<&'static str>,
    is_mixed: bool,
}

impl Form {
    fn of(options: &[&str]) -> Self {
        let mut form = Self { charset: UTF_8, label: "utf-8".into(), encoding: None, is_mixed: false };
        for option in options {
            match *option {
                "base64" => form.encoding = Some("base64"),
                "qp" => form.encoding = Some("quoted-printable"),
                "mixed" => form.is_mixed = true,
                label => {
                    form.charset = Encoding::for_label(label.as_bytes()).expect(label);
                    label.clone_into(&mut form.label);
                }
            }
        }
        form
    }

    fn encoded(&self, text: &str) -> Vec<u8> {
        let (octets, _, has_losses) = self.charset.encode(text);
        assert!(!has_losses, "not in {}: {text}", self.label);
        octets.into_owned()
    }

    fn message(&self, fields: &[&str], body: &str) -> Vec<u8> {
        let mut raw = Vec::new();
        for field in fields {
            let (name, value) = field.split_once(": ").expect(field);
            let value = if value.is_ascii() {
                value.to_owned()
            } else {
                format!("=?{}?B?{}?=", self.label, base64(&self.encoded(value)))
            };
            raw.extend_from_slice(format!("{name}: {value}\r\n").as_bytes());
        }
        if !fields.iter().any(|field| field.starts_with("From: ")) {
            raw.extend_from_slice(b"From: Sender <no-reply@sender.test>\r\n");
        }
        raw.extend_from_slice(b"MIME-Version: 1.0\r\n");
        let body = match body.split_once("\n--- html\n") {
            Some((text, html)) => {
                let parts = [self.part(text, "plain"), self.part(html, "html")];
                multipart("alternative", "alt", &parts)
            }
            None => self.part(body, if body.starts_with('<') { "html" } else { "plain" }),
        };
        if self.is_mixed {
            let attached =
                b"Content-Type: application/pdf; name=a.pdf\r\nContent-Transfer-Encoding: base64\r\n\r\nJVBERg==\r\n";
            raw.extend(multipart("mixed", "mix", &[body, attached.to_vec()]));
        } else {
            raw.extend(body);
        }
        raw
    }

    /// A part with its fields.
    fn part(&self, text: &str, kind: &str) -> Vec<u8> {
        let octets = self.encoded(&text.replace('\n', "\r\n"));
        let (encoding, octets) = match self.encoding {
            Some("base64") => ("base64", folded(&base64(&octets)).into_bytes()),
            Some(encoding) => (encoding, quoted_printable(&octets).into_bytes()),
            None => ("8bit", octets),
        };
        let label = &self.label;
        let mut part =
            format!("Content-Type: text/{kind}; charset={label}\r\nContent-Transfer-Encoding: {encoding}\r\n\r\n")
                .into_bytes();
        part.extend(octets);
        part.extend_from_slice(b"\r\n");
        part
    }
}

fn multipart(kind: &str, boundary: &str, parts: &[Vec<u8>]) -> Vec<u8> {
    let mut all = format!("Content-Type: multipart/{kind}; boundary={boundary}\r\n\r\n").into_bytes();
    for part in parts {
        all.extend_from_slice(format!("--{boundary}\r\n").as_bytes());
        all.extend_from_slice(part);
    }
    all.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
    all
}

fn base64(octets: &[u8]) -> String {
    const SIGNS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in octets.chunks(3) {
        let bits = chunk.iter().fold(0_u32, |bits, octet| bits << 8 | u32::from(*octet)) << (8 * (3 - chunk.len()));
        for place in 0..4 {
            let sign = SIGNS[(bits >> (18 - 6 * place) & 63) as usize] as char;
            text.push(if place <= chunk.len() { sign } else { '=' });
        }
    }
    text
}

fn folded(text: &str) -> String {
    let lines: Vec<&str> = text.as_bytes().chunks(76).map(|line| str::from_utf8(line).expect("ASCII")).collect();
    lines.join("\r\n")
}

fn quoted_printable(octets: &[u8]) -> String {
    let mut text = String::new();
    for line in octets.split(|octet| *octet == b'\n') {
        let mut length = 0;
        for octet in line.strip_suffix(b"\r").unwrap_or(line) {
            if length > 70 {
                text.push_str("=\r\n");
                length = 0;
            }
            if octet.is_ascii_graphic() && *octet != b'=' || *octet == b' ' {
                text.push(char::from(*octet));
                length += 1;
            } else {
                write!(text, "={octet:02X}").expect("a text takes it");
                length += 3;
            }
        }
        text.push_str("\r\n");
    }
    text
}
