//! A completed workload: its promises at each moment, and whether an image fulfils them.

use std::collections::BTreeMap;

use tempmail::model::{EmailId, Timestamp};

use super::state::{NOW, State, is_learnt, mail_key};
use crate::support::test_disk::TestDisk;

/// A message that was sent in a step.
pub struct Sent {
    pub emails: Vec<EmailId>,
    /// After how many operations it was known to be acknowledged; `None` if it was not.
    pub acknowledged: Option<usize>,
}

/// One change, or several at once.
pub struct Step {
    pub what: &'static str,
    pub asked: usize,
    pub acknowledged: usize,
    /// Made of several changes: a cut may fall between them.
    pub is_series: bool,
    pub sent: Vec<Sent>,
    /// The time of the state.
    pub now: Timestamp,
    pub after: State,
}

impl Step {
    /// Whether it is a mail whose message was refused: until that is known it may be there.
    fn has_refused(&self, key: &str) -> bool {
        let refused = self.sent.iter().filter(|sent| sent.acknowledged.is_none());
        refused.flat_map(|sent| &sent.emails).any(|id| mail_key(*id) == key)
    }
}

/// A workload that has ended.
pub struct Recording {
    pub disk: TestDisk,
    pub steps: Vec<Step>,
}

impl Recording {
    /// How many of each step there were.
    pub fn summary(&self) -> String {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for step in &self.steps {
            *counts.entry(step.what).or_default() += 1;
        }
        let counts: Vec<String> = counts.iter().map(|(what, count)| format!("{count} {what}")).collect();
        format!("{} operations on the disk, {}", self.disk.operations(), counts.join(", "))
    }

    /// The last step that was acknowledged before the cut, and the one that may have been under way.
    fn around(&self, cut: usize) -> (Option<&Step>, Option<&Step>) {
        let next = self.steps.partition_point(|step| step.acknowledged <= cut);
        (next.checked_sub(1).map(|last| &self.steps[last]), self.steps.get(next).filter(|step| step.asked < cut))
    }

    /// The times of the last step before a cut, and of the one that may have been under way.
    pub fn times(&self, cut: usize) -> [Timestamp; 2] {
        let (last, next) = self.around(cut);
        let now = last.map_or(NOW, |step| step.now);
        [now, next.map_or(now, |step| step.now)]
    }

    /// What a state after a cut at operation `cut` lacks of the promises, or has beyond them.
    ///
    /// `later` is what the image shows at the time of the step that may have been under way.
    pub fn compare(&self, image: &State, later: &State, cut: usize) -> Result<(), String> {
        let nothing = State::default();
        let (last, next) = self.around(cut);
        let before = last.map_or(&nothing, |step| &step.after);
        let after = next.map_or(before, |step| &step.after);
        let when = format!("after {:?}, during {:?}", last.map(|step| step.what), next.map(|step| step.what));
        for (key, value) in image.0.iter().filter(|(key, _)| !is_learnt(key)) {
            let is_amid = || next.is_some_and(|step| step.has_refused(key));
            if before.0.get(key) != Some(value) && after.0.get(key) != Some(value) && !is_amid() {
                let known = before.0.get(key).or(after.0.get(key));
                return Err(format!("{when}: there is {key}: {value}, promised was {known:?}"));
            }
        }
        for key in before.0.keys().filter(|key| after.0.contains_key(*key) && !is_learnt(key)) {
            if !image.0.contains_key(key) {
                return Err(format!("{when}: lost {key}"));
            }
        }
        let Some(next) = next else { return Ok(()) };
        let is_half = !image.certain().eq(before.certain()) && !later.certain().eq(after.certain());
        if !next.is_series && is_half {
            return Err(format!("{when}: half of a change is there"));
        }
        next.sent
            .iter()
            .try_for_each(|sent| sent.compare(image, before, after, cut))
            .map_err(|what| format!("{when}: {what}"))
    }

    /// Compares an image of which the facts `unread` could not be read: they had the values that they had before the change
    /// that was under way, or those that it gave them.
    pub fn compare_but(&self, image: &State, later: &State, unread: &[&String], cut: usize) -> Result<(), String> {
        let (last, next) = self.around(cut);
        let filled_in = |sources: [Option<&Step>; 2]| {
            let (mut image, mut later) = (image.clone(), later.clone());
            for key in unread {
                let mut values = sources.iter().flatten().filter_map(|step| step.after.0.get(*key));
                if let Some(value) = values.next() {
                    for state in [&mut image, &mut later] {
                        state.0.entry((*key).clone()).and_modify(|unread| unread.clone_from(value));
                    }
                }
            }
            self.compare(&image, &later, cut)
        };
        filled_in([last, next]).or_else(|_| filled_in([next, last]))
    }
}

impl Sent {
    /// All of a message is there or nothing: its Emails and their events.
    fn compare(&self, image: &State, before: &State, after: &State, cut: usize) -> Result<(), String> {
        let ids: Vec<String> = self.emails.iter().map(EmailId::to_string).collect();
        let is_of_it = |key: &&String| !is_learnt(key) && ids.iter().any(|id| key.ends_with(id.as_str()));
        let (there, missing): (Vec<_>, Vec<_>) = after
            .0
            .keys()
            .filter(|key| !before.0.contains_key(*key))
            .filter(is_of_it)
            .partition(|key| image.0.contains_key(*key));
        let is_promised = self.acknowledged.is_some_and(|acknowledged| acknowledged <= cut);
        match missing.first() {
            Some(key) if is_promised => Err(format!("lost {key}")),
            Some(key) if !there.is_empty() => Err(format!("{} is there and {key} is not", there[0])),
            _ => Ok(()),
        }
    }
}
