//! What may stand at the cursor, by the command tree and the words before it. It asks no service.

use clap::{Arg, ArgAction, Command};

use super::candidate::Candidate;
use super::kind::{self, Kind, Values};

/// What may stand at the cursor.
#[derive(Debug)]
pub(super) struct Wanted {
    /// The value as far as it is typed.
    pub(super) typed: String,
    /// What stands before the value in the same word, such as `--domain=`.
    pub(super) prefix: String,
    /// What may be there whatever the service knows.
    pub(super) fixed: Vec<Candidate>,
    /// The values that may be there besides.
    pub(super) kinds: Vec<Kind>,
    /// The words before the cursor that are neither commands nor flags nor values of flags.
    pub(super) operands: Vec<String>,
    /// The long names of the flags before the cursor, and their values.
    flags: Vec<(String, Option<String>)>,
}

impl Wanted {
    /// The value of the flag `--long` before the cursor; the last one counts.
    pub(super) fn flag(&self, long: &str) -> Option<&str> {
        self.flags.iter().rev().find(|(name, _)| name == long)?.1.as_deref()
    }
}

/// A reader of the words before the cursor.
struct Reader<'t> {
    command: &'t Command,
    /// The names of the commands below the root.
    path: String,
    operands: Vec<String>,
    flags: Vec<(String, Option<String>)>,
    /// The flag whose value comes next, and whether something else may come as well.
    open: Option<(&'t Arg, bool)>,
    /// Whether what begins with a hyphen is no flag any more.
    is_behind_flags: bool,
}

/// What may stand at the end of `words`, the first of which is the program. `tree` is built.
pub(super) fn wanted(tree: &Command, words: &[String]) -> Wanted {
    let mut reader = Reader {
        command: tree,
        path: String::new(),
        operands: Vec::new(),
        flags: Vec::new(),
        open: None,
        is_behind_flags: false,
    };
    let (typed, before) = words.split_last().map_or(("", [].as_slice()), |(last, before)| (last.as_str(), before));
    before.iter().skip(1).for_each(|word| reader.read(word));
    reader.at_end(typed)
}

impl<'t> Reader<'t> {
    fn read(&mut self, word: &str) {
        let is_flag = !self.is_behind_flags && word.len() > 1 && word.starts_with('-');
        match self.open.take() {
            Some((arg, is_optional)) if !(is_optional && is_flag) => return self.read_value(arg, word),
            _ => {}
        }
        if !is_flag {
            return self.read_operand(word);
        }
        match word.strip_prefix("--") {
            Some("") => self.is_behind_flags = true,
            Some(long) => {
                let (name, value) = long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value)));
                if let Some(arg) = self.long(name) {
                    self.read_flag(arg, value);
                }
            }
            None => self.read_short(&word[1..]),
        }
    }

    /// Reads `qo` of `-qo json`, or `ojson`.
    fn read_short(&mut self, letters: &str) {
        for (at, letter) in letters.char_indices() {
            let Some(arg) = self.command.get_arguments().find(|arg| arg.get_short() == Some(letter)) else { return };
            let rest = &letters[at + letter.len_utf8()..];
            let value = (arg.get_action().takes_values() && !rest.is_empty()).then_some(rest);
            self.read_flag(arg, value);
            if value.is_some() {
                return;
            }
        }
    }

    fn read_flag(&mut self, arg: &'t Arg, value: Option<&str>) {
        self.flags.push((arg.get_long().unwrap_or_default().to_owned(), value.map(str::to_owned)));
        if value.is_none() && arg.get_action().takes_values() && !arg.is_require_equals_set() {
            self.open = Some((arg, arg.get_num_args().is_some_and(|count| count.min_values() == 0)));
        }
    }

    fn read_value(&mut self, arg: &'t Arg, word: &str) {
        if let Some((_, value)) = self.flags.last_mut() {
            *value = Some(word.to_owned());
        }
        if arg.get_num_args().is_some_and(|count| count.max_values() > 1) {
            self.open = Some((arg, true));
        }
    }

    fn read_operand(&mut self, word: &str) {
        if self.operands.is_empty()
            && let Some(command) = self.command.find_subcommand(word)
        {
            if !self.path.is_empty() {
                self.path.push(' ');
            }
            self.path.push_str(command.get_name());
            self.command = command;
            return;
        }
        self.is_behind_flags |= self.operand().is_some_and(Arg::is_trailing_var_arg_set);
        self.operands.push(word.to_owned());
    }

    /// The argument that the next operand belongs to. The last one takes several where it may.
    fn operand(&self) -> Option<&'t Arg> {
        let takes_several = |arg: &&Arg| {
            matches!(arg.get_action(), ArgAction::Append)
                || arg.get_num_args().is_some_and(|count| count.max_values() > 1)
        };
        let last = || self.command.get_positionals().last().filter(takes_several);
        self.command.get_positionals().nth(self.operands.len()).or_else(last)
    }

    fn long(&self, name: &str) -> Option<&'t Arg> {
        let is_it = |arg: &&Arg| {
            arg.get_long() == Some(name) || arg.get_all_aliases().is_some_and(|aliases| aliases.contains(&name))
        };
        self.command.get_arguments().find(is_it)
    }

    fn at_end(self, word: &str) -> Wanted {
        let is_flag = !self.is_behind_flags && word.starts_with('-');
        let flag_with_value = word.split_once('=').filter(|_| is_flag && word.starts_with("--"));
        let (mut prefix, mut typed) = (String::new(), word);
        let mut values = Values::default();
        match self.open {
            Some((arg, false)) => values = kind::values(&self.path, arg),
            _ if let Some((flag, value)) = flag_with_value => {
                (prefix, typed) = (format!("{flag}="), value);
                if let Some(arg) = self.long(&flag[2..]) {
                    values = kind::values(&self.path, arg);
                }
            }
            _ if is_flag => values.fixed = self.flags_left(),
            open => {
                let args = [open.map(|(arg, _)| arg), self.operand()];
                for more in args.into_iter().flatten().map(|arg| kind::values(&self.path, arg)) {
                    values.fixed.extend(more.fixed);
                    values.kinds.extend(more.kinds);
                }
                if self.operands.is_empty() {
                    values.fixed.extend(commands(self.command));
                }
            }
        }
        let (typed, Values { fixed, kinds }) = (typed.to_owned(), values);
        Wanted { typed, prefix, fixed, kinds, operands: self.operands, flags: self.flags }
    }

    /// The flags of the command, without those that were given and count once.
    fn flags_left(&self) -> Vec<Candidate> {
        let is_left = |arg: &&Arg| {
            let is_given = self.flags.iter().any(|(name, _)| arg.get_long() == Some(name));
            !arg.is_hide_set() && (!is_given || matches!(arg.get_action(), ArgAction::Append | ArgAction::Count))
        };
        let names = |arg: &Arg| {
            let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
            let names =
                [arg.get_long().map(|long| format!("--{long}")), arg.get_short().map(|short| format!("-{short}"))];
            names.into_iter().flatten().map(move |name| Candidate::new(name, help.clone()))
        };
        self.command.get_arguments().filter(is_left).flat_map(names).collect()
    }
}

/// The commands below `command`.
pub(super) fn commands(command: &Command) -> impl Iterator<Item = Candidate> {
    let shown = command.get_subcommands().filter(|below| !below.is_hide_set());
    shown.map(|below| Candidate::new(below.get_name(), below.get_about().map(ToString::to_string).unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree() -> Command {
        let mut tree = crate::cli::command().disable_help_subcommand(true);
        tree.build();
        tree
    }

    fn at(line: &str) -> Wanted {
        wanted(&tree(), &line.split(' ').map(str::to_owned).collect::<Vec<_>>())
    }

    fn fixed(line: &str) -> Vec<String> {
        let wanted = at(line);
        let is_typed = |candidate: &Candidate| candidate.value.starts_with(&wanted.typed);
        wanted.fixed.iter().filter(|it| is_typed(it)).map(|it| it.value.clone()).collect()
    }

    #[test]
    fn the_words_before_the_cursor_say_what_comes() {
        use Kind::{Address, Command, Directory, Domain, Event, File, Guide, Mail, Topic, Webhook};
        for (line, kinds) in [
            ("tempmail", &[][..]),
            ("tempmail ", &[]),
            ("tempmail inbox ", &[Address]),
            ("tempmail inbox a@b.test ", &[]),
            ("tempmail -v --data-dir x inbox ", &[Address]),
            ("tempmail -qo json inbox ", &[Address]),
            ("tempmail -ojson inbox ", &[Address]),
            ("tempmail --output=json inbox ", &[Address]),
            ("tempmail --data-dir ", &[Directory]),
            ("tempmail --config ", &[File]),
            ("tempmail read ", &[Mail, Address]),
            ("tempmail open a@b.test ", &[Mail]),
            ("tempmail delete - ", &[]),
            ("tempmail delete --id ", &[Mail]),
            ("tempmail delete --id 1234 5678 ", &[Mail, Address]),
            ("tempmail delete --id 1234 --yes ", &[Address]),
            ("tempmail wait a@b.test --since ", &[Mail]),
            ("tempmail send-test ", &[Address]),
            ("tempmail send-test --file ", &[File]),
            ("tempmail sendmail -t -i ", &[Address]),
            ("tempmail domain rm ", &[Domain]),
            ("tempmail domain check-dns ", &[Domain]),
            ("tempmail new --domain ", &[Domain]),
            ("tempmail new --domain=ex", &[Domain]),
            ("tempmail webhook add ", &[Address]),
            ("tempmail webhook ls ", &[Address]),
            ("tempmail webhook deliveries ", &[Webhook]),
            ("tempmail webhook remove 1234 ", &[Webhook]),
            ("tempmail webhook replay 1234 ", &[Event]),
            ("tempmail token revoke ", &[]),
            ("tempmail token new --name ", &[]),
            ("tempmail fault clear ", &[]),
            ("tempmail help ", &[Guide, Topic, Command]),
            ("tempmail inbox -- ", &[Address]),
            ("tempmail no-command ", &[]),
            ("tempmail inbox --no-flag ", &[Address]),
        ] {
            assert_eq!(at(line).kinds, kinds, "{line}");
        }
    }

    #[test]
    fn what_the_tree_knows_is_offered_without_the_service() {
        assert_eq!(fixed("tempmail dom"), ["domain"]);
        assert_eq!(fixed("tempmail domain "), ["add", "list", "check-dns", "verify", "remove"]);
        assert_eq!(fixed("tempmail inbox --js"), ["--json"]);
        assert_eq!(fixed("tempmail --json inbox --js"), [""; 0]);
        assert_eq!(fixed("tempmail -v --verb"), ["--verbose"]);
        assert_eq!(fixed("tempmail -o ta"), ["table"]);
        assert_eq!(fixed("tempmail wait a@b.test --has "), ["attachment", "code", "link"]);
        assert_eq!(fixed("tempmail wait a@b.test --since "), ["now"]);
        assert_eq!(fixed("tempmail wait --link re"), ["reset"]);
        assert_eq!(fixed("tempmail serve --subaddressing "), ["keep", "strip"]);
        assert_eq!(fixed("tempmail inbox -- --js"), [""; 0]);
        assert_eq!(fixed("tempmail __"), [""; 0]);
    }

    #[test]
    fn a_value_in_the_word_of_its_flag_keeps_the_flag() {
        let wanted = at("tempmail --server http://a.test --server=http://b.test new --domain=exa");
        assert_eq!((wanted.prefix.as_str(), wanted.typed.as_str()), ("--domain=", "exa"));
        assert_eq!(wanted.flag("server"), Some("http://b.test"));
        assert_eq!(wanted.flag("data-dir"), None);
        assert_eq!(at("tempmail read a@b.test 12").operands, ["a@b.test"]);
    }
}
