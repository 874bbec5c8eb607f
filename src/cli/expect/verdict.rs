//! How a mail was judged, and which of several is nearest to what is expected.

use std::fmt::Write as _;

use super::assertion::{Assertion, Finding};
use super::mail::Mail;
use crate::cli::output::visible;
use crate::client::EmailDetail;

/// The most characters of a value that are shown.
const VALUE_CHARS_MAX: usize = 160;

/// A mail with a finding for each assertion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Verdict {
    pub(super) id: String,
    from: String,
    subject: String,
    findings: Vec<Finding>,
}

impl Verdict {
    /// Judges a mail.
    pub(super) fn of(detail: &EmailDetail, assertions: &[Assertion]) -> Self {
        let mail = Mail::new(detail);
        Self {
            id: detail.email.id.clone(),
            from: detail.email.from.clone(),
            subject: detail.email.subject.clone(),
            findings: assertions.iter().map(|assertion| assertion.judge(&mail)).collect(),
        }
    }

    /// Whether all assertions hold.
    pub(super) fn holds(&self) -> bool {
        self.findings.iter().all(|finding| finding.holds)
    }

    fn held(&self) -> usize {
        self.findings.iter().filter(|finding| finding.holds).count()
    }

    /// Whether this mail is at least as near as an older one.
    pub(super) fn is_as_near_as(&self, older: &Self) -> bool {
        self.held() >= older.held()
    }

    /// The mail on one line.
    pub(super) fn title(&self) -> String {
        let from = if self.from.is_empty() { "<>".to_owned() } else { shown(&self.from) };
        format!("{} from {from} with subject \"{}\"", shown(&self.id), shown(&self.subject))
    }

    /// What holds and what does not, with what the mail has instead. Each value is on one line.
    pub(super) fn diff(&self) -> String {
        let mut diff =
            format!("the nearest is {}; {} of {} assertions hold:", self.title(), self.held(), self.findings.len());
        for finding in &self.findings {
            let mark = if finding.holds { "ok    " } else { "not ok" };
            // Writing to a String does not fail.
            let _ = write!(diff, "\n  {mark}  {}", shown(&finding.expected));
            for (index, found) in finding.found.iter().enumerate() {
                let label = if index == 0 { finding.label } else { "" };
                let _ = write!(diff, "\n          {label:7}  {}", shown(found));
            }
        }
        diff
    }
}

/// A text from outside on one line, not too long.
pub(super) fn shown(text: &str) -> String {
    let end = text.char_indices().nth(VALUE_CHARS_MAX).map(|(end, _)| end);
    let cut = visible::line(&text[..end.unwrap_or(text.len())]).into_owned();
    if end.is_some() { cut + "…" } else { cut }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn detail(subject: &str, message: &str, body_text: &str) -> EmailDetail {
        serde_json::from_value(json!({
            "id": "0190b6a5-7c3e-7d2f-8a4b-1c5d9e0f2a3b", "recipient": "hello@example.test", "from": "no-reply@app.test",
            "subject": subject, "message": message, "receivedAt": "2023-11-14 22:13:20", "bodyText": body_text,
            "attachments": [{"index": 0, "filename": "terms.pdf"}, {"index": 1, "filename": "a\n  ok      all.pdf"}],
            "codes": [], "links": [],
        }))
        .expect("detail")
    }

    fn assertions() -> Vec<Assertion> {
        vec![
            Assertion::From("APP.test".to_owned()),
            Assertion::Subject("your code".to_owned()),
            Assertion::Text("CODE is 482913".to_owned()),
            Assertion::LinkHost("app.test".parse().expect("host")),
            Assertion::Attachment("invoice".to_owned()),
            Assertion::Code,
        ]
    }

    #[test]
    fn a_diff_says_what_was_there_instead() {
        let html = "<p>Hi</p><a class=link href='https://evil.test/v'>Go</a> https://www.other.test/x.";
        let judged = Verdict::of(&detail("Welcome\u{1b}[2J", html, "Hi,\nyour code is 48291."), &assertions());
        let expected = "\
the nearest is 0190b6a5-7c3e-7d2f-8a4b-1c5d9e0f2a3b from no-reply@app.test with subject \"Welcome␛[2J\"; 1 of 6 assertions hold:
  ok      sender contains \"APP.test\"
  not ok  subject contains \"your code\"
          found    \"Welcome␛[2J\"
  not ok  text contains \"CODE is 482913\"
          nearest  \"your code is 48291.\"
  not ok  a link leads to app.test or below
          found    evil.test
                   www.other.test
  not ok  the name of an attachment contains \"invoice\"
          found    \"terms.pdf\"
                   \"a␊  ok      all.pdf\"
  not ok  there is a one-time code
          found    (no code that is certain)";
        assert_eq!(judged.diff(), expected);
        assert!(!judged.holds());
    }

    #[test]
    fn the_newer_of_two_that_are_as_near_is_the_nearest() {
        let (near, far) = (detail("Your code", "", ""), detail("Welcome", "", ""));
        let of = |detail| Verdict::of(detail, &assertions());
        assert!(of(&near).is_as_near_as(&of(&far)) && of(&far).is_as_near_as(&of(&far)));
        assert!(!of(&far).is_as_near_as(&of(&near)));
    }

    #[test]
    fn a_long_value_is_cut() {
        assert_eq!(shown(&"é".repeat(500)), "é".repeat(VALUE_CHARS_MAX) + "…");
    }
}
