//! Requests of each kind in turn, over the same connections to the same daemon.

use std::net::SocketAddr;
use std::time::Duration;

use super::Report;
use super::clients::{self, Client, Measured, Request};
use super::peers::Peer;
use crate::support::Result;
use crate::support::daemon::Daemon;
use crate::support::figures::median;
use crate::support::smtp;

const CONNECTIONS: usize = 16;
const ROUNDS: usize = 5;
const ROUND: Duration = Duration::from_secs(2);
/// Mailboxes with mail. Their lists are several times as long as what the daemon keeps in memory.
const MAILBOXES: usize = 400;
/// Mailboxes that are listed again and again.
const WATCHED: usize = 20;
/// The Emails in each mailbox: as many as a list shows.
const EMAILS: usize = 20;
/// Octets of a message.
const OCTETS: usize = 4096;
/// Mailboxes without mail that are polled.
const EMPTY_MAILBOXES: usize = 1000;

/// Fields of the header, and those that the page lists.
const BRIEF: &str = "id,from,subject,receivedAt";
const SHOWN: &str = "id,from,fromName,subject,preview,receivedAt,expiresAt,attachmentCount,codes";

/// One kind of request, and what its rounds gave.
struct Case {
    name: String,
    server: SocketAddr,
    requests: Vec<Request>,
    target: &'static str,
    rounds: Vec<Measured>,
}

pub(crate) fn run(peers: &[String], report: Report) -> Result<()> {
    let daemon = Daemon::start(&[])?;
    let peers = Peer::start_all(peers)?;
    let mailboxes: Vec<String> = (0..MAILBOXES).map(|number| format!("user{number}@example.test")).collect();
    for server in peers.iter().map(|peer| peer.smtp).chain([daemon.smtp_address()]) {
        smtp::send(server, 8, &mailboxes, MAILBOXES * EMAILS, OCTETS)?;
    }
    let mut cases = cases(&daemon, &mailboxes)?;
    for peer in &peers {
        let requests = mailboxes.iter().map(|address| get(peer.list_path(address, EMAILS))).collect();
        cases.push(Case::new(format!("{}: list", peer.name), peer.http, requests, ""));
    }
    for _ in 0..ROUNDS {
        for case in &mut cases {
            case.rounds.push(clients::run(case.server, CONNECTIONS, ROUND, &case.requests)?);
        }
    }
    report.head();
    let reference = cases.first().map_or(f64::NAN, |case| case.median().rate);
    for case in &cases {
        let rates = || case.rounds.iter().map(|round| round.rate);
        let spread = (rates().fold(f64::INFINITY, f64::min), rates().fold(0.0, f64::max));
        let median = case.median();
        report.measured(&case.name, median, spread, median.rate / reference, case.target);
    }
    Ok(())
}

/// The requests to the daemon. The first case is the reference.
fn cases(daemon: &Daemon, mailboxes: &[String]) -> Result<Vec<Case>> {
    let server = daemon.http_address();
    let list = |address: &str| format!("/api/mail/messages?to={address}&limit={EMAILS}");
    let mut client = Client::connect(server)?;
    let mut singles = Vec::new();
    for address in mailboxes {
        let answer = client.get(&list(address))?;
        let page: serde_json::Value = serde_json::from_slice(answer.body)?;
        let emails = page["emails"].as_array().filter(|emails| emails.len() == EMAILS).ok_or("mail is missing")?;
        let ids = emails.iter().filter_map(|email| email["id"].as_str());
        singles.extend(ids.map(|id| get(format!("/api/mail/messages/{id}"))));
    }
    let empty = (0..EMPTY_MAILBOXES).map(|number| get(list(&format!("nobody{number}@example.test")))).collect();
    let lists: Vec<_> = mailboxes.iter().map(|address| get(list(address))).collect();
    let watched = lists[..WATCHED].to_vec();
    let fields = |fields| mailboxes.iter().map(|address| get(format!("{}&fields={fields}", list(address)))).collect();
    Ok(vec![
        Case::new("/healthz".to_owned(), server, vec![get("/healthz".to_owned())], ""),
        Case::new("poll of an empty mailbox".to_owned(), server, empty, "0.7"),
        Case::new(format!("list of {EMAILS} of 4 KB"), server, lists, "0.5 of Inbucket"),
        Case::new("the same, of few mailboxes".to_owned(), server, watched, "0.15"),
        Case::new("four fields of the header".to_owned(), server, fields(BRIEF), "1.0 of Inbucket"),
        Case::new("the fields of the page".to_owned(), server, fields(SHOWN), "0.3 of Inbucket"),
        Case::new("single message of 4 KB".to_owned(), server, singles, "0.4"),
    ])
}

fn get(path: String) -> Request {
    Request { path }
}

impl Case {
    fn new(name: String, server: SocketAddr, requests: Vec<Request>, target: &'static str) -> Self {
        Self { name, server, requests, target, rounds: Vec::new() }
    }

    /// The median of each figure.
    fn median(&self) -> Measured {
        let of = |figure: fn(&Measured) -> f64| median(&mut self.rounds.iter().map(figure).collect::<Vec<_>>());
        Measured {
            rate: of(|round| round.rate),
            p50: Duration::from_secs_f64(of(|round| round.p50.as_secs_f64())),
            p99: Duration::from_secs_f64(of(|round| round.p99.as_secs_f64())),
        }
    }
}
