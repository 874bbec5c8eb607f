//! A secret from a file or standard input; never from the command line, where every process could read it.

use std::path::Path;

use super::super::Context;
use crate::error::Error;
use crate::model::Secret;
use crate::webhook::has_prefix_alone;

/// The longest secret in octets.
const OCTETS_MAX: u64 = 1_024;

/// The secret in the file `path`, or on standard input for `-`: everything but one final line end. What looks as if it were
/// another key than it is gets a hint.
pub(super) fn read(cx: &Context, path: &Path) -> Result<Secret, Error> {
    // Room for the line end.
    let (name, octets) = cx.streams.small_file(path, OCTETS_MAX + 2)?;
    let secret = of(&name, octets)?;
    if has_prefix_alone(&secret) {
        cx.hint(
            "no base64 follows whsec_ in the secret, so the text itself is the key, whsec_ included; a proper one: \
             echo whsec_$(openssl rand -base64 32)",
        );
    }
    Ok(secret)
}

fn of(name: &str, octets: Vec<u8>) -> Result<Secret, Error> {
    let text = String::from_utf8(octets).map_err(|_| Error::usage(format!("{name}: the secret is not UTF-8")))?;
    let line = text.strip_suffix('\n').unwrap_or(&text);
    let secret = line.strip_suffix('\r').filter(|_| line.len() < text.len()).unwrap_or(line);
    if secret.len() as u64 > OCTETS_MAX {
        return Err(Error::usage(format!("{name}: a secret has at most {OCTETS_MAX} octets")));
    }
    Secret::new(secret.to_owned()).ok_or_else(|| {
        Error::usage(format!("{name}: the secret is empty")).hint("without --secret-file nothing is signed")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_final_line_end_is_no_part_of_the_secret() {
        for (text, secret) in
            [("s", "s"), ("s\n", "s"), ("s\r\n", "s"), ("s\n\n", "s\n"), (" s ", " s "), ("s\r", "s\r"), ("ü\n", "ü")]
        {
            assert_eq!(of("x", text.into()).expect(text).expose(), secret, "{text:?}");
        }
    }

    #[test]
    fn a_secret_has_1_to_1024_octets_of_utf_8() {
        let longest = "x".repeat(1_024);
        assert_eq!(of("x", format!("{longest}\r\n").into()).expect("longest").expose(), longest);
        for bad in [&b""[..], b"\n", b"\xff", format!("{longest}x").as_bytes()] {
            assert!(of("x", bad.into()).is_err(), "{bad:?}");
        }
    }
}
