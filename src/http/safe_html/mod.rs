//! HTML of strangers, made safe to show in a browser.
//!
//! The crate ammonia keeps what [`ELEMENTS`] and [`ATTRIBUTES`] list, and nothing else. [`bounds`] counts beforehand what
//! its tree would need, and [`css`] removes what loads anything. No script is left, and nothing that sends a request but
//! images of other machines, if the reader wants them.

mod bounds;
mod css;

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use ammonia::{Builder, UrlRelative};
use url::Url;
use url::form_urlencoded::byte_serialize;

use super::query;

/// The longest HTML that is shown, in octets.
const HTML_OCTETS_MAX: usize = 1024 * 1024;

/// Elements that are kept. None of them has content that a parser reads otherwise than as HTML, except for `style`.
const ELEMENTS: &str = "a abbr acronym address article aside b bdi bdo big blockquote br caption center cite code col \
    colgroup dd del details dfn div dl dt em figcaption figure font footer h1 h2 h3 h4 h5 h6 header hgroup hr i img ins \
    kbd li main mark nav ol p pre q rp rt ruby s samp section small span strike strong style sub summary sup table tbody \
    td tfoot th thead time tr tt u ul var wbr";
/// Elements that are removed with their content, because it is no text for readers.
const REMOVED: &str = "script title template noscript noembed noframes iframe object applet embed xmp plaintext textarea \
    select svg math audio video";
/// Attributes that are kept on every element.
const ATTRIBUTES: &str = "align alt bgcolor border cellpadding cellspacing class color colspan dir face height hspace id \
    lang noshade nowrap rowspan size span start style summary title type valign value vspace width";
/// Schemes of links that are kept.
const LINK_SCHEMES: [&str; 4] = ["http", "https", "mailto", "tel"];
/// Types of images that browsers show and that cannot hold a script.
const IMAGE_TYPES: [&str; 5] = ["image/png", "image/jpeg", "image/jpg", "image/gif", "image/webp"];

/// Where the images of a mail come from.
#[derive(Debug, Default)]
pub(super) struct Images {
    /// The mail's own images by their Content-ID, each as an address that holds it.
    pub(super) by_content_id: HashMap<String, String>,
    /// How many octets of them are still embedded. HTML can name one image again and again.
    pub(super) octets_left: AtomicUsize,
    /// Whether images may come from other machines.
    pub(super) is_remote_permitted: bool,
}

/// Whether a browser shows an image of this type and runs nothing in it.
pub(super) fn is_image(content_type: &str) -> bool {
    IMAGE_TYPES.contains(&content_type)
}

/// The safe form of `html`, as the content of a body. `None` if it exceeds a bound.
///
/// With `links_shown_by`, links lead to that address, followed by their percent-encoded target.
pub(super) fn sanitized(html: &str, images: Images, links_shown_by: Option<&'static str>) -> Option<String> {
    let is_permitted = html.len() <= HTML_OCTETS_MAX && bounds::permit(html);
    is_permitted.then(|| filter_sheets(&builder(images, links_shown_by).clean(html).to_string()))
}

fn builder(images: Images, links_shown_by: Option<&'static str>) -> Builder<'static> {
    let mut builder = Builder::empty();
    builder
        .tags(ELEMENTS.split_whitespace().collect())
        .clean_content_tags(REMOVED.split_whitespace().collect())
        .generic_attributes(ATTRIBUTES.split_whitespace().collect())
        .add_tag_attributes("a", ["href"])
        .add_tag_attributes("img", ["src"])
        .add_tag_attributes("style", ["media"])
        .url_schemes(LINK_SCHEMES.into_iter().chain(["cid", "data"]).collect())
        .url_relative(UrlRelative::PassThrough)
        .link_rel(Some("noopener noreferrer nofollow"))
        .set_tag_attribute_value("a", "target", "_blank")
        .attribute_filter(move |element, attribute, value| match (element, attribute) {
            (_, "href") => is_link(value).then(|| link(value, links_shown_by)),
            (_, "src") => images.source(value),
            (_, "style") => Some(css::filtered(value).into()),
            _ => Some(value.into()),
        });
    builder
}

fn is_link(target: &str) -> bool {
    Url::parse(target).is_ok_and(|url| LINK_SCHEMES.contains(&url.scheme()))
}

fn link<'a>(target: &'a str, shown_by: Option<&str>) -> Cow<'a, str> {
    let Some(start) = shown_by else { return target.into() };
    let encoded: String = byte_serialize(target.trim().as_bytes()).collect();
    (start.to_owned() + &encoded.replace('+', "%20")).into()
}

impl Images {
    /// What becomes of the address of an image. `None` removes it.
    fn source<'a>(&self, address: &'a str) -> Option<Cow<'a, str>> {
        let trimmed = address.trim();
        let (scheme, rest) = trimmed.split_once(':')?;
        let is_kept = match scheme.to_ascii_lowercase().as_str() {
            "cid" => return self.embedded(rest).map(Cow::Owned),
            "data" => rest.split_once(";base64,").is_some_and(|(kind, _)| is_image(&kind.to_ascii_lowercase())),
            "http" | "https" => self.is_remote_permitted && Url::parse(trimmed).is_ok(),
            _ => false,
        };
        is_kept.then_some(Cow::Borrowed(address))
    }

    /// The address of an image of the mail; `None` if it has none of this Content-ID, or too many octets were embedded.
    ///
    /// A URL has the Content-ID percent-encoded (RFC 2392), but not every program encodes it.
    fn embedded(&self, encoded: &str) -> Option<String> {
        let decoded = query::decode(encoded).and_then(|content_id| self.by_content_id.get(&content_id));
        let image = decoded.or_else(|| self.by_content_id.get(encoded))?;
        let left = self.octets_left.load(Ordering::Relaxed).checked_sub(image.len())?;
        self.octets_left.store(left, Ordering::Relaxed);
        Some(image.clone())
    }
}

/// Filters the style sheets in HTML that ammonia wrote. There `<style` is only ever the start of that element.
fn filter_sheets(html: &str) -> String {
    const END: &str = "</style>";
    let mut filtered = String::with_capacity(html.len());
    let mut rest = html;
    while let Some(start) = rest.find("<style") {
        let content = rest[start..].find('>').map_or(rest.len(), |end| start + end + 1);
        let end = rest[content..].find(END).map_or(rest.len(), |end| content + end);
        filtered.push_str(&rest[..content]);
        filtered.push_str(&css::filtered(&rest[content..end]));
        filtered.push_str(END);
        rest = rest.get(end + END.len()..).unwrap_or_default();
    }
    filtered + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn safe(html: &str) -> String {
        sanitized(html, Images::default(), None).expect("within the bounds")
    }

    fn with_remote(html: &str) -> String {
        let images = Images { is_remote_permitted: true, ..Images::default() };
        sanitized(html, images, None).expect("within the bounds")
    }

    #[test]
    fn what_readers_need_is_kept() {
        for html in [
            "<p align=\"center\" style=\"color:red;\">a &amp; b</p>",
            "<table width=\"600\" bgcolor=\"#fff\"><tbody><tr><td colspan=\"2\">x</td></tr></tbody></table>",
            "<font color=\"red\" size=\"2\">x</font><center>y</center>",
            "<img src=\"data:image/png;base64,aGk=\" alt=\"x\" width=\"1\">",
        ] {
            assert_eq!(safe(html), html);
        }
        assert_eq!(safe("<html><head><title>t</title></head><body bgcolor=red>x</body></html>"), "x");
    }

    #[test]
    fn links_open_elsewhere_and_lead_only_to_pages_mail_and_telephones() {
        assert_eq!(
            safe("<a href=\"https://x.test/?a=1&amp;b\" target=_top rel=opener ping=//y>x</a>"),
            "<a href=\"https://x.test/?a=1&amp;b\" target=\"_blank\" rel=\"noopener noreferrer nofollow\">x</a>"
        );
        for target in
            ["javascript:x", " java\nscript:x", "data:text/html,x", "vbscript:x", "/api/mail", "//x.test", "#a"]
        {
            let html = safe(&format!("<a href=\"{target}\">x</a>"));
            assert!(!html.contains("href"), "{html}");
        }
    }

    #[test]
    fn a_link_can_lead_to_a_page_that_shows_its_target() {
        let shown = |html: &str| sanitized(html, Images::default(), Some("../#/to/")).expect("within the bounds");
        let html = shown("<a href=' https://x.test/?a=1&amp;b=%20+ü#\"'>x</a><a href=javascript:x>y</a>");
        assert!(html.contains("href=\"../#/to/https%3A%2F%2Fx.test%2F%3Fa%3D1%26b%3D%2520%2B%C3%BC%23%22\""), "{html}");
        assert_eq!(html.matches("href").count(), 1, "{html}");
    }

    #[test]
    fn an_image_comes_from_the_mail_or_not_at_all() {
        let image = "data:image/png;base64,aGk=";
        let images = || Images {
            by_content_id: [("a@b".to_owned(), image.to_owned())].into(),
            octets_left: (2 * image.len()).into(),
            is_remote_permitted: false,
        };
        let shown = |html: &str| sanitized(html, images(), None).expect("within the bounds");
        let embedded = format!("<img src=\"{image}\">");
        assert_eq!(shown("<img src=\"CID:a@b\">"), embedded);
        assert_eq!(shown(&"<img src=cid:a@b>".repeat(4)), embedded.repeat(2) + "<img><img>");
        for address in ["cid:a%40b", "CID:%61%40%62"] {
            assert_eq!(shown(&format!("<img src=\"{address}\">")), embedded, "{address}");
        }
        for address in [
            "cid:c@d",
            "cid:a%2540b",
            "cid:%",
            "http://x.test/a.png",
            "//x.test/a",
            "/healthz",
            "attachments/0",
            "data:image/svg+xml;base64,aGk=",
            "data:text/html,x",
            "javascript:x",
        ] {
            assert_eq!(shown(&format!("<img src=\"{address}\">")), "<img>", "{address}");
        }
        assert_eq!(with_remote("<img src=\"HTTP://x.test/a\">"), "<img src=\"HTTP://x.test/a\">");
        assert_eq!(with_remote("<img src=\"//x.test/a\" srcset=\"http://x.test/b 2x\">"), "<img>");
        assert_eq!(with_remote("<table background=\"http://x.test/a\"></table>"), "<table></table>");
    }

    #[test]
    fn style_sheets_are_kept_without_what_they_load() {
        assert_eq!(
            safe("<style type=\"text/css\">a{color:red}</style><style>b{}</style>x"),
            "<style type=\"text/css\">a{color:red}</style><style>b{}</style>x"
        );
        let html = with_remote(
            "<style>@import 'http://x.test';p{background:url(http://x.test/a)}</style>\
             <p style=\"background:URL('http://x.test/b')\">x</p><svg><style><img src=x onerror=y></style></svg>",
        );
        assert!(!html.contains("x.test/") && !html.contains("import") && !html.contains("svg"), "{html}");
        let broken = safe("<style>a{content:'\\3c/style>\\3cscript>'}</style>");
        assert!(!broken.contains("<script"), "{broken}");
        assert_eq!(broken.matches("</style>").count(), 1, "{broken}");
    }

    #[test]
    fn a_long_text_of_characters_that_need_an_escape_is_not_shown() {
        for piece in ["&", "\u{a0}", "<b title=&&&&&&&&&>x</b>"] {
            assert_eq!(sanitized(&piece.repeat(HTML_OCTETS_MAX / piece.len()), Images::default(), None), None);
        }
    }

    #[test]
    fn html_beyond_a_bound_is_not_shown() {
        let names: Vec<_> = (0..=bounds::ATTRIBUTES_MAX).map(|number| format!("a{number}")).collect();
        let attributes = format!("<p {}>", names.join(" "));
        for html in [
            "x".repeat(HTML_OCTETS_MAX + 1),
            "<div>".repeat(bounds::DEPTH_MAX + 1),
            "<p>".repeat(bounds::NODES_MAX + 1),
            attributes,
        ] {
            assert_eq!(sanitized(&html, Images::default(), None), None, "{}", &html[..20]);
        }
        let deep = format!("{}x", "<div>".repeat(bounds::DEPTH_MAX));
        assert!(sanitized(&deep, Images::default(), None).is_some());
    }
}
