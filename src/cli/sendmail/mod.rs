//! `tempmail sendmail`: mail from programs that pipe it into `sendmail`, handed to the daemon of this machine over SMTP.
//!
//! ```text
//! options   what a caller asks for     message   the fields that are added and removed
//! input     the message from standard input
//! ```

mod input;
mod message;
mod options;

use std::collections::{BTreeMap, HashSet};
use std::ffi::OsString;
use std::io::Read;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use super::Context;
use super::listener::{MESSAGE_OCTETS_MAX, smtp_of};
use crate::client::smtp::{Failure, SmtpError, Submission, submit};
use crate::client::{Client, Destination, choose};
use crate::config::ServeArgs;
use crate::error::{Error, Exit};
use crate::model::Address;
use message::Rewritten;
use options::Options;

pub(super) use message::{Added, rewritten};

/// The most recipients of a mail: every receiver takes so many (RFC 5321 section 4.5.3.1.8).
const RECIPIENTS_MAX: usize = 100;
/// The domain of an address without one where the daemon is not asked for its name.
const HOST_DEFAULT: &str = "localhost";
/// The sender where the environment names no user.
const USER_DEFAULT: &str = "nobody";

/// Take a mail on standard input, as `sendmail` does
///
/// For programs that send their mail with `sendmail`. Called by the name `sendmail`, through a link, the program does the same. The mail goes to the daemon of this machine over
/// SMTP. `tempmail help smtp` lists the options and the exit codes.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  tempmail sendmail -t -i < mail.eml
  printf 'Subject: hi\\n\\ntext\\n' \\
    | tempmail sendmail -f me@example.test hello@example.test
  tempmail sendmail -S 127.0.0.1:2525 -t < mail.eml
  ln -s \"$(command -v tempmail)\" /usr/local/bin/sendmail")]
pub(super) struct Sendmail {
    /// Options of sendmail, and recipients
    #[arg(value_name = "OPTION|RCPT", trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<OsString>,
}

/// Where the mail goes, and what is known of that service.
struct Receiver {
    smtp: String,
    hostname: String,
    octets_max: u64,
}

impl Sendmail {
    pub(super) async fn run(self, cx: &Context) -> Result<(), Error> {
        let options = Options::read(self.words).map_err(|error| Error::new(Exit::MailUsage, error))?;
        if options.runs_queue {
            // There is no queue that could be run.
            return Ok(());
        }
        if cx.globals.server.is_some() {
            return Err(Error::new(Exit::MailUsage, "sendmail hands mail to this machine, never to --server")
                .hint("leave out --server, or send it there by `tempmail send-test ADDR --file FILE`"));
        }
        let receiver = receiver(&options, cx).await.map_err(in_sendmail)?;
        let raw = read(cx, &options, receiver.octets_max).await?;
        let submission = submission(&options, &receiver, &raw, cx)?;
        let reply = submit(&receiver.smtp, &submission).await.map_err(refused)?;
        if options.is_verbose {
            cx.hint(&format!("SMTP at {} accepted it: {reply}", receiver.smtp));
        }
        Ok(())
    }
}

/// The daemon, found as the other commands find it, or the listener that `-S` names.
async fn receiver(options: &Options, cx: &Context) -> Result<Receiver, Error> {
    if let Some(smtp) = &options.smtp {
        let smtp = local(smtp).map_err(Error::usage)?.to_string();
        return Ok(Receiver { smtp, hostname: HOST_DEFAULT.to_owned(), octets_max: MESSAGE_OCTETS_MAX });
    }
    let client = Client::new(choose(&Destination::Local(cx.globals.sources(ServeArgs::default(), &cx.env)))?);
    let status = client.status().await?;
    Ok(Receiver {
        smtp: smtp_of(&status)?,
        hostname: status["hostname"].as_str().unwrap_or(HOST_DEFAULT).to_owned(),
        octets_max: status["maxMessageOctets"].as_u64().unwrap_or(MESSAGE_OCTETS_MAX),
    })
}

/// The listener at `HOST:PORT`, which must be of this machine.
fn local(smtp: &str) -> Result<SocketAddr, String> {
    let loopback = |port: &str| Some(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port.parse().ok()?));
    let address = smtp.strip_prefix("localhost:").map_or_else(|| smtp.parse().ok(), loopback);
    let address = address.filter(|address| address.ip().to_canonical().is_loopback());
    address.ok_or_else(|| format!("-S names a loopback address with its port, such as 127.0.0.1:2525, not {smtp}"))
}

async fn read(cx: &Context, options: &Options, octets_max: u64) -> Result<Vec<u8>, Error> {
    let ends_at_dot = !options.ignores_dot;
    let failed = |error| Error::new(Exit::MailRefused, format!("standard input: {error}"));
    let mut stdin = cx.streams.stdin().map_err(failed)?;
    let read = tokio::task::spawn_blocking(move || {
        let raw = input::message(&mut stdin, ends_at_dot, octets_max);
        // A caller that writes the rest would otherwise be killed by SIGPIPE before it sees the exit code.
        let _ = std::io::copy(&mut stdin.take(MESSAGE_OCTETS_MAX), &mut std::io::sink());
        raw
    });
    let raw = read.await.map_err(|error| Error::new(Exit::MailRefused, error))?;
    raw.map_err(failed)?
        .ok_or_else(|| Error::new(Exit::MailData, format!("the message is longer than {octets_max} octets")))
}

fn submission(options: &Options, receiver: &Receiver, raw: &[u8], cx: &Context) -> Result<Submission, Error> {
    let mut sender = options.sender.clone().unwrap_or_else(|| user(&cx.env));
    if !sender.is_empty() {
        sender = with_domain(&sender, &receiver.hostname);
        address(&sender, Exit::MailUsage)?;
    }
    let added = Added {
        sender: &sender,
        name: options.name.as_deref(),
        hostname: &receiver.hostname,
        now: cx.now(),
        tag: rand::random::<u64>(),
    };
    let of_data = |error: String| Error::new(Exit::MailData, error);
    let Rewritten { message, recipients: of_fields } = rewritten(raw, &added).map_err(of_data)?;
    let mut recipients = Vec::new();
    for recipient in &options.recipients {
        recipients.push(address(&with_domain(recipient, &receiver.hostname), Exit::MailUsage)?.to_string());
    }
    if options.takes_recipients_of_fields {
        for recipient in &of_fields {
            recipients.push(address(recipient, Exit::MailData)?.to_string());
        }
    }
    let mut seen = HashSet::new();
    recipients.retain(|recipient| seen.insert(recipient.clone()));
    match recipients.len() {
        0 if options.takes_recipients_of_fields => Err(of_data("To, Cc and Bcc name no address".to_owned())),
        0 => Err(Error::new(Exit::MailUsage, "there is no recipient").hint("name one, or give -t")),
        1..=RECIPIENTS_MAX => Ok(Submission { reverse_path: sender, recipients, message }),
        _ => Err(of_data(format!("the mail has more than {RECIPIENTS_MAX} recipients"))),
    }
}

fn address(text: &str, exit: Exit) -> Result<Address, Error> {
    text.parse().map_err(|error| Error::new(exit, format!("{text}: {error}")))
}

/// A bare name is a user of this service.
fn with_domain(name: &str, hostname: &str) -> String {
    if name.contains('@') { name.to_owned() } else { format!("{name}@{hostname}") }
}

fn user(env: &BTreeMap<String, String>) -> String {
    let named = ["LOGNAME", "USER"].iter().find_map(|name| env.get(*name).filter(|user| !user.is_empty()));
    named.cloned().unwrap_or_else(|| USER_DEFAULT.to_owned())
}

fn refused(error: SmtpError) -> Error {
    let exit = match &error.failure {
        Failure::Refused { reply, .. } => Exit::of_smtp_in_sendmail(reply.code, reply.enhanced()),
        _ => Exit::Taken,
    };
    Error::new(exit, error)
}

/// The error with an exit code that callers of sendmail know.
fn in_sendmail(error: Error) -> Error {
    let exit = error.exit();
    let error = error.ending_with(exit.in_sendmail());
    if exit == Exit::NotAllowed { error.hint("name the daemon's listener: -S 127.0.0.1:2525") } else { error }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listener_elsewhere_is_refused() {
        for good in ["127.0.0.1:2525", "[::1]:25", "localhost:1025"] {
            assert!(local(good).is_ok(), "{good}");
        }
        for bad in ["192.0.2.1:25", "mail.example.test:25", "127.0.0.1", "localhost:x", ""] {
            assert!(local(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn the_user_comes_from_the_environment() {
        let env = |name: &str| BTreeMap::from([(name.to_owned(), "ann".to_owned())]);
        assert_eq!(user(&env("LOGNAME")), "ann");
        assert_eq!(user(&env("USER")), "ann");
        assert_eq!(user(&BTreeMap::new()), USER_DEFAULT);
    }
}
