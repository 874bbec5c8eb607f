//! Every command with every cause that can come to any of them.

/// The causes, in the order of the columns of [`COMMANDS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    /// A flag that does not exist.
    Flag,
    /// `--server` names an address where nothing listens.
    NoServer,
    /// `--data-dir` names a directory that is not there.
    NoDirectory,
    /// `--server` without a token.
    NoToken,
    /// A server whose rate limit is used up.
    RateLimit,
    /// A configuration file with an unknown key.
    Config,
    /// A data directory of another user.
    NotOurs,
    /// SIGINT while the server does not answer.
    Interrupt,
    /// SIGTERM while the server does not answer.
    Terminate,
    /// The reader of standard output has gone.
    NoReader,
}

impl Cause {
    pub(super) const ALL: [Self; 10] = [
        Self::Flag,
        Self::NoServer,
        Self::NoDirectory,
        Self::NoToken,
        Self::RateLimit,
        Self::Config,
        Self::NotOurs,
        Self::Interrupt,
        Self::Terminate,
        Self::NoReader,
    ];

    /// The snapshot of what the commands say; none where they end without a word.
    pub(super) const fn snapshot(self) -> Option<&'static str> {
        Some(match self {
            Self::Flag => "errors_wrong_flag",
            Self::NoServer => "errors_no_server",
            Self::NoDirectory => "errors_no_directory",
            Self::NoToken => "errors_no_token",
            Self::RateLimit => "errors_rate_limit",
            Self::Config => "errors_configuration",
            Self::NotOurs => "errors_another_user",
            Self::Interrupt | Self::Terminate | Self::NoReader => return None,
        })
    }
}

/// A line per command with the exit code for each of [`Cause::ALL`]. At a `-` the cause does not concern the command.
///
/// Words in braces are paths and ids that the test makes.
pub(super) const COMMANDS: &str = "
command                                      flag server dir token limit config owner int term reader
address end gone@example.test --yes             2      6   6     3     7     78     4 130  143      -
address key                                     2      6   6     3     7     78     4 130  143      -
address list                                    2      6   6     -     7     78     4 130  143      0
address prolong gone@example.test --for 1h      2      6   6     3     7     78     4 130  143      -
completions bash                                2      -   -     -     -      -     -   -    -      0
config check {good}                             2      -   -     -     -      -     -   -    -      0
config init                                     2      -   -     -     -      -     -   -    -      0
config show                                     2      6   -     4     7     78     - 130  143      0
db backup {dir}/new                             2      6   6     4     7     78     4 130  143      0
db check                                        2      2   6     2     2     78     4   -    -      -
db restore {backup}                             2      2   -     2     2     78     4   -    -      -
delete gone@example.test --yes                  2      6   6     -     7     78     4 130  143      0
doctor                                          2      2   6     2     2     78     4   -    -      -
domain add example.org                          2      6   6     -     7     78     4 130  143      -
domain check-dns example.org                    2      6   6     -     7     78     4 130  143      -
domain list                                     2      6   6     -     7     78     4 130  143      0
domain remove example.org --yes                 2      6   6     4     7     78     4 130  143      -
domain verify                                   2      6   6     4     7     78     4 130  143      0
expect a@example.test                           2      6   6     -     7     78     4 130  143      -
fault add 'RCPT gone@* 451 4.3.0'               2      6   6     4     7     78     4 130  143      0
fault clear                                     2      6   6     4     7     78     4 130  143      0
fault list                                      2      6   6     4     7     78     4 130  143      0
help commands                                   2      -   -     -     -      -     -   -    -      0
inbox a@example.test                            2      6   6     -     7     78     4 130  143      0
man                                             2      -   -     -     -      -     -   -    -      0
mcp                                             2      -   -     -     -      -     -   -    -      -
new                                             2      6   6     -     7     78     4 130  143      0
open a@example.test --latest                    2      6   6     -     7     78     4 130  143      0
read a@example.test --latest                    2      6   6     -     7     78     4 130  143      0
send-test a@example.test                        2      6   6     -     7     78     4 130  143      0
sendmail a@example.test                        64     64  75    64    64     78    69   -    -      -
serve --smtp-listen 127.0.0.1:0 --http-listen 127.0.0.1:0  2  2  -   2    2     78     1   -    -      -
status                                          2      6   6     -     7     78     4 130  143      0
stop                                            2      2   6     2     -     78     4   -    -      -
token list                                      2      6   6     4     7     78     4 130  143      0
token new --name made                           2      6   6     4     7     78     4 130  143      0
token revoke kept                               2      6   6     4     7     78     4 130  143      0
wait a@example.test                             2      6   6     -     7     78     4 130  143      -
watch a@example.test                            2      6   6     -     7     78     4 130  143      -
webhook add a@example.test https://h.test/      2      6   6     -     7     78     4 130  143      0
webhook deliveries {webhook}                    2      6   6     4     7     78     4 130  143      0
webhook list a@example.test                     2      6   6     -     7     78     4 130  143      0
webhook listen a@example.test --forward-to http://127.0.0.1:1/  2  6  6  -  7  78  4  130  143     -
webhook remove {other} --yes                    2      6   6     -     7     78     4 130  143      0
webhook replay {webhook} --failed               2      6   6     4     7     78     4 130  143      0
webhook test {webhook}                          2      6   6     4     7     78     4 130  143      -
";

/// A line of [`COMMANDS`].
#[derive(Debug)]
pub(super) struct Line {
    /// What is typed behind `tempmail`.
    pub(super) typed: &'static str,
    codes: Vec<Option<i32>>,
}

impl Line {
    /// The exit code that a cause must give; `None` where it cannot come to this command.
    pub(super) fn code(&self, cause: Cause) -> Option<i32> {
        let column = Cause::ALL.iter().position(|one| *one == cause).expect("a column");
        self.codes[column]
    }
}

/// The lines of [`COMMANDS`].
pub(super) fn lines() -> Vec<Line> {
    let line = |line: &'static str| {
        let mut rest = line;
        let mut codes = Vec::new();
        for _ in Cause::ALL {
            let (before, code) = rest.trim_end().rsplit_once(' ').expect("a code for each cause");
            codes.insert(0, (code != "-").then(|| code.parse().expect("a code")));
            rest = before;
        }
        Line { typed: rest.trim_end(), codes }
    };
    COMMANDS.lines().skip(2).map(line).collect()
}
