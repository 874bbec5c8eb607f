//! A report in the Test Anything Protocol, version 13. Version 14 has nothing that is needed here, and `prove` refuses it.

use super::Outcome;

/// The report as a document.
pub(super) fn render(outcome: &Outcome<'_>) -> String {
    let name = escaped(outcome.name);
    let head = "TAP version 13\n1..1\n";
    let millis = outcome.took.as_millis();
    let Some(text) = outcome.text() else {
        return format!("{head}ok 1 - {name}\n  ---\n  duration_ms: {millis}\n  ...\n");
    };
    let exit = outcome.failure.map_or(0, |error| error.exit().code());
    // Its first line is ours and begins without a blank, so that it is the measure of the others.
    let message = text.replace('\n', "\n    ");
    format!(
        "{head}not ok 1 - {name}\n  ---\n  exit: {exit}\n  duration_ms: {millis}\n  message: |\n    {message}\n  ...\n"
    )
}

/// A description: on one line, and without a directive such as `# TODO`, which would excuse the failure.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('#', "\\#").replace(['\r', '\n'], " ")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::error::{Error, Exit};

    #[test]
    fn a_description_excuses_nothing() {
        let error = Error::new(Exit::CheckFailed, "one\n  ...\nok 2").hint("two");
        let (name, began_at) = ("a # TODO\nok 2 \\", "");
        let outcome = Outcome { name, began_at, took: Duration::from_millis(7), failure: Some(&error) };
        let expected = "TAP version 13\n1..1\nnot ok 1 - a \\# TODO ok 2 \\\\\n  ---\n  exit: 8\n  duration_ms: 7\n  \
            message: |\n    one\n      ...\n    ok 2\n    hint: two\n  ...\n";
        assert_eq!(render(&outcome), expected);
    }
}
