//! The completions in real shells.
//! Promise: it outlives the code below it.

use std::fmt::from_fn;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::support::completions::{HOSTILE, Machine, gives};
use crate::support::programs;
use crate::support::terminal::Terminal;
use crate::support::until::blocking;

const TAB: &str = "\t";
/// Go to the beginning of the line, print its words instead of running them, and run that.
const PRINT: &str = "\u{1}echo \u{5} >printed\n";
/// Empty the line.
const CLEAR: &str = "\u{15}";
const PROMPT: &str = "ready> ";
/// After this time the keys for a list are typed again, and later after twice the last time.
const LISTED_WITHIN: Duration = Duration::from_secs(1);

fn script(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("completions").join(name).display().to_string()
}

/// A shell on a terminal, with the completions loaded.
struct Shell<'m> {
    machine: &'m Machine,
    terminal: Terminal,
}

impl<'m> Shell<'m> {
    /// Starts `command`; `setup` loads the completions and sets the prompt.
    fn start(machine: &'m Machine, command: Command, setup: &str) -> Self {
        let mut terminal = Terminal::start(command, 120, "");
        terminal.type_in(&format!("{setup}\n"));
        let shell = Self { machine, terminal };
        shell.shows(PROMPT);
        shell
    }

    /// Waits until the terminal has shown this.
    fn shows(&self, text: &str) {
        let what = from_fn(|f| write!(f, "{text:?} on the terminal: {:?}", self.terminal.shown()));
        blocking::until(what, || self.terminal.shown().contains(text));
    }

    /// The command line after `keys`, with its quotes gone.
    fn line(&mut self, keys: &str) -> String {
        let file = self.machine.home.path().join("printed");
        self.terminal.type_in(&format!("{keys}{PRINT}"));
        let what = from_fn(|f| write!(f, "the line {keys:?}: {:?}", self.terminal.shown()));
        let printed =
            blocking::until_some(what, || std::fs::read_to_string(&file).ok().filter(|text| text.ends_with('\n')));
        std::fs::remove_file(file).expect("remove");
        printed.trim_end().to_owned()
    }

    /// `keys` make this line. Tries again, because on a busy machine the daemon may answer too late.
    fn completes(&mut self, keys: &str, line: &str) {
        // zsh takes a slash away again where nothing follows it.
        blocking::until(format!("{line:?} by {keys:?}"), || self.line(keys).trim_end_matches('/') == line);
    }

    /// `keys` show these texts. Tries again like [`Self::completes`].
    fn lists(&mut self, keys: &str, texts: &[impl AsRef<str>]) {
        let (mut type_at, mut patience) = (Instant::now(), LISTED_WITHIN);
        blocking::until(format!("{keys:?} shows a list"), || {
            // zsh shows no list while keys wait for it.
            if Instant::now() >= type_at {
                self.terminal.type_in(&format!("{CLEAR}{keys}"));
                type_at = Instant::now() + patience;
                patience *= 2;
            }
            let shown = self.terminal.shown();
            texts.iter().all(|text| shown.contains(text.as_ref()))
        });
    }
}

/// What a person gets who presses TAB, whichever the shell is.
fn press_tab(shell: &mut Shell<'_>) {
    for (keys, line) in [
        ("inbox bob@example.t", "inbox bob@example.test"),
        ("inbox 'bob@example.t", "inbox bob@example.test"),
        ("wait an", "wait ann@example.test"),
        ("-v inbox bo", "-v inbox bob@example.test"),
        ("new --domain=example.o", "new --domain=example.org"),
        ("new --domain example.o", "new --domain example.org"),
        ("inbox --js", "inbox --json"),
        ("domain check-dns example.t", "domain check-dns example.test"),
        ("help exit", "help exit-codes"),
        ("--config som", "--config some file"),
        ("--data-dir dir", "--data-dir directory"),
        // What nobody knows stays as it is.
        ("inbox zoe", "inbox zoe"),
    ] {
        shell.completes(&format!("tempmail {keys}{TAB}"), &format!("tempmail {line}"));
    }
    // The part that several have in common, then one of them.
    shell.completes(&format!("tempmail inbox cat@e{TAB}o{TAB}"), "tempmail inbox cat@example.org");
    let names = std::fs::read_dir(shell.machine.home.path()).expect("directory");
    let names: Vec<_> = names.map(|entry| entry.expect("entry").file_name()).collect();
    assert!(names.iter().all(|name| name != "pwned" && name != "touch"), "{names:?}");
}

/// A machine whose address `ann@` has two mails that differ only in their ids, and a directory with a file.
fn machine() -> Machine {
    let machine = Machine::start();
    machine.gets("ann@example.test", HOSTILE);
    std::fs::write(machine.home.path().join("some file"), "").expect("write");
    std::fs::create_dir(machine.home.path().join("directory")).expect("directory");
    machine
}

#[test]
#[ignore = "needs bash"]
fn bash_completes_on_a_terminal() {
    let bash = programs::find("bash");
    let machine = machine();
    let mut command = machine.command(&bash);
    command.args(["--norc", "--noprofile", "-i"]);
    let setup = format!("PS1='rea''dy> '; bind 'set bell-style none'; source '{}'", script("tempmail.bash"));
    let mut shell = Shell::start(&machine, command, &setup);
    press_tab(&mut shell);
    // bash could insert a description into the line, so it gets none.
    // The first one may only insert what the ids have in common.
    shell.lists(&format!("tempmail read ann@example.test {TAB}{TAB}{TAB}"), &machine.ids("ann@example.test"));
    assert!(!shell.terminal.shown().contains("stranger"));
}

#[test]
#[ignore = "needs zsh"]
fn zsh_completes_on_a_terminal() {
    let zsh = programs::find("zsh");
    let machine = machine();
    let mut command = machine.command(&zsh);
    command.args(["-f", "-i"]);
    // As a package installs it: zsh loads the file of this name at the first completion.
    let directory = machine.home.path().join("functions");
    std::fs::create_dir(&directory).expect("directory");
    std::fs::copy(script("_tempmail"), directory.join("_tempmail")).expect("copy");
    // Ids that begin alike are listed at the first TAB too.
    let setup =
        "unsetopt beep list_ambiguous; fpath+=~/functions; autoload -Uz compinit; compinit -u -D; PS1='rea''dy> '";
    let mut shell = Shell::start(&machine, command, setup);
    press_tab(&mut shell);
    let ids = machine.ids("ann@example.test");
    let subject = ["$(touch pwned) `touch pwned`", "%F{red};|&<>*~ <U+202E>pwned"];
    let texts: Vec<_> = subject.into_iter().chain(ids.iter().map(String::as_str)).collect();
    shell.lists(&format!("tempmail read ann@example.test {TAB}"), &texts);
    let shown = shell.terminal.shown();
    assert!(shown.rfind(&ids[0]) < shown.rfind(&ids[1]), "the newest is not the first: {shown}");
}

#[test]
#[ignore = "needs fish and setsid"]
fn fish_completes_on_a_terminal() {
    let fish = programs::find("fish");
    let machine = machine();
    // fish wants the terminal to be its own.
    let setsid = programs::find("setsid");
    let mut command = machine.command(&setsid);
    command.arg("--ctty").arg(fish).args(["--no-config", "-i"]);
    let prompt = "function fish_prompt; echo -n 'rea''dy> '; end";
    let mut shell = Shell::start(&machine, command, &format!("{prompt}; source '{}'", script("tempmail.fish")));
    press_tab(&mut shell);
}

#[test]
#[ignore = "needs fish"]
fn fish_lists_values_with_their_descriptions() {
    let fish = programs::find("fish");
    let machine = machine();
    let of = |line: &str| {
        let mut command = machine.command(&fish);
        command.args(["--no-config", "-c", "source $argv[1]; complete -C $argv[2]", &script("tempmail.fish"), line]);
        let output = programs::run(&mut command, "");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let lists = |line: &str, text: &str| gives(|| of(line), line, text);
    for (line, text) in
        [("tempmail inbox ", "bob@"), ("tempmail read ann@example.test ", "$(touch pwned) `touch pwned`")]
    {
        let listed = blocking::until_some(format!("{text:?} for {line:?}"), || {
            Some(machine.complete(line).stdout).filter(|listed| listed.contains(text))
        });
        lists(line, &listed);
    }
    lists("tempmail --config=som", "--config=some file\n");
    lists("true; tempmail inbox bo", "bob@example.test\t2 mails\n");
}

#[test]
#[ignore = "needs bash"]
fn bash_splits_words_at_signs_of_addresses() {
    let bash = programs::find("bash");
    let machine = machine();
    // What bash calls the function with was noted from bash itself.
    let call =
        "source \"$1\"; COMP_LINE=$2 COMP_POINT=${#2}; _tempmail tempmail \"$3\" x; printf '%s\\n' \"${COMPREPLY[@]}\"";
    for (line, replaced, expected) in [
        ("tempmail inbox cat@exa", "@exa", "@example.org\n@example.test\n"),
        ("tempmail inbox cat@", "@", "@example.org\n@example.test\n"),
        ("tempmail inbox 'cat@exa", "cat@exa", "cat@example.org\ncat@example.test\n"),
        ("tempmail new --domain=exa", "exa", "example.org\nexample.test\n"),
        ("tempmail new --domain=", "", "example.org\nexample.test\n"),
        ("tempmail inbox zoe", "zoe", "\n"),
    ] {
        let mut command = machine.command(&bash);
        command.args(["--norc", "--noprofile", "-c", call, "bash", &script("tempmail.bash"), line, replaced]);
        let run = || String::from_utf8_lossy(&programs::run(&mut command, "").stdout).into_owned();
        gives(run, line, expected);
    }
}
