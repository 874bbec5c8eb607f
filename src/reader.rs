//! The threads that read messages: they load octets from the disk and parse them.
//!
//! One reading runs on one thread from its first octet to its last, since each change of threads costs more than a small
//! message. Few readings run at once: a message takes several times its size in memory while it is read.
//! The threads are our own: a busy one takes the next reading without being woken, unlike those of tokio's pool.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use rustix::process::setpriority_process;
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot};
use tokio::task::{JoinError, spawn_blocking};

use crate::mime::{self, Findings, Message};

/// The most readings in the queue. The caller of one more waits.
const QUEUE_MAX: usize = 32;

/// How far the threads step back behind those that receive mail (nice(2)). Where both want a whole processor, Linux gives
/// the threads of readers about a quarter of it.
const NICENESS: i32 = 5;

type Job = Box<dyn FnOnce() + Send>;

/// A few threads that run readings. They end when the last handle is dropped.
#[derive(Clone, Debug)]
pub struct Reader {
    jobs: mpsc::Sender<Job>,
}

impl Reader {
    /// Starts `threads` threads, at least one. The error is that of the operating system.
    pub fn start(threads: usize) -> io::Result<Self> {
        let (jobs, queue) = mpsc::channel(QUEUE_MAX);
        let queue = Arc::new(Mutex::new(queue));
        for number in 0..threads.max(1) {
            let queue = Arc::clone(&queue);
            thread::Builder::new().name(format!("reader-{number}")).spawn(move || work(&queue))?;
        }
        Ok(Self { jobs })
    }

    /// Runs a reading on a thread that may block. Waits for its turn, first come, first served.
    ///
    /// A reading that has begun ends even if the caller goes away. If it panics, so does the caller. The caller must be
    /// within a tokio runtime.
    pub fn run<T: Send + 'static>(
        &self,
        reading: impl Future<Output = T> + Send + 'static,
    ) -> impl Future<Output = T> + Send {
        self.run_boxed(reading.boxed())
    }

    async fn run_boxed<T: Send + 'static>(&self, reading: BoxFuture<'static, T>) -> T {
        let (answer, answered) = oneshot::channel();
        let runtime = Handle::current();
        let job = Box::new(move || {
            if !answer.is_closed() {
                // This fails only if the caller has gone.
                let _ = answer.send(catch_unwind(AssertUnwindSafe(|| runtime.block_on(reading))));
            }
        });
        // Each thread takes jobs as long as this handle is there, and answers every one.
        let is_sent = self.jobs.send(job).await.is_ok();
        match answered.await {
            Ok(Ok(read)) => read,
            Ok(Err(panic)) => resume_unwind(panic),
            Err(_) => unreachable!("the threads of the reader have ended; the job was sent: {is_sent}"),
        }
    }
}

/// Loads a message that is not parsed, on a thread that may block. It waits for no other reading.
///
/// The caller must be within a tokio runtime. If the loading panics, so does the caller.
pub async fn load<T: Send + 'static>(loading: impl Future<Output = T> + Send + 'static) -> T {
    let runtime = Handle::current();
    match spawn_blocking(move || runtime.block_on(loading)).await.map_err(JoinError::try_into_panic) {
        Ok(loaded) => loaded,
        Err(Ok(panic)) => resume_unwind(panic),
        // The runtime stops, and this task with it.
        Err(Err(_)) => std::future::pending().await,
    }
}

fn work(queue: &Mutex<mpsc::Receiver<Job>>) {
    // Linux has a priority for each thread. Without it, everything is right but mail that arrives is slower.
    if let Err(error) = setpriority_process(None, NICENESS) {
        tracing::debug!(%error, "the threads that read mail have the priority of all others");
    }
    loop {
        let job = queue.lock().unwrap_or_else(PoisonError::into_inner).blocking_recv();
        let Some(job) = job else { return };
        job();
    }
}

/// Reads the message `raw` by `read`. If a decoder panics, `read` gets the message without its body, so that this costs
/// one message its body, and not a whole list its answer.
pub fn read<T>(raw: &[u8], mut read: impl FnMut(&Message<'_>) -> T) -> T {
    if let Ok(read) = catch_unwind(AssertUnwindSafe(|| read(&Message::new(raw)))) {
        return read;
    }
    tracing::error!(size_octets = raw.len(), "reading a message panicked; only its header fields are shown");
    let bare = catch_unwind(AssertUnwindSafe(|| read(&Message::without_body(raw))));
    bare.unwrap_or_else(|_| read(&Message::default()))
}

/// The codes and links of a message; none if the search for them panics.
pub fn findings(message: &Message<'_>) -> Findings {
    found(message, mime::findings)
}

fn found(message: &Message<'_>, find: fn(&Message<'_>) -> Findings) -> Findings {
    catch_unwind(AssertUnwindSafe(|| find(message))).unwrap_or_else(|_| {
        tracing::error!("the search for codes and links in a message panicked; none are shown");
        Findings::default()
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn a_panic_leaves_the_header_fields() {
        let subject = read(b"Subject: s\r\n\r\nbody", |message| {
            assert_eq!(message.text(), "", "on purpose");
            message.subject().to_owned()
        });
        assert_eq!(subject, "s");
        assert_eq!(read(b"Subject: s\r\n\r\n", |message| assert_eq!(message.subject(), "", "on purpose")), ());
    }

    #[test]
    fn a_panic_of_the_search_leaves_no_findings() {
        assert_eq!(found(&Message::default(), |_| panic!("on purpose")), Findings::default());
    }

    #[tokio::test]
    async fn a_reading_that_panics_leaves_its_thread() {
        let reader = Reader::start(1).expect("a thread");
        for _ in 0..3 {
            let reading = AssertUnwindSafe(reader.run(async { panic!("on purpose") }));
            let caught: Result<(), _> = futures_util::FutureExt::catch_unwind(reading).await;
            assert!(caught.is_err());
        }
        assert_eq!(reader.run(async { 1 }).await, 1);
    }

    #[tokio::test]
    async fn no_more_readings_run_than_there_are_threads_and_all_end() {
        const THREADS: usize = 2;
        let reader = Reader::start(THREADS).expect("threads");
        let running = Arc::new(AtomicUsize::new(0));
        // A reading ends only beside another one, so all threads are in use.
        let beside = Arc::new(Barrier::new(THREADS));
        let all = (0..50).map(|number| {
            let (reader, running, beside) = (reader.clone(), Arc::clone(&running), Arc::clone(&beside));
            async move {
                let reading = async move {
                    let others = running.fetch_add(1, Ordering::SeqCst);
                    beside.wait();
                    running.fetch_sub(1, Ordering::SeqCst);
                    (number, others)
                };
                reader.run(reading).await
            }
        });
        let done = futures_util::future::join_all(all).await;
        assert!(done.iter().all(|(_, others)| *others < THREADS));
        assert!(done.iter().enumerate().all(|(at, (number, _))| at == *number));
    }
}
