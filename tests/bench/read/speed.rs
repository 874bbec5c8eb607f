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
/// Mailboxes with mail. Their whole lists are several times as long as what the daemon keeps in memory.
const MAILBOXES: usize = 2_000;
/// Mailboxes that are listed again and again.
const WATCHED: usize = 20;
/// The Emails in each mailbox: as many as a list shows.
const EMAILS: usize = 20;
/// Octets of a message.
const OCTETS: usize = 4096;
/// Mailboxes without mail that are polled.
const EMPTY_MAILBOXES: usize = 1000;

/// Mailboxes of which single messages are read.
const READ: usize = 100;
/// What the page in a browser lists.
const OF_THE_PAGE: &str = "id,from,fromName,subject,preview,receivedAt,expiresAt,attachmentCount,codes";

/// What the rate of a case is compared with.
#[derive(Clone, Copy, PartialEq)]
enum Beside {
    /// The daemon's `/healthz`.
    Health,
    /// The list of the first peer; without one, `/healthz`.
    Peer,
}

/// One kind of request, and what its rounds gave.
struct Case {
    name: String,
    server: SocketAddr,
    requests: Vec<Request>,
    beside: Beside,
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
        cases.push(Case::new(format!("{}: list", peer.name), peer.http, requests, Beside::Health, ""));
    }
    // What is kept of a mail is made when it is first listed.
    for case in &cases {
        clients::once(case.server, &case.requests)?;
    }
    for _ in 0..ROUNDS {
        for case in &mut cases {
            case.rounds.push(clients::run(case.server, CONNECTIONS, ROUND, &case.requests)?);
        }
    }
    report.head();
    let rate_of = |case: Option<&Case>| case.map_or(f64::NAN, |case| case.median().rate);
    let health = rate_of(cases.first());
    let peer = if peers.is_empty() { health } else { rate_of(cases.get(cases.len() - peers.len())) };
    for case in &cases {
        let rates = || case.rounds.iter().map(|round| round.rate);
        let spread = (rates().fold(f64::INFINITY, f64::min), rates().fold(0.0, f64::max));
        let median = case.median();
        let reference = if case.beside == Beside::Peer { peer } else { health };
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
    for address in &mailboxes[..READ] {
        let answer = client.get(&list(address))?;
        let page: serde_json::Value = serde_json::from_slice(answer.body)?;
        let emails = page["emails"].as_array().filter(|emails| emails.len() == EMAILS).ok_or("mail is missing")?;
        let ids = emails.iter().filter_map(|email| email["id"].as_str());
        singles.extend(ids.map(|id| get(format!("/api/mail/messages/{id}"))));
    }
    let empty = (0..EMPTY_MAILBOXES).map(|number| get(list(&format!("nobody{number}@example.test")))).collect();
    let lists: Vec<_> = mailboxes.iter().map(|address| get(list(address))).collect();
    let watched = lists[..WATCHED].to_vec();
    let with = |fields: &str| mailboxes.iter().map(|to| get(format!("{}&fields={fields}", list(to)))).collect();
    let case = |name: &str, requests, beside, target| Case::new(name.to_owned(), server, requests, beside, target);
    Ok(vec![
        case("/healthz", vec![get("/healthz".to_owned())], Beside::Health, ""),
        case("poll of an empty mailbox", empty, Beside::Health, "0.7"),
        case("single message of 4 KB", singles, Beside::Health, "0.4"),
        case("list of 20 of 4 KB", lists, Beside::Peer, "0.5"),
        case("the same, of few mailboxes", watched, Beside::Peer, "0.5"),
        case("list of four fields", with("id,from,subject,receivedAt"), Beside::Peer, "1.0"),
        case("list of the page's fields", with(OF_THE_PAGE), Beside::Peer, "0.3"),
    ])
}

fn get(path: String) -> Request {
    Request { path }
}

impl Case {
    fn new(name: String, server: SocketAddr, requests: Vec<Request>, beside: Beside, target: &'static str) -> Self {
        Self { name, server, requests, beside, target, rounds: Vec::new() }
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
