//! `tempmail send-test`: one small mail, all the way through.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use super::Context;
use super::output;
use crate::client::smtp::{Submission, submit};
use crate::client::{Client, Destination, Email, ServerUrl, Transport};
use crate::error::{Error, Exit};
use crate::model::{Address, Timestamp};

/// A name that can never be registered (RFC 6761 section 6.4), so nobody is answered by accident.
const SENDER: &str = "send-test@tempmail.invalid";
const PORT_DEFAULT: u16 = 2525;
/// Mail that was accepted is visible at once; this covers a service whose parts are apart.
const ARRIVES_WITHIN: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(100);

/// Send a test mail through SMTP and look it up in the inbox
///
/// The mail goes to the daemon's SMTP port like any other and is then looked up in the inbox of the address.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  tempmail send-test hello@example.test
  tempmail send-test hello@example.test -o id
  tempmail send-test hello@example.org --server https://mail.example.org --smtp mail.example.org:25")]
pub(super) struct SendTest {
    /// The address that the mail is for
    #[arg(value_name = "ADDR")]
    address: Address,

    /// Host and port of SMTP [default: the daemon's listener; with --server port 2525 of its host]
    #[arg(long, value_name = "HOST:PORT", value_parser = host_and_port)]
    smtp: Option<String>,
}

fn host_and_port(text: &str) -> Result<String, String> {
    let port =
        text.rsplit_once(':').filter(|(host, _)| !host.is_empty()).and_then(|(_, port)| port.parse::<u16>().ok());
    port.map(|_| text.to_owned())
        .ok_or_else(|| "host and port are written host:port, an IPv6 address [::1]:25".to_owned())
}

impl SendTest {
    pub(super) async fn run(self, cx: &Context) -> Result<Exit, Error> {
        let client = cx.client().await?;
        let server = self.smtp_server(cx, client).await?;
        let tag = format!("{:08x}", rand::random::<u32>());
        let subject = format!("Test mail {tag}");
        let submission = Submission {
            reverse_path: SENDER.to_owned(),
            recipient: self.address.to_string(),
            message: message(&self.address, &subject, &tag, cx.now()),
        };
        cx.verbose(&format!("sending through SMTP at {server}"));
        let reply = submit(&server, &submission).await?;
        cx.hint(&format!("SMTP at {server} accepted it: {reply}"));
        match arrived(client, &self.address, &subject).await {
            Ok(Some(email)) => {
                let rows = std::slice::from_ref(&email);
                cx.print(output::list(cx.style, rows, &email, cx.now()))?;
                cx.hint(&format!("read it with `tempmail read {}`", email.id));
                Ok(Exit::Ok)
            }
            Ok(None) => {
                let cause =
                    format!("it is not in the inbox of {} that {} shows", self.address, client.transport().shown());
                Err(Error::new(Exit::CheckFailed, cause)
                    .hint(format!("see that SMTP at {server} belongs to that service")))
            }
            Err(error) => Err(error),
        }
    }

    async fn smtp_server(&self, cx: &Context, client: &Client) -> Result<String, Error> {
        if let Some(server) = &self.smtp {
            return Ok(server.clone());
        }
        if let Destination::Server(server, _) = cx.globals.target(&cx.env)? {
            return Ok(beside(&server));
        }
        let no_listener = || {
            Error::new(Exit::Unavailable, "no daemon runs that could receive the mail")
                .hint("start `tempmail serve` in another terminal, or give --smtp HOST:PORT")
        };
        if matches!(client.transport(), Transport::InProcess(_)) {
            return Err(no_listener());
        }
        let listeners = client.status().await?.smtp_listen;
        let listener = listeners.iter().find_map(|text| text.parse().ok()).ok_or_else(no_listener)?;
        Ok(reachable(listener).to_string())
    }
}

/// SMTP's usual port of this program on the host of an HTTP address.
fn beside(server: &ServerUrl) -> String {
    let host = server.host();
    if host.contains(':') { format!("[{host}]:{PORT_DEFAULT}") } else { format!("{host}:{PORT_DEFAULT}") }
}

/// A listener on every address is reached through loopback.
fn reachable(listener: SocketAddr) -> SocketAddr {
    let ip = match listener.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, listener.port())
}

fn message(to: &Address, subject: &str, tag: &str, now: Timestamp) -> String {
    format!(
        "From: tempmail <{SENDER}>\r\nTo: <{to}>\r\nSubject: {subject}\r\nDate: {}\r\n\
         Message-ID: <{tag}.{}@tempmail.invalid>\r\nMIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n\
         This is a test mail from `tempmail send-test`.\r\n\
         It came in over SMTP, was stored, and was read back from the inbox.\r\n",
        now.to_rfc5322(),
        now.millis(),
    )
}

/// The mail of this subject, once it is there.
async fn arrived(client: &Client, address: &Address, subject: &str) -> Result<Option<Email>, Error> {
    let deadline = tokio::time::Instant::now() + ARRIVES_WITHIN;
    loop {
        let page = client.list(address, None, None).await?;
        let found = page.emails.into_iter().find(|email| email.subject == subject);
        if found.is_some() || tokio::time::Instant::now() >= deadline {
            return Ok(found);
        }
        tokio::time::sleep(PAUSE).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn smtp_is_looked_for_where_the_service_is() {
        let of = |url: &str| beside(&url.parse().expect("url"));
        assert_eq!(of("https://mail.example.test:8443/x"), "mail.example.test:2525");
        assert_eq!(of("http://[::1]:8080"), "[::1]:2525");
        let of = |address: &str| reachable(address.parse().expect("address")).to_string();
        assert_eq!(of("0.0.0.0:25"), "127.0.0.1:25");
        assert_eq!(of("[::]:25"), "[::1]:25");
        assert_eq!(of("192.0.2.1:25"), "192.0.2.1:25");
    }

    #[test]
    fn the_message_has_the_fields_that_rfc_5322_demands() {
        let to: Address = "hello@example.test".parse().expect("address");
        let message = message(&to, "s", "t", Timestamp::from_millis(1_700_000_000_000));
        assert!(message.contains("\r\nDate: Tue, 14 Nov 2023 22:13:20 +0000\r\n"));
        assert!(message.lines().all(|line| line.len() < 998));
        assert_eq!(message.matches('\n').count(), message.matches("\r\n").count());
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
