//! A dialog without a socket: what a client says, piece by piece, and what it gets.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::pin::Pin;
use std::sync::{Arc, LazyLock, Mutex};
use std::task::Poll;
use std::time::Duration;

use futures_util::future::BoxFuture;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::runtime::{Builder, Runtime};
use tokio::time::Instant;

use super::super::*;
use crate::config::Revision;
use crate::fault::{Fault, Faults};
use crate::model::{Address, DomainName};
use crate::smtp::Kept;
use crate::store::StoreError;

/// Accepts mail for example.test while there is room.
pub(super) struct OneDomain {
    pub(super) refusal: Option<StoreError>,
    /// The memory for all messages at once.
    pub(super) octets_max: u64,
    pub(super) faults: Faults,
    /// Domains that a question finds, and those that it has found.
    pub(super) registered: Mutex<HashMap<DomainName, DomainState>>,
    /// What the store answers next; then it answers `Ok`.
    pub(super) outcomes: Mutex<VecDeque<Result<(), StoreError>>>,
    pub(super) messages: Mutex<Vec<Message>>,
    pub(super) stop: CancellationToken,
    /// The stop comes while a message is at the store.
    pub(super) stops_at_store: bool,
    /// The stop comes with the first fault.
    pub(super) stops_at_fault: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum DomainState {
    Elsewhere,
    Registered,
}

impl Default for OneDomain {
    fn default() -> Self {
        Self {
            refusal: None,
            octets_max: 1 << 20,
            faults: Faults::default(),
            registered: Mutex::default(),
            outcomes: Mutex::default(),
            messages: Mutex::default(),
            stop: CancellationToken::new(),
            stops_at_store: false,
            stops_at_fault: false,
        }
    }
}

impl Backend for OneDomain {
    fn sender(&self, _reverse_path: &str) -> Result<(), Reply> {
        self.refusal.as_ref().and_then(Reply::of_store_error).map_or(Ok(()), Err)
    }

    fn recipient<'a>(&'a self, address: &'a Address) -> BoxFuture<'a, Result<(), Reply>> {
        let mut registered = self.registered.lock().expect("no panic");
        let state = registered.get_mut(address.domain()).map(|state| std::mem::replace(state, DomainState::Registered));
        let answer = match address.domain().as_str() {
            "example.test" => Ok(()),
            _ if state.is_some() => Ok(()),
            "gone.test" => Err(Reply::domain_deactivated(address.domain())),
            _ => Err(Reply::domain_unknown(address.domain())),
        };
        let is_slow = state == Some(DomainState::Elsewhere);
        Box::pin(async move {
            if is_slow {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            answer
        })
    }

    fn receive(&self, message: Message) -> BoxFuture<'_, Result<Kept, StoreError>> {
        let emails = message.recipients.len() as u64;
        self.messages.lock().expect("no panic").push(message);
        if self.stops_at_store {
            self.stop.cancel();
        }
        let outcome = self.outcomes.lock().expect("no panic").pop_front().unwrap_or(Ok(()));
        Box::pin(async move { outcome.map(|()| Kept { emails, weight: emails }) })
    }

    fn fault(&self, stage: Stage, parties: Parties<'_>) -> Option<(u64, Fault)> {
        let injected = self.faults.check(stage, parties);
        if injected.is_some() && self.stops_at_fault {
            self.stop.cancel();
        }
        injected
    }
}

/// The dialect of a listener without a certificate.
pub(super) const PLAIN: Dialect = Dialect { purpose: Purpose::Smtp, offers_tls: false, offers_auth: false };

static SETTINGS: LazyLock<Config> = LazyLock::new(|| {
    let mut config = Config::of_revision(Revision::Two, "unused".into());
    config.smtp.hostname = "mx.test".parse().expect("name");
    config.mail.message_octets_max = 1000;
    config
});

thread_local! {
    /// Its time passes at once.
    static RUNTIME: Runtime = Builder::new_current_thread().enable_time().start_paused(true).build().expect("a runtime");
}

pub(super) fn settings() -> Config {
    SETTINGS.clone()
}

/// What a client sends, piece by piece, and what it gets.
#[derive(Debug)]
struct Script {
    pieces: VecDeque<Vec<u8>>,
    wire: Arc<Mutex<Wire>>,
    /// After the last piece the client waits instead of closing the connection.
    stays: bool,
}

/// What was written, write by write. A pause of a second or more before a write is there as `000 after SECONDS`.
#[derive(Debug)]
struct Wire {
    writes: Vec<String>,
    last_at: Instant,
}

impl AsyncRead for Script {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.pieces.pop_front() {
            Some(mut piece) => {
                let rest = piece.split_off(piece.len().min(into.remaining()));
                if !rest.is_empty() {
                    self.pieces.push_front(rest);
                }
                into.put_slice(&piece);
                Poll::Ready(Ok(()))
            }
            None if self.stays => Poll::Pending,
            None => Poll::Ready(Ok(())),
        }
    }
}

impl AsyncWrite for Script {
    fn poll_write(self: Pin<&mut Self>, _: &mut std::task::Context<'_>, octets: &[u8]) -> Poll<io::Result<usize>> {
        let mut wire = self.wire.lock().expect("no panic");
        let pause = wire.last_at.elapsed().as_secs();
        if pause > 0 {
            wire.writes.push(format!("000 after {pause}\r\n"));
        }
        wire.last_at = Instant::now();
        wire.writes.push(String::from_utf8(octets.to_vec()).expect("ASCII"));
        Poll::Ready(Ok(octets.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut std::task::Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut std::task::Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// The result of a dialog.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Played {
    pub(super) replies: String,
    pub(super) messages: Vec<Message>,
    /// `None`: the client had nothing more to say.
    pub(super) end: Option<End>,
}

/// Plays octets into a session, cut as given, and returns what was written and the end. Time passes at once.
pub(super) fn write_by_write(
    config: &Config,
    dialect: Dialect,
    cuts: &[&[u8]],
    policy: &OneDomain,
    stays: bool,
) -> (Vec<String>, Option<End>) {
    let mut config = config.clone();
    config.smtp.bodies_octets_max = policy.octets_max;
    let played = async {
        let wire = Arc::new(Mutex::new(Wire { writes: Vec::new(), last_at: Instant::now() }));
        let pieces = cuts.iter().filter(|cut| !cut.is_empty()).map(|cut| cut.to_vec()).collect();
        let script = Script { pieces, wire: Arc::clone(&wire), stays };
        let context = Context {
            config: &config,
            admission: &Arc::new(Admission::new(&config)),
            who: Who::Server,
            address: IpAddr::from([192, 0, 2, 1]),
            backend: policy,
            tls: None,
            counters: &Counters::default(),
            refusals: &Refusals::default(),
            stop: &policy.stop,
        };
        let end = converse(Stream::Memory(Box::new(script)), dialect, &context).await;
        let writes = std::mem::take(&mut wire.lock().expect("no panic").writes);
        (writes, Some(end).filter(|end| *end != End::Gone))
    };
    RUNTIME.with(|runtime| runtime.block_on(played))
}

/// Plays octets into a session, cut as given. The store answers each message with the next outcome, then with `Ok`.
pub(super) fn play_cut(cuts: &[&[u8]], policy: &OneDomain, outcomes: &[Result<(), StoreError>]) -> Played {
    play_in(PLAIN, cuts, policy, outcomes)
}

/// Like [`play_cut`], in any dialect.
pub(super) fn play_in(
    dialect: Dialect,
    cuts: &[&[u8]],
    policy: &OneDomain,
    outcomes: &[Result<(), StoreError>],
) -> Played {
    play_with(&settings(), dialect, cuts, policy, outcomes)
}

/// Like [`play_in`], with any settings.
pub(super) fn play_with(
    config: &Config,
    dialect: Dialect,
    cuts: &[&[u8]],
    policy: &OneDomain,
    outcomes: &[Result<(), StoreError>],
) -> Played {
    *policy.outcomes.lock().expect("no panic") = outcomes.iter().cloned().collect();
    let (writes, end) = write_by_write(config, dialect, cuts, policy, false);
    let messages = std::mem::take(&mut *policy.messages.lock().expect("no panic"));
    Played { replies: writes.concat(), messages, end }
}
