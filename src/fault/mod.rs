//! Faults on purpose: how SMTP misbehaves for people who test a sender.
//!
//! Nothing is left to chance: a rule counts what it matches, and its condition depends on that count alone. Pure: a fault is
//! decided here, and the session and its connection carry it out.
//!
//! ```text
//! rules     the rules in effect, and what they have counted
//! grammar   the text of a rule to the rule      pattern   patterns of addresses
//! ```

mod grammar;
mod pattern;
mod rules;

use std::fmt;
use std::num::NonZeroU32;
use std::time::Duration;

use serde::{Serialize, Serializer};

pub use rules::{Entry, Faults, FaultsError};

use crate::model::Address;

/// The longest delay of a rule, and the longest time that a slow reply takes. RFC 5321 section 4.5.3.2.6 asks senders to
/// wait for 10 minutes.
pub const DELAY_MAX: Duration = Duration::from_mins(15);

/// The most rules at a time.
pub const RULES_MAX: usize = 100;

/// A point of a session at which a rule can apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The greeting of the server.
    Banner,
    /// HELO, EHLO or LHLO.
    Ehlo,
    /// MAIL.
    Mail,
    /// RCPT.
    Rcpt,
    /// DATA, or the first BDAT of a message.
    Data,
    /// The end of the message, before it is stored.
    End,
    /// STARTTLS.
    Tls,
}

impl Stage {
    /// Every stage, in the order of the variants.
    pub const ALL: [Self; 7] = [Self::Banner, Self::Ehlo, Self::Mail, Self::Rcpt, Self::Data, Self::End, Self::Tls];
    const NAMES: [&str; Self::ALL.len()] = ["banner", "EHLO", "MAIL", "RCPT", "DATA", "end", "TLS"];

    /// Its name in rules, in the log and in the metrics.
    pub const fn as_str(self) -> &'static str {
        Self::NAMES[self as usize]
    }
}

/// The addresses of a stage, which patterns are compared with.
#[derive(Clone, Copy, Debug)]
pub enum Parties<'a> {
    /// It has none.
    None,
    /// The reverse-path of MAIL, which is empty for the null sender.
    Sender(&'a str),
    /// The recipient of RCPT, or those of the message.
    Recipients(&'a [Address]),
}

/// Which of the matches of a rule it applies to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Times {
    Always,
    Only(u64),
    First(u64),
    Every(u64),
}

impl Times {
    /// Whether it applies to the match with this number. The first has number 1.
    const fn contains(self, number: u64) -> bool {
        match self {
            Self::Always => true,
            Self::Only(only) => number == only,
            Self::First(last) => number <= last,
            Self::Every(step) => number.is_multiple_of(step),
        }
    }
}

/// What happens in place of the usual reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Nothing else.
    Usual,
    /// A reply that refuses: a code from 400 to 599, and its text with the enhanced status code.
    Reply(u16, String),
    /// The connection is closed without a reply.
    Drop,
    /// The usual reply, at so many octets per second.
    Slow(NonZeroU32),
}

/// What a rule does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// How long it waits first; at most [`DELAY_MAX`].
    pub delay: Duration,
    /// What it does then.
    pub outcome: Outcome,
}

/// A rule. It is read from a text such as `RCPT user4xx@* first 2 451 4.3.0`, and shown as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    text: String,
    stage: Stage,
    /// Which addresses it matches; `None` for all.
    pattern: Option<String>,
    times: Times,
    fault: Fault,
}

impl Serialize for Rule {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Rule {
    /// Whether stage and pattern match. Of several recipients one is enough.
    fn matches(&self, stage: Stage, parties: Parties<'_>) -> bool {
        self.stage == stage && self.pattern.as_ref().is_none_or(|pattern| pattern::matches(pattern, parties))
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(text: &str) -> Rule {
        text.parse().expect(text)
    }

    fn address(text: &str) -> Address {
        text.parse().expect(text)
    }

    #[test]
    fn a_pattern_is_compared_without_case_and_quotes_and_in_a_labels() {
        let rule = rule("RCPT User?-*@B\u{fc}cher.example drop");
        for (text, is_meant) in [
            ("user1-x@xn--bcher-kva.example", true),
            ("USER1-@B\u{dc}CHER.example", true),
            ("\"user1-x\"@b\u{fc}cher.example", true),
            ("user1-x+tag@b\u{fc}cher.example", true),
            ("user-x@b\u{fc}cher.example", false),
            ("user1-x@other.example", false),
        ] {
            assert_eq!(rule.matches(Stage::Rcpt, Parties::Recipients(&[address(text)])), is_meant, "{text}");
        }
    }

    #[test]
    fn one_of_several_recipients_is_enough() {
        let rule = rule("end b@* drop");
        let recipients = ["a@x.test", "b@y.test"].map(address);
        assert!(rule.matches(Stage::End, Parties::Recipients(&recipients)));
        assert!(!rule.matches(Stage::End, Parties::Recipients(&recipients[..1])));
        assert!(!rule.matches(Stage::Data, Parties::Recipients(&recipients)), "another stage");
    }

    #[test]
    fn a_sender_is_compared_whole_and_the_null_sender_alone() {
        let matches = |pattern: &str, sender: &str| {
            rule(&format!("MAIL {pattern} drop")).matches(Stage::Mail, Parties::Sender(sender))
        };
        assert!(matches("ann@*.test", "Ann@Sender.test"));
        assert!(!matches("ann@*.test", ""));
        assert!(!matches("*@*", ""));
        assert!(!matches("ann@*.test", "ann@[192.0.2.1]"));
        assert!(matches("ann@[*", "ann@[192.0.2.1]"));
        assert!(matches("<>", ""));
        assert!(!matches("<>", "ann@sender.test"));
    }

    #[test]
    fn the_times_are_counted_from_one() {
        for (times, expected) in [
            (Times::Always, [true, true, true, true]),
            (Times::Only(2), [false, true, false, false]),
            (Times::First(2), [true, true, false, false]),
            (Times::Every(2), [false, true, false, true]),
        ] {
            assert_eq!([1, 2, 3, 4].map(|number| times.contains(number)), expected, "{times:?}");
        }
    }
}
