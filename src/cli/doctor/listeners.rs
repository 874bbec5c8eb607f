//! The listening addresses: whether they are free, or the daemon's.

use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::Path;
use std::time::Duration;

use futures_util::future::join_all;
use tokio::net::{TcpStream, UnixStream};
use tokio::time::timeout;

use super::finding::Finding;
use super::subject::Subject;
use crate::client::Status;
use crate::config::{Config, Endpoint};
use crate::daemon::{BindError, try_address};
use crate::error::Error;

const CHECK: &str = "listener";
/// How long a listener of this machine may take to accept a connection.
const CONNECT_WITHIN: Duration = Duration::from_secs(2);

pub(super) async fn check(subject: &Subject) -> Vec<Finding> {
    match &subject.daemon {
        Some(daemon) => join_all(of_daemon(&daemon.status).map(|(service, text)| accepts(service, text))).await,
        None => configured(&subject.config)
            .map(|(service, endpoint, is_default)| free(service, &endpoint, is_default))
            .collect(),
    }
}

/// Where the daemon says that it listens.
fn of_daemon(status: &Status) -> impl Iterator<Item = (&'static str, &String)> {
    let lists = [
        ("SMTP", &status.smtp_listen),
        ("SMTPS", &status.smtps_listen),
        ("LMTP", &status.lmtp_listen),
        ("HTTP", &status.http_listen),
        ("HTTPS", &status.https_listen),
        ("metrics", &status.metrics_listen),
    ];
    lists.into_iter().flat_map(|(service, list)| list.iter().map(move |text| (service, text)))
}

/// Connects and says nothing.
async fn accepts(service: &'static str, text: &str) -> Finding {
    let connected = match text.parse::<SocketAddr>() {
        Ok(address) => timeout(CONNECT_WITHIN, TcpStream::connect(reachable(address))).await.map(|it| it.map(drop)),
        Err(_) => timeout(CONNECT_WITHIN, UnixStream::connect(Path::new(text))).await.map(|it| it.map(drop)),
    };
    let advice = "restart the daemon; a firewall on this machine may also be in the way";
    match connected {
        Ok(Ok(())) => Finding::ok(CHECK, format!("{service} on {text} is the daemon's and accepts connections")),
        Ok(Err(error)) if error.kind() == ErrorKind::PermissionDenied => {
            let advice = "run `tempmail doctor` as a user that may open the socket";
            Finding::warning(CHECK, format!("{service} on {text}: {error}"), advice)
        }
        Ok(Err(error)) => Finding::failure(CHECK, format!("{service} on {text}: {error}"), advice),
        Err(_) => Finding::failure(CHECK, format!("{service} on {text} does not accept connections"), advice),
    }
}

/// An address to connect to, for one that stands for all.
fn reachable(mut address: SocketAddr) -> SocketAddr {
    if address.ip().is_unspecified() {
        address.set_ip(if address.is_ipv4() {
            IpAddr::V4(Ipv4Addr::LOCALHOST)
        } else {
            IpAddr::V6(Ipv6Addr::LOCALHOST)
        });
    }
    address
}

/// Where a daemon would listen, and whether that is a default.
fn configured(config: &Config) -> impl Iterator<Item = (&'static str, Endpoint, bool)> {
    let (smtp, http) = (&config.smtp, &config.http);
    let tcp = |list: &[SocketAddr]| list.iter().copied().map(Endpoint::Tcp).collect::<Vec<_>>();
    [
        ("SMTP", tcp(&smtp.listen), smtp.listen_is_default),
        ("SMTPS", tcp(&smtp.smtps_listen), false),
        ("LMTP", smtp.lmtp_listen.clone(), false),
        ("HTTP", tcp(&http.listen), http.listen_is_default),
        ("HTTPS", tcp(&http.https_listen), false),
        ("metrics", tcp(&http.metrics_listen), false),
    ]
    .into_iter()
    .flat_map(|(service, list, is_default)| list.into_iter().map(move |endpoint| (service, endpoint, is_default)))
}

fn free(service: &'static str, endpoint: &Endpoint, is_default: bool) -> Finding {
    let Some(address) = endpoint.tcp() else {
        // Binding it would make its file.
        return Finding::ok(CHECK, format!("{service} on {endpoint} is made at the start"));
    };
    bound(service, &endpoint.to_string(), try_address(address, is_default))
}

fn bound(service: &'static str, endpoint: &str, result: Result<(), BindError>) -> Finding {
    match result {
        Ok(()) => Finding::ok(CHECK, format!("{service} on {endpoint} is free")),
        Err(error) => {
            let error = Error::from(error);
            let advice = error.what_to_do().unwrap_or("choose another address").to_owned();
            Finding::failure(CHECK, format!("{service}: {error}"), advice)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::finding::Verdict;
    use super::*;

    #[test]
    fn a_taken_port_is_a_failure_that_names_its_owner() {
        let address: SocketAddr = "127.0.0.1:25".parse().expect("an address");
        let taken = BindError::InUse { address: Endpoint::Tcp(address), owner: Some("postfix (process 7)".to_owned()) };
        let finding = bound("SMTP", "127.0.0.1:25", Err(taken));
        assert_eq!(
            (finding.verdict, finding.found.as_str()),
            (Verdict::Failure, "SMTP: 127.0.0.1:25 is in use by postfix (process 7)")
        );
        assert_eq!(bound("SMTP", "127.0.0.1:25", Ok(())).verdict, Verdict::Ok);
    }

    #[test]
    fn an_address_that_stands_for_all_is_reached_on_loopback() {
        for (listening, reached) in
            [("0.0.0.0:25", "127.0.0.1:25"), ("[::]:25", "[::1]:25"), ("192.0.2.1:25", "192.0.2.1:25")]
        {
            assert_eq!(reachable(listening.parse().expect("an address")).to_string(), reached);
        }
    }
}
