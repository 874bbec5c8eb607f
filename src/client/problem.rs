//! The errors of a request to the service.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::texts;
use crate::error::{Error, Exit};
use crate::model::Address;

/// The flags that stand for members of a body, as the service names them in what it says.
const FLAGS: [(&str, &str); 4] =
    [("'forSeconds'", "--for"), ("'idleSeconds'", "--idle"), ("'messages'", "--messages"), ("'keepSeconds'", "--keep")];

/// A refusal as the server words it (RFC 9457).
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Problem {
    /// The HTTP status.
    pub status: u16,
    /// The stable machine word, such as `mx_mismatch`.
    pub code: String,
    /// The status in words.
    pub title: String,
    /// What happened, in a sentence.
    pub detail: String,
    /// Whole seconds after which to ask again, where the server said so.
    #[serde(skip)]
    pub retry_after: Option<u64>,
    /// Further members, such as what a DNS check expected and found.
    #[serde(flatten)]
    pub other: Box<Map<String, Value>>,
}

impl Problem {
    /// The strings of a further member that is a list.
    pub fn strings(&self, member: &str) -> Vec<String> {
        self.other.get(member).into_iter().flat_map(texts).map(str::to_owned).collect()
    }

    fn sentence(&self) -> String {
        match (self.detail.as_str(), self.title.as_str()) {
            ("", "") => format!("the server answered {}", self.status),
            ("", title) => title.to_owned(),
            (detail, _) => FLAGS.iter().fold(detail.to_owned(), |said, (member, flag)| said.replace(member, flag)),
        }
    }

    fn hint(&self) -> Option<String> {
        let wait = self.retry_after.map(|seconds| format!("try again in {seconds} s"));
        if self.code == "address_in_use"
            && let Some(until) = self.other.get("until").and_then(Value::as_str)
        {
            return Some(format!(
                "it is not free before {until} UTC, and if it is a private inbox now, not for 30 days after that; take another \
                 name, or none for a random one; if `tempmail address list` shows it, it is yours"
            ));
        }
        let fixed = match (self.code.as_str(), self.status) {
            ("mx_host_unset", _) => {
                "start the daemon with --mx-host NAME: the name that the MX records of registered domains point to"
            }
            ("role_address", _) => {
                "the administrator can: on the daemon's machine, as the user that runs it, or with a token"
            }
            ("url_not_allowed", _) if self.other.contains_key("setting") => {
                "the administrator can permit a network with webhook-allow, but for what the service itself listens on"
            }
            ("url_not_allowed", _) => {
                "no setting permits that; take another port than 25, 465 and 587, and not the service itself"
            }
            ("conflict", _) if self.other.contains_key("setting") => {
                "it is set with --domain or in the configuration file of the daemon; change it there"
            }
            ("domain_unknown", _) => "`tempmail domain list` shows for which domains mail is received",
            ("limit_reached", _) if self.other.get("limit").is_some_and(|limit| limit == "webhooks_for_recipient") => {
                "`tempmail webhook list ADDR` shows them, `tempmail webhook remove ID` makes room"
            }
            ("address_not_random", _) => "leave the name out, or run the command on the machine of the service",
            ("address_in_use", _) => "take another name, or none for a random one",
            ("not_ready", _) => "start `tempmail serve`, then try again",
            ("token_invalid", _) => {
                "a key is valid as long as one of its private inboxes; `tempmail token list` on the daemon's machine shows the tokens that are valid"
            }
            ("scope_insufficient", _) => "take a token with the scope admin",
            (_, 401) => "give --token-file FILE, or run the command on the daemon's machine as the user that runs it",
            (_, 413) => "`tempmail config show` has the limit of the service as max-message-size",
            (_, 421) => "name the host in the daemon's http-allowed-hosts, or ask it by a loopback address",
            (_, 507) => "free space on the disk that holds the daemon's data directory",
            _ => return wait,
        };
        Some(fixed.to_owned())
    }
}

/// Why an operation gave no result.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ClientError {
    /// The server answered and refused.
    #[error("{}", .0.sentence())]
    Refused(Problem),
    /// The private inbox at this address was the caller's, and is over.
    #[error("the private inbox {0} has ended")]
    Ended(Address),
    /// The answer is larger than what may be held in memory.
    #[error("the answer is larger than {octets_max} octets")]
    TooLarge {
        /// The bound.
        octets_max: usize,
    },
    /// There is no answer of this interface.
    #[error("{server} {why}")]
    Failed {
        /// Where the question went.
        server: String,
        /// What went wrong there.
        why: Failure,
    },
}

/// What went wrong at a server.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[allow(missing_docs, reason = "the message of a variant says what it is")]
pub enum Failure {
    #[error("cannot be reached: {0}")]
    Unreachable(String),
    #[error("cannot be reached: it does not speak TLS there")]
    NoTls,
    #[error("cannot be reached: it does not speak HTTP there")]
    NoHttp,
    #[error("cannot be reached: its certificate is from an authority that this machine does not know")]
    NoTrust,
    #[error("did not answer in time")]
    TimedOut,
    #[error("broke off its answer: {0}")]
    BrokenOff(String),
    /// Redirects are never followed: a token would go along.
    #[error("redirects to {0}")]
    Redirected(String),
    #[error("is not the base address of tempmail: no path of its interface is there")]
    WrongBase,
    #[error("does not answer like tempmail: {0}")]
    Unintelligible(String),
}

impl ClientError {
    /// The server's refusal, if it was one.
    pub const fn problem(&self) -> Option<&Problem> {
        match self {
            Self::Refused(problem) => Some(problem),
            _ => None,
        }
    }

    /// Whether the server refused with this `code`.
    pub fn is(&self, code: &str) -> bool {
        self.problem().is_some_and(|problem| problem.code == code)
    }

    /// Whether the server refused with this status.
    pub fn has_status(&self, status: u16) -> bool {
        self.problem().is_some_and(|problem| problem.status == status)
    }

    /// The error for the user, with this hint if what was asked for is not there.
    pub fn or_find_by(self, hint: &str) -> Error {
        let is_gone = self.is("not_found");
        let error = Error::from(self);
        if is_gone { error.hint(hint) } else { error }
    }

    /// What the user can do about it.
    fn hint(&self) -> Option<String> {
        match self {
            Self::Refused(problem) => problem.hint(),
            Self::Ended(_) => Some("its mail is gone; `tempmail new --private` makes another one".to_owned()),
            Self::TooLarge { .. } => Some("ask for less, for example with --limit 1".to_owned()),
            Self::Failed { server, why } => Some(why.hint(server)),
        }
    }
}

impl Failure {
    fn hint(&self, server: &str) -> String {
        let fixed = match self {
            Self::NoTls => return format!("give --server {}", server.replacen("https:", "http:", 1)),
            Self::NoHttp if server.starts_with("http:") => {
                return format!("if it has TLS, give --server {}", server.replacen("http:", "https:", 1));
            }
            Self::Redirected(location) => {
                return format!("redirects are not followed; if that is the place, give --server {location}");
            }
            Self::NoTrust => "if the certificate is a private one, give --ca-file FILE with that of its authority",
            Self::Unreachable(_) | Self::NoHttp => "see that `tempmail serve` runs there and that the address is right",
            Self::TimedOut => "try again; `tempmail status` shows its state",
            Self::BrokenOff(_) => "try again; if it is damaged, `tempmail db check` on the stopped store says where",
            Self::WrongBase => "leave out the path of --server, or give the one that a proxy puts before `/api`",
            Self::Unintelligible(_) => "see that --server names the service's base address",
        };
        fixed.to_owned()
    }
}

impl From<ClientError> for Error {
    fn from(error: ClientError) -> Self {
        let exit = match &error {
            ClientError::Refused(problem) => Exit::of_problem(problem.status, &problem.code),
            ClientError::Ended(_) => Exit::NotFound,
            ClientError::TooLarge { .. } => Exit::Failure,
            ClientError::Failed { .. } => Exit::Unavailable,
        };
        let hint = error.hint();
        let error = Self::new(exit, error);
        match hint {
            Some(hint) => error.hint(hint),
            None => error,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_is_read_with_its_further_members() {
        let problem: Problem = serde_json::from_str(
            r#"{"type":"about:blank","title":"Unprocessable","status":422,"detail":"no","code":"mx_mismatch","expected":["mx.test"]}"#,
        )
        .expect("problem");
        assert_eq!(problem.strings("expected"), ["mx.test"]);
        assert_eq!(problem.strings("found"), [""; 0]);
        let error = Error::from(ClientError::Refused(problem));
        assert_eq!((error.exit(), error.to_string().as_str()), (Exit::CheckFailed, "no"));
    }

    #[test]
    fn what_to_do_is_said_where_it_is_known() {
        let hint = |status, code: &str, retry_after| {
            let problem = Problem { status, code: code.to_owned(), retry_after, ..Problem::default() };
            Error::from(ClientError::Refused(problem)).what_to_do().unwrap_or_default().to_owned()
        };
        assert!(hint(503, "mx_host_unset", Some(60)).contains("--mx-host"));
        assert!(hint(401, "token_required", None).contains("--token-file"));
        assert!(hint(400, "url_not_allowed", None).contains("no setting"));
        assert_eq!(hint(429, "rate_limited", Some(7)), "try again in 7 s");
        assert_eq!(hint(500, "internal", None), "");
    }
}
