//! The options of sendmail, as getopt reads them: letters may stand together, a value follows at once or as the next word.

use std::ffi::OsString;

/// Options whose meaning does not matter here, with a value: the type of the body, files, logs, the number of hops, DSN.
const WITH_VALUE: &str = "BCDLNOpRVXhA";
/// Those without: verbosity of a queue, aliases, initial submission.
const WITHOUT: &str = "GUmn";
/// Those whose value, if any, follows at once: debugging, and the handling of errors.
const WITH_ATTACHED: &str = "de";

/// What the command line asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Options {
    /// `-q`: run the queue, and hand over nothing.
    pub(super) runs_queue: bool,
    /// `-i` and `-oi`: a line with only a dot is a line like any other, and does not end the message.
    pub(super) ignores_dot: bool,
    /// `-t`.
    pub(super) takes_recipients_of_fields: bool,
    pub(super) is_verbose: bool,
    /// `-f`, without angle brackets; empty for the null sender.
    pub(super) sender: Option<String>,
    /// `-F`: the full name of the sender.
    pub(super) name: Option<String>,
    /// `-S`: where SMTP listens.
    pub(super) smtp: Option<String>,
    pub(super) recipients: Vec<String>,
}

impl Options {
    /// Reads the words behind the command. The error is a sentence.
    pub(super) fn read(words: Vec<OsString>) -> Result<Self, String> {
        let mut options = Self::default();
        let mut words =
            words.into_iter().map(|word| word.into_string().map_err(|_| "an argument is no UTF-8".to_owned()));
        let mut are_options_over = false;
        while let Some(word) = words.next().transpose()? {
            if !are_options_over && word.len() > 2 && word.starts_with("--") {
                return Err(format!("there is no option {word}"));
            }
            match word.strip_prefix('-').filter(|letters| !letters.is_empty() && !are_options_over) {
                Some("-") => are_options_over = true,
                Some(letters) => options.letters(letters, &mut words)?,
                None => options.recipients.push(bare(&word)),
            }
        }
        Ok(options)
    }

    /// Reads a word of letters; the last may have its value in the next word.
    fn letters(
        &mut self,
        letters: &str,
        words: &mut impl Iterator<Item = Result<String, String>>,
    ) -> Result<(), String> {
        let mut rest = letters.chars();
        while let Some(letter) = rest.next() {
            let attached = rest.as_str().to_owned();
            let mut value = || match attached.as_str() {
                "" => words.next().unwrap_or_else(|| Err(format!("-{letter} needs a value"))),
                _ => Ok(attached.clone()),
            };
            match letter {
                'i' => self.ignores_dot = true,
                't' => self.takes_recipients_of_fields = true,
                'v' => self.is_verbose = true,
                'f' | 'r' => self.sender = Some(bare(&value()?)),
                'F' => self.name = Some(value()?),
                'S' => self.smtp = Some(value()?),
                'o' => self.ignores_dot |= value()? == "i",
                'b' => delivers(&value()?)?,
                'q' => self.runs_queue = true,
                letter if WITHOUT.contains(letter) || WITH_ATTACHED.contains(letter) => {}
                letter if WITH_VALUE.contains(letter) => _ = value()?,
                letter => return Err(format!("there is no option -{letter}")),
            }
            let is_alone = "itv".contains(letter) || WITHOUT.contains(letter);
            if !is_alone {
                return Ok(());
            }
        }
        Ok(())
    }
}

/// `-bm` is what happens anyway; the other modes of `-b` need a mail system.
fn delivers(mode: &str) -> Result<(), String> {
    if mode == "m" { Ok(()) } else { Err(format!("-b{mode} is not possible; only -bm is")) }
}

fn bare(address: &str) -> String {
    let address = address.trim();
    address.strip_prefix('<').and_then(|inner| inner.strip_suffix('>')).unwrap_or(address).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<Options, String> {
        Options::read(line.split_whitespace().map(OsString::from).collect())
    }

    #[test]
    fn the_lines_of_real_callers_are_understood() {
        let php = read("-t -i").expect("PHP");
        assert!(php.takes_recipients_of_fields && php.ignores_dot);
        let cron = read("-FCronDaemon -i -B8BITMIME -oem root").expect("cron");
        assert_eq!((cron.name.as_deref(), &cron.recipients[..]), (Some("CronDaemon"), &["root".to_owned()][..]));
        let cronie = read("-FCronDaemon -i -odi -oem -oi -t -f root").expect("cronie");
        assert_eq!((cronie.sender.as_deref(), cronie.takes_recipients_of_fields), (Some("root"), true));
        let mutt = read("-oem -oi -f me@x.test -- a@x.test b@x.test").expect("mutt");
        assert_eq!((mutt.sender.as_deref(), mutt.recipients.len(), mutt.ignores_dot), (Some("me@x.test"), 2, true));
        let symfony = read("-fme@x.test -N never -R hdrs -V id -O DeliveryMode=b a@x.test").expect("others");
        assert_eq!((symfony.sender.as_deref(), symfony.recipients.len()), (Some("me@x.test"), 1));
    }

    #[test]
    fn letters_may_stand_together() {
        let options = read("-tif <> -v").expect("options");
        assert!(options.takes_recipients_of_fields && options.ignores_dot && options.is_verbose);
        assert_eq!(options.sender.as_deref(), Some(""));
        assert_eq!(read("-bm a@x.test").map(|options| options.recipients.len()), Ok(1));
        assert_eq!(read("-q30m").map(|options| options.runs_queue), Ok(true));
        assert_eq!(read("-- -t").map(|options| options.recipients), Ok(vec!["-t".to_owned()]));
    }

    #[test]
    fn what_sendmail_does_not_know_is_refused() {
        for line in ["-z", "-bs", "-bp", "-f", "-I", "-tZ", "--unknown"] {
            assert!(read(line).is_err(), "{line}");
        }
    }
}
