//! The command line of a caller of `sendmail`. Its options mean other things than this program's, so clap must not see them.

use std::ffi::{OsStr, OsString};
use std::path::Path;

const NAME: &str = "sendmail";

/// The command line with `--` behind the command `sendmail`, so that what follows reaches it as it is; any other command line
/// unchanged. A program that is called by the name `sendmail` is that command. `tree` knows which options have a value.
pub(in crate::cli) fn as_command(args: Vec<OsString>, tree: &clap::Command) -> Vec<OsString> {
    let is_called_so = args.first().is_some_and(|name| Path::new(name).file_name() == Some(OsStr::new(NAME)));
    let at = if is_called_so { Some(0) } else { command_at(&args, tree).filter(|&at| args[at] == NAME) };
    let Some(at) = at else { return args };
    let (before, after) = args.split_at(at + 1);
    let before = if is_called_so { vec!["tempmail".into(), NAME.into()] } else { before.to_vec() };
    let asks_for_help = matches!(after, [word] if word == "--help");
    let end_of_options = (!asks_for_help).then(|| "--".into());
    before.into_iter().chain(end_of_options).chain(after.iter().cloned()).collect()
}

/// Where the command stands: the first word that is neither an option of every command nor the value of one.
fn command_at(args: &[OsString], tree: &clap::Command) -> Option<usize> {
    let mut words = args.iter().enumerate().skip(1);
    while let Some((at, word)) = words.next() {
        let word = word.to_str()?;
        if !word.starts_with('-') {
            return Some(at);
        }
        let has_value = tree.get_arguments().filter(|arg| arg.get_action().takes_values()).any(|arg| {
            let is_long = word.strip_prefix("--").is_some_and(|long| arg.get_long() == Some(long));
            let is_short = arg.get_short().is_some_and(|short| word == format!("-{short}"));
            is_long || is_short
        });
        if has_value {
            words.next();
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::command;

    fn of(line: &str) -> String {
        let args = line.split(' ').map(OsString::from).collect();
        let words: Vec<String> =
            as_command(args, &command()).into_iter().map(|word| word.into_string().expect("text")).collect();
        words.join(" ")
    }

    #[test]
    fn the_options_of_sendmail_are_kept_from_clap() {
        assert_eq!(of("/usr/sbin/sendmail -t -oi"), "tempmail sendmail -- -t -oi");
        assert_eq!(of("sendmail"), "tempmail sendmail --");
        assert_eq!(of("sendmail --help"), "tempmail sendmail --help");
        assert_eq!(of("tempmail sendmail -oi -q a@b"), "tempmail sendmail -- -oi -q a@b");
        assert_eq!(of("tempmail --data-dir D -q sendmail -t"), "tempmail --data-dir D -q sendmail -- -t");
        assert_eq!(of("tempmail --data-dir=D -o id sendmail"), "tempmail --data-dir=D -o id sendmail --");
    }

    #[test]
    fn another_command_is_left_as_it_is() {
        for line in ["tempmail", "tempmail help sendmail", "tempmail --data-dir sendmail inbox a@b", "tempmail read x"]
        {
            assert_eq!(of(line), line);
        }
    }
}
