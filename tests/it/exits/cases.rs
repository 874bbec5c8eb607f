//! Causes that belong to one command or a few.

/// Where a command is carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// By a daemon on this machine.
    Daemon,
    /// By the same daemon over HTTP, without a token.
    Public,
    /// On the data directory of a daemon that was stopped.
    Stopped,
}

use Place::{Daemon, Public, Stopped};

/// What is typed, and the exit code.
///
/// `{unknown}` is an id of nothing. DNS says that `elsewhere.example.org` belongs elsewhere, and nothing about `silent.example`.
pub(super) const CASES: [(Place, &str, i32); 69] = [
    (Daemon, "read {unknown}", 3),
    (Daemon, "read nobody@example.test --latest", 3),
    (Daemon, "read a@example.test --latest --attachment 9", 3),
    (Daemon, "open {unknown}", 3),
    (Daemon, "open nobody@example.test --latest", 3),
    (Daemon, "delete --id {unknown} --yes", 3),
    (Daemon, "delete a@example.test", 2),
    (Daemon, "domain add elsewhere.example.org", 8),
    (Daemon, "domain add silent.example", 6),
    (Daemon, "domain check-dns elsewhere.example.org", 8),
    (Daemon, "domain check-dns silent.example", 6),
    (Daemon, "domain remove example.test --yes", 5),
    (Daemon, "domain remove example.test", 2),
    (Daemon, "domain remove nothing.example --yes", 3),
    (Daemon, "domain verify nothing.example", 3),
    (Daemon, "webhook add a@nothing.example https://h.test/", 3),
    (Daemon, "webhook add a@example.test http://127.0.0.1/", 2),
    (Daemon, "webhook add a@example.test ftp://h.test/", 2),
    (Daemon, "webhook add a@example.test https://h.test/ --secret-file {dir}/none", 2),
    (Daemon, "webhook deliveries {unknown}", 3),
    (Daemon, "webhook replay {unknown} --failed", 3),
    (Daemon, "webhook replay {webhook} {unknown}", 3),
    (Daemon, "webhook remove {unknown} --yes", 3),
    (Daemon, "webhook remove {webhook}", 2),
    (Daemon, "webhook test {unknown}", 3),
    (Daemon, "webhook test {webhook}", 8),
    (Daemon, "token new --name kept", 5),
    (Daemon, "token revoke nothing", 3),
    (Daemon, "fault add nonsense", 2),
    (Daemon, "fault clear 99", 3),
    (Daemon, "new --domain nothing.example", 3),
    (Daemon, "send-test a@nothing.example", 3),
    (Daemon, "send-test a@example.test --file {large}", 2),
    (Daemon, "send-test a@example.test --smtp 127.0.0.1:1", 6),
    (Daemon, "send-test a@example.test --file {dir}/none", 2),
    (Daemon, "wait a@example.test --timeout 10ms --subject nothing", 124),
    (Daemon, "expect a@example.test --timeout 10ms --since {mail-id}", 124),
    (Daemon, "expect a@example.test --timeout 0s --subject nothing", 8),
    (Daemon, "db check", 5),
    (Daemon, "db restore {backup} --yes", 5),
    (Daemon, "config init {good}", 5),
    (Daemon, "config check {bad}", 8),
    (Daemon, "config check {dir}/none", 2),
    (Daemon, "completions nothing", 2),
    (Daemon, "help nothing", 2),
    (Daemon, "inbox nothing", 2),
    (Daemon, "serve --smtp-listen {smtp} --http-listen 127.0.0.1:0", 75),
    (Daemon, "serve --smtp-listen nothing", 78),
    (Daemon, "sendmail", 64),
    (Daemon, "sendmail -t", 65),
    (Daemon, "sendmail a@nothing.example", 67),
    (Daemon, "sendmail -S 127.0.0.1:1 a@example.test", 75),
    (Daemon, "sendmail -S 192.0.2.1:25 a@example.test", 64),
    (Daemon, "sendmail 'not an address'", 64),
    (Daemon, "sendmail -bs", 64),
    (Daemon, "sendmail -z a@example.test", 64),
    (Daemon, "sendmail -- -q", 0),
    (Public, "inbox postmaster@here.example.org", 4),
    (Public, "wait postmaster@here.example.org", 4),
    (Public, "delete postmaster@here.example.org --yes", 4),
    (Public, "webhook add postmaster@here.example.org https://h.test/", 4),
    (Public, "domain add elsewhere.example.org", 8),
    (Public, "domain add here.example.org --skip-dns-check", 4),
    (Public, "read {unknown}", 3),
    (Stopped, "status", 6),
    (Stopped, "send-test a@example.test", 6),
    (Stopped, "sendmail a@example.test", 75),
    (Stopped, "db restore {mail} --yes", 1),
    (Stopped, "db restore {dir}/none --yes", 2),
];
