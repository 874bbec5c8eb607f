//! The text of a rule for faults to the rule.

use std::num::{NonZeroU32, NonZeroU64};
use std::time::Duration;

use super::value::{self, ValueError};
use crate::model::{AddressPattern, FAULT_DELAY_MAX, FaultAction, FaultOutcome, FaultRule, FaultStage, FaultTimes};

/// The form of a rule.
const ACCEPTED: &str = "STAGE [PATTERN] [#N | first N | every N] [delay TIME] [CODE [X.Y.Z] [TEXT] | drop | slow N/s], \
     such as 'RCPT user4xx@* first 2 451 4.3.0'";
/// The longest rule in octets.
const RULE_OCTETS_MAX: usize = 400;
/// The largest number of a match.
const TIMES_MAX: u64 = 1_000_000;
/// The shortest delay.
const DELAY_MIN: Duration = Duration::from_millis(1);
/// The fastest slow reply, in octets per second.
const RATE_MAX: u32 = 1000;
/// The text of a reply without one.
const REPLY_TEXT: &str = "A fault on purpose";

/// Reads a rule for faults. The error names the rule, what is wrong with it and what is accepted.
pub fn fault_rule(text: &str) -> Result<FaultRule, ValueError> {
    let invalid = |reason: String| ValueError::invalid(text, &reason, ACCEPTED);
    if text.len() > RULE_OCTETS_MAX {
        return Err(invalid(format!("it is longer than {RULE_OCTETS_MAX} octets")));
    }
    if text.chars().any(char::is_control) {
        return Err(invalid("it has a control character".to_owned()));
    }
    Words(text.trim()).rule(text.trim()).map_err(invalid)
}

/// What is left of a rule.
struct Words<'a>(&'a str);

impl<'a> Words<'a> {
    fn peek(&self) -> &'a str {
        self.0.split(' ').next().unwrap_or_default()
    }

    fn next(&mut self) -> &'a str {
        let (word, rest) = self.0.split_once(' ').unwrap_or((self.0, ""));
        self.0 = rest.trim_start();
        word
    }

    /// Takes the next word if it is this one.
    fn take(&mut self, word: &str) -> bool {
        let is_there = self.peek().eq_ignore_ascii_case(word);
        if is_there {
            self.next();
        }
        is_there
    }

    fn rule(mut self, text: &str) -> Result<FaultRule, String> {
        let word = self.next();
        let stage = FaultStage::ALL.into_iter().find(|stage| stage.as_str().eq_ignore_ascii_case(word));
        let stage = stage.ok_or_else(|| {
            format!("'{word}' is no stage; stages are {}", FaultStage::ALL.map(FaultStage::as_str).join(", "))
        })?;
        let pattern = self.pattern(stage)?;
        let times = self.times()?;
        let delay = if self.take("delay") { self.delay()? } else { Duration::ZERO };
        let outcome = self.outcome(stage)?;
        if delay.is_zero() && outcome == FaultOutcome::Usual {
            return Err("it does nothing".to_owned());
        }
        Ok(FaultRule { text: text.to_owned(), stage, pattern, times, action: FaultAction { delay, outcome } })
    }

    fn pattern(&mut self, stage: FaultStage) -> Result<Option<AddressPattern>, String> {
        let word = self.peek();
        let pattern = match word.rsplit_once('@') {
            Some((local_part, domain)) if !local_part.is_empty() && !domain.is_empty() => {
                Some(AddressPattern::new(local_part, domain))
            }
            Some(_) => return Err(format!("'{word}' is no pattern of addresses such as 'user*@example.test'")),
            None if word == "<>" && stage == FaultStage::Mail => Some(AddressPattern::NullSender),
            None if word == "<>" => return Err("'<>' is a sender, which only MAIL has".to_owned()),
            None if word == "*" => None,
            None => return Ok(None),
        };
        if !stage.has_addresses() {
            return Err(format!("{} has no address, so it takes no pattern", stage.as_str()));
        }
        self.next();
        Ok(pattern)
    }

    fn times(&mut self) -> Result<FaultTimes, String> {
        if let Some(number) = self.peek().strip_prefix('#') {
            self.next();
            return times(number).map(FaultTimes::Only);
        }
        if self.take("first") {
            return times(self.next()).map(FaultTimes::First);
        }
        if self.take("every") {
            return times(self.next()).map(FaultTimes::Every);
        }
        Ok(FaultTimes::Always)
    }

    fn delay(&mut self) -> Result<Duration, String> {
        value::duration(self.next(), DELAY_MIN..=FAULT_DELAY_MAX).map_err(|error| error.to_string())
    }

    fn outcome(&mut self, stage: FaultStage) -> Result<FaultOutcome, String> {
        if self.0.is_empty() {
            return Ok(FaultOutcome::Usual);
        }
        if self.take("drop") {
            return self.nothing_after(FaultOutcome::Drop);
        }
        if self.take("slow") {
            let word = self.next();
            let rate = word.strip_suffix("/s").and_then(|rate| value::number(rate, 1..=RATE_MAX).ok());
            let rate = rate.and_then(NonZeroU32::new);
            let rate = rate.ok_or_else(|| format!("'{word}' is no rate; accepted is 1/s to {RATE_MAX}/s"))?;
            return self.nothing_after(FaultOutcome::Slow(rate));
        }
        self.reply(stage)
    }

    fn nothing_after(&self, outcome: FaultOutcome) -> Result<FaultOutcome, String> {
        if self.0.is_empty() { Ok(outcome) } else { Err(format!("'{}' follows the end of the rule", self.0)) }
    }

    fn reply(&mut self, stage: FaultStage) -> Result<FaultOutcome, String> {
        let word = self.next();
        let code = value::number(word, 400..=599_u16);
        let code = code.map_err(|_| format!("'{word}' is no action; a reply has a code from 400 to 599"))?;
        let has_status = is_status(self.peek());
        if has_status && !self.peek().starts_with(&word[..1]) {
            return Err(format!("the class of '{}' is not that of {code}", self.peek()));
        }
        if !self.0.bytes().all(|octet| matches!(octet, b' '..=b'~')) {
            return Err("a reply is ASCII".to_owned());
        }
        // RFC 2034 section 4: there is none in the greeting and in the reply to EHLO, and one everywhere else.
        let needs_status = !has_status && !matches!(stage, FaultStage::Banner | FaultStage::Ehlo);
        let mut text = if needs_status { format!("{}.0.0 ", &word[..1]) } else { String::new() };
        text.push_str(self.0);
        if self.0.is_empty() || (has_status && !self.0.contains(' ')) {
            text.push_str(if text.is_empty() || text.ends_with(' ') { "" } else { " " });
            text.push_str(REPLY_TEXT);
        }
        Ok(FaultOutcome::Reply(code, text))
    }
}

fn times(text: &str) -> Result<NonZeroU64, String> {
    let number = value::number(text, 1..=TIMES_MAX).ok().and_then(NonZeroU64::new);
    number.ok_or_else(|| format!("'{text}' is no number from 1 to {TIMES_MAX}"))
}

/// Whether a word is an enhanced status code (RFC 3463 section 2).
fn is_status(word: &str) -> bool {
    let parts: Vec<&str> = word.split('.').collect();
    let is_part = |part: &&str| matches!(part.len(), 1..=3) && part.bytes().all(|octet| octet.is_ascii_digit());
    parts.len() == 3 && parts.iter().all(is_part) && matches!(parts[0], "4" | "5")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(text: &str) -> FaultOutcome {
        fault_rule(text).expect(text).action.outcome
    }

    #[test]
    fn each_part_of_a_rule_is_read() {
        let number = |number| NonZeroU64::new(number).expect("a number");
        let rule = fault_rule(" rcpt  User4xx@* first 2 delay 1m30s 451 4.3.0 Later, please ").expect("rule");
        assert_eq!((rule.stage, rule.times), (FaultStage::Rcpt, FaultTimes::First(number(2))));
        assert_eq!(rule.pattern, Some(AddressPattern::Address("user4xx@*".to_owned())));
        assert_eq!(rule.action.delay, Duration::from_secs(90));
        assert_eq!(rule.action.outcome, FaultOutcome::Reply(451, "4.3.0 Later, please".to_owned()));
        assert_eq!(rule.to_string(), "rcpt  User4xx@* first 2 delay 1m30s 451 4.3.0 Later, please");
        for (text, stage, times) in [
            ("banner #3 drop", FaultStage::Banner, FaultTimes::Only(number(3))),
            ("EHLO every 10 drop", FaultStage::Ehlo, FaultTimes::Every(number(10))),
            ("data drop", FaultStage::Data, FaultTimes::Always),
            ("END * drop", FaultStage::End, FaultTimes::Always),
            ("tls drop", FaultStage::Tls, FaultTimes::Always),
        ] {
            let rule = fault_rule(text).expect(text);
            assert_eq!((rule.stage, rule.times, rule.pattern), (stage, times, None), "{text}");
        }
        let null = fault_rule("MAIL <> 550").expect("rule");
        assert_eq!(null.pattern, Some(AddressPattern::NullSender));
    }

    #[test]
    fn a_reply_has_an_enhanced_status_code_where_there_may_be_one() {
        for (text, reply) in [
            ("RCPT 451", "4.0.0 A fault on purpose"),
            ("RCPT 451 4.7.28", "4.7.28 A fault on purpose"),
            ("RCPT 550 5.7.26 No DMARC", "5.7.26 No DMARC"),
            ("RCPT 550 No thanks", "5.0.0 No thanks"),
            ("RCPT 550 5.1 is a version", "5.0.0 5.1 is a version"),
            ("banner 554", "A fault on purpose"),
            ("EHLO 421 Busy", "Busy"),
            ("EHLO 421 4.3.2", "4.3.2 A fault on purpose"),
        ] {
            let FaultOutcome::Reply(_, found) = outcome(text) else { panic!("{text}") };
            assert_eq!(found, reply, "{text}");
        }
        assert_eq!(outcome("EHLO slow 10/s"), FaultOutcome::Slow(NonZeroU32::new(10).expect("ten")));
        assert_eq!(outcome("EHLO delay 2s"), FaultOutcome::Usual);
    }

    #[test]
    fn what_is_wrong_is_named_with_the_rule_and_what_is_accepted() {
        for (text, reason) in [
            ("", "'' is no stage; stages are banner, EHLO, MAIL, RCPT, DATA, end, TLS"),
            ("QUIT 451", "'QUIT' is no stage"),
            ("RCPT", "it does nothing"),
            ("RCPT a@b.test", "it does nothing"),
            ("RCPT @b.test 451", "'@b.test' is no pattern"),
            ("EHLO a@b.test 451", "EHLO has no address"),
            ("banner * 451", "banner has no address"),
            ("RCPT <> 451", "only MAIL"),
            ("RCPT #0 451", "'0' is no number from 1 to 1000000"),
            ("RCPT first 451", "it does nothing"),
            ("RCPT first", "'' is no number"),
            ("RCPT every 1000001 451", "'1000001' is no number"),
            ("RCPT delay 16m", "out of range; accepted is 1ms to 15m"),
            ("RCPT delay soon", "'soon' is not a duration"),
            ("RCPT 250 OK", "'250' is no action; a reply has a code from 400 to 599"),
            ("RCPT 354", "a code from 400 to 599"),
            ("RCPT refuse", "'refuse' is no action"),
            ("RCPT 451 5.3.0", "the class of '5.3.0' is not that of 451"),
            ("RCPT drop 451", "'451' follows the end of the rule"),
            ("RCPT slow 10", "'10' is no rate; accepted is 1/s to 1000/s"),
            ("RCPT slow 0/s", "'0/s' is no rate"),
            ("RCPT slow 1001/s", "'1001/s' is no rate"),
            ("RCPT 451 Gr\u{fc}\u{df}e", "a reply is ASCII"),
            ("RCPT 451 a\r\nb", "a control character"),
        ] {
            let error = fault_rule(text).expect_err(text).to_string();
            assert!(error.contains(reason) && error.contains("accepted is STAGE [PATTERN]"), "{text}: {error}");
        }
        let long = format!("RCPT 451 {}", "x".repeat(RULE_OCTETS_MAX));
        assert!(fault_rule(&long).expect_err("long").to_string().contains("longer than 400 octets"));
    }
}
