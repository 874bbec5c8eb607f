//! The listening addresses: whether the daemon accepts connections there.

use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::Path;
use std::time::Duration;

use futures_util::future::join_all;
use tokio::net::{TcpStream, UnixStream};
use tokio::time::timeout;

use super::finding::Finding;
use super::subject::Running;
use crate::client::Status;

const CHECK: &str = "listener";
/// How long a listener of this machine may take to accept a connection.
const CONNECT_WITHIN: Duration = Duration::from_secs(2);

pub(super) async fn check(daemon: Option<&Running>) -> Vec<Finding> {
    let Some(Running { status, .. }) = daemon else { return Vec::new() };
    join_all(of_daemon(status).map(|(service, text)| accepts(service, text))).await
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_that_stands_for_all_is_reached_on_loopback() {
        for (listening, reached) in
            [("0.0.0.0:25", "127.0.0.1:25"), ("[::]:25", "[::1]:25"), ("192.0.2.1:25", "192.0.2.1:25")]
        {
            assert_eq!(reachable(listening.parse().expect("an address")).to_string(), reached);
        }
    }
}
