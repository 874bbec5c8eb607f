//! `tempmail config show`

use serde::Serialize;

use super::super::Context;
use super::super::output::{self, Cell, Narrow, Row};
use crate::client::{Client, Destination, running};
use crate::config::{self, SettingInEffect};
use crate::error::{Error, Exit};

/// Show every setting with its value in effect
///
/// Of a daemon that runs, or of --server, what it runs with; else what `tempmail serve` would start with here.
/// In a pipe each setting is a line of two fields separated by tabs, key and value, and with --origin a third one.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  tempmail config show
  tempmail config show --origin
  tempmail config show --json | jq '.[] | select(.origin != \"default\")'")]
pub(super) struct Show {
    /// Also show where each value comes from: a flag, a variable, a line of the file, dev, or the default
    #[arg(long)]
    origin: bool,
}

impl Show {
    pub(super) async fn run(self, cx: &Context) -> Result<Exit, Error> {
        let settings = settings(cx).await?;
        let text = if self.origin {
            let rows: Vec<_> = settings.iter().map(WithOrigin).collect();
            output::list(cx.style, &rows, &settings, cx.now())
        } else {
            let rows: Vec<_> = settings.iter().map(Plain).collect();
            output::list(cx.style, &rows, &settings, cx.now())
        };
        cx.print(text)?;
        Ok(Exit::Ok)
    }
}

async fn settings(cx: &Context) -> Result<Vec<SettingInEffect>, Error> {
    let destination = cx.destination()?;
    match (running(&destination)?, destination) {
        (Some(transport), _) => {
            cx.verbose(&format!("these are the settings of the service at {}", transport.shown()));
            Ok(Client::new(transport).config().await?)
        }
        (None, Destination::Local(sources)) => {
            let loaded = config::load(&sources)?;
            cx.hint("no daemon runs; `tempmail serve` would start with these settings");
            for warning in &loaded.warnings {
                cx.hint(&format!("warning: {warning}"));
            }
            Ok(loaded.config.in_effect())
        }
        (None, Destination::Server(..)) => Ok(Vec::new()),
    }
}

#[derive(Serialize)]
struct Plain<'a>(&'a SettingInEffect);

#[derive(Serialize)]
struct WithOrigin<'a>(&'a SettingInEffect);

impl Row for Plain<'_> {
    const HEADINGS: &'static [&'static str] = &["SETTING", "VALUE"];

    fn cells(&self) -> Vec<Cell> {
        vec![Cell::Text(self.0.key.clone()), Cell::Text(self.0.values.join(","))]
    }

    fn id(&self) -> String {
        self.0.key.clone()
    }
}

impl Row for WithOrigin<'_> {
    const HEADINGS: &'static [&'static str] = &["SETTING", "VALUE", "ORIGIN"];
    const NARROW: &'static [Narrow] = &[Narrow::Cut(1, 20), Narrow::Cut(2, 12), Narrow::Cut(1, 8)];

    fn cells(&self) -> Vec<Cell> {
        let mut cells = Plain(self.0).cells();
        cells.push(Cell::Text(self.0.place()));
        cells
    }

    fn id(&self) -> String {
        self.0.key.clone()
    }
}
