//! Settings of faults on purpose, for tests of senders. By default there is none.

use super::{each, one, texts};
use crate::config::fault_rule::fault_rule;
use crate::config::setting::{Setting, Shape};
use crate::config::value::{self, ValueError};
use crate::model::{FAULTS_MAX, FaultRule};

/// In the order in which help lists them.
pub(super) const SETTINGS: &[Setting] = &[
    Setting::new(
        "fault",
        Shape::Several,
        "RULE",
        "Fault of SMTP on purpose, such as 'RCPT user4xx@* first 2 451 4.3.0'; see `tempmail help smtp`",
        |c, v| rules(v).map(|all| c.smtp.faults = all),
        |c| texts(&c.smtp.faults),
    ),
    Setting::new(
        "fault-anywhere",
        Shape::Switch,
        "BOOL",
        "Permit faults although SMTP can be reached from other machines",
        |c, v| one(v, value::switch).map(|on| c.smtp.faults_anywhere = on),
        |c| vec![c.smtp.faults_anywhere.to_string()],
    ),
];

fn rules(values: &[String]) -> Result<Vec<FaultRule>, ValueError> {
    let rules = each(values, fault_rule)?;
    match rules.get(FAULTS_MAX) {
        None => Ok(rules),
        Some(rule) => {
            let reason = format!("there are {} rules", rules.len());
            Err(ValueError::invalid(&rule.text, &reason, "at most 100 rules"))
        }
    }
}
