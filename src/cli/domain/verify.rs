//! `tempmail domain verify`

use super::super::Context;
use super::super::output::{self, Cell, Format};
use crate::error::{Error, Exit};
use crate::model::DomainName;

/// Check the MX records of registered domains now
///
/// Deactivates domains whose MX points elsewhere and brings back those that point here again. For the administrator.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  tempmail domain verify
  tempmail domain verify example.org
  tempmail domain verify --force")]
pub(super) struct Verify {
    /// This domain alone
    #[arg(value_name = "DOMAIN")]
    name: Option<DomainName>,

    /// Deactivate however many domains are found to point elsewhere
    #[arg(long)]
    force: bool,
}

impl Verify {
    pub(super) async fn run(self, cx: &Context) -> Result<Exit, Error> {
        let round = cx.client().await?.verify_domains(self.name.as_ref(), self.force).await;
        let round = round.map_err(|error| error.or_find_by("`tempmail domain list` shows the domains"))?;
        let pairs = [
            ("checked", Cell::Number(round.checked)),
            ("deactivated", Cell::Number(round.deactivated)),
            ("reactivated", Cell::Number(round.reactivated)),
            ("failed", Cell::Number(round.failed)),
            ("heldBack", Cell::Number(round.held_back)),
        ];
        cx.print(match cx.style.of_list() {
            Format::Json => output::json(&round),
            Format::Ndjson => output::json_line(&round),
            Format::Table | Format::Tsv | Format::Id => output::pairs(cx.style, &pairs, cx.now()),
        })?;
        if round.held_back > 0 {
            cx.hint("too many domains at once point elsewhere, so none was deactivated; --force does it");
        }
        Ok(Exit::Ok)
    }
}
