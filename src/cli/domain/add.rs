//! `tempmail domain add`

use super::super::Context;
use super::super::output;
use super::zone;
use crate::client::{ClientError, NewDomain};
use crate::error::{Error, Exit};
use crate::model::DomainName;

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
    pub(super) async fn run(self, cx: &Context) -> Result<Exit, Error> {
        let client = cx.client().await?;
        let new = NewDomain { domain: self.name, owner: self.owner, email: self.email };
        let added = if self.skip_dns_check { client.pin_domain(&new).await } else { client.add_domain(&new).await };
        let added = match added {
            Ok(added) => added,
            Err(error) if error.is("mx_mismatch") => return Err(with_record(error)),
            Err(error) => return Err(error.into()),
        };
        cx.print(output::list(cx.style, std::slice::from_ref(&added.domain), &added.domain, cx.now()))?;
        cx.hint(&if added.is_new {
            format!("mail for any address at {} is received from now on", added.domain.domain)
        } else {
            format!("{} was registered before and has been checked again", added.domain.domain)
        });
        Ok(Exit::Ok)
    }
}

/// The refusal with the exact record to create.
fn with_record(error: ClientError) -> Error {
    let lines =
        |member| zone::records(&error.problem().and_then(|problem| problem.strings(member)).unwrap_or_default());
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
