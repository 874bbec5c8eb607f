//! How fast events leave, beside plain POSTs of the same body to the same receivers in the same run; and what dead receivers
//! cost everybody else.
//!
//! `cargo bench --bench webhooks -- [EVENTS]`: events in all (9,600 if not said), over 16 origins. Store, dispatcher and
//! receivers share this process and the machine's cores. Nothing fails for being slow.

mod receiver;
mod sender;

use std::error::Error;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use receiver::Receiver;
use sender::Sender;

const ORIGINS: usize = 16;
const EVENTS: usize = 9_600;
/// Healthy endpoints of the isolation run, and how often each is told.
const HEALTHY: usize = 100;
const ROUNDS: usize = 5;
/// Events that wait for receivers that never answer.
const STUCK: usize = 10_000;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> ExitCode {
    let events = std::env::args().skip(1).find_map(|arg| arg.parse().ok()).unwrap_or(EVENTS);
    let run = || -> Result<()> {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        runtime.block_on(async {
            throughput(events).await?;
            isolation().await
        })
    };
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("webhooks: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Everything waits until the receivers begin to answer; then the time until all of it has arrived.
async fn throughput(events: usize) -> Result<()> {
    let receivers = Receiver::start_many(ORIGINS).await?;
    let sender = Sender::start()?;
    for (number, receiver) in receivers.iter().enumerate() {
        receiver.hold();
        sender.add_webhook(&address(number), receiver.url()).await?;
    }
    for number in 0..events {
        sender.receive(&address(number % ORIGINS)).await?;
    }
    let begun = Instant::now();
    receivers.iter().for_each(Receiver::let_go);
    while receivers.iter().map(Receiver::answered).sum::<usize>() < events {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let told = rate(events, begun.elapsed());
    let body = receivers[0].last_body();
    sender.stop().await;

    let plain = receiver::plain_posts(&receivers, &body, events, 64).await?;
    let one = receiver::plain_posts(&receivers[..1], &body, events / 8, 1).await?;
    println!("{events} events over {ORIGINS} origins, body of {} octets", body.len());
    println!("webhooks            {told:>8.0}/s");
    println!("plain, 64 at once   {plain:>8.0}/s  ratio {:.2} (target 0.5)", told / plain);
    println!("plain, one at once  {one:>8.0}/s  ratio {:.2} (target 5)", told / one);
    Ok(())
}

/// What 100 healthy receivers notice of one that never answers and one that never stops answering.
async fn isolation() -> Result<()> {
    let receivers = Receiver::start_many(HEALTHY).await?;
    let sender = Sender::start()?;
    for (number, receiver) in receivers.iter().enumerate() {
        sender.add_webhook(&address(number), receiver.url()).await?;
    }
    let alone = p95(&sender, &receivers).await?;
    let alone_in = sender.receive_many("nobody@example.test", 2_000).await?;
    let dead = Receiver::start_many(2).await?;
    dead[0].hold();
    dead[1].answer_without_end();
    for number in 0..STUCK / 1_000 {
        // A webhook holds a thousand events at most.
        let stuck = format!("stuck{number}@example.test");
        sender.add_webhook(&stuck, dead[number % 2].url()).await?;
        sender.receive_many(&stuck, 1_000).await?;
    }
    let beside = p95(&sender, &receivers).await?;
    let beside_in = sender.receive_many("nobody@example.test", 2_000).await?;
    sender.stop().await;
    println!("{HEALTHY} healthy endpoints, {STUCK} events stuck at two dead ones");
    println!(
        "p95 from mail to receiver  alone {alone:.1?}, beside the dead {beside:.1?}, ratio {:.2} (target at most 2)",
        beside.as_secs_f64() / alone.as_secs_f64()
    );
    println!(
        "mail taken in              alone {alone_in:.0}/s, beside the dead {beside_in:.0}/s, ratio {:.2}",
        beside_in / alone_in
    );
    Ok(())
}

/// The time within which 95 of 100 events arrive.
async fn p95(sender: &Sender, receivers: &[Receiver]) -> Result<Duration> {
    let mut times = Vec::new();
    for _ in 0..ROUNDS {
        for (number, receiver) in receivers.iter().enumerate() {
            let before = receiver.answered();
            let begun = Instant::now();
            sender.receive(&address(number)).await?;
            receiver.wait_beyond(before).await;
            times.push(begun.elapsed());
        }
    }
    times.sort();
    Ok(times[times.len() * 95 / 100])
}

fn address(number: usize) -> String {
    format!("user{number}@example.test")
}

fn rate(count: usize, within: Duration) -> f64 {
    f64::from(u32::try_from(count).unwrap_or(u32::MAX)) / within.as_secs_f64()
}
