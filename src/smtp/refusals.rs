//! Why mail was refused, in the log: a line for each refusal, as long as there are few.

use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::reply::Reply;

/// The most lines in a minute. What is beyond is counted, and the first line of a later minute says how many.
const LINES_MAX: u32 = 60;
const MINUTE: Duration = Duration::from_mins(1);

/// The log lines of refusals, of all sessions together: a flood of them must not fill a disk.
#[derive(Debug, Default)]
pub struct Refusals(Mutex<Window>);

#[derive(Debug, Default)]
struct Window {
    began_at: Option<Instant>,
    lines: u32,
    left_out: u64,
}

impl Refusals {
    /// Logs that a command of a client got this reply. The line names no sender and no recipient.
    pub(super) fn log(&self, client: IpAddr, command: &str, reply: &Reply) {
        let Some(left_out) = self.may_log() else { return };
        if left_out > 0 {
            tracing::warn!(
                left_out,
                "smtp refusals were not logged, because there were more than {LINES_MAX} in a minute"
            );
        }
        tracing::info!(%client, command, reply = %reply, "smtp refused");
    }

    /// How many lines were left out before one that may be written now; `None` if none may.
    fn may_log(&self) -> Option<u64> {
        let mut window = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if window.began_at.is_none_or(|began_at| began_at.elapsed() >= MINUTE) {
            (window.began_at, window.lines) = (Some(Instant::now()), 0);
        }
        if window.lines == LINES_MAX {
            window.left_out += 1;
            return None;
        }
        window.lines += 1;
        Some(std::mem::take(&mut window.left_out))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_minute_has_so_many_lines_and_the_next_says_how_many_were_left_out() {
        let refusals = Refusals::default();
        let logged = |attempts: u32| (0..attempts).filter_map(|_| refusals.may_log()).collect::<Vec<_>>();
        assert_eq!(logged(100), vec![0; 60]);
        tokio::time::advance(MINUTE).await;
        assert_eq!(logged(2), [40, 0]);
    }
}
