//! A report in the XML that began with `JUnit` and that most servers for tests read.

use super::Outcome;

/// The classname of test cases, under which servers group them.
const CLASS: &str = "tempmail.expect";

/// The report as a document.
pub(super) fn render(outcome: &Outcome<'_>) -> String {
    let name = escaped(outcome.name);
    let seconds = format!("{:.3}", outcome.took.as_secs_f64());
    let (failures, errors) = match (outcome.failure, outcome.is_about_mail()) {
        (None, _) => (0, 0),
        (Some(_), true) => (1, 0),
        (Some(_), false) => (0, 1),
    };
    let counts = format!(r#"tests="1" failures="{failures}" errors="{errors}" time="{seconds}""#);
    let began_at = outcome.began_at.replace(' ', "T");
    let case = format!(r#"<testcase classname="{CLASS}" name="{name}" time="{seconds}""#);
    let case = match outcome.text() {
        None => format!("{case}/>"),
        Some(text) => {
            let element = if outcome.is_about_mail() { "failure" } else { "error" };
            let message = escaped(text.lines().next().unwrap_or_default());
            let text = escaped(&text);
            format!(
                "{case}>\n      <{element} message=\"{message}\" type=\"expectation\">{text}</{element}>\n    </testcase>"
            )
        }
    };
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {counts}>\n  \
         <testsuite name=\"{CLASS}\" {counts} skipped=\"0\" timestamp=\"{began_at}\">\n    \
         {case}\n  </testsuite>\n</testsuites>\n"
    )
}

/// `text` as content or as the value of an attribute. What XML 1.0 (section 2.2) has no place for is U+FFFD.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\t' | '\n' => escaped.push(c),
            '\r' => escaped.push_str("&#13;"),
            '\0'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_xml_has_no_place_for_is_replaced() {
        assert_eq!(
            escaped("<a b=\"&'\">\u{0}\u{8}\u{1b}\r\n\t\u{ffff}\u{fffe}é"),
            "&lt;a b=&quot;&amp;'&quot;&gt;\u{fffd}\u{fffd}\u{fffd}&#13;\n\t\u{fffd}\u{fffd}é"
        );
    }
}
