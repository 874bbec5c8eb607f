//! `tempmail domain`: the domains that mail is received for.

use clap::Subcommand;
use serde::Deserialize;
use serde_json::{Value, json};

use super::ids::WEBHOOKS_PER_PAGE;
use super::output::{self, Column, Format, Kind, visible};
use super::removal::{DRY_RUN, Removal, deleted};
use super::{Context, listing, zone};
use crate::client::{Client, ClientError, Method, WEBHOOKS, text};
use crate::dns::MxReport;
use crate::error::{Error, Exit};
use crate::model::DomainName;

const COLUMNS: [Column; 5] = [
    Kind::Text.column("DOMAIN", "domain"),
    Kind::State.column("STATUS", "status").rank(1),
    Kind::Time.column("ADDED", "addedAt").rank(4),
    Kind::Time.column("CHECKED", "lastCheckedAt").rank(2),
    Kind::Text.column("RESULT", "lastCheckResult").rank(3),
];
const ALL: &str = "/api/domains";
const ADMINISTRATORS: &str = "/api/admin/domains";

/// Add, list, check and remove the domains that mail is received for
#[derive(Subcommand, Debug)]
#[command(after_help = "\
Examples:
  tempmail domain check-dns example.org
  tempmail domain add example.org --owner 'Ann Example' --email ann@example.org
  tempmail domain list")]
pub(super) enum Domain {
    Add(Add),
    /// List the domains
    ///
    /// In a pipe each domain is a line of five fields separated by tabs: name, status, when it was added, when its MX was
    /// last checked, what that found.
    #[command(
        visible_alias = "ls",
        after_help = "\
Examples:
  tempmail domain list
  tempmail domain ls --active
  tempmail domain list --json \\
    | jq -r '.[] | select(.status == \"deactivated\").domain'"
    )]
    List {
        /// Only the names of active domains, without wildcards
        #[arg(long)]
        active: bool,
    },
    /// Ask DNS whether the MX record of a domain points at this service
    ///
    /// Prints lines for a zone file: the record that is expected, and what was found as a comment. Exit code 8 when the MX
    /// points elsewhere, 6 when DNS gave no answer.
    #[command(after_help = "\
Examples:
  tempmail domain check-dns example.org
  tempmail domain check-dns example.org >> example.org.zone
  tempmail domain check-dns example.org --json | jq .found")]
    CheckDns {
        /// The domain
        #[arg(value_name = "DOMAIN")]
        name: DomainName,
    },
    /// Check the MX records of registered domains now
    ///
    /// Deactivates domains whose MX points elsewhere and brings back those that point here again. For the administrator.
    #[command(after_help = "\
Examples:
  tempmail domain verify
  tempmail domain verify example.org
  tempmail domain verify --force")]
    Verify {
        /// This domain alone
        #[arg(value_name = "DOMAIN")]
        name: Option<DomainName>,

        /// Deactivate however many domains are found to point elsewhere
        #[arg(long)]
        force: bool,
    },
    Remove(Remove),
}

impl Domain {
    pub(super) async fn run(self, cx: &Context) -> Result<(), Error> {
        match self {
            Self::Add(add) => add.run(cx).await,
            Self::List { active } => list(cx, active).await,
            Self::CheckDns { name } => check_dns(cx, &name).await,
            Self::Verify { name, force } => verify(cx, name.as_ref(), force).await,
            Self::Remove(remove) => remove.run(cx).await,
        }
    }
}

/// Register a domain whose MX record points at this service
///
/// The MX record is checked first; when it points elsewhere, the record to create is printed and the exit code is 8.
/// Adding a domain again checks it again, which brings a deactivated one back.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  tempmail domain add example.org
  tempmail domain add example.org --owner 'Ann Example' --email ann@example.org
  tempmail domain add staging.example.org --skip-dns-check")]
pub(super) struct Add {
    /// The domain
    #[arg(value_name = "DOMAIN")]
    name: DomainName,

    /// Name of the owner
    #[arg(long, value_name = "NAME")]
    owner: Option<String>,

    /// Contact address of the owner
    #[arg(long, value_name = "ADDR")]
    email: Option<String>,

    /// Never ask DNS about this domain, now or later; for the administrator
    #[arg(long)]
    skip_dns_check: bool,
}

impl Add {
    async fn run(self, cx: &Context) -> Result<(), Error> {
        let mut body = json!({ "domain": self.name });
        for (member, value) in [("owner", self.owner), ("email", self.email)] {
            if let Some(value) = value {
                body[member] = value.into();
            }
        }
        let path = if self.skip_dns_check {
            body["skipDnsCheck"] = true.into();
            ADMINISTRATORS
        } else {
            ALL
        };
        let (added, is_new) = cx.client().await?.post(path, body).await.map_err(unregistered)?;
        cx.list(&COLUMNS, std::slice::from_ref(&added), &added)?;
        let name = self.name;
        cx.hint(&if is_new {
            format!("mail for any address at {name} is received from now on")
        } else {
            format!("{name} was registered before and has been checked again")
        });
        Ok(())
    }
}

/// Why a domain is not registered: where its MX points elsewhere, with the exact record to create.
fn unregistered(error: ClientError) -> Error {
    if !error.is("mx_mismatch") {
        return error.into();
    }
    let lines = |member| zone::records(&error.problem().map(|problem| problem.strings(member)).unwrap_or_default());
    let (expected, found) = (lines("expected"), zone::commented(&lines("found")));
    let hint = if expected.is_empty() {
        "point the domain's MX record at the service, then add it again".to_owned()
    } else {
        format!(
            "of these records the zone needs one, and no other MX; then add the domain again:\n\n{expected}\n; found now:\n{found}"
        )
    };
    Error::from(error).hint(hint.trim_end())
}

/// Lists the domains, or the names of the active ones.
async fn list(cx: &Context, is_active: bool) -> Result<(), Error> {
    if is_active {
        return active(cx).await;
    }
    let path = if cx.client().await?.is_administrator() { ADMINISTRATORS } else { ALL };
    listing::whole(cx, path, &[], &COLUMNS, "there is no domain; `tempmail domain add` registers one").await
}

/// Lists the names of active domains.
async fn active(cx: &Context) -> Result<(), Error> {
    let domains: Vec<Value> = cx.client().await?.get(ALL, &[]).await?;
    let active = domains.iter().filter(|domain| domain["status"] == "active").map(|domain| text(domain, "domain"));
    let (patterns, names): (Vec<&str>, Vec<&str>) = active.partition(|name| name.contains('*'));
    let rows: Vec<Value> = names.iter().map(|name| json!({ "domain": name })).collect();
    cx.list(&COLUMNS[..1], &rows, &json!(names))?;
    match (names.as_slice(), patterns.as_slice()) {
        ([], []) => cx.hint("no domain is active; `tempmail domain list` shows them all"),
        ([], patterns) => {
            cx.hint(&format!("no active domain has a name of its own; mail is received for {}", patterns.join(", ")));
        }
        _ => {}
    }
    Ok(())
}

/// Shows what DNS says about the MX record of a domain.
async fn check_dns(cx: &Context, name: &DomainName) -> Result<(), Error> {
    let query = [("domain", Some(name.to_string()))];
    let answer: Value = cx.client().await?.get("/api/domains/check-dns", &query).await?;
    let check = MxReport::deserialize(&answer)
        .map_err(|error| Error::new(Exit::Unavailable, format!("the service's answer cannot be read: {error}")))?;
    cx.print(match cx.style.of_document() {
        Format::Table => in_zone(&check),
        Format::Json | Format::Ndjson => output::json(&answer),
        Format::Tsv => in_tsv(&check),
        Format::Id => format!("{name}\n"),
    })?;
    if check.ok {
        return Ok(());
    }
    cx.hint(&format!("create the expected record in the zone of {name}, then `tempmail domain add {name}`"));
    Err(Error::ending(Exit::CheckFailed))
}

/// A piece of a zone file; pasting all of it is right.
fn in_zone(check: &MxReport) -> String {
    let expected = zone::records(&check.expected);
    let found = zone::commented(&zone::records(&check.found));
    // The sentence that says what to do names the record, whose dots end no sentence.
    let message = visible::line(&check.message).replacen(". ", ".\n; ", 1);
    format!("; {message}\n; expected:\n{expected}; found:\n{found}")
}

fn in_tsv(check: &MxReport) -> String {
    let lines = |label, values: &[String]| -> String {
        values.iter().map(|value| [label, "\t", &visible::field(value), "\n"].concat()).collect()
    };
    format!("ok\t{}\n{}{}", check.ok, lines("expected", &check.expected), lines("found", &check.found))
}

/// Checks domains now, and shows what became of them.
async fn verify(cx: &Context, name: Option<&DomainName>, is_forced: bool) -> Result<(), Error> {
    let force = is_forced.then(|| "true".to_owned());
    let query = [("domain", name.map(ToString::to_string)), ("force", force)];
    let round = cx.client().await?.call::<Value>(Method::POST, "/api/admin/domains/verify", &query, None).await;
    let round = round.map_err(|error| error.or_find_by("`tempmail domain list` shows the domains"))?;
    cx.document(&round, &round)?;
    if round["heldBack"].as_u64().is_some_and(|count| count > 0) {
        cx.hint("too many domains at once point elsewhere, so none was deactivated; --force does it");
    }
    Ok(())
}

/// Stop receiving mail for a domain
///
/// Its webhooks are deleted, with their secrets and pending events, and its private inboxes end, with their mail. Other
/// mail that it already received stays readable until it expires. Asks on a terminal, and needs --yes without one. In a
/// pipe the result is a line of two fields separated by a tab: the domain, and the number of its webhooks. For the
/// administrator.
#[derive(clap::Args, Debug)]
#[command(
    visible_alias = "rm",
    after_help = "\
Examples:
  tempmail domain remove example.org
  tempmail domain rm example.org --dry-run
  tempmail domain rm example.org --yes"
)]
pub(super) struct Remove {
    /// The domain
    #[arg(value_name = "DOMAIN")]
    name: DomainName,

    #[command(flatten)]
    removal: Removal,
}

impl Remove {
    async fn run(self, cx: &Context) -> Result<(), Error> {
        let removal = self.removal;
        removal.must_ask(cx, "removing a domain")?;
        let client = cx.client().await?;
        let Some((webhooks, leases)) = self.along(client).await? else {
            // The service knows why: the settings may have it.
            if !removal.dry_run {
                self.remove(client).await?;
            }
            return Err(self.unknown());
        };
        removal.agreed(cx, &self.question(webhooks, leases), "removed").await?;
        let leases = if removal.dry_run { leases } else { self.remove(client).await?.ok_or_else(|| self.unknown())? };
        let columns = [Kind::Text.column("DOMAIN", "domain"), Kind::Number.column("WEBHOOKS", "webhooks")];
        let row = json!({ "domain": self.name, "webhooks": webhooks, "leases": leases, "deleted": 1 });
        let done = if removal.dry_run { "wouldDelete" } else { "deleted" };
        cx.list(&columns, &[row], &json!({ done: 1, "leases": leases }))?;
        if leases > 0 {
            cx.hint(&format!("private inboxes that go along, with their mail: {leases}"));
        }
        cx.hint(if removal.dry_run { DRY_RUN } else { "other mail stays readable until it expires" });
        Ok(())
    }

    fn query(&self) -> [(&'static str, Option<String>); 1] {
        [("domain", Some(self.name.to_string()))]
    }

    /// Removes it, and tells how many private inboxes ended; `None` if it was not registered.
    async fn remove(&self, client: &Client) -> Result<Option<u64>, ClientError> {
        let answer: Value = client.call(Method::DELETE, ADMINISTRATORS, &self.query(), None).await?;
        Ok((deleted(&answer) > 0).then(|| answer["leases"].as_u64().unwrap_or(0)))
    }

    /// The numbers of the webhooks and of the private inboxes that go along; `None` if the domain is not registered.
    async fn along(&self, client: &Client) -> Result<Option<(usize, u64)>, Error> {
        let name = self.name.to_string();
        let domains: Vec<Value> = client.get(ADMINISTRATORS, &self.query()).await?;
        let Some(domain) = domains.iter().find(|domain| domain["domain"] == *name) else { return Ok(None) };
        // Otherwise the service says so.
        if self.removal.dry_run && domain["fixed"] == true {
            return Err(Error::new(Exit::Conflict, format!("{name} is fixed in the settings"))
                .hint("take it out of `domain` there, and restart the service"));
        }
        // An older service says nothing of private inboxes.
        let leases = domain["leases"].as_u64().unwrap_or(0);
        match client.pages(WEBHOOKS, self.query().into(), Some(WEBHOOKS_PER_PAGE)).rows(usize::MAX).await {
            Ok(webhooks) => Ok(Some((webhooks.len(), leases))),
            // Revision 1 has none.
            Err(error) if error.is("unknown_path") => Ok(Some((0, leases))),
            Err(error) => Err(error.into()),
        }
    }

    fn question(&self, webhooks: usize, leases: u64) -> String {
        let along = match webhooks {
            0 => String::new(),
            1 => " with its webhook and its secret".to_owned(),
            webhooks => format!(" with its {webhooks} webhooks and their secrets"),
        };
        let inboxes = match leases {
            0 => String::new(),
            leases => format!(" Private inboxes that go along, with their mail: {leases}."),
        };
        format!("Remove {}{along}?{inboxes} Other mail stays readable until it expires.", self.name)
    }

    fn unknown(&self) -> Error {
        Error::new(Exit::NotFound, format!("{} is not registered", self.name))
            .hint("`tempmail domain list` shows the domains")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_but_the_expected_record_is_a_comment() {
        let check = MxReport {
            ok: false,
            message: "points\nelsewhere. Create it: a. IN MX b.".to_owned(),
            domain: "example.org".parse().expect("name"),
            expected: vec!["example.org. IN MX 10 mx.tempmail.example.".to_owned()],
            found: vec![
                "example.org. IN MX 5 mail.other.example.".to_owned(),
                "evil\nexample.org. IN MX 0 x".to_owned(),
            ],
            sentence: String::new(),
        };
        assert_eq!(
            in_zone(&check),
            "; points\u{240a}elsewhere.\n; Create it: a. IN MX b.\n; expected:\nexample.org. IN MX 10 mx.tempmail.example.\n; found:\n\
             ; example.org. IN MX 5 mail.other.example.\n; evil\u{240a}example.org. IN MX 0 x\n"
        );
        assert_eq!(
            in_tsv(&check).lines().collect::<Vec<_>>(),
            [
                "ok\tfalse",
                "expected\texample.org. IN MX 10 mx.tempmail.example.",
                "found\texample.org. IN MX 5 mail.other.example.",
                "found\tevil example.org. IN MX 0 x"
            ]
        );
    }
}
