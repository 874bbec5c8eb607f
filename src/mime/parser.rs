//! Threads that parse messages, apart from the threads that serve sockets.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use tokio::sync::{mpsc, oneshot};

use super::{Content, parse, parse_headers};

/// The most jobs in the queue of the threads. Further callers wait.
const QUEUE_MAX: usize = 32;

struct Job {
    raws: Vec<Bytes>,
    answer: oneshot::Sender<Vec<Content>>,
}

/// A few threads that parse messages. They end when the last handle is dropped.
///
/// The number of threads bounds the memory, since parsing takes several times the size of a message. Nothing in
/// [`parse`] recurses, so a stack of the usual size is enough.
#[derive(Clone, Debug)]
pub struct Parser {
    jobs: mpsc::Sender<Job>,
}

impl Parser {
    /// Starts `threads` threads, at least one. The error is that of the operating system.
    pub fn start(threads: usize) -> io::Result<Self> {
        Self::start_with(threads, parse)
    }

    fn start_with(threads: usize, parse: fn(&[u8]) -> Content) -> io::Result<Self> {
        let (jobs, queue) = mpsc::channel(QUEUE_MAX);
        let queue = Arc::new(Mutex::new(queue));
        for number in 0..threads.max(1) {
            let queue = Arc::clone(&queue);
            std::thread::Builder::new().name(format!("mime-{number}")).spawn(move || work(&queue, parse))?;
        }
        Ok(Self { jobs })
    }

    /// Parses `raw`. Waits while the queue is full.
    pub async fn parse(&self, raw: Bytes) -> Content {
        self.parse_all(vec![raw]).await.pop().unwrap_or_default()
    }

    /// Parses each of `raws`, in their order. Waits while the queue is full.
    ///
    /// One thread parses all of them, so their total size should be small.
    pub async fn parse_all(&self, raws: Vec<Bytes>) -> Vec<Content> {
        let (count, (answer, contents)) = (raws.len(), oneshot::channel());
        if count == 0 || self.jobs.send(Job { raws, answer }).await.is_err() {
            return vec![Content::default(); count];
        }
        contents.await.unwrap_or_else(|_| vec![Content::default(); count])
    }
}

fn work(queue: &Mutex<mpsc::Receiver<Job>>, parse: fn(&[u8]) -> Content) {
    loop {
        let job = queue.lock().unwrap_or_else(PoisonError::into_inner).blocking_recv();
        let Some(Job { raws, answer }) = job else { return };
        if !answer.is_closed() {
            // Sending fails only if the caller has gone.
            let _ = answer.send(raws.iter().map(|raw| content(raw, parse)).collect());
        }
    }
}

/// Parses one message. After a panic in a decoder, the thread continues and only the header fields are parsed.
fn content(raw: &Bytes, parse: fn(&[u8]) -> Content) -> Content {
    let attempt = |parse: fn(&[u8]) -> Content| catch_unwind(AssertUnwindSafe(|| parse(raw))).ok();
    attempt(parse)
        .or_else(|| {
            tracing::error!(size_octets = raw.len(), "parsing a message panicked; only its header fields are shown");
            attempt(parse_headers)
        })
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_panic_leaves_the_header_fields_and_the_thread() {
        let parser = Parser::start_with(1, |raw| if raw.ends_with(b"!") { panic!("on purpose") } else { parse(raw) })
            .expect("threads");
        for _ in 0..3 {
            let content = parser.parse(Bytes::from_static(b"Subject: s\r\n\r\n!")).await;
            assert_eq!((content.subject.as_str(), content.message.as_str()), ("s", ""));
        }
        assert_eq!(parser.parse(Bytes::from_static(b"\r\nbody")).await.message, "body");
    }

    #[tokio::test]
    async fn more_messages_than_fit_the_queue_are_all_parsed() {
        let parser = Parser::start(2).expect("threads");
        let all = (0..10 * QUEUE_MAX).map(|number| {
            let parser = parser.clone();
            async move { parser.parse(Bytes::from(format!("Subject: {number}\r\n\r\n"))).await.subject }
        });
        let subjects = futures_util::future::join_all(all).await;
        assert!(subjects.iter().enumerate().all(|(number, subject)| *subject == number.to_string()));
    }
}
