//! Mail by a part of its id.

use super::{IdOrPart, Search, needs_whole_id};
use crate::client::{AllQuery, Client, MailFilter};
use crate::error::Error;
use crate::model::{Address, EmailId};

/// How many mails are looked at, the newest first.
const EMAILS_MAX: usize = 1_000;
/// Mails per request.
const PAGE_SIZE: u64 = 100;

/// The whole ids. Parts are looked for within the inbox of `address`; without one in all mail, for the administrator.
pub(in crate::cli) async fn resolve(
    client: &Client,
    address: Option<&Address>,
    ids: &[IdOrPart<EmailId>],
) -> Result<Vec<EmailId>, Error> {
    let mut searches: Vec<Search<'_>> = ids
        .iter()
        .filter_map(|id| match id {
            IdOrPart::Part(part) => Some(Search::of(part)),
            IdOrPart::Whole(_) => None,
        })
        .collect();
    let among = match (searches.first(), address) {
        (None, _) => String::new(),
        (Some(_), Some(address)) => within(client, address, &mut searches).await?,
        (Some(_), None) if client.is_administrator() => in_all(client, &mut searches).await?,
        (Some(search), None) => {
            return Err(needs_whole_id(search.part, "mail")
                .hint("name the address too: `tempmail read ADDR ID`, `tempmail delete ADDR --id ID`"));
        }
    };
    let mut searches = searches.into_iter();
    let whole = |id: &IdOrPart<EmailId>| match id {
        IdOrPart::Whole(id) => Ok(Some(*id)),
        IdOrPart::Part(_) => searches.next().map(|search| search.id(&among)).transpose(),
    };
    // There is a search for each part.
    ids.iter().map(whole).filter_map(Result::transpose).collect()
}

/// Looks through an inbox. Returns what was looked through.
async fn within(client: &Client, address: &Address, searches: &mut [Search<'_>]) -> Result<String, Error> {
    let (mut cursor, mut seen) = (String::new(), 0);
    while seen < EMAILS_MAX {
        let batch = client.list_from(address, &cursor, PAGE_SIZE, &MailFilter::default(), true).await?;
        seen += batch.emails.len();
        for email in &batch.emails {
            look(searches, &email.id, &email.from, &email.subject);
        }
        match batch.next_cursor {
            Some(next) => cursor = next,
            None => return Ok(format!("the mail of {address}")),
        }
    }
    Ok(format!("the newest {EMAILS_MAX} mails of {address}"))
}

/// Looks through the mail of all addresses.
async fn in_all(client: &Client, searches: &mut [Search<'_>]) -> Result<String, Error> {
    let (mut query, mut seen) = (AllQuery { limit: Some(PAGE_SIZE), ..AllQuery::default() }, 0);
    while seen < EMAILS_MAX {
        let page = client.all_emails(&query).await?;
        seen += page.emails.len();
        for email in &page.emails {
            look(searches, &email.id, &email.from, &email.subject);
        }
        query.after = page.next().map(str::to_owned);
        if query.after.is_none() {
            return Ok("all mail".to_owned());
        }
    }
    Ok(format!("the newest {EMAILS_MAX} mails"))
}

fn look(searches: &mut [Search<'_>], id: &str, from: &str, subject: &str) {
    for search in searches {
        search.look_at(id, || format!("{id}  {from}  {subject}"));
    }
}
