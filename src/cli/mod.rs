//! The command line: one file per noun. It parses, asks the client and shows the result. It decides nothing about mail.
//!
//! Standard output carries data and nothing else. Hints, questions and errors go to standard error.
//!
//! ```text
//! serve new address inbox read open watch delete send_test status stop man completions/ domain webhook/ token fault db
//! config
//! doctor    checks of the service and its machine
//! sendmail/ mail from programs that call `sendmail`
//! mcp/      tools for the programs of language models    wait, wanted   `wait` and `expect`
//! globals   flags of every command     context   what a command is given     surroundings   where it runs
//! one_mail, attachment   which mail a command is about, and its files     ids   ids by their end or beginning
//! problem   errors as JSON          removed   what replaces a command that has gone
//! listener, listing, removal, domain_hint, span, zone   what several commands share
//! hangup    what SIGHUP does to the daemon
//! help      the tree of commands       guide          `tempmail help`
//! output/   tables, JSON, lines for programs, the pager
//! ```

mod address;
mod attachment;
mod completions;
mod config;
mod context;
mod db;
mod delete;
mod doctor;
mod domain;
mod domain_hint;
mod fault;
mod globals;
mod guide;
mod hangup;
mod help;
mod ids;
mod inbox;
mod listener;
mod listing;
mod man;
mod mcp;
mod new;
mod one_mail;
mod open;
pub mod output;
mod problem;
mod read;
mod removal;
mod removed;
mod send_test;
mod sendmail;
mod serve;
mod span;
mod status;
mod stop;
mod surroundings;
mod token;
mod wait;
mod wanted;
mod watch;
mod webhook;
mod zone;

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{FromArgMatches, Parser, Subcommand};
use tokio::runtime::Builder;

use crate::error::{Error, Exit};

pub use context::Context;
pub use globals::{ColorChoice, Globals};
pub use help::command;
pub use surroundings::{Streams, Surroundings, Terminal};

/// The name of a file that stands for standard input or output.
const STANDARD: &str = "-";

/// Disposable mail in one binary: receives over SMTP, keeps mail for a short time, gives it out as JSON.
#[derive(Parser, Debug)]
#[command(name = "tempmail", bin_name = "tempmail", version, about, after_help = help::ROOT, subcommand_required = true, disable_help_subcommand = true)]
pub struct Cli {
    #[command(flatten)]
    globals: Globals,

    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    Serve(serve::Serve),
    New(new::New),
    #[command(subcommand)]
    Address(address::Addresses),
    Inbox(inbox::Inbox),
    Read(read::Read),
    Open(open::Open),
    Wait(wait::Wait),
    Expect(wait::Expect),
    Watch(watch::Watch),
    Mcp(mcp::Mcp),
    Delete(delete::Delete),
    SendTest(send_test::SendTest),
    Sendmail(sendmail::Sendmail),
    #[command(subcommand)]
    Domain(domain::Domain),
    #[command(subcommand)]
    Webhook(webhook::Webhook),
    #[command(subcommand)]
    Token(token::Token),
    #[command(subcommand)]
    Fault(fault::Fault),
    #[command(subcommand)]
    Db(db::Db),
    #[command(subcommand)]
    Config(config::Config),
    Doctor(doctor::Doctor),
    Status(status::Status),
    Stop(stop::Stop),
    Completions(completions::Completions),
    #[command(name = "__complete", hide = true)]
    Complete(completions::Complete),
    Man(man::Man),
    Help(guide::Help),
}

/// Carries out a command line; how the process is to end.
pub fn run(args: impl IntoIterator<Item = OsString>, surroundings: Surroundings) -> Exit {
    let args = as_command(args.into_iter().collect());
    let streams = Arc::clone(&surroundings.streams);
    if let [_] = args[..] {
        // Nothing can be done where nobody reads it.
        let _ = streams.print(help::FIRST_STEPS.as_bytes());
        return Exit::Ok;
    }
    let width = context::width(&surroundings.env, &streams);
    let parsed = help::for_width(width).try_get_matches_from(&args);
    let cli = match parsed.and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => cli,
        Err(error) => return refuse(&removed::explained(error, &args), &Globals::among(&args[1..]), &surroundings),
    };
    let globals = cli.globals.clone();
    let is_colored = context::is_colored(globals.color, streams.terminal.is_stderr, &surroundings.env);
    let ended = carry_out(cli, surroundings);
    ended.map_or_else(
        |error| {
            match error.exit() {
                _ if error.is_silent() => {}
                _ if globals.is_json() => streams.say("", output::json(&problem::of(&error)).trim_end()),
                _ => show(&error, &globals, is_colored, &streams),
            }
            error.exit()
        },
        |()| Exit::Ok,
    )
}

/// The command line of a program that is called `sendmail`, or of that command. Its options mean other things than this
/// program's, so they come behind `--`.
fn as_command(mut args: Vec<OsString>) -> Vec<OsString> {
    const SENDMAIL: &str = "sendmail";
    if args.first().is_some_and(|program| Path::new(program).file_name() == Some(OsStr::new(SENDMAIL))) {
        args.splice(..1, ["tempmail", SENDMAIL].map(OsString::from));
    }
    let is_called = |words: &[OsString]| {
        let parsed = command().try_get_matches_from(words);
        parsed.is_ok_and(|matches| matches.subcommand_name() == Some(SENDMAIL))
    };
    let is_command = |at: &usize| args[*at] == SENDMAIL && is_called(&args[..=*at]);
    if let Some(at) = (1..args.len()).find(is_command) {
        let options = &args[at + 1..];
        if options.first().is_none_or(|first| first != "--") && options != ["--help"] {
            args.insert(at + 1, "--".into());
        }
    }
    args
}

/// Shows help, or what is wrong with a command line.
fn refuse(error: &clap::Error, globals: &Globals, Surroundings { env, streams }: &Surroundings) -> Exit {
    let is_wrong = error.use_stderr();
    if is_wrong && globals.is_json() {
        streams.say("", output::json(&problem::of_command_line(error)).trim_end());
        return Exit::Usage;
    }
    let is_terminal = if is_wrong { streams.terminal.is_stderr } else { streams.terminal.is_stdout };
    let is_colored = context::is_colored(globals.color, is_terminal, env);
    let text = error.render();
    let text = if is_colored { text.ansi().to_string() } else { text.to_string() };
    if is_wrong {
        streams.complain(&text);
        return Exit::Usage;
    }
    // Nothing can be done where nobody reads it.
    let _ = streams.print(text.as_bytes());
    Exit::Ok
}

/// Carries out a command on this thread; only the daemon has more. A signal has its default action, so it also ends a
/// command that is blocked.
fn carry_out(cli: Cli, surroundings: Surroundings) -> Result<(), Error> {
    let cx = Context::new(cli.globals, surroundings)?;
    let mut builder = match cli.command {
        Command::Serve(_) => Builder::new_multi_thread(),
        _ => Builder::new_current_thread(),
    };
    let runtime = builder.enable_all().build();
    let runtime = runtime.map_err(|error| Error::new(Exit::Failure, format!("no threads can be started: {error}")))?;
    let result = runtime.block_on(dispatch(cli.command, &cx));
    // A thread may still wait for an answer on the terminal.
    runtime.shutdown_background();
    result
}

async fn dispatch(command: Command, cx: &Context) -> Result<(), Error> {
    match command {
        Command::Serve(serve) => serve.run(cx).await,
        Command::Inbox(inbox) => inbox.run(cx).await,
        Command::Read(read) => read.run(cx).await,
        Command::Open(open) => open.run(cx).await,
        Command::Wait(wait) => wait.run(cx).await,
        Command::Expect(expect) => expect.run(cx).await,
        Command::Watch(watch) => watch.run(cx).await,
        Command::Mcp(mcp) => mcp.run(cx).await,
        Command::Delete(delete) => delete.run(cx).await,
        Command::New(new) => new.run(cx).await,
        Command::Address(address) => address.run(cx).await,
        Command::SendTest(send_test) => send_test.run(cx).await,
        Command::Sendmail(sendmail) => sendmail.run(cx).await,
        Command::Domain(domain) => domain.run(cx).await,
        Command::Webhook(webhook) => webhook.run(cx).await,
        Command::Token(token) => token.run(cx).await,
        Command::Fault(fault) => fault.run(cx).await,
        Command::Db(db) => db.run(cx).await,
        Command::Config(config) => config.run(cx).await,
        Command::Doctor(doctor) => doctor.run(cx).await,
        Command::Status(status) => status.run(cx).await,
        Command::Stop(stop) => stop.run(cx).await,
        Command::Completions(completions) => completions.run(cx),
        Command::Complete(complete) => complete.run(cx),
        Command::Man(man) => man.run(cx),
        Command::Help(help) => help.run(cx),
    }
}

/// A directory that files are written into.
fn directory(text: &str) -> Result<PathBuf, &'static str> {
    if text == STANDARD { Err("files go into a directory, and not to standard output") } else { Ok(text.into()) }
}

fn show(error: &Error, globals: &Globals, is_colored: bool, streams: &Streams) {
    streams.say(if is_colored { "\u{1b}[1;31merror:\u{1b}[0m " } else { "error: " }, &error.to_string());
    if let Some(hint) = error.what_to_do().filter(|_| !globals.quiet) {
        streams.say(if is_colored { "\u{1b}[1mhint:\u{1b}[0m " } else { "hint: " }, hint);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_options_of_sendmail_are_kept_from_clap() {
        for (given, expected) in [
            ("/usr/sbin/sendmail -t -oi", "tempmail sendmail -- -t -oi"),
            ("sendmail", "tempmail sendmail --"),
            ("sendmail --help", "tempmail sendmail --help"),
            ("tempmail sendmail -q", "tempmail sendmail -- -q"),
            ("tempmail sendmail -- -q", "tempmail sendmail -- -q"),
            ("tempmail --data-dir d -v sendmail -q", "tempmail --data-dir d -v sendmail -- -q"),
            ("tempmail --data-dir sendmail status", "tempmail --data-dir sendmail status"),
            ("tempmail help sendmail", "tempmail help sendmail"),
            ("tempmail", "tempmail"),
        ] {
            let args = as_command(given.split(' ').map(OsString::from).collect());
            assert_eq!(args.join(OsStr::new(" ")), expected);
        }
    }
}
