//! What the server says: the one place that makes replies.
//!
//! A reply is at most 512 octets long (RFC 5321 section 4.5.3.1.5) and holds printable ASCII only, whatever went into
//! its text.

use std::borrow::Cow;

use super::Dialect;
use super::metrics::Bound;
use super::session::End;
use crate::model::DomainName;
use crate::store::StoreError;

/// The longest line of a reply in octets, CRLF included (RFC 5321 section 4.5.3.1.5).
const LINE_OCTETS_MAX: usize = 512;

/// The text of every reply to a line that is too long.
const LINE_TOO_LONG: &str = "Line too long";

/// An enhanced status code (RFC 3463): class, subject, detail.
type Status = [u8; 3];

/// One reply: code, enhanced status code where one may stand (RFC 2034 section 4), and text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    code: u16,
    status: Option<Status>,
    text: Cow<'static, str>,
}

impl Reply {
    pub(super) const OK: Self = Self::fixed(250, [2, 0, 0], "OK");
    pub(super) const BYE: Self = Self::fixed(221, [2, 0, 0], "Bye");
    pub(super) const NOT_TOLD: Self =
        Self::fixed(252, [2, 0, 0], "Addresses are not verified; send the message to find out");
    pub(super) const SENDER_OK: Self = Self::fixed(250, [2, 1, 0], "Sender OK");
    pub(super) const RECIPIENT_OK: Self = Self::fixed(250, [2, 1, 5], "Recipient OK");
    pub(super) const SEND_DATA: Self = Self {
        code: 354,
        status: None,
        text: Cow::Borrowed("Send the message; end it with a dot on a line of its own"),
    };
    pub(super) const CHUNK_OK: Self = Self::fixed(250, [2, 0, 0], "Chunk taken");
    pub(super) const AUTHENTICATED: Self = Self::fixed(235, [2, 7, 0], "Any credentials are taken");
    pub(super) const START_TLS: Self = Self::fixed(220, [2, 0, 0], "Ready to start TLS");
    pub(super) const STORED: Self = Self::fixed(250, [2, 0, 0], "Stored");

    pub(super) const STOPPING: Self = Self::fixed(421, [4, 3, 2], "The service is stopping; try again later");
    pub(super) const TOO_MANY_CONNECTIONS: Self = Self::fixed(421, [4, 3, 2], "Too many connections; try again later");
    pub(super) const TOO_MANY_OF_ADDRESS: Self =
        Self::fixed(421, [4, 7, 0], "Too many connections from your address; try again later");
    pub(super) const TOO_MANY_OF_NETWORK: Self =
        Self::fixed(421, [4, 7, 0], "Too many connections from your network; try again later");
    pub(super) const TOO_MANY_A_MINUTE: Self =
        Self::fixed(421, [4, 7, 0], "Too many new connections in a minute; try again later");
    pub(super) const IDLE: Self = Self::fixed(421, [4, 4, 2], "Nothing came for too long");
    pub(super) const SLOW_COMMAND: Self = Self::fixed(421, [4, 4, 2], "The command took too long");
    pub(super) const SLOW_MESSAGE: Self = Self::fixed(421, [4, 4, 2], "The message took too long for its size");
    pub(super) const LIFE_OVER: Self = Self::fixed(421, [4, 4, 2], "The session has lasted long enough; connect again");
    pub(super) const STRESSED: Self =
        Self::fixed(421, [4, 3, 2], "Too slow while many others are served; try again later");
    pub(super) const MADE_ROOM: Self =
        Self::fixed(421, [4, 3, 2], "All places are taken and others wait; try again later");
    pub(super) const TOO_MANY_ERRORS: Self = Self::fixed(421, [4, 7, 0], "Too many errors");

    pub(super) const OUT_OF_STEP: Self =
        Self::fixed(421, [4, 5, 0], "What follows cannot be told from commands; try again on a new connection");
    pub(super) const STORE_FULL: Self = Self::fixed(452, [4, 3, 1], "No space to keep a message; try again later");
    pub(super) const NO_MEMORY: Self =
        Self::fixed(452, [4, 3, 1], "Too many messages are coming in at once; try again later");
    pub(super) const NO_MEMORY_OF_ADDRESS: Self =
        Self::fixed(452, [4, 3, 1], "Too many messages of your address are coming in at once; try again later");
    pub(super) const NO_MEMORY_OF_NETWORK: Self =
        Self::fixed(452, [4, 3, 1], "Too many messages of your network are coming in at once; try again later");
    pub(super) const STORE_FAILED: Self = Self::fixed(451, [4, 3, 0], "The message could not be kept; try again later");
    pub(super) const TOO_MANY_RECIPIENTS: Self =
        Self::fixed(452, [4, 5, 3], "Too many recipients; send the message to the others separately");

    pub(super) const UNKNOWN_COMMAND: Self = Self::fixed(500, [5, 5, 2], "Command not recognized");
    pub(super) const LINE_TOO_LONG: Self = Self::fixed(500, [5, 5, 2], LINE_TOO_LONG);
    pub(super) const BARE_LINE_END: Self =
        Self::fixed(500, [5, 5, 2], "A line ends with CR LF; this one has one without the other");
    pub(super) const BARE_IN_PATH: Self =
        Self::fixed(501, [5, 5, 2], "CR and LF stand together and end the line; a path holds neither");
    pub(super) const AUTH_LINE_TOO_LONG: Self = Self::fixed(500, [5, 5, 6], LINE_TOO_LONG);
    pub(super) const AUTH_CANCELLED: Self = Self::fixed(501, [5, 0, 0], "Authentication cancelled");
    pub(super) const NOT_BASE64: Self = Self::fixed(501, [5, 5, 2], "The response is not valid base64");
    pub(super) const NOT_PLAIN: Self = Self::fixed(501, [5, 5, 2], "The response is not a message of PLAIN");
    pub(super) const CHUNK_SYNTAX: Self = Self::syntax("Syntax: BDAT octets [LAST]");
    pub(super) const NO_PARAMETERS: Self = Self::fixed(501, [5, 5, 4], "The command takes no parameters");
    pub(super) const HELO_NAME: Self =
        Self { code: 501, status: None, text: Cow::Borrowed("A host name in printable ASCII must follow") };
    pub(super) const PARAMETER_VALUE: Self = Self::fixed(501, [5, 5, 4], "The value of a parameter is not valid");
    pub(super) const SENDER_SYNTAX: Self = Self::fixed(501, [5, 1, 7], "The sender is not a valid address");
    pub(super) const RECIPIENT_SYNTAX: Self = Self::fixed(501, [5, 1, 3], "The recipient is not a valid address");
    pub(super) const NOT_OFFERED: Self = Self::fixed(502, [5, 5, 1], "Command not offered");
    pub(super) const TLS_ALREADY: Self = Self::fixed(503, [5, 5, 1], "The connection is secured already");
    pub(super) const AUTH_ALREADY: Self = Self::fixed(503, [5, 5, 1], "The client is authenticated already");
    pub(super) const AUTH_TOO_LATE: Self = Self::fixed(503, [5, 5, 1], "A transaction has begun; RSET ends it");
    pub(super) const NESTED_MAIL: Self = Self::fixed(503, [5, 5, 1], "The sender is named already; RSET starts anew");
    pub(super) const MAIL_FIRST: Self = Self::fixed(503, [5, 5, 1], "Send MAIL first");
    pub(super) const NO_RECIPIENTS: Self = Self::fixed(503, [5, 5, 1], "No valid recipients");
    pub(super) const MESSAGE_BEGUN: Self =
        Self::fixed(503, [5, 5, 1], "The message has begun with BDAT; RSET starts anew");
    pub(super) const BINARY_NEEDS_BDAT: Self = Self::fixed(503, [5, 5, 1], "BODY=BINARYMIME needs BDAT");
    pub(super) const MECHANISM_UNKNOWN: Self = Self::fixed(504, [5, 5, 4], "The mechanism is not offered");
    pub(super) const MAILBOX_FULL: Self =
        Self::fixed(452, [4, 2, 2], "The mailbox or its domain is full; try again later");
    pub(super) const MAILBOX_UNKNOWN: Self = Self::fixed(550, [5, 1, 1], "No mail is received for this local part");
    pub(super) const SENDER_REFUSED: Self = Self::fixed(550, [5, 7, 1], "No mail is taken from this domain");
    pub(super) const CLIENT_REFUSED: Self = Self::fixed(554, [5, 7, 1], "No mail is taken from this network");
    pub(super) const ADDRESS_LITERAL: Self =
        Self::fixed(550, [5, 1, 2], "No mail is received for address literals, only for domains");
    pub(super) const SPOKE_FIRST: Self =
        Self::fixed(554, [5, 5, 1], "A client waits for the greeting; this one spoke before it");
    pub(super) const NEEDS_SMTPUTF8: Self =
        Self::fixed(553, [5, 6, 7], "Addresses beyond ASCII need the parameter SMTPUTF8 of MAIL");
    pub(super) const TOO_MANY_HOPS: Self = Self::fixed(554, [5, 4, 6], "Too many hops; the message is in a loop");
    pub(super) const PARAMETER_UNKNOWN: Self = Self::fixed(555, [5, 5, 4], "A parameter is not recognized");

    const fn fixed(code: u16, status: Status, text: &'static str) -> Self {
        Self { code, status: Some(status), text: Cow::Borrowed(text) }
    }

    fn made(code: u16, status: Option<Status>, text: String) -> Self {
        Self { code, status, text: Cow::Owned(text) }
    }

    pub(super) fn greeting(hostname: &DomainName, is_lmtp: bool) -> Self {
        let protocol = if is_lmtp { "LMTP" } else { "ESMTP" };
        Self::made(220, None, format!("{hostname} {protocol} tempmail"))
    }

    /// The same where no enhanced status code may stand.
    pub(super) fn without_status(self) -> Self {
        Self { status: None, ..self }
    }

    /// What asks for the client's name.
    pub(super) const fn greeting_first(is_lmtp: bool) -> Self {
        Self::fixed(503, [5, 5, 1], if is_lmtp { "Send LHLO first" } else { "Send HELO or EHLO first" })
    }

    /// What an exchange of AUTH asks for, in base64.
    pub(super) const fn challenge(text: &'static str) -> Self {
        Self { code: 334, status: None, text: Cow::Borrowed(text) }
    }

    /// The commands that a dialect has at the moment.
    pub(super) fn help(dialect: Dialect, is_secured: bool) -> Self {
        let greetings = if dialect.is_lmtp() { "LHLO" } else { "HELO EHLO" };
        let tls = if dialect.offers_tls && !is_secured { " STARTTLS" } else { "" };
        let auth = if dialect.offers_auth { " AUTH" } else { "" };
        let text = format!("Commands: {greetings}{tls}{auth} MAIL RCPT DATA BDAT RSET NOOP QUIT VRFY HELP");
        Self::made(214, Some([2, 0, 0]), text)
    }

    pub(super) fn helo(hostname: &DomainName) -> Self {
        Self::made(250, None, hostname.to_string())
    }

    /// The reply to EHLO and LHLO: one line per extension (RFC 5321 section 4.1.1.1).
    pub(super) fn ehlo(hostname: &DomainName, message_octets_max: u64, dialect: Dialect, is_secured: bool) -> Self {
        let tls = if dialect.offers_tls && !is_secured { "STARTTLS\n" } else { "" };
        let auth = if dialect.offers_auth { "AUTH PLAIN LOGIN\n" } else { "" };
        let text = format!(
            "{hostname}\nPIPELINING\nSIZE {message_octets_max}\n8BITMIME\nBINARYMIME\nCHUNKING\nSMTPUTF8\n\
             {tls}{auth}ENHANCEDSTATUSCODES\nHELP"
        );
        Self::made(250, None, text)
    }

    /// The syntax of a command, as the reply to what has not got it.
    pub(super) const fn syntax(syntax: &'static str) -> Self {
        Self::fixed(501, [5, 5, 4], syntax)
    }

    pub(super) fn domain_unknown(domain: &DomainName) -> Self {
        Self::made(550, Some([5, 1, 2]), format!("No mail is received for {domain}"))
    }

    pub(super) fn domain_deactivated(domain: &DomainName) -> Self {
        Self::made(550, Some([5, 1, 2]), format!("No mail is received for {domain} while its MX points elsewhere"))
    }

    pub(super) fn message_too_large(message_octets_max: u64) -> Self {
        Self::made(552, Some([5, 3, 4]), format!("The message is larger than {message_octets_max} octets"))
    }

    pub(super) fn text_line_too_long(octets_max: u64) -> Self {
        let text = format!("A line of the message is longer than {octets_max} octets; lines end with CR LF");
        Self::made(554, Some([5, 6, 0]), text)
    }

    /// What a failed store means to the sender. `None`: nothing true can be said, so the connection closes without a
    /// reply and the sender tries again (RFC 5321 section 4.2.5).
    pub(super) fn of_store_error(error: &StoreError) -> Option<Self> {
        match error {
            StoreError::Full => Some(Self::STORE_FULL),
            StoreError::MailboxFull => Some(Self::MAILBOX_FULL),
            StoreError::Failed(_) | StoreError::WriterEnded | StoreError::Damaged { .. } => Some(Self::STORE_FAILED),
            StoreError::Stopping => Some(Self::STOPPING),
            StoreError::TooLarge { limit } => Some(Self::message_too_large(*limit)),
            StoreError::OutcomeUnknown => None,
        }
    }

    /// What is said to a connection that is turned away, and counted under `bound`.
    pub(super) const fn of_admission(bound: Bound) -> Self {
        match bound {
            Bound::Address => Self::TOO_MANY_OF_ADDRESS,
            Bound::Network => Self::TOO_MANY_OF_NETWORK,
            Bound::Minute => Self::TOO_MANY_A_MINUTE,
            _ => Self::TOO_MANY_CONNECTIONS,
        }
    }

    /// What is said to a message for which there is no memory within `bound`.
    pub(super) const fn of_memory(bound: Bound) -> Self {
        match bound {
            Bound::MemoryOfAddress => Self::NO_MEMORY_OF_ADDRESS,
            Bound::MemoryOfNetwork => Self::NO_MEMORY_OF_NETWORK,
            _ => Self::NO_MEMORY,
        }
    }

    /// The last word to a client that did not keep time.
    pub(super) const fn of_lateness(end: End) -> Self {
        match end {
            End::SlowCommand => Self::SLOW_COMMAND,
            End::SlowMessage => Self::SLOW_MESSAGE,
            End::LifeOver => Self::LIFE_OVER,
            End::Stressed => Self::STRESSED,
            End::MadeRoom => Self::MADE_ROOM,
            _ => Self::IDLE,
        }
    }

    /// The bound that the reply refuses something for.
    pub(super) fn bound(&self) -> Option<Bound> {
        match (self.code, self.status) {
            (452, _) if *self == Self::TOO_MANY_RECIPIENTS => Some(Bound::Recipients),
            (452, _) if *self == Self::NO_MEMORY => Some(Bound::Memory),
            (452, _) if *self == Self::NO_MEMORY_OF_ADDRESS => Some(Bound::MemoryOfAddress),
            (452, _) if *self == Self::NO_MEMORY_OF_NETWORK => Some(Bound::MemoryOfNetwork),
            (500, _) if self.text == LINE_TOO_LONG => Some(Bound::Line),
            (552, Some([5, 3, 4])) => Some(Bound::Size),
            (554, Some([5, 6, 0])) => Some(Bound::TextLine),
            (554, _) if *self == Self::TOO_MANY_HOPS => Some(Bound::Hops),
            _ => None,
        }
    }

    /// The three-digit code.
    pub const fn code(&self) -> u16 {
        self.code
    }

    /// Whether the reply says that what was asked cannot be done, now (4yz) or ever (5yz).
    pub(super) const fn is_refusal(&self) -> bool {
        self.code >= 400
    }

    /// Whether the reply says that trying again cannot help.
    pub(super) const fn is_permanent(&self) -> bool {
        self.code >= 500
    }

    /// Appends the reply as it goes over the wire.
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

#[cfg(test)]
mod tests {
    use super::super::Service;
    use super::*;

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
        let dialect = Dialect { service: Service::Smtp, offers_tls: true, offers_auth: true };
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
        let reply = Reply::made(550, Some([5, 1, 2]), "a\rb\0c\x7f\u{e9}".into());
        assert_eq!(written(&reply), "550 5.1.2 a?b?c???\r\n");
    }

    #[test]
    fn no_line_is_longer_than_512_octets() {
        let reply = Reply::made(550, Some([5, 1, 2]), "x".repeat(2000));
        assert_eq!(written(&reply).len(), 512);
    }

    #[test]
    fn every_store_error_has_its_reply() {
        for (error, expected) in [
            (StoreError::Full, Some("452 4.3.1 ")),
            (StoreError::MailboxFull, Some("452 4.2.2 ")),
            (StoreError::Failed("secret detail".into()), Some("451 4.3.0 ")),
            (StoreError::Damaged { segment: 1, offset: 2 }, Some("451 4.3.0 ")),
            (StoreError::WriterEnded, Some("451 4.3.0 ")),
            (StoreError::Stopping, Some("421 4.3.2 ")),
            (StoreError::TooLarge { limit: 9 }, Some("552 5.3.4 ")),
            (StoreError::OutcomeUnknown, None),
        ] {
            let reply = Reply::of_store_error(&error).map(|reply| written(&reply));
            match (reply, expected) {
                (Some(reply), Some(start)) => {
                    assert!(reply.starts_with(start), "{error:?}: {reply}");
                    assert!(!reply.contains("secret"), "{reply}");
                }
                (reply, expected) => assert_eq!(reply.as_deref(), expected, "{error:?}"),
            }
        }
    }
}
