//! How fast mail comes in when the store is a cluster: over one, two and three nodes of the service, which share a ring of
//! three nodes of Cassandra.
//!
//! First it measures how soon a request that waits gets mail that another node received.
//!
//! Beside the mail, in each round: the embedded store, and a plain loop of quorum inserts by the driver, of the rows that a mail
//! has. All of it shares the
//! processors of one machine, so a further node brings no further processor. The figures show what a mail costs, and not how
//! far a cluster of real machines goes.
//!
//! Needs what `tests/cassandra/install.sh` installs.

mod raw;
mod waking;

use std::thread;
use std::time::{Duration, Instant};

use tempmail::config::{Config, Revision};
use tempmail::store::StoreOptions;
use tempmail::store::cassandra::{CassandraOptions, CassandraStore};

use crate::support::Result;
use crate::support::daemon::Daemon;
use crate::support::figures::per_second;
use crate::support::ring::Ring;
use crate::support::smtp;

const NODES: usize = 3;
const ROUNDS: usize = 3;
const SESSIONS: usize = 20;
const OCTETS: usize = 4096;
/// How long an idle service is watched, for the statements that it runs without mail.
const IDLE: Duration = Duration::from_secs(4);
const LOOKS: usize = 4;

/// Sends so many mails of 4 KB in each round, over 20 connections, each to a mailbox of its own.
pub(crate) fn run(mails: usize) -> Result<()> {
    let ring = Ring::of_three();
    let runtime = tokio::runtime::Runtime::new()?;
    let contact_points: Vec<String> = ring.contact_points().iter().map(ToString::to_string).collect();
    let store = runtime.block_on(keyspace(&ring, &contact_points))?;
    let nodes = (1..=NODES).map(|_| Daemon::start(&["--store", &store]));
    let nodes = nodes.collect::<Result<Vec<_>>>()?;
    let embedded = Daemon::start(&[])?;
    println!(
        "mails of {OCTETS} octets per second over {SESSIONS} connections, {mails} in each round; all of it on the same {} \
         processors",
        thread::available_parallelism()?
    );
    // The first sweep of a node looks far back, so the least of several looks counts.
    let pause = || {
        thread::sleep(IDLE);
        Ok(())
    };
    let idle: Result<Vec<u64>> = (0..LOOKS).map(|_| Ok(statements_of(&ring, pause)?.0)).collect();
    let idle = idle?.into_iter().min().unwrap_or_default() / NODES as u64 / IDLE.as_secs();
    println!("an idle node of the service runs {idle} statements per second");
    for (what, at) in [("its log", &nodes[1]), ("its log, at a third node", &nodes[2])] {
        let (median, p99) =
            waking::measure(at, &nodes[0], &format!("waking-{}@example.test", at.smtp_address().port()))?;
        println!("mail of another node wakes who waits by {what}: median {median:.1?}, 99 of 100 within {p99:.1?}");
    }
    println!(
        "{:>6} {:>9} {:>9} {:>9} {:>9} {:>9} {:>16}",
        "round", "1 node", "2 nodes", "3 nodes", "embedded", "inserts", "statements/mail"
    );
    for round in 1..=ROUNDS {
        let mut rates = Vec::new();
        let mut statements = Vec::new();
        for count in 1..=NODES {
            let (ran, time) = statements_of(&ring, || send(&nodes[..count], mails, round))?;
            rates.push(per_second(mails, time));
            let without_mail = idle * NODES as u64 * u64::try_from(time.as_millis())? / 1000;
            let tenths = ran.saturating_sub(without_mail) * 10 / mails as u64;
            statements.push(format!("{}.{}", tenths / 10, tenths % 10));
        }
        rates.push(per_second(mails, send(std::slice::from_ref(&embedded), mails, round)?));
        let inserted = runtime.block_on(raw::insert(&contact_points, mails, SESSIONS, OCTETS))?;
        rates.push(per_second(mails, inserted));
        let rates: Vec<String> = rates.iter().map(|rate| format!("{rate:9.0}")).collect();
        println!("{round:>6} {} {:>16}", rates.join(" "), statements.join(" "));
    }
    Ok(())
}

async fn keyspace(ring: &Ring, contact_points: &[String]) -> Result<String> {
    let options = CassandraOptions {
        contact_points: contact_points.to_vec(),
        keyspace: ring.fresh_keyspace(),
        data_center: None,
        credentials: None,
        tls: None,
        timeout: Duration::from_secs(10),
        grace: Duration::from_hours(1),
        replication: 3,
    };
    CassandraStore::create(&options, &StoreOptions::from_config(&Config::of_revision(Revision::Two, "data".into())))
        .await?;
    Ok(format!("cassandra://{}/{}", contact_points.join(","), options.keyspace))
}

/// Sends mail to these nodes at once, over the same number of connections in all. Returns how long it took.
fn send(nodes: &[Daemon], mails: usize, round: usize) -> Result<Duration> {
    let begun = Instant::now();
    let mailboxes = |node: usize| (0..mails).map(move |mail| format!("bench-{round}-{node}-{mail}@example.test"));
    let sent: std::result::Result<Vec<_>, String> = thread::scope(|scope| {
        let senders: Vec<_> = nodes
            .iter()
            .enumerate()
            .map(|(number, node)| {
                // What is left of the division goes to the first nodes.
                let share = move |all: usize| all / nodes.len() + usize::from(number < all % nodes.len());
                let to: Vec<String> = mailboxes(number).take(share(mails)).collect();
                scope.spawn(move || {
                    smtp::send(node.smtp_address(), share(SESSIONS), &to, to.len(), OCTETS)
                        .map_err(|error| error.to_string())
                })
            })
            .collect();
        senders.into_iter().map(|sender| sender.join().map_err(|_| "a sender panicked".to_owned())?).collect()
    });
    sent?;
    Ok(begun.elapsed())
}

/// How many prepared statements the ring has run while `work` did something, and what that returned.
fn statements_of<T>(ring: &Ring, work: impl FnOnce() -> Result<T>) -> Result<(u64, T)> {
    let before = statements(ring)?;
    let done = work()?;
    Ok((statements(ring)? - before, done))
}

fn statements(ring: &Ring) -> Result<u64> {
    let query =
        "SELECT CAST(value AS bigint) FROM system_views.cql_metrics WHERE name = 'prepared_statements_executed'";
    let mut all = 0;
    for node in 0..ring.contact_points().len() {
        let ran = ring.query(node, query)?.ok_or("the node does not count its statements")?;
        all += u64::from_be_bytes(ran.try_into().map_err(|_| "no whole number")?);
    }
    Ok(all)
}
