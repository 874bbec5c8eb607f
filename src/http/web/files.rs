//! The files of the page, as they are in the binary.

use std::hash::Hasher as _;
use std::sync::LazyLock;

use axum::body::Bytes;
use siphasher::sip::SipHasher13;

const DOCUMENT: &str = include_str!("files/index.html");
/// Where the document names the version of the other files, and where its modules are named, to be loaded at once.
const VERSION: &str = "{version}";
const MODULES: &str = "{modules}";

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

/// All files of one version.
pub(super) struct Files {
    /// What the others have in their path: it changes whenever one of them does.
    version: String,
    pub(super) document: Bytes,
}

impl Files {
    fn new() -> Self {
        let version = digest(OTHERS);
        let modules =
            OTHERS.iter().filter(|(name, _)| is_early_module(name)).fold(String::new(), |links, (name, _)| {
                links + "<link rel=\"modulepreload\" href=\"web/" + VERSION + "/" + name + "\">\n"
            });
        let document = DOCUMENT.replace(MODULES, &modules).replace(VERSION, &version);
        Self { document: document.into(), version }
    }

    /// A file of this version; `None` if there is none, or the version is another.
    pub(super) fn find(&self, version: &str, name: &str) -> Option<&'static str> {
        let (_, text) = OTHERS.iter().find(|(known, _)| *known == name && version == self.version)?;
        Some(text)
    }
}

/// Whether each reader needs this module. Types are for the checker of types alone, and one further language may follow.
fn is_early_module(name: &str) -> bool {
    let Some((module, "js")) = name.rsplit_once('.') else { return false };
    module != "types" && (module == "words.en" || !module.starts_with("words."))
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

    #[test]
    fn the_document_names_files_that_exist_and_all_of_them() {
        let document = str::from_utf8(&FILES.document).expect("UTF-8");
        let start = format!("web/{}/", FILES.version);
        let named: Vec<&str> = document.split(&start).skip(1).filter_map(|rest| rest.split('"').next()).collect();
        for name in &named {
            assert!(FILES.find(&FILES.version, name).is_some(), "{name}");
        }
        for (name, _) in OTHERS {
            assert_eq!(named.contains(name), is_early(name), "{name} is loaded with the document or late");
        }
        assert!(!document.contains('{'), "all places are filled");
        assert!(FILES.find("0", "app.js").is_none());
    }

    fn is_early(name: &str) -> bool {
        !matches!(name.rsplit_once('.'), Some((_, "js"))) || is_early_module(name)
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
        let others: usize = OTHERS.iter().filter(|(name, _)| is_early(name)).map(|(_, text)| text.len()).sum();
        let all = others + FILES.document.len();
        assert!(all < 120 * 1024, "{all} octets");
    }
}
