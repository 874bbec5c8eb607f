//! The files of the page, as they are in the binary.

use std::hash::Hasher as _;
use std::sync::LazyLock;

use siphasher::sip::SipHasher13;

use axum::body::Bytes;

/// Where the document names the version of the other files.
const VERSION: &str = "{version}";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const DOCUMENT: &str = include_str!("files/index.html");

/// Where the document names the files that the first view needs, so that they come at once.
const PRELOADS: &str = "{preloads}";

/// Files by their names.
macro_rules! files {
    ($($name:literal),* $(,)?) => { &[$(($name, include_str!(concat!("files/", $name)))),*] };
}

/// What the first view needs.
const FIRST: &[(&str, &str)] = files![
    "style.css",
    "icon.svg",
    "address.js",
    "api.js",
    "app.js",
    "arrival.js",
    "dom.js",
    "events.js",
    "format.js",
    "holding.js",
    "inbox.js",
    "keys.js",
    "language.js",
    "leases.js",
    "list.js",
    "live.js",
    "memory.js",
    "notice.js",
    "pending.js",
    "problem.js",
    "reading.js",
    "row.js",
    "watch.js",
    "words.js",
    "words.en.js",
];

/// What comes once it is needed: rarer views, and words in other languages. Types are for their checker alone.
const LATE: &[(&str, &str)] = files![
    "about.js",
    "all.js",
    "body.js",
    "domains.js",
    "help.js",
    "key.js",
    "leave.js",
    "mail.js",
    "overview.js",
    "plot.js",
    "prolong.js",
    "save.js",
    "token.js",
    "types.js",
    "webhooks.js",
    "words.ar.js",
    "words.de.js",
    "words.es.js",
    "words.fr.js",
    "words.zh.js",
];

pub(super) static FILES: LazyLock<Files> = LazyLock::new(Files::new);

/// A file, as it is sent.
pub(super) struct File {
    pub(super) octets: Bytes,
    pub(super) content_type: &'static str,
}

/// All files of one version.
pub(super) struct Files {
    /// What the others have in their path: it changes whenever one of them does.
    version: String,
    pub(super) document: File,
    others: Vec<(&'static str, File)>,
}

impl Files {
    fn new() -> Self {
        let others = || FIRST.iter().chain(LATE);
        let version = digest(others());
        let document = DOCUMENT.replace(PRELOADS, &preloads()).replace(VERSION, &version);
        Self {
            document: File::of(document, "text/html; charset=utf-8"),
            others: others().map(|(name, text)| (*name, File::of(*text, content_type(name)))).collect(),
            version,
        }
    }

    /// A file of this version; `None` if there is none, or the version is another.
    pub(super) fn find(&self, version: &str, name: &str) -> Option<&File> {
        if version != self.version {
            return None;
        }
        self.others.iter().find(|(known, _)| *known == name).map(|(_, file)| file)
    }
}

impl File {
    fn of(octets: impl Into<Bytes>, content_type: &'static str) -> Self {
        Self { octets: octets.into(), content_type }
    }
}

/// The lines of the document that name the modules of the first view.
fn preloads() -> String {
    let modules = FIRST.iter().filter(|(name, _)| content_type(name) == SCRIPT);
    let lines: Vec<_> =
        modules.map(|(name, _)| format!("<link rel=\"modulepreload\" href=\"web/{VERSION}/{name}\">\n")).collect();
    lines.concat()
}

fn content_type(name: &str) -> &'static str {
    match name.rsplit_once('.') {
        Some((_, "css")) => "text/css; charset=utf-8",
        Some((_, "svg")) => "image/svg+xml",
        _ => SCRIPT,
    }
}

/// A name for the texts of these files. Nobody chooses them to collide, so 64 bits are enough.
fn digest<'a>(files: impl Iterator<Item = &'a (&'a str, &'a str)>) -> String {
    let mut hasher = SipHasher13::new();
    for (_, text) in files {
        hasher.write(text.as_bytes());
        hasher.write_u8(0xff);
    }
    format!("{:016x}", hasher.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_document_names_files_that_exist_and_all_of_the_first_view() {
        let document = str::from_utf8(&FILES.document.octets).expect("UTF-8");
        let start = format!("web/{}/", FILES.version);
        let named: Vec<&str> = document.split(&start).skip(1).filter_map(|rest| rest.split('"').next()).collect();
        for name in &named {
            assert!(FILES.find(&FILES.version, name).is_some(), "{name}");
        }
        for (name, _) in FIRST {
            assert!(named.contains(name), "{name} would be loaded late");
        }
        assert!(FILES.find("0", "app.js").is_none());
    }

    #[test]
    fn every_file_of_the_folder_is_served() {
        let folder = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/src/http/web/files")).expect("the folder");
        let mut found: Vec<String> =
            folder.map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8")).collect();
        let mut served: Vec<&str> = FIRST.iter().chain(LATE).map(|(name, _)| *name).chain(["index.html"]).collect();
        found.sort();
        served.sort_unstable();
        assert_eq!(found, served);
    }

    /// What is private is an inbox, in every language: its address is one like any other.
    #[test]
    fn every_language_speaks_of_private_inboxes() {
        for (language, inbox, private_address) in [
            ("en", "inbox", "private address"),
            ("de", "Postf", "private Adresse"),
            ("es", "buzon", "direcciones privadas"),
            ("fr", "boîte", "adresses privées"),
            ("zh", "收件箱", "私密地址"),
            ("ar", "صندوق", "عناوين خاصة"),
        ] {
            let name = format!("words.{language}.js");
            let (_, words) = FIRST.iter().chain(LATE).find(|(known, _)| *known == name).expect("a language");
            assert!(!words.contains(private_address), "{language}: {private_address}");
            for key in ["ownKeyLost", "ownKeyMore", "privateAddress", "privateMore", "yourPrivate"] {
                let phrase = words.lines().find(|line| line.trim_start().starts_with(&format!("{key}:"))).expect(key);
                let phrase = phrase.replace('ó', "o").replace("صناديق", inbox);
                assert!(phrase.contains(inbox), "{language}: {phrase}");
            }
        }
    }

    #[test]
    fn the_first_view_is_small() {
        let all = FIRST.iter().map(|(_, text)| text.len()).sum::<usize>() + FILES.document.octets.len();
        assert!(all < 120 * 1024, "{all} octets");
    }
}
