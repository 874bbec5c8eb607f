//! `tempmail context remove`

use super::super::Context;
use super::Contexts;
use crate::error::{Error, Exit};

/// Remove a context and its token from this machine
///
/// The server goes on taking the token; `tempmail token revoke` ends it there.
#[derive(clap::Args, Debug)]
#[command(
    visible_alias = "rm",
    after_help = "\
Examples:
  tempmail context remove work
  tempmail context rm work"
)]
pub(super) struct Remove {
    /// The context
    #[arg(value_name = "NAME")]
    name: String,
}

impl Remove {
    pub(super) fn run(self, cx: &Context) -> Result<Exit, Error> {
        let mut contexts = Contexts::read(&cx.env)?;
        contexts.named(&self.name)?;
        contexts.contexts.remove(&self.name);
        contexts.current = contexts.current.filter(|current| *current != self.name);
        contexts.write(&cx.env)?;
        Ok(Exit::Ok)
    }
}
