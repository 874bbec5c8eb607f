//! The threads that read messages: octets from the disk, and what their MIME says.
//!
//! One reading runs on one thread from its first octet to its last, since each change of threads costs more than a small
//! message. Few readings run at once: a message takes several times its size in memory while it is read.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use tokio::runtime::Handle;
use tokio::sync::Semaphore;

use crate::mime::{self, Content};

/// Runs readings, a few at a time. Clones share the bound.
#[derive(Clone, Debug)]
pub struct Reader {
    slots: Arc<Semaphore>,
}

/// A reading panicked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a reading of mail panicked")]
pub struct ReadingPanicked;

impl Reader {
    /// A reader that runs at most `readings` at once, and at least one.
    pub fn new(readings: usize) -> Self {
        Self { slots: Arc::new(Semaphore::new(readings.max(1))) }
    }

    /// Runs a reading on a thread that may block. Waits for its turn, first come, first served.
    ///
    /// A reading that has begun ends even if the caller goes away. The caller must be within a tokio runtime.
    pub async fn run<T: Send + 'static>(
        &self,
        reading: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, ReadingPanicked> {
        // The semaphore is never closed.
        let slot = Arc::clone(&self.slots).acquire_owned().await.map_err(|_| ReadingPanicked)?;
        let runtime = Handle::current();
        let reading = tokio::task::spawn_blocking(move || {
            let read = runtime.block_on(reading);
            drop(slot);
            read
        });
        reading.await.map_err(|_| ReadingPanicked)
    }
}

/// What `raw` says. If its decoders panic, only its header fields are read.
pub fn parse(raw: &[u8]) -> Content {
    contained(raw, mime::parse)
}

/// What a list shows of `raw`: the sender, the subject and the message. The rest of the [`Content`] is empty.
pub fn parse_for_list(raw: &[u8]) -> Content {
    contained(raw, mime::parse_for_list)
}

/// A panic in a decoder costs one message its body, not all readers of a list their answer.
fn contained(raw: &[u8], parse: fn(&[u8]) -> Content) -> Content {
    let attempt = |parse: fn(&[u8]) -> Content| catch_unwind(AssertUnwindSafe(|| parse(raw))).ok();
    attempt(parse)
        .or_else(|| {
            tracing::error!(size_octets = raw.len(), "parsing a message panicked; only its header fields are shown");
            attempt(mime::parse_headers)
        })
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_panic_leaves_the_header_fields() {
        let content = contained(b"Subject: s\r\n\r\nbody", |_| panic!("on purpose"));
        assert_eq!((content.subject.as_str(), content.message.as_str()), ("s", ""));
    }

    #[tokio::test]
    async fn a_panic_of_a_whole_reading_is_an_error_and_frees_its_place() {
        let reader = Reader::new(1);
        for _ in 0..3 {
            assert_eq!(
                reader.run(async { assert!(Handle::try_current().is_err(), "on purpose") }).await,
                Err(ReadingPanicked)
            );
        }
        assert_eq!(reader.run(async { 1 }).await, Ok(1));
    }

    #[tokio::test]
    async fn no_more_readings_run_than_permitted_and_all_end() {
        const PERMITTED: usize = 2;
        let reader = Reader::new(PERMITTED);
        let running = Arc::new(AtomicUsize::new(0));
        let all = (0..50).map(|number| {
            let (reader, running) = (reader.clone(), Arc::clone(&running));
            async move {
                let reading = async move {
                    let others = running.fetch_add(1, Ordering::SeqCst);
                    tokio::time::sleep(Duration::from_millis(1)).await;
                    running.fetch_sub(1, Ordering::SeqCst);
                    (number, others)
                };
                reader.run(reading).await.expect("no panic")
            }
        });
        let done = futures_util::future::join_all(all).await;
        assert!(done.iter().all(|(_, others)| *others < PERMITTED));
        assert!(done.iter().enumerate().all(|(at, (number, _))| at == *number));
    }
}
