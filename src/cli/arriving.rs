//! The mail of an address as it arrives, until the process ends: for `inbox --watch` and `webhook listen`.

use std::time::Duration;

use tokio::time::Instant;

use super::{Context, watch};
use crate::client::{Arrivals, Mail};
use crate::error::{Error, Exit};

/// How long is waited for one mail before the wait begins anew.
const WAIT_MAX: Duration = Duration::from_hours(24);

/// The next mail. A service that can't answer is asked again, and that is said. When nobody reads the output any more, the
/// command ends.
pub(super) async fn next(cx: &Context, arrivals: &mut Arrivals<'_>) -> Result<Mail, Error> {
    loop {
        let away = |error: &_| cx.hint(&format!("{error}; trying again"));
        tokio::select! {
            found = arrivals.next(Instant::now() + WAIT_MAX, away) => if let Some(mail) = found? { return Ok(mail) },
            () = watch::reader_gone(cx) => return Err(Error::ending(Exit::Ok)),
        }
    }
}
