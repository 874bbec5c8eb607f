//! The benchmarks. `cargo bench --bench bench -- --help` lists them.
//!
//! Figures that are compared come from the same run, since no machine is the same for long. What is wrong fails; nothing
//! fails for being slow.

mod abuse;
#[cfg(feature = "cassandra")]
mod cluster;
mod crash;
mod ingest;
mod read;
mod support;
mod wait;
mod webhooks;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use support::Result;

#[derive(Parser)]
#[command(name = "bench")]
struct Arguments {
    #[command(subcommand)]
    benchmark: Benchmark,
    /// Cargo adds this by itself.
    #[arg(long = "bench", global = true, hide = true)]
    _by_cargo: bool,
}

#[derive(Subcommand)]
enum Benchmark {
    /// Mail that comes in, beside smtp-sink: 20 sessions of smtp-source, with kept and with new connections.
    Ingest {
        /// Messages in each round.
        #[arg(default_value_t = 20_000)]
        messages: usize,
        /// All to one mailbox, or each to its own.
        #[arg(long, value_enum, default_value = "one")]
        to: ingest::Mailboxes,
        #[arg(long)]
        json: bool,
    },
    /// How long mail waits for the store while others expire at once, and while a backup is made.
    Expiry {
        #[arg(default_value_t = 500_000)]
        emails: usize,
    },
    /// Lists, single messages and polls over 16 connections, beside /healthz and other servers.
    Read {
        /// A server beside tempmail: inbucket or mailpit, which are also looked for on the PATH.
        #[arg(long = "peer", value_name = "NAME=PATH")]
        peers: Vec<String>,
        #[arg(long)]
        json: bool,
    },
    /// Lists, mail meanwhile, memory and the start with many Emails in the store, ten in each mailbox.
    Stored {
        #[arg(default_value_t = 200_000)]
        emails: usize,
        #[arg(long)]
        json: bool,
    },
    /// From the sender's 250 to the first octet of a request that waits: 500 mails a second to 50 mailboxes.
    Latency,
    /// The memory of requests that wait, and how soon one of them gets its mail.
    Waiting {
        #[arg(default_value_t = 10_000)]
        requests: usize,
    },
    /// Events of webhooks each second, bad receivers beside others, and failing webhooks beside mail.
    Webhooks {
        /// Without a part, all of them.
        part: Option<webhooks::Part>,
    },
    /// Honest senders beside slow and idle clients, and what lines without an end cost in memory.
    Abuse {
        /// Without a part, all of them.
        part: Option<abuse::Part>,
        /// How many clients there are: 2,000 slow or 10,000 idle ones, or 5,000 slow ones of HTTP, if not said.
        clients: Option<usize>,
    },
    /// The clients of `abuse`, in a process of their own.
    #[command(hide = true)]
    Crowd(abuse::Orders),
    /// Power cuts by the thousand, as in the test `store::crash`.
    Crash {
        #[arg(default_value_t = 1_000)]
        images: u64,
    },
    /// From the start after a kill under load to the first 220, with a large store.
    Start {
        #[arg(default_value_t = 2)]
        gigabytes: usize,
    },
    /// Mail over one, two and three nodes of the service on a ring of three nodes of Cassandra.
    #[cfg(feature = "cassandra")]
    Cluster {
        #[arg(default_value_t = 2_000)]
        mails: usize,
    },
}

fn main() -> ExitCode {
    match Arguments::parse().benchmark.run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

impl Benchmark {
    fn run(self) -> Result<()> {
        match self {
            Self::Ingest { messages, to, json } => ingest::run(messages, to, json),
            Self::Expiry { emails } => ingest::expiry(emails),
            Self::Read { peers, json } => read::speed(&peers, json),
            Self::Stored { emails, json } => read::stored(emails, json),
            Self::Latency => wait::latency(),
            Self::Waiting { requests } => wait::memory(requests),
            Self::Webhooks { part } => webhooks::run(part),
            Self::Abuse { part, clients } => abuse::run(part, clients),
            Self::Crowd(orders) => orders.obey(),
            Self::Crash { images } => crash::run(images),
            Self::Start { gigabytes } => crash::start(gigabytes),
            #[cfg(feature = "cassandra")]
            Self::Cluster { mails } => cluster::run(mails),
        }
    }
}
