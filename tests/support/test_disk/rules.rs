//! Calls that fail, and calls that wait.

use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::{Call, Kind, Shared, TestDisk};

#[derive(Default)]
pub(super) struct Rules {
    all: Mutex<Vec<Rule>>,
    dropped: Condvar,
}

struct Rule {
    what: What,
    /// How many calls it has made fail, or wait.
    met: usize,
    id: Arc<()>,
}

/// The error of a call, if it is to fail.
type Choice = Box<dyn FnMut(&Call) -> Option<io::ErrorKind> + Send>;

enum What {
    Fail(Choice),
    Hold(Box<dyn FnMut(&Call) -> bool + Send>),
}

impl Rules {
    /// A rule may panic, as the test wants.
    fn all(&self) -> MutexGuard<'_, Vec<Rule>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits while the call is held, and fails if it has to.
    pub(super) fn pass(&self, call: &Call) -> io::Result<()> {
        let mut all = self.all();
        let is_hold = |rule: &mut Rule| match &mut rule.what {
            What::Hold(which) => which(call),
            What::Fail(_) => false,
        };
        if let Some(at) = all.iter_mut().position(is_hold) {
            all[at].met += 1;
            let held = Arc::clone(&all[at].id);
            let goes_on = |all: &mut Vec<Rule>| all.iter().any(|rule| Arc::ptr_eq(&rule.id, &held));
            all = self.dropped.wait_while(all, goes_on).unwrap_or_else(PoisonError::into_inner);
        }
        for rule in &mut *all {
            if let What::Fail(error) = &mut rule.what
                && let Some(kind) = error(call)
            {
                rule.met += 1;
                return Err(kind.into());
            }
        }
        Ok(())
    }
}

impl TestDisk {
    fn rule(&self, what: What) -> Guard {
        let id = Arc::default();
        self.shared.rules.all().push(Rule { what, met: 0, id: Arc::clone(&id) });
        Guard { shared: Arc::clone(&self.shared), id }
    }

    /// From now on a call fails when `rule` gives an error for it, until the returned guard is dropped. The data of a sync
    /// that fails can still be read, but no later sync makes it durable, unless it is written again.
    pub fn fail(&self, rule: impl FnMut(&Call) -> Option<io::ErrorKind> + Send + 'static) -> Failing {
        Failing(self.rule(What::Fail(Box::new(rule))))
    }

    /// The next such call fails, unless the returned guard is dropped before.
    pub fn fail_next(&self, which: impl FnMut(&Call) -> bool + Send + 'static) -> Failing {
        let mut is_it = once(which);
        self.fail(move |call| is_it(call).then_some(io::ErrorKind::Other))
    }

    /// The sync after the next `after` ones of files whose name begins with `prefix` fails, and kills the process before it
    /// can do anything about it.
    pub fn die_at_failed_sync_of(&self, prefix: &'static str, mut after: usize) -> Failing {
        let disk = self.clone();
        self.fail_next(move |call| {
            let is_it = call.is(Kind::Sync, prefix);
            let dies = is_it && after == 0;
            after -= usize::from(is_it && !dies);
            if dies {
                disk.kill();
            }
            dies
        })
    }

    /// From now on such calls wait until the returned guard is dropped. A failed test drops it as well, because the store
    /// would wait for ever.
    pub fn hold(&self, which: impl FnMut(&Call) -> bool + Send + 'static) -> Held {
        Held(self.rule(What::Hold(Box::new(which))))
    }

    /// The next such call waits until the returned guard is dropped.
    pub fn hold_next(&self, which: impl FnMut(&Call) -> bool + Send + 'static) -> Held {
        self.hold(once(which))
    }
}

/// Chooses the first call that `which` chooses.
fn once(mut which: impl FnMut(&Call) -> bool) -> impl FnMut(&Call) -> bool {
    let mut is_over = false;
    move |call| {
        let is_it = !is_over && which(call);
        is_over |= is_it;
        is_it
    }
}

/// Calls fail until it is dropped.
#[must_use = "nothing fails after it is dropped"]
pub struct Failing(Guard);

impl Failing {
    /// How many calls have failed.
    pub fn failed(&self) -> usize {
        self.0.met()
    }
}

/// Calls wait until it is dropped.
#[must_use = "nothing waits after it is dropped"]
pub struct Held(Guard);

impl Held {
    /// How many calls wait.
    pub fn waiting(&self) -> usize {
        self.0.met()
    }
}

struct Guard {
    shared: Arc<Shared>,
    id: Arc<()>,
}

impl Guard {
    fn met(&self) -> usize {
        let all = self.shared.rules.all();
        all.iter().find(|rule| Arc::ptr_eq(&rule.id, &self.id)).map_or(0, |rule| rule.met)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.shared.rules.all().retain(|rule| !Arc::ptr_eq(&rule.id, &self.id));
        self.shared.rules.dropped.notify_all();
    }
}
