//! `tempmail open`: a mail, an inbox or the page in a browser.

use std::collections::BTreeMap;
use std::process::Command;

use serde_json::json;
use url::form_urlencoded::byte_serialize;

use super::Context;
use super::ids::{Id, Target};
use super::listener::listener_of;
use super::one_mail::{self, OneMail};
use crate::client::{Client, Destination};
use crate::error::{Error, Exit};
use crate::model::{Address, EmailId};

/// What opens an address where BROWSER names nothing.
const OPENER: &str = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };

/// Open the page in a browser, an inbox in it, or the HTML of a mail
///
/// Without an argument the page is opened, with an address its inbox, and with --latest or an id a mail. The HTML of a mail
/// runs no scripts and loads nothing from elsewhere. BROWSER names the browser, else xdg-open (macOS: open) chooses it. The
/// address of the page is printed.
///
/// A browser has the rights of the public: it sees no mail of role addresses. It shows a private inbox of yours on the page,
/// once you have given your key to the page: `tempmail address key` prints it, and the page takes it under `Key`. No address
/// of a page has it.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  tempmail open
  tempmail open hello@example.test
  tempmail open hello@example.test --latest
  tempmail open 9e0f2a3b
  BROWSER=w3m tempmail open hello@example.test --latest")]
pub(super) struct Open {
    /// The id of a mail or its end, or an address
    #[arg(value_name = "ID|ADDR")]
    what: Option<Target>,

    /// Behind an address, the id of one of its mails or the end of the id
    #[arg(value_name = "ID", conflicts_with = "latest")]
    id: Option<Id>,

    /// The newest mail of the address
    #[arg(long, requires = "what")]
    latest: bool,
}

impl Open {
    pub(super) async fn run(self, cx: &Context) -> Result<(), Error> {
        let client = cx.client().await?;
        let (mail, address) = match (self.what, self.id, self.latest) {
            (None, ..) => (None, None),
            (Some(Target::Inbox(address)), None, false) => (None, Some(address)),
            (Some(what), id, latest) => of_mail(client, OneMail::new(what, id, latest)).await?,
        };
        let is_own = match &address {
            Some(address) => client.holds(address).await?,
            None => false,
        };
        // Only the page can show a key to the service.
        let place = match (mail, address) {
            (Some(id), _) if !is_own => format!("api/mail/messages/{id}/html"),
            (_, Some(address)) => format!("#/inbox/{}", in_fragment(&address)),
            _ => String::new(),
        };
        let url = format!("{}/{place}", base(cx, client).await?);
        cx.answer(&json!({ "url": url }), &url)?;
        if is_own {
            cx.hint("the page shows a private inbox once it has your key; `tempmail address key` prints it");
        }
        for line in browsers(&cx.env) {
            if start(cx, &line, &url) {
                return Ok(());
            }
        }
        Err(Error::new(Exit::Failure, "no browser could be started")
            .hint("open the printed address yourself, or name a browser in BROWSER"))
    }
}

/// The id of a mail, and its recipient.
async fn of_mail(client: &Client, mail: OneMail) -> Result<(Option<EmailId>, Option<Address>), Error> {
    mail.check()?;
    let id = mail.id(client).await?;
    // A mail that is gone is said here and not in the browser.
    let mail = client.email(id).await.map_err(one_mail::refused)?;
    Ok((Some(id), mail.text("recipient").parse().ok()))
}

/// An address as the page reads it behind the `#`.
fn in_fragment(address: &Address) -> String {
    let encoded: String = byte_serialize(address.to_string().as_bytes()).collect();
    encoded.replace('+', "%20").replace("%40", "@")
}

/// Where a browser reaches the service.
async fn base(cx: &Context, client: &Client) -> Result<String, Error> {
    if let Destination::Server(server, _) = cx.destination()? {
        return Ok(server.base().to_owned());
    }
    let status = client.status().await?;
    listener_of(&status, "httpListen").map(|listener| format!("http://{listener}")).ok_or_else(|| {
        Error::new(Exit::Unavailable, "the daemon has no listener for HTTP without TLS")
            .hint("give its address as --server https://NAME, or print the HTML with `tempmail read ID --html`")
    })
}

/// The command lines to try: those of BROWSER, separated by colons.
fn browsers(env: &BTreeMap<String, String>) -> Vec<String> {
    match env.get("BROWSER").filter(|names| !names.trim().is_empty()) {
        Some(names) => names.split(':').filter(|name| !name.trim().is_empty()).map(str::to_owned).collect(),
        None => vec![OPENER.to_owned()],
    }
}

/// The words of a command line; `%s` stands for the address, which else is the last word.
fn words(line: &str, url: &str) -> Vec<String> {
    let mut words: Vec<String> = line.split_whitespace().map(|word| word.replace("%s", url)).collect();
    if !line.contains("%s") {
        words.push(url.to_owned());
    }
    words
}

fn start(cx: &Context, line: &str, url: &str) -> bool {
    let words = words(line, url);
    let Some((program, args)) = words.split_first() else { return false };
    // A browser for terminals needs all three streams.
    cx.streams.run(Command::new(program).args(args)).is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_reads_the_address_behind_the_number_sign() {
        for (address, fragment) in [("a+b@x.test", "a%2Bb@x.test"), ("\"a b#%\"@x.test", "%22a%20b%23%25%22@x.test")] {
            assert_eq!(in_fragment(&address.parse().expect(address)), fragment);
        }
    }

    #[test]
    fn the_environment_names_browsers() {
        let of = |names: &str| browsers(&BTreeMap::from([("BROWSER".to_owned(), names.to_owned())]));
        assert_eq!(of("firefox:w3m -T text/html %s"), ["firefox", "w3m -T text/html %s"]);
        assert_eq!(of(" "), [OPENER]);
        assert_eq!(words("w3m -o x=%s -v", "http://h/"), ["w3m", "-o", "x=http://h/", "-v"]);
        assert_eq!(words("firefox", "http://h/"), ["firefox", "http://h/"]);
    }
}
