//! `tempmail domain`: the domains that mail is received for.

mod add;
mod check_dns;
mod list;
mod remove;
mod verify;
mod zone;

use clap::Subcommand;

use super::Context;
use super::output::{Cell, Narrow, Row};
use crate::client;
use crate::error::{Error, Exit};
use crate::model::DomainStatus;

/// Add, list, check and remove the domains that mail is received for
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  tempmail domain check-dns example.org
  tempmail domain add example.org --owner 'Ann Example' --email ann@example.org
  tempmail domain list")]
pub(super) struct Domain {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand, Debug)]
enum Verb {
    Add(add::Add),
    List(list::List),
    CheckDns(check_dns::CheckDns),
    Verify(verify::Verify),
    Remove(remove::Remove),
}

impl Domain {
    pub(super) async fn run(self, cx: &Context) -> Result<Exit, Error> {
        match self.verb {
            Verb::Add(add) => add.run(cx).await,
            Verb::List(list) => list.run(cx).await,
            Verb::CheckDns(check_dns) => check_dns.run(cx).await,
            Verb::Verify(verify) => verify.run(cx).await,
            Verb::Remove(remove) => remove.run(cx).await,
        }
    }
}

impl Row for client::Domain {
    const HEADINGS: &'static [&'static str] = &["DOMAIN", "STATUS", "ADDED", "CHECKED", "RESULT"];
    const NARROW: &'static [Narrow] = &[
        Narrow::Cut(4, 24),
        Narrow::Omit(2),
        Narrow::Cut(0, 24),
        Narrow::Cut(4, 12),
        Narrow::Omit(4),
        Narrow::Cut(0, 12),
        Narrow::Omit(3),
    ];

    fn cells(&self) -> Vec<Cell> {
        let status = match self.status {
            DomainStatus::Active => Cell::State("active".to_owned(), true),
            DomainStatus::Deactivated => Cell::State("deactivated".to_owned(), false),
        };
        vec![
            Cell::Text(self.domain.clone()),
            status,
            Cell::Time(self.added_at.clone()),
            Cell::Time(self.last_checked_at.clone()),
            Cell::Text(self.last_check_result.clone().unwrap_or_default()),
        ]
    }

    fn id(&self) -> String {
        self.domain.clone()
    }
}
