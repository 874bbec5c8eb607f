//! The replies of the server.
//!
//! A reply knows which limit it reports and whether it ends the session. Each of its lines has at most 512 octets (RFC
//! 5321 section 4.5.3.1.5) and holds printable ASCII only, whatever went into its text.

use std::borrow::Cow;
use std::fmt;

use super::Dialect;
use super::reasons::{End, Limit};
use crate::model::DomainName;

/// The longest line of a reply in octets, CRLF included (RFC 5321 section 4.5.3.1.5).
const LINE_OCTETS_MAX: usize = 512;

/// An enhanced status code (RFC 3463): class, subject, detail.
type EnhancedStatus = [u8; 3];

/// One reply: its code, its enhanced status code where one is allowed (RFC 2034 section 4), its text, and its meaning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    code: u16,
    status: Option<EnhancedStatus>,
    text: Cow<'static, str>,
    meaning: Meaning,
}

/// What a reply means for the session and for the metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Meaning {
    /// An answer, after which the session goes on if there is one.
    Answer,
    /// A limit was reached; the session goes on if there is one.
    Limited(Limit),
    /// The session ends for this reason.
    Last(End),
}

impl Reply {
    pub(super) const OK: Self = Self::answer(250, [2, 0, 0], "OK");
    pub(super) const BYE: Self = Self::last(221, [2, 0, 0], "Bye", End::Quit);
    pub(super) const NOT_VERIFIED: Self =
        Self::answer(252, [2, 0, 0], "Addresses are not verified; send the message to find out");
    pub(super) const SENDER_OK: Self = Self::answer(250, [2, 1, 0], "Sender OK");
    pub(super) const RECIPIENT_OK: Self = Self::answer(250, [2, 1, 5], "Recipient OK");
    pub(super) const SEND_DATA: Self =
        Self::answer(354, [0, 0, 0], "Send the message; end it with a dot on a line of its own").without_status();
    pub(super) const CHUNK_OK: Self = Self::answer(250, [2, 0, 0], "Chunk received");
    pub(super) const AUTHENTICATED: Self = Self::answer(235, [2, 7, 0], "Any credentials are accepted");
    pub(super) const START_TLS: Self = Self::answer(220, [2, 0, 0], "Ready to start TLS");
    pub(super) const STORED: Self = Self::answer(250, [2, 0, 0], "Stored");

    pub(super) const STOPPING: Self =
        Self::last(421, [4, 3, 2], "The service is stopping; try again later", End::Stopping);
    pub(super) const IDLE: Self = Self::last(421, [4, 4, 2], "Nothing arrived for too long", End::Idle);
    pub(super) const SLOW_COMMAND: Self = Self::last(421, [4, 4, 2], "The command took too long", End::SlowCommand);
    pub(super) const SLOW_MESSAGE: Self =
        Self::last(421, [4, 4, 2], "The message took too long for its size", End::SlowMessage);
    pub(super) const LIFE_OVER: Self =
        Self::last(421, [4, 4, 2], "The session has reached its maximum age; connect again", End::LifeOver);
    pub(super) const CROWDED: Self =
        Self::last(421, [4, 3, 2], "Too slow while the service is busy; try again later", End::Crowded);
    pub(super) const TOO_MANY_ERRORS: Self = Self::last(421, [4, 7, 0], "Too many errors", End::TooManyErrors);
    pub(super) const OUT_OF_SYNC: Self = Self::last(
        421,
        [4, 5, 0],
        "The size of the chunk is unknown, so what follows cannot be read; try again on a new connection",
        End::OutOfSync,
    );
    pub(super) const NOT_HTTP: Self =
        Self::last(554, [5, 5, 1], "This is a mail server and speaks no HTTP", End::NotSmtp);
    pub(super) const CLIENT_REFUSED: Self = Self::answer(554, [5, 7, 1], "No mail is accepted from this network");

    pub(super) const TOO_MANY_RECIPIENTS: Self = Self::limited(
        452,
        [4, 5, 3],
        "Too many recipients; send the message to the others separately",
        Limit::Recipients,
    );
    pub(super) const LINE_TOO_LONG: Self = Self::limited(500, [5, 5, 2], "Line too long", Limit::LineLength);
    pub(super) const AUTH_LINE_TOO_LONG: Self = Self::limited(500, [5, 5, 6], "Line too long", Limit::LineLength);

    pub(super) const STORE_FULL: Self = Self::answer(452, [4, 3, 1], "No space to store a message; try again later");
    pub(super) const STORE_FAILED: Self =
        Self::answer(451, [4, 3, 0], "The message could not be stored; try again later");
    pub(super) const STORE_UNSURE: Self =
        Self::answer(451, [4, 3, 0], "The store did not confirm the message in time; try again later");
    pub(super) const MAILBOX_FULL: Self = Self::answer(452, [4, 2, 2], "The mailbox is full; try again later");

    pub(super) const UNKNOWN_COMMAND: Self = Self::answer(500, [5, 5, 2], "Command not recognized");
    pub(super) const BARE_LINE_END: Self =
        Self::answer(500, [5, 5, 2], "A line must end with CR LF; this one has CR or LF alone");
    pub(super) const BARE_IN_PATH: Self = Self::answer(501, [5, 5, 2], "A path must hold neither CR nor LF");
    pub(super) const AUTH_CANCELLED: Self = Self::answer(501, [5, 0, 0], "Authentication cancelled");
    pub(super) const NOT_BASE64: Self = Self::answer(501, [5, 5, 2], "The response is not valid base64");
    pub(super) const NOT_PLAIN: Self = Self::answer(501, [5, 5, 2], "The response is not a PLAIN message");
    pub(super) const CHUNK_SYNTAX: Self = Self::syntax("Syntax: BDAT octets [LAST]");
    pub(super) const NO_PARAMETERS: Self = Self::answer(501, [5, 5, 4], "The command has no parameters");
    pub(super) const HELO_NAME: Self =
        Self::answer(501, [0, 0, 0], "A host name in printable ASCII must follow").without_status();
    pub(super) const PARAMETER_VALUE: Self = Self::answer(501, [5, 5, 4], "The value of a parameter is not valid");
    pub(super) const SENDER_SYNTAX: Self = Self::answer(501, [5, 1, 7], "The sender is not a valid address");
    pub(super) const RECIPIENT_SYNTAX: Self = Self::answer(501, [5, 1, 3], "The recipient is not a valid address");
    pub(super) const NOT_OFFERED: Self = Self::answer(502, [5, 5, 1], "Command not offered");
    pub(super) const TLS_ALREADY: Self = Self::answer(503, [5, 5, 1], "The connection is encrypted already");
    pub(super) const AUTH_ALREADY: Self = Self::answer(503, [5, 5, 1], "The client is authenticated already");
    pub(super) const AUTH_TOO_LATE: Self =
        Self::answer(503, [5, 5, 1], "AUTH must come before MAIL; RSET ends the transaction");
    pub(super) const NESTED_MAIL: Self =
        Self::answer(503, [5, 5, 1], "The transaction has begun already; RSET ends it");
    pub(super) const MAIL_FIRST: Self = Self::answer(503, [5, 5, 1], "Send MAIL first");
    pub(super) const NO_RECIPIENTS: Self = Self::answer(503, [5, 5, 1], "No valid recipients");
    pub(super) const MESSAGE_BEGUN: Self =
        Self::answer(503, [5, 5, 1], "The message has begun with BDAT; RSET ends the transaction");
    pub(super) const BINARY_NEEDS_BDAT: Self = Self::answer(503, [5, 5, 1], "BODY=BINARYMIME needs BDAT");
    pub(super) const MECHANISM_UNKNOWN: Self = Self::answer(504, [5, 5, 4], "The mechanism is not offered");
    pub(super) const SENDER_REFUSED: Self = Self::answer(550, [5, 7, 1], "No mail is accepted from this domain");
    pub(super) const RECIPIENT_UNKNOWN: Self = Self::answer(550, [5, 1, 1], "This address takes no mail");
    pub(super) const ADDRESS_LITERAL: Self =
        Self::answer(550, [5, 1, 2], "No mail is received for address literals, only for domains");
    pub(super) const NEEDS_SMTPUTF8: Self =
        Self::answer(553, [5, 6, 7], "Addresses beyond ASCII need the parameter SMTPUTF8 of MAIL");
    pub(super) const PARAMETER_UNKNOWN: Self = Self::answer(555, [5, 5, 4], "A parameter is not recognized");

    const fn new(code: u16, status: Option<EnhancedStatus>, text: &'static str, meaning: Meaning) -> Self {
        Self { code, status, text: Cow::Borrowed(text), meaning }
    }

    const fn answer(code: u16, status: EnhancedStatus, text: &'static str) -> Self {
        Self::new(code, Some(status), text, Meaning::Answer)
    }

    pub(super) const fn limited(code: u16, status: EnhancedStatus, text: &'static str, limit: Limit) -> Self {
        Self::new(code, Some(status), text, Meaning::Limited(limit))
    }

    const fn last(code: u16, status: EnhancedStatus, text: &'static str, end: End) -> Self {
        Self::new(code, Some(status), text, Meaning::Last(end))
    }

    fn made(code: u16, status: Option<EnhancedStatus>, text: String, meaning: Meaning) -> Self {
        Self { code, status, text: Cow::Owned(text), meaning }
    }

    pub(super) fn greeting(hostname: &DomainName, is_lmtp: bool) -> Self {
        let protocol = if is_lmtp { "LMTP" } else { "ESMTP" };
        Self::made(220, None, format!("{hostname} {protocol} tempmail"), Meaning::Answer)
    }

    /// The reply without its enhanced status code, where none is allowed.
    pub(super) const fn without_status(mut self) -> Self {
        self.status = None;
        self
    }

    /// The refusal of a command that must come after the client's greeting.
    pub(super) const fn greeting_first(is_lmtp: bool) -> Self {
        Self::answer(503, [5, 5, 1], if is_lmtp { "Send LHLO first" } else { "Send HELO or EHLO first" })
    }

    /// A challenge of AUTH, in base64.
    pub(super) const fn challenge(text: &'static str) -> Self {
        Self::new(334, None, text, Meaning::Answer)
    }

    /// The commands that a dialect offers.
    pub(super) fn help(dialect: Dialect, is_secured: bool) -> Self {
        let greetings = if dialect.is_lmtp() { "LHLO" } else { "HELO EHLO" };
        let tls = if dialect.offers_tls && !is_secured { " STARTTLS" } else { "" };
        let auth = if dialect.offers_auth { " AUTH" } else { "" };
        let text = format!("Commands: {greetings}{tls}{auth} MAIL RCPT DATA BDAT RSET NOOP QUIT VRFY HELP");
        Self::made(214, Some([2, 0, 0]), text, Meaning::Answer)
    }

    pub(super) fn helo(hostname: &DomainName) -> Self {
        Self::made(250, None, hostname.to_string(), Meaning::Answer)
    }

    /// The reply to EHLO and LHLO: one line per extension (RFC 5321 section 4.1.1.1).
    pub(super) fn ehlo(hostname: &DomainName, message_octets_max: u64, dialect: Dialect, is_secured: bool) -> Self {
        let tls = if dialect.offers_tls && !is_secured { "STARTTLS\n" } else { "" };
        let auth = if dialect.offers_auth { "AUTH PLAIN LOGIN\n" } else { "" };
        let text = format!(
            "{hostname}\nPIPELINING\nSIZE {message_octets_max}\n8BITMIME\nBINARYMIME\nCHUNKING\nSMTPUTF8\n\
             {tls}{auth}ENHANCEDSTATUSCODES\nHELP"
        );
        Self::made(250, None, text, Meaning::Answer)
    }

    /// The refusal of a command with wrong syntax: the right one.
    pub(super) const fn syntax(syntax: &'static str) -> Self {
        Self::answer(501, [5, 5, 4], syntax)
    }

    pub(super) fn domain_unknown(domain: &DomainName) -> Self {
        Self::made(550, Some([5, 1, 2]), format!("No mail is received for {domain}"), Meaning::Answer)
    }

    pub(super) fn domain_deactivated(domain: &DomainName) -> Self {
        let text = format!("No mail is received for {domain} while its MX points elsewhere");
        Self::made(550, Some([5, 1, 2]), text, Meaning::Answer)
    }

    pub(super) fn message_too_large(message_octets_max: u64) -> Self {
        let text = format!("The message is larger than {message_octets_max} octets");
        Self::made(552, Some([5, 3, 4]), text, Meaning::Limited(Limit::MessageSize))
    }

    /// The refusal of a chunk that would never arrive in time. Its octets cannot be told from commands, so it is the last.
    pub(super) fn chunk_too_large(message_octets_max: u64) -> Self {
        Self { meaning: Meaning::Last(End::ChunkTooLarge), ..Self::message_too_large(message_octets_max) }
    }

    /// The reply of a fault on purpose: a code from 400 to 599, and a text with the enhanced status code.
    pub(super) fn of_fault(code: u16, text: String, is_last: bool) -> Self {
        Self::made(code, None, text, if is_last { Meaning::Last(End::Fault) } else { Meaning::Answer })
    }

    /// The limit that the reply reports.
    pub(super) const fn limit(&self) -> Option<Limit> {
        if let Meaning::Limited(limit) = self.meaning { Some(limit) } else { None }
    }

    /// Why the session ends with the reply; `None` if it goes on.
    pub(super) const fn end(&self) -> Option<End> {
        if let Meaning::Last(end) = self.meaning { Some(end) } else { None }
    }

    /// The three-digit code.
    pub const fn code(&self) -> u16 {
        self.code
    }

    /// Whether the reply refuses something, for now (4yz) or for good (5yz).
    pub(super) const fn is_refusal(&self) -> bool {
        self.code >= 400
    }

    /// Whether the reply refuses something for good (5yz).
    pub(super) const fn is_permanent(&self) -> bool {
        self.code >= 500
    }

    /// Appends the reply to `out`, as it goes over the wire.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        let mut lines = self.text.split('\n').peekable();
        while let Some(line) = lines.next() {
            let start = out.len();
            out.extend_from_slice(self.code.to_string().as_bytes());
            out.push(if lines.peek().is_some() { b'-' } else { b' ' });
            if let Some([class, subject, detail]) = self.status {
                out.extend([b'0' + class, b'.', b'0' + subject, b'.', b'0' + detail, b' ']);
            }
            let room = LINE_OCTETS_MAX - 2 - (out.len() - start);
            out.extend(line.bytes().take(room).map(|octet| if matches!(octet, b' '..=b'~') { octet } else { b'?' }));
            out.extend_from_slice(b"\r\n");
        }
    }
}

/// Shows it in one line for the log, which names no domain of a recipient.
impl fmt::Display for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.code)?;
        if let Some([class, subject, detail]) = self.status {
            write!(f, " {class}.{subject}.{detail}")?;
        }
        match &self.text {
            Cow::Owned(_) if self.status == Some([5, 1, 2]) => f.write_str(" No mail is received for the domain"),
            text => write!(f, " {}", text.replace('\n', " ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::connections::Purpose;

    fn written(reply: &Reply) -> String {
        let mut out = Vec::new();
        reply.write(&mut out);
        String::from_utf8(out).expect("ASCII")
    }

    #[test]
    fn a_reply_has_code_status_and_text() {
        assert_eq!(written(&Reply::OK), "250 2.0.0 OK\r\n");
        assert_eq!(written(&Reply::NO_RECIPIENTS), "503 5.5.1 No valid recipients\r\n");
    }

    #[test]
    fn greeting_ehlo_334_and_354_have_no_status() {
        let dialect = Dialect { purpose: Purpose::Smtp, offers_tls: true, offers_auth: true };
        let host: DomainName = "mx.example.test".parse().expect("name");
        assert_eq!(written(&Reply::greeting(&host, true)), "220 mx.example.test LMTP tempmail\r\n");
        assert_eq!(written(&Reply::greeting(&host, false)), "220 mx.example.test ESMTP tempmail\r\n");
        assert_eq!(written(&Reply::helo(&host)), "250 mx.example.test\r\n");
        assert_eq!(
            written(&Reply::ehlo(&host, 307_200, dialect, false)),
            "250-mx.example.test\r\n250-PIPELINING\r\n250-SIZE 307200\r\n250-8BITMIME\r\n250-BINARYMIME\r\n\
             250-CHUNKING\r\n250-SMTPUTF8\r\n250-STARTTLS\r\n250-AUTH PLAIN LOGIN\r\n\
             250-ENHANCEDSTATUSCODES\r\n250 HELP\r\n"
        );
        assert_eq!(written(&Reply::challenge("")), "334 \r\n");
        assert!(written(&Reply::SEND_DATA).starts_with("354 Send"));
    }

    #[test]
    fn no_control_character_gets_into_a_reply() {
        let reply = Reply::made(550, Some([5, 1, 2]), "a\rb\0c\x7f\u{e9}".into(), Meaning::Answer);
        assert_eq!(written(&reply), "550 5.1.2 a?b?c???\r\n");
    }

    #[test]
    fn no_line_is_longer_than_512_octets() {
        let reply = Reply::made(550, Some([5, 1, 2]), "x".repeat(2000), Meaning::Answer);
        assert_eq!(written(&reply).len(), 512);
    }
}
