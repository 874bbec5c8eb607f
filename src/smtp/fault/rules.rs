//! The rules for faults that are in effect, and how often each has matched and applied.
//!
//! SMTP asks [`Faults::check`] at each stage of a session, and the administrator changes the rules over HTTP. Rules that
//! are added while the daemon runs are in memory alone.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{Fault, Parties, RULES_MAX, Rule, Stage};

/// The rules in effect.
#[derive(Debug, Default)]
pub struct Faults {
    rules: Mutex<Rules>,
    /// Why no rule may be added; `None` if one may.
    refusal: Option<String>,
}

#[derive(Debug, Default)]
struct Rules {
    entries: Vec<Entry>,
    last_id: u64,
}

impl Rules {
    fn push(&mut self, rule: Rule, is_setting: bool) -> Entry {
        self.last_id += 1;
        let entry = Entry { id: self.last_id, rule, is_setting, matched: 0, injected: 0 };
        self.entries.push(entry.clone());
        entry
    }
}

/// A rule in effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its number. No later rule of this daemon has the same.
    pub id: u64,
    /// The rule.
    pub rule: Rule,
    /// Whether it comes from the settings.
    pub is_setting: bool,
    /// How often stage and pattern have matched.
    pub matched: u64,
    /// How often it has applied.
    pub injected: u64,
}

/// A fault to carry out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Injected {
    /// The number of the rule.
    pub id: u64,
    /// Where it applies.
    pub stage: Stage,
    /// What to do.
    pub fault: Fault,
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
        let mut of_settings = Rules::default();
        for rule in rules {
            of_settings.push(rule, true);
        }
        Self { rules: Mutex::new(of_settings), refusal }
    }

    /// The fault for this moment, if there is one. Each rule counts its own matches, and the first that applies decides.
    pub fn check(&self, stage: Stage, parties: Parties<'_>) -> Option<Injected> {
        let mut found: Option<Injected> = None;
        for entry in self.lock().entries.iter_mut().filter(|entry| entry.rule.matches(stage, parties)) {
            entry.matched += 1;
            if found.is_none() && entry.rule.times.contains(entry.matched) {
                entry.injected += 1;
                found = Some(Injected { id: entry.id, stage, fault: entry.rule.fault.clone() });
            }
        }
        found
    }

    /// Every rule, in the order in which they are checked.
    pub fn list(&self) -> Vec<Entry> {
        self.lock().entries.clone()
    }

    /// Adds a rule behind the others, until the daemon ends.
    pub fn add(&self, rule: Rule) -> Result<Entry, FaultsError> {
        if let Some(refusal) = &self.refusal {
            return Err(FaultsError::Exposed(refusal.clone()));
        }
        let mut rules = self.lock();
        if rules.entries.len() >= RULES_MAX {
            return Err(FaultsError::TooMany);
        }
        Ok(rules.push(rule, false))
    }

    /// Removes the rule with this number, or all, and returns how many. Those of the settings are back at the next start.
    pub fn remove(&self, id: Option<u64>) -> usize {
        let mut rules = self.lock();
        let before = rules.entries.len();
        rules.entries.retain(|entry| id.is_some_and(|id| entry.id != id));
        before - rules.entries.len()
    }

    fn lock(&self) -> MutexGuard<'_, Rules> {
        self.rules.lock().unwrap_or_else(PoisonError::into_inner)
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
        let ids: Vec<_> =
            (0..5).map(|_| faults.check(Stage::Ehlo, Parties::None).map(|injected| injected.id)).collect();
        assert_eq!(ids, [Some(1), Some(1), Some(2), Some(3), None]);
        let counted: Vec<_> = faults.list().iter().map(|entry| (entry.matched, entry.injected)).collect();
        assert_eq!(counted, [(5, 2), (5, 1), (5, 1)]);
        assert_eq!(faults.check(Stage::Banner, Parties::None), None);
    }

    #[test]
    fn a_rule_is_removed_by_its_number_and_no_number_comes_again() {
        let faults = faults(&["EHLO 451", "EHLO drop"]);
        assert_eq!((faults.remove(Some(1)), faults.remove(Some(1))), (1, 0));
        assert_eq!(faults.check(Stage::Ehlo, Parties::None).map(|injected| injected.id), Some(2));
        assert_eq!((faults.remove(None), faults.list().len()), (1, 0));
        assert_eq!(faults.check(Stage::Ehlo, Parties::None), None);
        let added = faults.add("EHLO drop".parse::<Rule>().expect("rule")).expect("room");
        assert_eq!((added.id, added.is_setting), (3, false));
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
