//! Decides which domains a round of verification may deactivate; pure.
//!
//! A failure on our side, or at a provider that many domains share, looks like many domains moving away at once. Such
//! a round is a storm. It deactivates only domains that three rounds in a row found elsewhere.

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};

use crate::model::DomainName;

/// The fewest domains that make a storm. They must also be more than a fifth of the active domains.
const STORM_DOMAINS_MIN: usize = 5;

/// During a storm, a domain is deactivated once this many rounds in a row have found it elsewhere.
const STORM_ROUNDS: u32 = 3;

/// The result of one round of verification, in numbers of domains.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Round {
    /// Domains that were checked.
    pub checked: u64,
    /// Domains that were deactivated, because their MX points elsewhere.
    pub deactivated: u64,
    /// Domains that became active again, because their MX points here again.
    pub reactivated: u64,
    /// Domains without an answer from the DNS, which keep their state.
    pub failed: u64,
    /// Domains that point elsewhere but stay active, because there were too many of them at once.
    pub held_back: u64,
}

/// The number of rounds in a row in which each domain was found elsewhere and held back.
#[derive(Debug, Default)]
pub(super) struct Streaks(HashMap<DomainName, u32>);

/// What happens to the domains that a round found elsewhere.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Decision {
    pub(super) deactivate: Vec<DomainName>,
    pub(super) hold_back: Vec<DomainName>,
}

impl Streaks {
    /// Decides about `elsewhere`, the domains that two checks of a round found to point elsewhere.
    ///
    /// `asked` are all domains of the round. `active` is the number of active domains, without those that are never
    /// verified. `force` applies the results of a storm at once.
    pub(super) fn decide(
        &mut self,
        asked: &[DomainName],
        elsewhere: Vec<DomainName>,
        active: usize,
        force: bool,
    ) -> Decision {
        let found: HashSet<&DomainName> = elsewhere.iter().collect();
        for name in asked.iter().filter(|name| !found.contains(name)) {
            self.0.remove(name);
        }
        let is_storm = elsewhere.len() >= STORM_DOMAINS_MIN && elsewhere.len() * 5 > active;
        let mut decision = Decision::default();
        for name in elsewhere {
            let streak = self.0.remove(&name).unwrap_or(0) + 1;
            if force || !is_storm || streak >= STORM_ROUNDS {
                decision.deactivate.push(name);
            } else {
                self.0.insert(name.clone(), streak);
                decision.hold_back.push(name);
            }
        }
        decision
    }

    /// Resets the streak of a domain that was removed or was found to point here.
    pub(super) fn forget(&mut self, name: &DomainName) {
        self.0.remove(name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(count: usize) -> Vec<DomainName> {
        (0..count).map(|number| format!("d{number}.example").parse().expect("name")).collect()
    }

    fn deactivated(elsewhere: usize, active: usize, force: bool) -> usize {
        Streaks::default().decide(&names(active), names(elsewhere), active, force).deactivate.len()
    }

    #[test]
    fn a_storm_is_more_than_a_fifth_and_at_least_five() {
        for (elsewhere, active, expected) in [
            (0, 0, 0),
            (1, 1, 1),
            (4, 4, 4),
            (5, 5, 0),
            (5, 24, 0),
            (5, 25, 5),
            (6, 29, 0),
            (6, 30, 6),
            (2_000, 10_000, 2_000),
            (2_001, 10_000, 0),
        ] {
            assert_eq!(deactivated(elsewhere, active, false), expected, "{elsewhere} of {active}");
            assert_eq!(deactivated(elsewhere, active, true), elsewhere, "{elsewhere} of {active}, forced");
        }
    }

    #[test]
    fn the_third_round_in_a_row_deactivates() {
        let mut streaks = Streaks::default();
        for held_back in [5, 5, 0] {
            let decision = streaks.decide(&names(5), names(5), 5, false);
            assert_eq!(decision.hold_back.len(), held_back);
            assert_eq!(decision.deactivate.len(), 5 - held_back);
        }
    }

    #[test]
    fn a_round_that_finds_a_domain_otherwise_breaks_its_row_alone() {
        let mut streaks = Streaks::default();
        let all = names(6);
        let without_first = all[1..].to_vec();
        streaks.decide(&all, all.clone(), 6, false);
        assert_eq!(streaks.decide(&all, without_first.clone(), 6, false).hold_back, without_first);
        let third = streaks.decide(&all, all.clone(), 6, false);
        assert_eq!(third.deactivate, without_first);
        assert_eq!(third.hold_back, all[..1]);
    }

    #[test]
    fn a_round_for_one_domain_leaves_the_rows_of_the_others() {
        let mut streaks = Streaks::default();
        let all = names(6);
        streaks.decide(&all, all.clone(), 6, false);
        streaks.decide(&all[..1], Vec::new(), 6, false);
        streaks.decide(&all, all.clone(), 6, false);
        assert_eq!(streaks.decide(&all, all.clone(), 6, false).deactivate, all[1..]);
    }

    #[test]
    fn a_row_is_forgotten_with_its_domain() {
        let mut streaks = Streaks::default();
        let all = names(5);
        streaks.decide(&all, all.clone(), 5, false);
        streaks.decide(&all, all.clone(), 5, false);
        streaks.forget(&all[0]);
        assert_eq!(streaks.decide(&all, all.clone(), 5, false).hold_back, all[..1]);
    }
}
