//! The command line: one file per noun. It parses, asks the client and shows the result. It decides nothing about mail.
//!
//! Standard output carries data and nothing else. Hints, questions and errors go to standard error.
//!
//! ```text
//! serve new inbox read open delete send_test status stop man completions/ domain webhook/ token fault db config
//! doctor/   checks of the service and its machine
//! sendmail/ mail from programs that call `sendmail`
//! mcp/      tools for the programs of language models    expect/   assertions on the next mail
//! globals   flags of every command     context   what a command is given    arrivals   mail, one by one, as it arrives
//! one_mail  which mail a command is about                ids       ids by their end or beginning
//! problem   errors as JSON          removed   what replaces a command that has gone
//! domain_hint, span, zone   what a few commands share
//! hangup    what SIGHUP does to the daemon               interrupt   what Ctrl-C does to a command
//! help      the tree of commands       guide, topic   `tempmail help`
//! output/   tables, JSON, lines for programs, the pager
//! ```

mod arrivals;
mod attachment;
mod completions;
mod config;
mod context;
mod db;
mod delete;
mod doctor;
mod domain;
mod domain_hint;
mod expect;
mod fault;
mod globals;
mod guide;
mod hangup;
mod help;
mod ids;
mod inbox;
mod interrupt;
mod man;
mod mcp;
mod new;
mod one_mail;
mod open;
pub mod output;
mod problem;
mod read;
mod removed;
mod send_test;
mod sendmail;
mod serve;
mod span;
mod status;
mod stop;
mod token;
mod topic;
mod wait;
mod watch;
mod webhook;
mod zone;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{IsTerminal, Write as _};
use std::time::Duration;

use clap::{FromArgMatches, Parser, Subcommand};

use crate::error::{Error, Exit};

pub use context::Context;
pub use globals::{ColorChoice, Globals};
pub use help::command;

use interrupt::Tidying;

/// Disposable mail in one binary: receives over SMTP, keeps mail for a short time, gives it out as JSON.
#[derive(Parser, Debug)]
#[command(name = "tempmail", version, about, after_help = help::ROOT, subcommand_required = true, disable_help_subcommand = true)]
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
    Inbox(inbox::Inbox),
    Read(read::Read),
    Open(open::Open),
    Wait(wait::Wait),
    Expect(expect::Expect),
    Watch(watch::Watch),
    Mcp(mcp::Mcp),
    Delete(delete::Delete),
    SendTest(send_test::SendTest),
    Sendmail(sendmail::Sendmail),
    Domain(domain::Domain),
    Webhook(webhook::Webhook),
    Token(token::Token),
    Fault(fault::Fault),
    Db(db::Db),
    Config(config::Config),
    Doctor(doctor::Doctor),
    Status(status::Status),
    Stop(stop::Stop),
    Completions(completions::Completions),
    Man(man::Man),
    Help(guide::Help),
}

/// Carries out a command line; how the process is to end.
pub fn run(args: impl IntoIterator<Item = OsString>) -> Exit {
    let tree = command();
    let args: Vec<OsString> = args.into_iter().collect();
    if let Some(line) = completions::question(&args) {
        completions::answer(line, tree, &environment());
        return Exit::Ok;
    }
    let args = sendmail::as_command(args, &tree);
    let tree = tree.color(globals::color_of_help(&args));
    let is_json = problem::is_wanted(&args);
    if let [_] = args[..] {
        return first_steps();
    }
    let parsed = tree.try_get_matches_from(&args).and_then(|matches| Cli::from_arg_matches(&matches));
    let cli = match parsed.map_err(|error| removed::explained(error, &args)) {
        Ok(cli) => cli,
        Err(error) if is_json && error.use_stderr() => {
            context::say("", output::json_line(&problem::of_command_line(&error)).trim_end());
            return Exit::Usage;
        }
        Err(error) => {
            // Help that nobody reads any more is no failure.
            let _ = error.print();
            return if error.use_stderr() { Exit::Usage } else { Exit::Ok };
        }
    };
    let (color, is_quiet) = (cli.globals.color, cli.globals.quiet);
    carry_out(cli).unwrap_or_else(|error| {
        match error.exit() {
            Exit::Ok => {}
            _ if is_json => context::say("", output::json_line(&problem::of(&error)).trim_end()),
            _ => show(&error, color, is_quiet),
        }
        error.exit()
    })
}

fn carry_out(cli: Cli) -> Result<Exit, Error> {
    let cx = Context::new(cli.globals, environment())?;
    let command = match cli.command {
        // The daemon has its own way to stop.
        Command::Serve(serve) => {
            let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
            let runtime = runtime.map_err(interrupt::no_threads)?;
            let result = runtime.block_on(serve.run(&cx));
            runtime.shutdown_background();
            return result;
        }
        command => command,
    };
    let (tidying, lent) = (command.tidying(), cx.lent.clone());
    let carried_out = move || async move { dispatch(command, &cx).await };
    interrupt::interruptible(carried_out, tidying, &lent)
}

impl Command {
    const fn tidying(&self) -> Tidying {
        match self {
            // They have an unfinished file to remove.
            Self::Db(_) => Tidying { on_terminate: true, within: Duration::from_secs(1) },
            // The others have a line of the terminal to clear at most. What `read` has written of a file stays.
            _ => Tidying { on_terminate: false, within: Duration::from_millis(200) },
        }
    }
}

async fn dispatch(command: Command, cx: &Context) -> Result<Exit, Error> {
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
        Command::Man(man) => man.run(cx),
        Command::Help(help) => help.run(cx),
    }
}

/// What the program prints without any argument.
fn first_steps() -> Exit {
    let mut stdout = std::io::stdout().lock();
    // Nothing can be done where nobody reads it.
    let _ = stdout.write_all(help::FIRST_STEPS.as_bytes()).and_then(|()| stdout.flush());
    Exit::Ok
}

/// The environment, without variables that are no UTF-8: none of ours can be meant by them.
fn environment() -> BTreeMap<String, String> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect()
}

fn show(error: &Error, color: ColorChoice, is_quiet: bool) {
    let is_colored = context::is_colored(color, std::io::stderr().is_terminal(), &environment());
    context::say(if is_colored { "\u{1b}[1;31merror:\u{1b}[0m " } else { "error: " }, &error.to_string());
    if let Some(hint) = error.what_to_do().filter(|_| !is_quiet) {
        context::say(if is_colored { "\u{1b}[1mhint:\u{1b}[0m " } else { "hint: " }, hint);
    }
}
