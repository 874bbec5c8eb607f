//! The rules for faults that are in effect, and how often each has matched and applied.
//!
//! SMTP asks [`Faults::check`] at each stage of a session, and the administrator changes the rules over HTTP. Rules that
//! are added while the daemon runs are in memory alone.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::Serialize;

use super::{Fault, Parties, RULES_MAX, Rule, Stage};

/// The rules in effect.
#[derive(Debug, Default)]
pub struct Faults {
    entries: Mutex<Vec<Entry>>,
    last_id: AtomicU64,
    /// Why no rule may be added; `None` if one may.
    refusal: Option<String>,
}

/// A rule in effect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Entry {
    /// Its number. No later rule of this daemon has the same.
    pub id: u64,
    /// The rule.
    pub rule: Rule,
    /// Where it comes from: `settings` or `request`.
    pub source: &'static str,
    /// How often stage and pattern have matched.
    pub matched: u64,
    /// How often it has applied.
    pub injected: u64,
}

/// Why a rule is not added.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FaultsError {
    /// Strangers could meet the faults.
    #[error("{0}")]
    Exposed(String),
    /// The limit is reached.
    #[error("the limit of {RULES_MAX} rules is reached")]
    TooMany,
}

impl Faults {
    /// The rules of the settings, in their order. `refusal` says why no further rule may be added.
    pub fn new(rules: Vec<Rule>, refusal: Option<String>) -> Self {
        let faults = Self { refusal, ..Self::default() };
        faults.lock().extend(rules.into_iter().map(|rule| faults.entry(rule, "settings")));
        faults
    }

    fn entry(&self, rule: Rule, source: &'static str) -> Entry {
        Entry { id: self.last_id.fetch_add(1, Ordering::Relaxed) + 1, rule, source, matched: 0, injected: 0 }
    }

    /// The fault for this moment and the number of its rule, if there is one. Each rule counts its own matches, and the first
    /// that applies decides.
    pub fn check(&self, stage: Stage, parties: Parties<'_>) -> Option<(u64, Fault)> {
        let mut found = None;
        for entry in self.lock().iter_mut().filter(|entry| entry.rule.matches(stage, parties)) {
            entry.matched += 1;
            if found.is_none() && entry.rule.times.contains(entry.matched) {
                entry.injected += 1;
                found = Some((entry.id, entry.rule.fault.clone()));
            }
        }
        found
    }

    /// Every rule, in the order in which they are checked.
    pub fn list(&self) -> Vec<Entry> {
        self.lock().clone()
    }

    /// Adds a rule behind the others, until the daemon ends.
    pub fn add(&self, rule: Rule) -> Result<Entry, FaultsError> {
        if let Some(refusal) = &self.refusal {
            return Err(FaultsError::Exposed(refusal.clone()));
        }
        let mut entries = self.lock();
        if entries.len() >= RULES_MAX {
            return Err(FaultsError::TooMany);
        }
        let entry = self.entry(rule, "request");
        entries.push(entry.clone());
        Ok(entry)
    }

    /// Removes the rule with this number, or all, and returns how many. Those of the settings are back at the next start.
    pub fn remove(&self, id: Option<u64>) -> usize {
        let mut entries = self.lock();
        let before = entries.len();
        entries.retain(|entry| id.is_some_and(|id| entry.id != id));
        before - entries.len()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Entry>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(rules: &[&str]) -> Faults {
        Faults::new(rules.iter().map(|rule| rule.parse().expect(rule)).collect(), None)
    }

    #[test]
    fn each_rule_counts_its_own_matches_and_the_first_that_applies_decides() {
        let faults = faults(&["EHLO first 2 451", "EHLO #3 421", "EHLO every 2 drop"]);
        let ids: Vec<_> = (0..5).map(|_| faults.check(Stage::Ehlo, Parties::None).map(|(id, _)| id)).collect();
        assert_eq!(ids, [Some(1), Some(1), Some(2), Some(3), None]);
        let counted: Vec<_> = faults.list().iter().map(|entry| (entry.matched, entry.injected)).collect();
        assert_eq!(counted, [(5, 2), (5, 1), (5, 1)]);
        assert_eq!(faults.check(Stage::Banner, Parties::None), None);
    }

    #[test]
    fn a_rule_is_removed_by_its_number_and_no_number_comes_again() {
        let faults = faults(&["EHLO 451", "EHLO drop"]);
        assert_eq!((faults.remove(Some(1)), faults.remove(Some(1))), (1, 0));
        assert_eq!(faults.check(Stage::Ehlo, Parties::None).map(|(id, _)| id), Some(2));
        assert_eq!((faults.remove(None), faults.list().len()), (1, 0));
        assert_eq!(faults.check(Stage::Ehlo, Parties::None), None);
        let added = faults.add("EHLO drop".parse::<Rule>().expect("rule")).expect("room");
        assert_eq!((added.id, added.source), (3, "request"));
        assert!(faults.check(Stage::Ehlo, Parties::None).is_some());
    }

    #[test]
    fn there_is_a_limit_of_rules_and_a_reason_for_none() {
        let rule = "EHLO drop".parse::<Rule>().expect("rule");
        let full = Faults::new(vec![rule.clone(); RULES_MAX], None);
        assert_eq!(full.add(rule.clone()), Err(FaultsError::TooMany));
        let exposed = Faults::new(Vec::new(), Some("strangers".to_owned()));
        assert_eq!(exposed.add(rule), Err(FaultsError::Exposed("strangers".to_owned())));
    }
}
