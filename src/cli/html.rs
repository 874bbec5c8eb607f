//! HTML mail as text. Strangers write the HTML, so its size, depth and time are bounded.

use std::cell::RefCell;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

/// What is rendered of a longer body; the parser's time can grow with the square of it.
const HTML_OCTETS_MAX: usize = 512 * 1024;
/// Deeper documents are not laid out: the renderer calls itself for every level.
const DEPTH_MAX: usize = 256;
/// Fits the renderer at that depth with a wide margin.
const STACK_OCTETS: usize = 64 * 1024 * 1024;
/// The time for one document.
pub(super) const WITHIN: Duration = Duration::from_secs(3);

/// `html` as text of `width` columns. What cannot be laid out within the bounds is its text alone, without tags.
pub(super) fn to_text(html: &str, width: u16) -> String {
    let text = HtmlReader::until(Instant::now() + WITHIN).to_text(html, width);
    text.unwrap_or_else(|| without_tags(head(html, HTML_OCTETS_MAX)))
}

/// Reads documents one after the other until a point in time. No more than one thread computes for it.
pub(super) struct HtmlReader {
    until: Instant,
    /// Ends with the thread that took too long.
    late: RefCell<Option<Receiver<()>>>,
}

impl HtmlReader {
    pub(super) fn until(until: Instant) -> Self {
        Self { until, late: RefCell::new(None) }
    }

    /// `html` as text of `width` columns, without tags if it is too deep to be laid out. `None` if that takes too long.
    pub(super) fn to_text(&self, html: &str, width: u16) -> Option<String> {
        let text = self.read(html, move |html| laid_out(html, usize::from(width)))?;
        Some(text.unwrap_or_else(|| without_tags(head(html, HTML_OCTETS_MAX))))
    }

    /// What `read` makes of the beginning of `html`, in a thread with a large stack. `None` if that takes too long, or if
    /// an earlier thread that took too long does not end in this time.
    pub(super) fn read<T: Send + 'static>(
        &self,
        html: &str,
        read: impl FnOnce(&str) -> T + Send + 'static,
    ) -> Option<T> {
        let until = self.until.min(Instant::now() + WITHIN);
        let mut late = self.late.borrow_mut();
        if let Some(thread) = &*late
            && thread.recv_timeout(until.saturating_duration_since(Instant::now())) == Err(RecvTimeoutError::Timeout)
        {
            return None;
        }
        *late = None;
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return None;
        }
        let html = head(html, HTML_OCTETS_MAX).to_owned();
        let (done, result) = mpsc::channel();
        let (alive, end) = mpsc::channel();
        let thread = std::thread::Builder::new().stack_size(STACK_OCTETS).spawn(move || {
            let _alive = alive;
            // Nobody listens any more when it took too long.
            let _ = done.send(read(&html));
        });
        let result = thread.ok().and_then(|_| result.recv_timeout(left).ok());
        if result.is_none() {
            *late = Some(end);
        }
        result
    }
}

/// Whether the end of `html` is not read.
pub(super) fn is_cut(html: &str) -> bool {
    html.len() > HTML_OCTETS_MAX
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
    fn a_reader_ends_in_time_and_has_one_thread() {
        let reader = HtmlReader::until(Instant::now() + Duration::from_millis(300));
        let (go, gate) = mpsc::channel::<()>();
        let begun = Instant::now();
        assert_eq!(reader.read("", move |_| gate.recv().is_ok()), None);
        let (started, starts) = mpsc::channel();
        for _ in 0..100 {
            let started = started.clone();
            assert_eq!(reader.read("", move |_| started.send(())), None);
        }
        drop(started);
        assert!(starts.recv().is_err(), "another thread was started");
        assert!(begun.elapsed() < WITHIN, "{:?}", begun.elapsed());
        drop(go);
    }

    #[test]
    fn a_thread_that_ended_late_keeps_no_other_from_starting() {
        let reader = HtmlReader::until(Instant::now() + Duration::from_mins(1));
        let (alive, end) = mpsc::channel();
        *reader.late.borrow_mut() = Some(end);
        drop(alive);
        assert_eq!(reader.read("abc", str::len), Some(3));
    }

    #[test]
    fn a_long_body_is_cut_at_a_character() {
        assert_eq!(head("aé", 2), "a");
        assert_eq!(head("aé", 3), "aé");
        assert!(to_text(&"é".repeat(HTML_OCTETS_MAX), 80).len() <= 2 * HTML_OCTETS_MAX);
    }
}
