//! `tempmail send-test`: one small mail, all the way through.

use std::path::PathBuf;
use std::time::Duration;

use tokio::time::Instant;

use super::Context;
use super::inbox::MAILS;
use super::listener::{MESSAGE_OCTETS_MAX, smtp_of};
use super::sendmail::{Added, rewritten};
use crate::client::smtp::{Submission, submit, with_crlf};
use crate::client::{Client, Destination, Mail, ServerUrl, WaitQuery};
use crate::error::{Error, Exit};
use crate::model::{Address, Timestamp};

/// A name that can never be registered (RFC 6761 section 6.4), so nobody is answered by accident.
const SENDER: &str = "send-test@tempmail.invalid";
const PORT_DEFAULT: u16 = 2525;
/// Mail that was accepted is visible at once; this covers a service whose parts are apart.
const ARRIVES_WITHIN: Duration = Duration::from_secs(5);

/// Send a test mail through SMTP and look it up in the inbox
///
/// The mail goes to the daemon's SMTP port like any other and is then looked up in the inbox of the address.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  tempmail send-test hello@example.test
  tempmail send-test hello@example.test -o id
  tempmail send-test hello@example.test --file welcome.eml
  tempmail send-test hello@example.org --server https://mail.example.org \\
    --smtp mail.example.org:25")]
pub(super) struct SendTest {
    /// The address that the mail is for
    #[arg(value_name = "ADDR")]
    address: Address,

    /// Host and port of SMTP [default: the daemon's listener; with --server port 2525 of its host]
    #[arg(long, value_name = "HOST:PORT", value_parser = host_and_port)]
    smtp: Option<String>,

    /// Send this message instead, - for standard input; lines that end with LF get CRLF. It is known again by its octets
    #[arg(long, value_name = "FILE|-")]
    file: Option<PathBuf>,
}

fn host_and_port(text: &str) -> Result<String, String> {
    let port =
        text.rsplit_once(':').filter(|(host, _)| !host.is_empty()).and_then(|(_, port)| port.parse::<u16>().ok());
    port.map(|_| text.to_owned())
        .ok_or_else(|| "host and port are written host:port, an IPv6 address [::1]:25".to_owned())
}

impl SendTest {
    pub(super) async fn run(self, cx: &Context) -> Result<(), Error> {
        let file = self.file.as_deref().map(|path| cx.streams.small_file(path, MESSAGE_OCTETS_MAX)).transpose()?;
        let file = file.map(|(_, raw)| with_crlf(&raw));
        let client = cx.client().await?;
        let server = self.smtp_server(cx, client).await?;
        let since = client.newest_id(&self.address).await?.map(|id| id.to_string());
        cx.verbose(&format!("sending through SMTP at {server}"));
        let tag: u32 = rand::random();
        let subject = format!("Test mail {tag:08x}");
        let message = match &file {
            Some(message) => message.clone(),
            None => message(&self.address, &subject, tag, cx.now())?,
        };
        let recipients = vec![self.address.to_string()];
        let reply = submit(&server, &Submission { reverse_path: SENDER.to_owned(), recipients, message }).await?;
        cx.hint(&format!("SMTP at {server} accepted it: {reply}"));
        // Nobody else has this subject.
        let subject = file.is_none().then_some(subject);
        let query = WaitQuery { subject, ..WaitQuery::all(self.address.clone(), since) };
        let Some(mail) = arrived(client, query, file.as_deref()).await? else {
            let cause = format!("it is not in the inbox of {} that {} shows", self.address, client.transport().shown());
            return Err(
                Error::new(Exit::CheckFailed, cause).hint(format!("see that SMTP at {server} belongs to that service"))
            );
        };
        cx.list(&MAILS[..4], std::slice::from_ref(&mail.0), &mail.0)?;
        cx.hint(&format!("read it with `tempmail read {}`", mail.id()));
        Ok(())
    }

    async fn smtp_server(&self, cx: &Context, client: &Client) -> Result<String, Error> {
        if let Some(server) = &self.smtp {
            return Ok(server.clone());
        }
        if let Destination::Server(server, _) = cx.destination()? {
            return Ok(beside(&server));
        }
        smtp_of(&client.status().await?)
    }
}

/// SMTP's usual port of this program on the host of an HTTP address.
fn beside(server: &ServerUrl) -> String {
    format!("{}:{PORT_DEFAULT}", server.host())
}

fn message(to: &Address, subject: &str, tag: u32, now: Timestamp) -> Result<Vec<u8>, Error> {
    let text = format!(
        "To: <{to}>\nSubject: {subject}\nMIME-Version: 1.0\nContent-Type: text/plain; charset=utf-8\n\n\
         This is a test mail from `tempmail send-test`.\n\
         It came in over SMTP, was stored, and was read back from the inbox.\n",
    );
    let added = Added { sender: SENDER, name: Some("tempmail"), hostname: "tempmail.invalid", now, tag: tag.into() };
    Ok(rewritten(text.as_bytes(), &added).map_err(|error| Error::new(Exit::Failure, error))?.message)
}

/// Whether `raw` is `message` behind the fields that delivery puts in front (RFC 5321 section 4.4).
fn is_delivered(message: &[u8], raw: &[u8]) -> bool {
    let is_of_fields = |front: &[u8]| {
        let is_whole = front.is_empty() || front.ends_with(b"\r\n");
        is_whole && !front.starts_with(b"\r\n") && !front.windows(4).any(|octets| octets == b"\r\n\r\n")
    };
    raw.strip_suffix(message).is_some_and(is_of_fields)
}

/// The mail that is ours, as soon as it is there; `None` if it does not come in time. A message of a file is known again by
/// its bytes, since it gets no mark.
async fn arrived(client: &Client, query: WaitQuery, file: Option<&[u8]>) -> Result<Option<Mail>, Error> {
    let deadline = Instant::now() + ARRIVES_WITHIN;
    let mut arrivals = client.arrivals(query, None).await?;
    while let Some(mail) = arrivals.next(deadline, |_| {}).await? {
        let Some(message) = file else { return Ok(Some(mail)) };
        match client.raw(&mail.id()).await {
            Ok(raw) if is_delivered(message, &raw) => return Ok(Some(mail)),
            // It may have been deleted meanwhile.
            Err(error) if !error.has_status(404) => return Err(error.into()),
            _ => {}
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn smtp_is_looked_for_where_the_service_is() {
        let of = |url: &str| beside(&url.parse().expect("url"));
        assert_eq!(of("https://mail.example.test:8443/x"), "mail.example.test:2525");
        assert_eq!(of("http://[::1]:8080"), "[::1]:2525");
    }

    #[test]
    fn the_message_has_the_fields_that_rfc_5322_demands() {
        let to: Address = "hello@example.test".parse().expect("address");
        let message = message(&to, "s", 7, Timestamp::from_millis(1_700_000_000_000)).expect("a message");
        let message = String::from_utf8(message).expect("text");
        for field in ["From: \"tempmail\" <send-test@", "Message-ID: <1700000000000."] {
            assert!(message.contains(&format!("\r\n{field}")), "{message}");
        }
        assert!(message.contains("\r\nDate: Tue, 14 Nov 2023 22:13:20 +0000\r\n"));
        assert!(message.lines().all(|line| line.len() < 998));
        assert_eq!(message.matches('\n').count(), message.matches("\r\n").count());
    }

    #[test]
    fn a_message_is_known_by_its_octets_behind_trace_fields() {
        let message = b"Subject: a\r\n\r\nx\r\n";
        let is = |front: &str| is_delivered(message, &[front.as_bytes(), message].concat());
        assert!(is("") && is("Return-Path: <>\r\nReceived: from a\r\n\tby b\r\n"));
        assert!(!is("X: ") && !is("\r\n") && !is("Subject: b\r\n\r\nsee below\r\n"));
        assert!(!is_delivered(message, b"Subject: b\r\n\r\nx\r\n"));
    }

    #[test]
    fn a_host_needs_its_port() {
        for good in ["localhost:25", "[::1]:2525", "192.0.2.1:1"] {
            assert!(host_and_port(good).is_ok(), "{good}");
        }
        for bad in ["localhost", ":25", "host:x", "host:70000", ""] {
            assert!(host_and_port(bad).is_err(), "{bad}");
        }
    }
}
