//! Header fields as they were received, by their names.

use std::collections::BTreeMap;

/// The values of each field by its name in the usual spelling, on one line and otherwise as received.
///
/// What is no UTF-8 is replaced. A line that is no field is left out.
pub(super) fn by_name(raw: &[u8]) -> BTreeMap<String, Vec<String>> {
    let mut fields: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut last: Option<String> = None;
    for line in raw.split(|octet| *octet == b'\n') {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.is_empty() {
            break;
        }
        let text = String::from_utf8_lossy(line);
        if text.starts_with([' ', '\t']) {
            let value = last.as_ref().and_then(|name| fields.get_mut(name)?.last_mut());
            if let Some(value) = value {
                value.push(' ');
                value.push_str(text.trim());
            }
        } else if let Some((name, value)) = text.split_once(':') {
            let name = canonical(name.trim_end());
            fields.entry(name.clone()).or_default().push(value.trim().to_owned());
            last = Some(name);
        } else {
            last = None;
        }
    }
    fields
}

/// The usual spelling of a field's name: a capital at the beginning and after each hyphen, all else in lower case.
fn canonical(name: &str) -> String {
    let mut is_first = true;
    let spelt = name.chars().map(|c| {
        let c = if is_first { c.to_ascii_uppercase() } else { c.to_ascii_lowercase() };
        is_first = c == '-';
        c
    });
    spelt.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_have_their_usual_names_and_unfolded_values() {
        let raw = b"MIME-Version: 1.0\r\nmessage-ID: <1@x>\r\nX-A: =?utf-8?q?=E2?=\r\n  two\nno field\r\n lost\r\nX-a: 2\r\n\r\nBody: x";
        let fields = by_name(raw);
        let shown: Vec<_> = fields.iter().map(|(name, values)| (name.as_str(), values.join("|"))).collect();
        assert_eq!(
            shown,
            [
                ("Message-Id", "<1@x>".to_owned()),
                ("Mime-Version", "1.0".to_owned()),
                ("X-A", "=?utf-8?q?=E2?= two|2".to_owned())
            ]
        );
    }
}
