//! `tempmail config`: the settings in effect, and configuration files.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Subcommand;
use serde::Deserialize;
use serde_json::{Value, json};

use super::output::{Column, Format, Kind};
use super::{Context, STANDARD};
use crate::client::{Destination, is_running};
use crate::config::{self, ConfigProblem, SettingInEffect};
use crate::error::{Error, Exit};

/// Without `--origin` a list has the first two.
const COLUMNS: [Column; 3] = [
    Kind::Whole.column("SETTING", "key"),
    Kind::Whole.column("VALUE", "values"),
    Kind::Whole.column("ORIGIN", "place"),
];

/// Show the settings, check a configuration file or write one
///
/// `tempmail help reference` lists all settings.
#[derive(Subcommand, Debug)]
#[command(after_help = "\
Examples:
  tempmail config show --origin
  tempmail config check /etc/tempmail/config.toml
  tempmail config init config.toml")]
pub(super) enum Config {
    /// Show every setting with its value in effect
    ///
    /// Of a daemon that runs, or of --server, what it runs with; else what `tempmail serve` would start with here.
    /// In a pipe each setting is a line of two fields separated by tabs, key and value, and with --origin a third one.
    #[command(after_help = "\
Examples:
  tempmail config show
  tempmail config show --origin
  tempmail config show --json | jq '.[] | select(.origin != \"default\")'")]
    Show {
        /// Also show where each value comes from: a flag, a variable, a line of the file, dev, or the default
        #[arg(long)]
        origin: bool,
    },
    /// Check a configuration file and report all of its faults
    ///
    /// Reads only this file. Exit code 8 if it has a fault: an unknown key, a bad value, values that contradict each other. Exit
    /// code 2 if it cannot be read.
    #[command(after_help = "\
Examples:
  tempmail config check /etc/tempmail/config.toml
  tempmail config check config.toml && sudo install config.toml /etc/tempmail/
  tempmail config check config.toml --json \\
    | jq -r '.faults[] | \"\\(.line): \\(.fault)\"'")]
    Check {
        /// The file; - for standard input
        #[arg(value_name = "FILE|-")]
        file: PathBuf,
    },
    /// Print a configuration file with every setting at its default, or write it
    ///
    /// Every setting is commented out and has its meaning, its unit, its bounds and its default.
    /// A file that exists is never overwritten: exit code 5.
    #[command(after_help = "\
Examples:
  tempmail config init | less
  tempmail config init config.toml
  tempmail config init | grep '^#[a-z]'")]
    Init {
        /// File to write; - for standard output [default: -]
        file: Option<PathBuf>,
    },
}

impl Config {
    pub(super) async fn run(self, cx: &Context) -> Result<(), Error> {
        match self {
            Self::Show { origin } => show(cx, origin).await,
            Self::Check { file } => check(cx, &file),
            Self::Init { file } => init(cx, file),
        }
    }
}

/// Shows the settings of a service that runs, or those that one would start with.
async fn show(cx: &Context, has_origin: bool) -> Result<(), Error> {
    if let Destination::Local(sources) = cx.destination()?
        && !is_running(&sources)?
    {
        let loaded = config::load(&sources)?;
        cx.hint("no daemon runs; `tempmail serve` would start with these settings");
        for warning in &loaded.warnings {
            cx.hint(&format!("warning: {warning}"));
        }
        let settings = loaded.config.in_effect();
        return print(cx, has_origin, &settings, &json!(settings));
    }
    let client = cx.client().await?;
    cx.verbose(&format!("these are the settings of the service at {}", client.transport().shown()));
    let answer: Value = client.get("/api/admin/config", &[]).await?;
    let settings = Vec::<SettingInEffect>::deserialize(&answer)
        .map_err(|error| Error::new(Exit::Unavailable, format!("its settings cannot be read: {error}")))?;
    print(cx, has_origin, &settings, &answer)
}

/// Prints settings; `whole` is what JSON shows.
fn print(cx: &Context, has_origin: bool, settings: &[SettingInEffect], whole: &Value) -> Result<(), Error> {
    let row = |setting: &SettingInEffect| match cx.style.of_list() {
        Format::Ndjson => json!(setting),
        _ => json!({ "key": setting.key, "values": setting.values, "place": setting.place() }),
    };
    let rows: Vec<Value> = settings.iter().map(row).collect();
    cx.list(&COLUMNS[..if has_origin { 3 } else { 2 }], &rows, whole)
}

/// Says what is wrong with a file.
fn check(cx: &Context, file: &Path) -> Result<(), Error> {
    let (path, file) = cx.streams.input(file);
    let checked = config::check_file(path, file);
    let name = path.display();
    if matches!(cx.style.format, Some(Format::Json | Format::Ndjson)) {
        let problems = checked.as_ref().err().map(|error| &*error.problems).unwrap_or_default();
        let faults = problems.iter().map(|it| json!({ "line": it.line(), "fault": it.to_string() }));
        let faults: Vec<Value> = faults.collect();
        cx.answer(&json!({ "file": name.to_string(), "ok": faults.is_empty(), "faults": faults }), "")?;
    }
    let loaded = checked.map_err(|error| {
        let is_unread = matches!(error.problems[..], [ConfigProblem::Unreadable(..), ..]);
        Error::new(if is_unread { Exit::Usage } else { Exit::CheckFailed }, error)
            .hint("`tempmail help reference` lists all settings, and `tempmail config init` prints a file with them")
    })?;
    for warning in &loaded.warnings {
        cx.hint(&format!("warning: {warning}"));
    }
    if !matches!(cx.style.format, Some(Format::Json | Format::Ndjson)) {
        let set = loaded.config.in_effect().iter().filter(|setting| setting.origin == "file").count();
        let settings = if set == 1 { "1 setting".to_owned() } else { format!("{set} settings") };
        cx.print(format!("{name} is valid and has {settings}\n"))?;
    }
    Ok(())
}

/// Prints a file with every setting, or writes it.
fn init(cx: &Context, file: Option<PathBuf>) -> Result<(), Error> {
    let Some(file) = file.filter(|file| file.as_os_str() != STANDARD) else {
        return cx.print(config::template());
    };
    write_new(&file, &config::template()).map_err(|error| {
        let cause = format!("{}: {error}", file.display());
        match error.kind() {
            io::ErrorKind::AlreadyExists => Error::new(Exit::Conflict, format!("{} exists", file.display()))
                .hint("it was not changed; name another file, or `tempmail config check` it"),
            io::ErrorKind::NotFound => Error::new(Exit::Failure, cause).hint("make its directory first"),
            io::ErrorKind::PermissionDenied => Error::new(Exit::NotAllowed, cause),
            _ => Error::new(Exit::Failure, cause),
        }
    })?;
    cx.hint(&format!("edit it, then check it with `tempmail config check {}`", file.display()));
    Ok(())
}

fn write_new(path: &Path, text: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}
