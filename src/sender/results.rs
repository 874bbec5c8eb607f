//! What is known of who sent a mail, in the words of RFC 8601.

use serde::Serialize;

use crate::model::DomainName;

/// What is said of a mail without a sender, or with several.
pub(super) const NO_SENDER: &str = "names no single sender; not proven";

/// A result (RFC 8601 section 2.7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// It is proven.
    Pass,
    /// It is refuted.
    Fail,
    /// The domain says that it is probably refuted.
    SoftFail,
    /// The domain says nothing of it, or what is there can't be judged.
    Neutral,
    /// There is nothing to check.
    None,
    /// It can't be checked now.
    TempError,
    /// It can't be checked, since what the domain or the mail says is wrong.
    PermError,
}

/// One result, and the domain that it is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Checked {
    /// The result.
    pub result: Outcome,
    /// The domain in A-labels; empty if there is none.
    pub domain: String,
}

/// What a domain's policy (DMARC) makes of the other results.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Policy {
    /// The result, and the domain of the field From.
    #[serde(flatten)]
    pub checked: Checked,
    /// Which of `spf` and `dkim` passed for a domain that is aligned with that of the field From.
    pub aligned: Vec<&'static str>,
}

/// Whether the sender of a mail is proven, and by what.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Authentication {
    /// One plain sentence.
    pub summary: String,
    /// The domain of the field From, if it is proven; else empty.
    pub verified: String,
    /// Whether the client may send for the domain of the reverse-path, or of its greeting if that is empty.
    pub spf: Checked,
    /// Each signature.
    pub dkim: Vec<Checked>,
    /// What the domain of the field From says of the two.
    pub dmarc: Policy,
    /// The chain of those that passed the mail on, and the domain of the last one.
    pub arc: Checked,
}

impl Checked {
    /// A result about what a stranger calls a domain. What is none is left out, however long.
    pub(super) fn new(result: Outcome, domain: &str) -> Self {
        let domain = domain.parse().map_or_else(|_| String::new(), |domain: DomainName| domain.to_string());
        Self { result, domain }
    }
}

impl Authentication {
    /// Draws the conclusion. The domain of `dmarc` is that of the field From; empty if there is no single one.
    ///
    /// It is proven if its policy is met, and also without a policy if it is itself what a signature or SPF is about.
    pub(super) fn of(spf: Checked, dkim: Vec<Checked>, dmarc: Policy, arc: Checked) -> Self {
        let mut found = Self { summary: String::new(), verified: String::new(), spf, dkim, dmarc, arc };
        let Checked { result, domain } = &found.dmarc.checked;
        // A stranger wrote it, so it is shown only as a name of DNS in ASCII.
        let Ok(from) = domain.parse::<DomainName>() else {
            return Self { summary: NO_SENDER.to_owned(), ..found };
        };
        let is_same = |checked: &Checked| checked.result == Outcome::Pass && checked.domain == *domain;
        found.summary = if *result == Outcome::Pass || is_same(&found.spf) || found.dkim.iter().any(is_same) {
            found.verified = from.to_string();
            format!("sent by {from}, proven")
        } else if found.is_temporary() {
            format!("claims to be {from}; it could not be checked now")
        } else {
            format!("claims to be {from}; not proven")
        };
        found
    }

    /// The same result everywhere, for a mail that was not checked.
    pub(super) fn unchecked(result: Outcome, summary: &str) -> Self {
        let nothing = || Checked::new(result, "");
        let dmarc = Policy { checked: nothing(), aligned: Vec::new() };
        Self {
            summary: summary.to_owned(),
            verified: String::new(),
            spf: nothing(),
            dkim: Vec::new(),
            dmarc,
            arc: nothing(),
        }
    }

    /// Whether a later check may find something else.
    pub(super) fn is_temporary(&self) -> bool {
        let results = [&self.spf, &self.dmarc.checked, &self.arc];
        results.into_iter().chain(&self.dkim).any(|checked| checked.result == Outcome::TempError)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(spf: (Outcome, &str), dkim: (Outcome, &str), dmarc: (Outcome, &str)) -> String {
        let checked = |(result, domain): (Outcome, &str)| Checked::new(result, domain);
        let policy = Policy { checked: checked(dmarc), aligned: Vec::new() };
        let of = Authentication::of(checked(spf), vec![checked(dkim)], policy, Checked::new(Outcome::None, ""));
        assert_eq!(of.verified.is_empty(), !of.summary.ends_with(", proven"), "{}", of.summary);
        of.summary
    }

    #[test]
    fn a_sender_is_proven_by_its_policy_or_by_its_own_name() {
        use Outcome::{Fail, None, Pass, TempError};
        let proven = "sent by a.test, proven";
        let not_proven = "claims to be a.test; not proven";
        for (spf, dkim, dmarc, expected) in [
            ((Fail, "b.test"), (Pass, "mail.a.test"), (Pass, "a.test"), proven),
            ((None, ""), (Pass, "a.test"), (None, "a.test"), proven),
            ((Pass, "a.test"), (None, ""), (None, "a.test"), proven),
            ((Pass, "b.test"), (Pass, "c.test"), (None, "a.test"), not_proven),
            ((Pass, "x.a.test"), (Fail, "a.test"), (Fail, "a.test"), not_proven),
            (
                (Fail, "a.test"),
                (TempError, "a.test"),
                (None, "a.test"),
                "claims to be a.test; it could not be checked now",
            ),
            ((Pass, ""), (Pass, ""), (None, ""), NO_SENDER),
            ((None, ""), (Pass, "b\u{fc}cher.test"), (None, "b\u{fc}cher.test"), "sent by xn--bcher-kva.test, proven"),
            ((None, ""), (Pass, "a b"), (None, "a b"), NO_SENDER),
        ] {
            assert_eq!(summary(spf, dkim, dmarc), expected);
        }
    }
}
