//! The text of a rule to the rule.

use std::num::NonZeroU32;
use std::str::FromStr;
use std::time::Duration;

use super::{DELAY_MAX, Fault, Outcome, Rule, Stage, Times, pattern};
use crate::value::{self, ValueError};

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
const RATE_MAX: NonZeroU32 = NonZeroU32::new(1000).unwrap();
/// The text of a reply without one.
const REPLY_TEXT: &str = "A fault on purpose";

impl FromStr for Rule {
    type Err = ValueError;

    /// The error names the rule, what is wrong with it and what is accepted.
    fn from_str(text: &str) -> Result<Self, ValueError> {
        let rule = if text.len() > RULE_OCTETS_MAX {
            Err(format!("it is longer than {RULE_OCTETS_MAX} octets"))
        } else if text.chars().any(char::is_control) {
            Err("it has a control character".to_owned())
        } else {
            Words(text.trim()).rule()
        };
        rule.map_err(|reason| ValueError::invalid(text, &reason, ACCEPTED))
    }
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

    fn rule(mut self) -> Result<Rule, String> {
        let text = self.0.to_owned();
        let word = self.next();
        let stage = Stage::ALL.into_iter().find(|stage| stage.as_str().eq_ignore_ascii_case(word));
        let stages = || Stage::ALL.map(Stage::as_str).join(", ");
        let stage = stage.ok_or_else(|| format!("'{word}' is no stage; stages are {}", stages()))?;
        let pattern = self.pattern(stage)?;
        let times = self.times()?;
        let mut delay = Duration::ZERO;
        if self.take("delay") {
            delay = value::duration(DELAY_MIN..=DELAY_MAX)(self.next()).map_err(|error| error.to_string())?;
        }
        let outcome = self.outcome(stage)?;
        if delay.is_zero() && outcome == Outcome::Usual {
            return Err("it does nothing".to_owned());
        }
        Ok(Rule { text, stage, pattern, times, fault: Fault { delay, outcome } })
    }

    fn pattern(&mut self, stage: Stage) -> Result<Option<String>, String> {
        let word = self.peek();
        let pattern = match word.rsplit_once('@') {
            None if word == "*" => None,
            None if word != pattern::NULL_SENDER => return Ok(None),
            None if stage == Stage::Mail => Some(word.to_owned()),
            None => return Err("'<>' is a sender, which only MAIL has".to_owned()),
            Some(("", _) | (_, "")) => {
                return Err(format!("'{word}' is no pattern of addresses such as 'user*@example.test'"));
            }
            Some((local_part, domain)) => Some(pattern::canonical(local_part, domain)),
        };
        if matches!(stage, Stage::Banner | Stage::Ehlo | Stage::Tls) {
            return Err(format!("{} has no address, so it takes no pattern", stage.as_str()));
        }
        self.next();
        Ok(pattern)
    }

    fn times(&mut self) -> Result<Times, String> {
        if self.take("first") {
            return number(self.next()).map(Times::First);
        }
        if self.take("every") {
            return number(self.next()).map(Times::Every);
        }
        let Some(only) = self.peek().strip_prefix('#') else { return Ok(Times::Always) };
        self.next();
        number(only).map(Times::Only)
    }

    fn outcome(&mut self, stage: Stage) -> Result<Outcome, String> {
        if self.0.is_empty() {
            return Ok(Outcome::Usual);
        }
        let outcome = if self.take("drop") {
            Outcome::Drop
        } else if self.take("slow") {
            let word = self.next();
            let rate = word.strip_suffix("/s").and_then(|rate| value::number(NonZeroU32::MIN..=RATE_MAX)(rate).ok());
            Outcome::Slow(rate.ok_or_else(|| format!("'{word}' is no rate; accepted is 1/s to {RATE_MAX}/s"))?)
        } else {
            return self.reply(stage);
        };
        if self.0.is_empty() { Ok(outcome) } else { Err(format!("'{}' follows the end of the rule", self.0)) }
    }

    fn reply(&mut self, stage: Stage) -> Result<Outcome, String> {
        let word = self.next();
        let code = value::number(400..=599_u16)(word);
        let code = code.map_err(|_| format!("'{word}' is no action; a reply has a code from 400 to 599"))?;
        let class = &word[..1];
        let status = if is_status(self.peek()) { self.next() } else { "" };
        if !status.is_empty() && !status.starts_with(class) {
            return Err(format!("the class of '{status}' is not that of {code}"));
        }
        if !self.0.bytes().all(|octet| matches!(octet, b' '..=b'~')) {
            return Err("a reply is ASCII".to_owned());
        }
        let words = if self.0.is_empty() { REPLY_TEXT } else { self.0 };
        Ok(Outcome::Reply(
            code,
            match stage {
                _ if !status.is_empty() => format!("{status} {words}"),
                // RFC 2034 section 4: there is none in the greeting and in the reply to EHLO, and one everywhere else.
                Stage::Banner | Stage::Ehlo => words.to_owned(),
                _ => format!("{class}.0.0 {words}"),
            },
        ))
    }
}

fn number(text: &str) -> Result<u64, String> {
    value::number(1..=TIMES_MAX)(text).map_err(|_| format!("'{text}' is no number from 1 to {TIMES_MAX}"))
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

    fn rule(text: &str) -> Rule {
        text.parse().expect(text)
    }

    fn outcome(text: &str) -> Outcome {
        rule(text).fault.outcome
    }

    #[test]
    fn each_part_of_a_rule_is_read() {
        let read = rule(" rcpt  User4xx@* first 2 delay 1m30s 451 4.3.0 Later, please ");
        assert_eq!((read.stage, read.times), (Stage::Rcpt, Times::First(2)));
        assert_eq!(read.pattern, Some("user4xx@*".to_owned()));
        assert_eq!(read.fault.delay, Duration::from_secs(90));
        assert_eq!(read.fault.outcome, Outcome::Reply(451, "4.3.0 Later, please".to_owned()));
        assert_eq!(read.to_string(), "rcpt  User4xx@* first 2 delay 1m30s 451 4.3.0 Later, please");
        for (text, stage, times) in [
            ("banner #3 drop", Stage::Banner, Times::Only(3)),
            ("EHLO every 10 drop", Stage::Ehlo, Times::Every(10)),
            ("data drop", Stage::Data, Times::Always),
            ("END * drop", Stage::End, Times::Always),
            ("tls drop", Stage::Tls, Times::Always),
        ] {
            let rule = rule(text);
            assert_eq!((rule.stage, rule.times, rule.pattern), (stage, times, None), "{text}");
        }
        let null = rule("MAIL <> 550");
        assert_eq!(null.pattern, Some("<>".to_owned()));
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
            let Outcome::Reply(_, found) = outcome(text) else { panic!("{text}") };
            assert_eq!(found, reply, "{text}");
        }
        assert_eq!(outcome("EHLO slow 10/s"), Outcome::Slow(NonZeroU32::new(10).expect("ten")));
        assert_eq!(outcome("EHLO delay 2s"), Outcome::Usual);
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
            let error = text.parse::<Rule>().expect_err(text).to_string();
            assert!(error.contains(reason) && error.contains("accepted is STAGE [PATTERN]"), "{text}: {error}");
        }
        let long = format!("RCPT 451 {}", "x".repeat(RULE_OCTETS_MAX));
        assert!(long.parse::<Rule>().expect_err("long").to_string().contains("longer than 400 octets"));
    }
}
