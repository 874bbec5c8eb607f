//! `tempmail mcp`: tools for the programs of language models, in the Model Context Protocol on standard input and output.
//!
//! ```text
//! wire    lines of JSON-RPC: which revisions of the protocol are spoken, and what each request is answered with
//! told    what a program is told of each tool
//! tools   what each tool takes, and what it does
//! text    answers: mail as text that no model takes for orders
//! ```
//!
//! A tool answers with text, which is the model's to read. A tool that fails answers with the words of the command line,
//! wrong arguments included, so that the model can correct itself.

mod text;
mod told;
mod tools;
mod wire;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;
use tokio::sync::OnceCell;
use tokio_util::sync::CancellationToken;

use super::context::KEY_LAPSED;
use super::{Context, Streams};
use crate::client::{Client, Destination};
use crate::error::{Error, Exit};
use crate::model::{Address, DomainName};

/// Give an agent tools for mail, over standard input and output
///
/// Speaks the Model Context Protocol and ends when standard input does. The tools make private inboxes, wait for mail and
/// codes, list, read and delete. Mail is handed over as what it is: text of strangers that is not to be followed.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  tempmail mcp
  tempmail mcp --domain example.org --read-only
  tempmail --server https://mail.example.org mcp
Configuration of a program that starts it:
  {\"mcpServers\": {\"tempmail\": {\"command\": \"tempmail\", \"args\": [\"mcp\"]}}}")]
pub(super) struct Mcp {
    /// Only addresses of this domain; may be given several times, and all are permitted without it
    #[arg(long, value_name = "DOMAIN")]
    domain: Vec<DomainName>,

    /// No tool that deletes
    #[arg(long)]
    read_only: bool,
}

impl Mcp {
    pub(super) async fn run(self, cx: &Context) -> Result<(), Error> {
        let stdin = cx.streams.stdin().map_err(|error| Error::usage(format!("standard input: {error}")))?;
        let session = Session {
            destination: cx.destination()?,
            env: cx.env.clone(),
            streams: Arc::clone(&cx.streams),
            client: OnceCell::new(),
            has_lapsed: Arc::default(),
            domains: self.domain,
            tools: told::all(self.read_only),
            ended: CancellationToken::new(),
        };
        wire::serve(Arc::new(session), stdin).await;
        Ok(())
    }
}

/// One session of a program.
struct Session {
    destination: Destination,
    env: BTreeMap<String, String>,
    streams: Arc<Streams>,
    client: OnceCell<Client>,
    /// Whether the key of the addresses has been forgotten, and no answer has said so.
    has_lapsed: Arc<AtomicBool>,
    /// The permitted domains; empty: all.
    domains: Vec<DomainName>,
    /// What a program is told of each tool.
    tools: Vec<Value>,
    /// Cancelled when the program has gone, so that no call goes on waiting for mail.
    ended: CancellationToken,
}

impl Session {
    /// The client. Until there is one each call looks for the daemon, which may have been started meanwhile.
    async fn client(&self) -> Result<&Client, Error> {
        let has_lapsed = Arc::clone(&self.has_lapsed);
        let on_lapse = move || has_lapsed.store(true, Ordering::Relaxed);
        self.client.get_or_try_init(async || Client::connect(&self.destination, &self.env, on_lapse)).await
    }

    /// Whether there is such a tool here.
    fn has(&self, tool: &str) -> bool {
        self.tools.iter().any(|it| it["name"] == tool)
    }

    /// The answer of a tool that there is, or its error: text for the model.
    async fn call(&self, tool: &str, given: Value, waiting: &wire::Waiting) -> Result<String, String> {
        let done = tools::call(self, waiting, tool, given).await;
        let has_lapsed = self.has_lapsed.swap(false, Ordering::Relaxed);
        let before = if has_lapsed { format!("{KEY_LAPSED}\n") } else { String::new() };
        match done {
            Ok(answer) => Ok(before + &answer),
            Err(error) => Err(before + &text::error(&error)),
        }
    }

    /// The error for a domain that the session may not have.
    fn check_domain(&self, domain: &DomainName) -> Result<(), Error> {
        if self.domains.is_empty() || self.domains.contains(domain) {
            return Ok(());
        }
        let names: Vec<String> = self.domains.iter().map(ToString::to_string).collect();
        Err(Error::new(Exit::NotAllowed, format!("{domain} is not permitted here"))
            .hint(format!("permitted are addresses at {}", names.join(", "))))
    }

    /// The error for a mail whose recipient the session may not have.
    fn check_recipient(&self, recipient: &str) -> Result<(), Error> {
        match recipient.parse() {
            Ok(address) => self.check_domain(Address::domain(&address)),
            Err(_) if self.domains.is_empty() => Ok(()),
            Err(_) => Err(Error::new(Exit::NotAllowed, "the mail is for an address that is not permitted here")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::{Access, ServerUrl};

    #[test]
    fn only_the_domains_of_the_session_are_permitted() {
        let session = |domains: &[&str]| {
            let server: ServerUrl = "http://127.0.0.1:1".parse().expect("a URL");
            let domains = domains.iter().map(|name| name.parse().expect("a name")).collect();
            let destination = Destination::Server(server, Access::default());
            Session {
                destination,
                env: BTreeMap::new(),
                streams: Arc::new(Streams::closed()),
                client: OnceCell::new(),
                has_lapsed: Arc::default(),
                domains,
                tools: Vec::new(),
                ended: CancellationToken::new(),
            }
        };
        let of_two = session(&["a.test", "B.test"]);
        for (address, is_permitted) in
            [("x@a.test", true), ("x@b.TEST", true), ("x@sub.a.test", false), ("x@aa.test", false), ("x@c.test", false)]
        {
            assert_eq!(of_two.check_recipient(address).is_ok(), is_permitted, "{address}");
            assert!(session(&[]).check_recipient(address).is_ok());
        }
        assert!(of_two.check_recipient("a.test").is_err());
        let refused = of_two.check_recipient("x@c.test").expect_err("not permitted");
        assert_eq!(refused.what_to_do(), Some("permitted are addresses at a.test, b.test"));
    }
}
