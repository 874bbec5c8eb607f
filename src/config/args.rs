//! The flags of `serve`, one for each setting.

use std::collections::BTreeMap;

use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};

use super::removed;
use super::setting::{Setting, all};

/// The settings given as flags, as texts: the loader reads values, so that a value has one
/// meaning, one message and one exit code from every source.
///
/// Use it as `#[command(flatten)]`. `--data-dir` and `--config` belong to the whole program and are not among them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServeArgs {
    given: BTreeMap<String, Vec<String>>,
}

impl ServeArgs {
    /// The values of each flag that was given, in the order given, not yet split at commas.
    pub(super) fn given(&self) -> impl Iterator<Item = (&str, &[String])> {
        self.given.iter().map(|(key, values)| (key.as_str(), values.as_slice()))
    }

    fn flags() -> impl Iterator<Item = Arg> {
        // Some were switches, so none needs a value.
        let gone = |key| Arg::new(key).long(key).hide(true).action(ArgAction::Append).num_args(0..=1);
        let removed = removed::keys().map(move |key| gone(key).default_missing_value("true"));
        all().filter(|setting| setting.key != "data-dir").map(Setting::flag).chain(removed)
    }
}

impl Args for ServeArgs {
    fn augment_args(command: Command) -> Command {
        command.args(Self::flags())
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for ServeArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut args = Self::default();
        args.update_from_arg_matches(matches)?;
        Ok(args)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        for flag in Self::flags() {
            if let (Some(key), Some(values)) = (flag.get_long(), matches.get_many::<String>(flag.get_id().as_str())) {
                self.given.insert(key.to_owned(), values.cloned().collect());
            }
        }
        Ok(())
    }
}
#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::config::{FIRST, settings};

    fn command() -> Command {
        ServeArgs::augment_args(Command::new("serve"))
    }

    fn parse(args: &[&str]) -> Result<ServeArgs, clap::Error> {
        let matches = command().no_binary_name(true).try_get_matches_from(args)?;
        ServeArgs::from_arg_matches(&matches)
    }

    #[test]
    fn flags_and_settings_are_the_same_set() {
        command().debug_assert();
        let flags: BTreeSet<_> = command()
            .get_arguments()
            .filter(|arg| !arg.is_hide_set())
            .filter_map(|arg| arg.get_long().map(str::to_owned))
            .collect();
        let mut expected: BTreeSet<_> = settings().map(|setting| setting.key.clone()).collect();
        assert!(expected.len() <= 52, "{} settings", expected.len());
        assert!(expected.remove("data-dir"), "data-dir is a flag of the whole program");
        assert_eq!(flags, expected);
    }

    #[test]
    fn each_flag_says_what_its_default_is() {
        let help = command().render_long_help().to_string().split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(help.matches("[default: ").count(), settings().count() - 1, "{help}");
        for text in ["[default: 300KB; revision 1: 10MB]", "[default: 12h; revision 1: 1d]", "[default: 2h]"] {
            assert!(help.contains(text), "{text} in {help}");
        }
    }

    #[test]
    fn the_short_help_has_the_common_flags_and_the_long_one_all_by_subject() {
        let short = command().render_help().to_string();
        // A line may break between the words.
        let short = short.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(short.matches("[default: ").count(), FIRST.len() - 1, "{short}");
        let long = command().render_long_help().to_string();
        for setting in settings() {
            assert!(long.contains(&format!("\n{}:\n", setting.subject)), "{} in {long}", setting.subject);
        }
    }

    #[test]
    fn values_are_kept_as_given() {
        let args = parse(&["--domain", "a.test,b.test", "--domain=c.test", "--retention", "nonsense"]).expect("args");
        let given: Vec<_> = args.given().map(|(key, values)| (key, values.join(" "))).collect();
        assert_eq!(given, [("domain", "a.test,b.test c.test".to_owned()), ("retention", "nonsense".to_owned())]);
    }

    #[test]
    fn a_switch_takes_its_value_behind_an_equals_sign_alone() {
        for (given, value) in [("--trusted-network", "true"), ("--accept-any-domain=false", "false")] {
            let args = parse(&[given]).expect(given);
            assert_eq!(args.given().collect::<Vec<_>>(), [("trusted-network", &[value.to_owned()][..])]);
        }
        assert!(parse(&["--trusted-network", "false"]).is_err());
    }

    #[test]
    fn a_single_value_cannot_be_given_twice() {
        assert!(parse(&["--retention", "1h", "--retention", "2h"]).is_err());
        assert!(parse(&["--no-such-setting", "1h"]).is_err());
    }
}
