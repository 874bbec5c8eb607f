//! The codes and links of an Email as JSON.

use serde::Serialize;

use crate::mime::codes::{CODE_KIND, Code, Link};

#[derive(Serialize)]
pub(super) struct CodeJson<'a> {
    code: &'a str,
    kind: &'static str,
    confidence: f64,
}

#[derive(Serialize)]
pub(super) struct LinkJson<'a> {
    url: &'a str,
    kind: &'static str,
    confidence: f64,
    text: &'a str,
}

impl<'a> CodeJson<'a> {
    pub(super) fn of(code: &'a Code) -> Self {
        Self { code: &code.code, kind: CODE_KIND, confidence: code.confidence }
    }
}

impl<'a> LinkJson<'a> {
    pub(super) fn of(link: &'a Link) -> Self {
        Self { url: &link.url, kind: link.kind.as_str(), confidence: link.confidence, text: &link.text }
    }
}
