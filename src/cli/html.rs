//! HTML mail as text. Strangers write the HTML, so its size, depth and time are bounded.

use std::sync::mpsc;
use std::time::Duration;

/// What is rendered of a longer body; the parser's time can grow with the square of it.
const HTML_OCTETS_MAX: usize = 512 * 1024;
/// Deeper documents are not laid out: the renderer calls itself for every level.
const DEPTH_MAX: usize = 256;
/// Fits the renderer at that depth with a wide margin.
const STACK_OCTETS: usize = 64 * 1024 * 1024;
const WITHIN: Duration = Duration::from_secs(3);

/// `html` as text of `width` columns. What cannot be laid out within the bounds is its text alone, without tags.
pub(super) fn to_text(html: &str, width: u16) -> String {
    let text = within_bounds(html, move |html| laid_out(html, usize::from(width))).flatten();
    text.unwrap_or_else(|| without_tags(head(html, HTML_OCTETS_MAX)))
}

/// What `read` makes of the beginning of `html`, in a thread with a large stack. `None` if that takes too long.
pub(super) fn within_bounds<T: Send + 'static>(html: &str, read: impl FnOnce(&str) -> T + Send + 'static) -> Option<T> {
    let html = head(html, HTML_OCTETS_MAX).to_owned();
    let (done, result) = mpsc::channel();
    let thread = std::thread::Builder::new().stack_size(STACK_OCTETS).spawn(move || {
        // Nobody listens any more when it took too long.
        let _ = done.send(read(&html));
    });
    thread.ok().and_then(|_| result.recv_timeout(WITHIN).ok())
}

fn laid_out(html: &str, width: usize) -> Option<String> {
    let config = html2text::config::plain().allow_width_overflow().no_table_borders();
    let dom = config.parse_html(html.as_bytes()).ok()?;
    if !is_shallow(&dom) {
        return None;
    }
    let tree = config.dom_to_render_tree(&dom).ok()?;
    config.render_to_string(tree, width).ok()
}

fn is_shallow(dom: &html2text::RcDom) -> bool {
    let mut level = vec![dom.document.clone()];
    for _ in 0..DEPTH_MAX {
        level = level.iter().flat_map(|node| node.children.borrow().clone()).collect();
        if level.is_empty() {
            return true;
        }
    }
    false
}

/// The longest beginning of `text` of at most `octets` octets.
fn head(text: &str, octets: usize) -> &str {
    &text[..text.floor_char_boundary(octets)]
}

fn without_tags(html: &str) -> String {
    let mut text = String::new();
    let mut is_tag = false;
    for c in html.chars() {
        match c {
            '<' => is_tag = true,
            '>' if is_tag => is_tag = false,
            c if !is_tag => text.push(c),
            _ => {}
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn html_becomes_text() {
        let text =
            to_text("<style>p{}</style><h1>Hi</h1><p>one <b>two</b><br>three &amp; four</p><script>x()</script>", 80);
        assert!(text.contains("Hi"), "{text}");
        assert!(text.contains("three & four"), "{text}");
        assert!(!text.contains("x()") && !text.contains("p{}"), "{text}");
    }

    #[test]
    fn a_link_keeps_its_target() {
        let text = to_text("<p>go <a href='https://example.test/confirm'>here</a></p>", 80);
        assert!(text.contains("https://example.test/confirm"), "{text}");
    }

    #[test]
    fn deep_html_gives_its_text_and_no_crash() {
        let deep = format!("{}core{}", "<div>".repeat(2_000), "</div>".repeat(2_000));
        assert!(to_text(&deep, 80).contains("core"));
        let tables = format!("{}core", "<table><tr><td>".repeat(500));
        assert!(to_text(&tables, 80).contains("core"));
    }

    #[test]
    fn a_long_body_is_cut_at_a_character() {
        assert_eq!(head("aé", 2), "a");
        assert_eq!(head("aé", 3), "aé");
        assert!(to_text(&"é".repeat(HTML_OCTETS_MAX), 80).len() <= 2 * HTML_OCTETS_MAX);
    }
}
