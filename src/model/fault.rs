//! Rules for faults on purpose: how SMTP misbehaves for people who test a sender.
//!
//! Nothing is left to chance: a rule counts what it matches, and its condition depends on that count alone.

use std::fmt;
use std::num::{NonZeroU32, NonZeroU64};
use std::time::Duration;

use super::address::fold;
use super::wildcard::is_match;
use super::{Address, DomainName, Subaddressing};

/// The longest delay of a rule, and the longest time that a slow reply takes. RFC 5321 section 4.5.3.2.6 asks senders to
/// wait for 10 minutes.
pub const FAULT_DELAY_MAX: Duration = Duration::from_mins(15);

/// The most rules at a time.
pub const FAULTS_MAX: usize = 100;

/// A point of a session at which a rule can apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultStage {
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

impl FaultStage {
    /// Every stage, in the order of a session.
    pub const ALL: [Self; 7] = [Self::Banner, Self::Ehlo, Self::Mail, Self::Rcpt, Self::Data, Self::End, Self::Tls];

    /// Its name in rules, in the log and in the metrics.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Banner => "banner",
            Self::Ehlo => "EHLO",
            Self::Mail => "MAIL",
            Self::Rcpt => "RCPT",
            Self::Data => "DATA",
            Self::End => "end",
            Self::Tls => "TLS",
        }
    }

    /// Whether rules of this stage may have a pattern of addresses.
    pub const fn has_addresses(self) -> bool {
        matches!(self, Self::Mail | Self::Rcpt | Self::Data | Self::End)
    }
}

/// A moment of a session, with the addresses that patterns are compared with.
#[derive(Clone, Copy, Debug)]
pub enum FaultMoment<'a> {
    /// The server is about to greet.
    Banner,
    /// The client has greeted.
    Ehlo,
    /// MAIL with this reverse-path, which is empty for the null sender.
    Mail(&'a str),
    /// RCPT with this recipient.
    Rcpt(&'a Address),
    /// The message begins, for these recipients.
    Data(&'a [Address]),
    /// The message has arrived, for these recipients.
    End(&'a [Address]),
    /// The client wants to begin TLS.
    Tls,
}

impl FaultMoment<'_> {
    /// The stage.
    pub const fn stage(&self) -> FaultStage {
        match self {
            Self::Banner => FaultStage::Banner,
            Self::Ehlo => FaultStage::Ehlo,
            Self::Mail(_) => FaultStage::Mail,
            Self::Rcpt(_) => FaultStage::Rcpt,
            Self::Data(_) => FaultStage::Data,
            Self::End(_) => FaultStage::End,
            Self::Tls => FaultStage::Tls,
        }
    }
}

/// A pattern of addresses, with `*` for any number of characters and `?` for one. Case does not matter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AddressPattern {
    /// The null sender.
    NullSender,
    /// Addresses that look like this.
    Address(String),
}

impl AddressPattern {
    /// The pattern `local_part@domain`. A domain without wildcards may be in U-labels.
    pub fn new(local_part: &str, domain: &str) -> Self {
        let canonical = domain.parse::<DomainName>().map_or_else(|_| domain.to_lowercase(), String::from);
        Self::Address(format!("{}@{canonical}", fold(local_part)))
    }

    fn matches_reverse_path(&self, reverse_path: &str) -> bool {
        match (self, reverse_path.parse::<Address>()) {
            (Self::NullSender, _) => reverse_path.is_empty(),
            (Self::Address(_), Ok(address)) => self.matches(&address),
            // It may end with an address literal.
            (Self::Address(pattern), Err(_)) => is_match(pattern, &reverse_path.to_lowercase()),
        }
    }

    fn matches(&self, address: &Address) -> bool {
        match self {
            Self::NullSender => false,
            Self::Address(pattern) => is_match(pattern, address.mailbox(Subaddressing::Keep).as_str()),
        }
    }
}

/// Which of the matches of a rule it applies to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultTimes {
    /// All.
    Always,
    /// One alone, counted from 1.
    Only(NonZeroU64),
    /// The first so many.
    First(NonZeroU64),
    /// Each one whose number is a multiple.
    Every(NonZeroU64),
}

impl FaultTimes {
    /// Whether the match with this number is meant; the first has number 1.
    pub const fn contains(self, number: u64) -> bool {
        match self {
            Self::Always => true,
            Self::Only(only) => number == only.get(),
            Self::First(last) => number <= last.get(),
            Self::Every(step) => number.is_multiple_of(step.get()),
        }
    }
}

/// What a rule does, after its delay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FaultOutcome {
    /// What happens without the rule.
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
pub struct FaultAction {
    /// How long it waits first; at most [`FAULT_DELAY_MAX`].
    pub delay: Duration,
    /// What it does then.
    pub outcome: FaultOutcome,
}

/// A rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultRule {
    /// The rule as it was written.
    pub text: String,
    /// Where it applies.
    pub stage: FaultStage,
    /// Which addresses it matches; `None` for all.
    pub pattern: Option<AddressPattern>,
    /// To which of its matches it applies.
    pub times: FaultTimes,
    /// What it does.
    pub action: FaultAction,
}

impl FaultRule {
    /// Whether stage and pattern match. Of several recipients one is enough.
    pub fn matches(&self, moment: &FaultMoment<'_>) -> bool {
        let Some(pattern) = &self.pattern else { return self.stage == moment.stage() };
        self.stage == moment.stage()
            && match moment {
                FaultMoment::Mail(reverse_path) => pattern.matches_reverse_path(reverse_path),
                FaultMoment::Rcpt(recipient) => pattern.matches(recipient),
                FaultMoment::Data(recipients) | FaultMoment::End(recipients) => {
                    recipients.iter().any(|recipient| pattern.matches(recipient))
                }
                FaultMoment::Banner | FaultMoment::Ehlo | FaultMoment::Tls => false,
            }
    }
}

impl fmt::Display for FaultRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(stage: FaultStage, local_part: &str, domain: &str) -> FaultRule {
        FaultRule {
            text: "a test".to_owned(),
            stage,
            pattern: Some(AddressPattern::new(local_part, domain)),
            times: FaultTimes::Always,
            action: FaultAction { delay: Duration::ZERO, outcome: FaultOutcome::Drop },
        }
    }

    fn address(text: &str) -> Address {
        text.parse().expect(text)
    }

    #[test]
    fn a_pattern_is_compared_without_case_and_quotes_and_in_a_labels() {
        let rule = rule(FaultStage::Rcpt, "User?-*", "B\u{fc}cher.example");
        for (text, is_meant) in [
            ("user1-x@xn--bcher-kva.example", true),
            ("USER1-@B\u{dc}CHER.example", true),
            ("\"user1-x\"@b\u{fc}cher.example", true),
            ("user1-x+tag@b\u{fc}cher.example", true),
            ("user-x@b\u{fc}cher.example", false),
            ("user1-x@other.example", false),
        ] {
            assert_eq!(rule.matches(&FaultMoment::Rcpt(&address(text))), is_meant, "{text}");
        }
    }

    #[test]
    fn one_of_several_recipients_is_enough() {
        let rule = rule(FaultStage::End, "b", "*");
        let recipients = ["a@x.test", "b@y.test"].map(address);
        assert!(rule.matches(&FaultMoment::End(&recipients)));
        assert!(!rule.matches(&FaultMoment::End(&recipients[..1])));
        assert!(!rule.matches(&FaultMoment::Data(&recipients)), "another stage");
    }

    #[test]
    fn a_sender_is_compared_whole_and_the_null_sender_alone() {
        let ann = rule(FaultStage::Mail, "ann", "*.test");
        assert!(ann.matches(&FaultMoment::Mail("Ann@Sender.test")));
        assert!(!ann.matches(&FaultMoment::Mail("")));
        assert!(!ann.matches(&FaultMoment::Mail("ann@[192.0.2.1]")));
        assert!(rule(FaultStage::Mail, "ann", "[*").matches(&FaultMoment::Mail("ann@[192.0.2.1]")));
        let null = FaultRule { pattern: Some(AddressPattern::NullSender), ..ann };
        assert!(null.matches(&FaultMoment::Mail("")));
        assert!(!null.matches(&FaultMoment::Mail("ann@sender.test")));
    }

    #[test]
    fn the_times_are_counted_from_one() {
        let two = NonZeroU64::new(2).expect("two");
        for (times, expected) in [
            (FaultTimes::Always, [true, true, true, true]),
            (FaultTimes::Only(two), [false, true, false, false]),
            (FaultTimes::First(two), [true, true, false, false]),
            (FaultTimes::Every(two), [false, true, false, true]),
        ] {
            assert_eq!([1, 2, 3, 4].map(|number| times.contains(number)), expected, "{times:?}");
        }
    }
}
