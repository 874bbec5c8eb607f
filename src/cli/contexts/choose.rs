//! `tempmail context use`

use super::super::Context;
use super::Contexts;
use crate::error::{Error, Exit};

/// Stands for no context: commands are carried out on this machine again.
const NONE: &str = "-";

/// Use a context where neither a server nor a data directory is named
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  tempmail context use work
  tempmail context use -")]
pub(super) struct Use {
    /// The context; - for none
    #[arg(value_name = "NAME|-")]
    name: String,
}

impl Use {
    pub(super) fn run(self, cx: &Context) -> Result<Exit, Error> {
        let mut contexts = Contexts::read(&cx.env)?;
        let name = Some(self.name).filter(|name| name != NONE);
        if let Some(name) = &name {
            contexts.named(name)?;
        }
        contexts.current = name;
        contexts.write(&cx.env)?;
        Ok(Exit::Ok)
    }
}
