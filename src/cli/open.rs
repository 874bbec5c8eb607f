//! `tempmail open`: a mail in a browser.

use std::collections::BTreeMap;
use std::process::Command;

use super::Context;
use super::one_mail::{self, OneMail};
use super::send_test::reachable;
use crate::client::{Client, Destination};
use crate::error::{Error, Exit};
use crate::model::EmailId;

/// What opens an address where BROWSER names nothing.
const OPENER: &str = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };

/// Open a mail in a browser, as its HTML shows it
///
/// The page runs no scripts and loads nothing from elsewhere. BROWSER names the browser, else xdg-open (macOS: open)
/// chooses it. The address of the page is printed. A browser has the rights of the public: it sees no mail of role addresses.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  tempmail open hello@example.test --latest
  tempmail open 9e0f2a3b
  BROWSER=w3m tempmail open hello@example.test --latest")]
pub(super) struct Open {
    #[command(flatten)]
    mail: OneMail,
}

impl Open {
    pub(super) async fn run(self, cx: &Context) -> Result<Exit, Error> {
        self.mail.check()?;
        let client = cx.client().await?;
        let id = self.mail.id(client).await?;
        let url = format!("{}/api/mail/messages/{id}/html", base(cx, client, id).await?);
        cx.print(format!("{url}\n"))?;
        for line in browsers(&cx.env) {
            if start(&line, &url) {
                return Ok(Exit::Ok);
            }
        }
        Err(Error::new(Exit::Failure, "no browser could be started")
            .hint("open the printed address yourself, or name a browser in BROWSER"))
    }
}

/// Where a browser reaches the service that has this mail.
async fn base(cx: &Context, client: &Client, id: EmailId) -> Result<String, Error> {
    // A mail that is gone is said here and not in the browser.
    client.email(id).await.map_err(one_mail::refused)?;
    if let Destination::Server(server, _) = cx.globals.target(&cx.env)? {
        return Ok(server.base().to_owned());
    }
    let status = client.status().await?;
    let listener = status.http_listen.iter().find_map(|text| text.parse().ok());
    listener.map(|listener| format!("http://{}", reachable(listener))).ok_or_else(|| {
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

fn start(line: &str, url: &str) -> bool {
    let words = words(line, url);
    let Some((program, args)) = words.split_first() else { return false };
    // A browser for terminals needs all three streams.
    Command::new(program).args(args).status().is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_names_browsers() {
        let of = |names: &str| browsers(&BTreeMap::from([("BROWSER".to_owned(), names.to_owned())]));
        assert_eq!(of("firefox:w3m -T text/html %s"), ["firefox", "w3m -T text/html %s"]);
        assert_eq!(of(" "), [OPENER]);
        assert_eq!(words("w3m -o x=%s -v", "http://h/"), ["w3m", "-o", "x=http://h/", "-v"]);
        assert_eq!(words("firefox", "http://h/"), ["firefox", "http://h/"]);
    }
}
