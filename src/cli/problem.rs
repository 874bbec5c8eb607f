//! An error as a program reads it: with JSON as the form of the output, one object on standard error (RFC 9457).

use serde_json::{Map, Value, json};

use crate::client::{ClientError, Problem};
use crate::error::{Error, Exit};

/// The type of a problem that its title says (RFC 9457 section 4.2.1).
const TYPE: &str = "about:blank";

/// The error as an object. What a service refused has its own members; `status` is there only if a service gave one.
pub(super) fn of(error: &Error) -> Value {
    let mut members = match error.cause().downcast_ref::<ClientError>().and_then(ClientError::problem) {
        Some(problem) => of_service(problem),
        None => of_exit(error.exit(), error.to_string()),
    };
    members.insert("exitCode".to_owned(), error.exit().code().into());
    if let Some(hint) = error.what_to_do() {
        members.insert("hint".to_owned(), hint.into());
    }
    members.into()
}

/// A command line that cannot be parsed.
pub(super) fn of_command_line(error: &clap::Error) -> Value {
    let rendered = error.render().to_string();
    let text = rendered.strip_prefix("error: ").unwrap_or(&rendered);
    let (detail, rest) = text.trim_end().split_once("\n\n").unwrap_or((text.trim_end(), ""));
    let error = Error::usage(detail.to_owned());
    of(&if rest.is_empty() { error } else { error.hint(rest.trim()) })
}

fn of_service(problem: &Problem) -> Map<String, Value> {
    let mut members = (*problem.other).clone();
    members.entry("type").or_insert_with(|| TYPE.into());
    members.insert("title".to_owned(), problem.title.clone().into());
    members.insert("status".to_owned(), problem.status.into());
    members.insert("detail".to_owned(), problem.detail.clone().into());
    members.insert("code".to_owned(), problem.code.clone().into());
    members
}

/// The title is the code in words.
fn of_exit(exit: Exit, detail: String) -> Map<String, Value> {
    let code = json!(exit);
    let mut title = code.as_str().unwrap_or_default().replace('_', " ");
    if let Some(first) = title.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    let members = [("type", TYPE.into()), ("title", title.into()), ("detail", detail.into()), ("code", code)];
    members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_exit_code_has_a_word() {
        for exit in Exit::ALL {
            let error = Error::new(exit, "why").hint("what to do");
            let object = of(&error);
            assert_eq!((&object["detail"], &object["hint"]), (&"why".into(), &"what to do".into()));
            assert_eq!((&object["exitCode"], &object["type"]), (&exit.code().into(), &TYPE.into()));
            assert!(
                ["code", "title"].iter().all(|name| object[name].as_str().is_some_and(|text| !text.is_empty()))
                    && object.get("status").is_none()
            );
        }
    }
}
