//! How soon a request that waits at one node gets mail that another one received.

use std::thread;
use std::time::{Duration, Instant};

use crate::support::Result;
use crate::support::daemon::Daemon;
use crate::support::figures::percentile;
use crate::support::smtp::Session;
use crate::wait::waiter::Waiter;

const MAILS: usize = 300;
const OCTETS: usize = 4096;
/// The least time from a request to its mail. It grows by a millisecond a mail, so that no mail keeps step with a timer of
/// the service.
const PAUSE: Duration = Duration::from_millis(50);

/// The times from the sender's 250 to the waiter's first octet: the median, and the 99th percentile.
pub(crate) fn measure(at: &Daemon, sender: &Daemon, to: &str) -> Result<(Duration, Duration)> {
    let mut session = Session::open(sender.smtp_address())?;
    let mut waiter = Waiter::connect(at.http_address(), to)?;
    let mut times = Vec::with_capacity(MAILS);
    for mail in 0..MAILS {
        waiter.ask()?;
        thread::sleep(PAUSE + Duration::from_millis(u64::try_from(mail)? % 100));
        session.deliver(to, mail, OCTETS)?;
        let acknowledged_at = Instant::now();
        times.push(waiter.mail()?.at.saturating_duration_since(acknowledged_at));
    }
    times.sort_unstable();
    Ok((percentile(&times, 50), percentile(&times, 99)))
}
