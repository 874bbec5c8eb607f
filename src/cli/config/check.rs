//! `tempmail config check`

use std::path::PathBuf;

use serde_json::json;

use super::super::Context;
use super::super::output::{self, Format};
use crate::config::{self, ConfigProblem};
use crate::error::{Error, Exit};

/// Check a configuration file and report all of its faults
///
/// Reads only this file. Exit code 8 if it has a fault: an unknown key, a bad value, values that contradict each other. Exit
/// code 2 if it cannot be read.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  tempmail config check /etc/tempmail/config.toml
  tempmail config check config.toml && sudo install config.toml /etc/tempmail/
  tempmail config check config.toml --json \\
    | jq -r '.faults[] | \"\\(.line): \\(.fault)\"'")]
pub(super) struct Check {
    /// The file
    file: PathBuf,
}

impl Check {
    pub(super) fn run(self, cx: &Context) -> Result<Exit, Error> {
        let checked = config::check_file(&self.file);
        let structured = match cx.style.of_document() {
            Format::Json => Some(output::json as fn(&serde_json::Value) -> String),
            Format::Ndjson => Some(output::json_line as fn(&serde_json::Value) -> String),
            Format::Table | Format::Tsv | Format::Id => None,
        };
        if let Some(form) = structured {
            let problems = checked.as_ref().err().map(|error| &*error.problems).unwrap_or_default();
            let faults = problems.iter().map(|it| json!({ "line": it.line(), "fault": it.to_string() }));
            let faults: Vec<_> = faults.collect();
            cx.print(form(
                &json!({ "file": self.file.display().to_string(), "ok": faults.is_empty(), "faults": faults }),
            ))?;
        }
        let loaded = checked.map_err(|error| {
            let is_unread = matches!(error.problems[..], [ConfigProblem::Unreadable(..), ..]);
            Error::new(if is_unread { Exit::Usage } else { Exit::CheckFailed }, error).hint(
                "`tempmail help configuration` lists all settings, and `tempmail config init` prints a file with them",
            )
        })?;
        for warning in &loaded.warnings {
            cx.hint(&format!("warning: {warning}"));
        }
        if structured.is_none() {
            let set = loaded.config.in_effect().iter().filter(|setting| setting.origin == "file").count();
            let settings = if set == 1 { "1 setting".to_owned() } else { format!("{set} settings") };
            cx.print(format!("{} is valid and has {settings}\n", self.file.display()))?;
        }
        Ok(Exit::Ok)
    }
}
