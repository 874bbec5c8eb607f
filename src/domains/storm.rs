//! Decides which domains a round of verification may deactivate; pure.
//!
//! A failure on our side, or at a provider that many domains share, looks like many domains moving away at once. Such
//! a round is a storm. It deactivates only domains that three rounds in a row found elsewhere.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::Record;
use crate::model::DomainName;

/// The fewest domains that make a storm. They must also be more than a fifth of the active domains.
const STORM_DOMAINS_MIN: usize = 5;

/// During a storm, a domain is deactivated once this many rounds in a row have found it elsewhere.
const STORM_ROUNDS: u32 = 3;

/// The number of rounds in a row in which each domain was found elsewhere and held back.
#[derive(Debug, Default)]
pub(super) struct Streaks(Mutex<HashMap<DomainName, u32>>);

impl Streaks {
    /// Splits `elsewhere`, the domains that two checks of a round found to point elsewhere, into those to deactivate and
    /// those to hold back.
    ///
    /// `asked` are all domains of the round. `active` is the number of active domains, without those that are never
    /// verified. `force` applies the results of a storm at once.
    pub(super) fn split(
        &self,
        asked: &[Record],
        elsewhere: Vec<Record>,
        active: usize,
        force: bool,
    ) -> (Vec<Record>, Vec<Record>) {
        let found: HashSet<&DomainName> = elsewhere.iter().map(|record| &record.name).collect();
        let mut streaks = self.lock();
        for record in asked.iter().filter(|record| !found.contains(&record.name)) {
            streaks.remove(&record.name);
        }
        let is_storm = elsewhere.len() >= STORM_DOMAINS_MIN && elsewhere.len() * 5 > active;
        elsewhere.into_iter().partition(|record| {
            let streak = streaks.remove(&record.name).unwrap_or(0) + 1;
            let may_go = force || !is_storm || streak >= STORM_ROUNDS;
            if !may_go {
                streaks.insert(record.name.clone(), streak);
            }
            may_go
        })
    }

    /// Resets the streak of a domain that was removed or was found to point here.
    pub(super) fn forget(&self, name: &DomainName) {
        self.lock().remove(name);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<DomainName, u32>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::active as record;
    use super::*;

    fn names(count: usize) -> Vec<DomainName> {
        (0..count).map(|number| format!("d{number}.example").parse().expect("name")).collect()
    }

    fn split(
        streaks: &Streaks,
        asked: &[DomainName],
        elsewhere: &[DomainName],
        active: usize,
        force: bool,
    ) -> [Vec<DomainName>; 2] {
        let records = |names: &[DomainName]| names.iter().map(|name| Record::new(record(name.as_str()))).collect();
        let asked: Vec<Record> = records(asked);
        let (deactivate, hold_back) = streaks.split(&asked, records(elsewhere), active, force);
        [deactivate, hold_back].map(|records| records.iter().map(|record| record.name.clone()).collect())
    }

    fn deactivated(elsewhere: usize, active: usize, force: bool) -> usize {
        let [deactivate, _] = split(&Streaks::default(), &names(active), &names(elsewhere), active, force);
        deactivate.len()
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
        let streaks = Streaks::default();
        for held_back in [5, 5, 0] {
            let split = split(&streaks, &names(5), &names(5), 5, false);
            assert_eq!(split.map(|names| names.len()), [5 - held_back, held_back]);
        }
    }

    #[test]
    fn a_round_that_finds_a_domain_otherwise_breaks_its_row_alone() {
        let streaks = Streaks::default();
        let all = names(6);
        let without_first = &all[1..];
        split(&streaks, &all, &all, 6, false);
        assert_eq!(split(&streaks, &all, without_first, 6, false), [&[], without_first]);
        assert_eq!(split(&streaks, &all, &all, 6, false), [without_first, &all[..1]]);
    }

    #[test]
    fn a_round_for_one_domain_leaves_the_rows_of_the_others() {
        let streaks = Streaks::default();
        let all = names(6);
        split(&streaks, &all, &all, 6, false);
        split(&streaks, &all[..1], &[], 6, false);
        split(&streaks, &all, &all, 6, false);
        assert_eq!(split(&streaks, &all, &all, 6, false)[0], all[1..]);
    }

    #[test]
    fn a_row_is_forgotten_with_its_domain() {
        let streaks = Streaks::default();
        let all = names(5);
        split(&streaks, &all, &all, 5, false);
        split(&streaks, &all, &all, 5, false);
        streaks.forget(&all[0]);
        assert_eq!(split(&streaks, &all, &all, 5, false)[1], all[..1]);
    }
}
