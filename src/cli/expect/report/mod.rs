//! The result in a file for programs that collect the results of tests.
//!
//! ```text
//! junit   an XML file of one suite with one test case    tap   a document of the Test Anything Protocol
//! ```

mod junit;
mod tap;

use std::io;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use crate::cli::output::visible;
use crate::cli::unfinished::Unfinished;
use crate::error::{Error, Exit};

/// As other results of tests, a report is readable for those whom the umask admits.
const MODE: u32 = 0o666;

/// A form of report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Junit,
    Tap,
}

/// A report that is to be written: its form and its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Report {
    form: Form,
    file: PathBuf,
}

/// What became of an expectation.
pub(super) struct Outcome<'a> {
    /// What was expected, in one line.
    pub(super) name: &'a str,
    /// When it began, UTC, in the form of the interface.
    pub(super) began_at: &'a str,
    pub(super) took: Duration,
    pub(super) failure: Option<&'a Error>,
}

impl Outcome<'_> {
    /// What is to be read about the failure, without characters that steer a terminal.
    fn text(&self) -> Option<String> {
        self.failure.map(|error| {
            let hint = error.what_to_do().map(|hint| format!("\nhint: {hint}")).unwrap_or_default();
            visible::block(&format!("{error}{hint}")).into_owned()
        })
    }

    /// Whether the failure is about mail, and not about the service or the command.
    fn is_about_mail(&self) -> bool {
        self.failure.is_some_and(|error| matches!(error.exit(), Exit::CheckFailed | Exit::TimedOut))
    }
}

impl Report {
    /// Makes room beside the file, so that a report that can't be written is known before anything is waited for.
    pub(super) fn begin(&self) -> Result<Begun<'_>, Error> {
        let unfinished = Unfinished::beside(&self.file, MODE).map_err(|error| {
            Error::usage(format!("{}: {error}", self.file.display()))
                .hint("name a file in a directory that is there and that you may write to")
        })?;
        Ok(Begun { report: self, unfinished })
    }
}

/// A report whose file is open.
pub(super) struct Begun<'a> {
    report: &'a Report,
    unfinished: Unfinished,
}

impl Begun<'_> {
    /// Writes the report under its name.
    pub(super) fn finish(mut self, outcome: &Outcome<'_>) -> Result<(), Error> {
        let text = match self.report.form {
            Form::Junit => junit::render(outcome),
            Form::Tap => tap::render(outcome),
        };
        let failed = |error: io::Error| Error::new(Exit::Failure, format!("{}: {error}", self.report.file.display()));
        self.unfinished.write(text.as_bytes()).map_err(failed)?;
        self.unfinished.finish().map_err(failed)
    }
}

impl FromStr for Report {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (form, file) = match text.split_once('=') {
            Some(("junit", file)) => (Form::Junit, file),
            Some(("tap", file)) => (Form::Tap, file),
            _ => return Err("give junit=FILE or tap=FILE"),
        };
        if file.is_empty() { Err("a file is missing after `=`") } else { Ok(Self { form, file: file.into() }) }
    }
}
