//! The files of the page, as they are in the binary.

use std::hash::Hasher as _;
use std::sync::LazyLock;

use siphasher::sip::SipHasher13;

use axum::body::Bytes;

/// Where the document names the version of the other files.
const VERSION: &str = "{version}";
const DOCUMENT: &str = include_str!("files/index.html");

/// Each file but the document by its name.
macro_rules! files {
    ($($name:literal),* $(,)?) => { &[$(($name, include_str!(concat!("files/", $name)))),*] };
}

const OTHERS: &[(&str, &str)] = files![
    "style.css",
    "icon.svg",
    "about.js",
    "address.js",
    "api.js",
    "app.js",
    "body.js",
    "dom.js",
    "domains.js",
    "events.js",
    "format.js",
    "inbox.js",
    "keys.js",
    "language.js",
    "leave.js",
    "list.js",
    "live.js",
    "mail.js",
    "memory.js",
    "notice.js",
    "overview.js",
    "pending.js",
    "plot.js",
    "problem.js",
    "row.js",
    "types.js",
    "webhooks.js",
    "words.js",
    "words.ar.js",
    "words.de.js",
    "words.en.js",
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
        let version = digest(OTHERS);
        let document = DOCUMENT.replace(VERSION, &version);
        Self {
            document: File::of(document, "text/html; charset=utf-8"),
            others: OTHERS.iter().map(|(name, text)| (*name, File::of(*text, content_type(name)))).collect(),
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

fn content_type(name: &str) -> &'static str {
    match name.rsplit_once('.') {
        Some((_, "css")) => "text/css; charset=utf-8",
        Some((_, "svg")) => "image/svg+xml",
        _ => "text/javascript; charset=utf-8",
    }
}

/// A name for the texts of these files. Nobody chooses them to collide, so 64 bits are enough.
fn digest(files: &[(&str, &str)]) -> String {
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

    /// Types are for the checker of types alone, and each reader needs one further language at most.
    fn is_late(name: &str) -> bool {
        name == "types.js" || name.starts_with("words.") && !["words.js", "words.en.js"].contains(&name)
    }

    #[test]
    fn the_document_names_files_that_exist_and_all_of_them() {
        let document = DOCUMENT.replace(VERSION, &FILES.version);
        let start = format!("web/{}/", FILES.version);
        let named: Vec<&str> = document.split(&start).skip(1).filter_map(|rest| rest.split('"').next()).collect();
        for name in &named {
            assert!(FILES.find(&FILES.version, name).is_some(), "{name}");
        }
        for (name, _) in OTHERS {
            assert!(named.contains(name) || is_late(name), "{name} would be loaded late");
        }
        assert!(FILES.find("0", "app.js").is_none());
    }

    #[test]
    fn every_file_of_the_folder_is_served() {
        let folder = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/src/http/web/files")).expect("the folder");
        let mut found: Vec<String> =
            folder.map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8")).collect();
        let mut served: Vec<&str> = OTHERS.iter().map(|(name, _)| *name).chain(["index.html"]).collect();
        found.sort();
        served.sort_unstable();
        assert_eq!(found, served);
    }

    #[test]
    fn the_first_view_is_small() {
        let others = FILES.others.iter().filter(|(name, _)| !is_late(name));
        let all: usize = others.map(|(_, file)| file.octets.len()).sum();
        let all = all + FILES.document.octets.len();
        assert!(all < 120 * 1024, "{all} octets");
    }
}
