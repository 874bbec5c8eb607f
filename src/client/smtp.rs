//! Just enough of an SMTP client (RFC 5321) to hand one message to a receiver: test mail, and that of `tempmail sendmail`.

use std::fmt::{self, Write as _};
use std::io;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::error::{Error, Exit};

const CONNECT_WITHIN: Duration = Duration::from_secs(10);
const REPLY_WITHIN: Duration = Duration::from_secs(30);
/// RFC 5321 section 4.5.3.1.5: a reply line has at most 512 octets. Some servers write more.
const LINE_OCTETS_MAX: u64 = 2048;
const LINES_MAX: usize = 100;

/// A message to hand over.
#[derive(Clone, Debug)]
pub struct Submission {
    /// The reverse-path without angle brackets.
    pub reverse_path: String,
    /// The recipients without angle brackets. Unless the receiver takes each, none gets the message.
    pub recipients: Vec<String>,
    /// The message with CRLF line ends, the last line's included.
    pub message: Vec<u8>,
}

impl Submission {
    /// The parameters of MAIL that the message needs, as far as the receiver offers them: its size (RFC 1870), octets
    /// beyond ASCII in it (RFC 6152) and in the addresses (RFC 6531).
    fn parameters(&self, offered: &Reply) -> String {
        let is_offered = |keyword: &str| offered.text.split(' ').any(|word| word.eq_ignore_ascii_case(keyword));
        let has_utf8_address =
            !self.reverse_path.is_ascii() || self.recipients.iter().any(|address| !address.is_ascii());
        let mut parameters = String::new();
        if is_offered("SIZE") {
            // Writing to a String does not fail.
            let _ = write!(parameters, " SIZE={}", self.message.len());
        }
        if is_offered("8BITMIME") && !self.message.is_ascii() {
            parameters.push_str(" BODY=8BITMIME");
        }
        if is_offered("SMTPUTF8") && has_utf8_address {
            parameters.push_str(" SMTPUTF8");
        }
        parameters
    }
}

/// A message whose lines all end with CRLF, as SMTP demands.
pub fn with_crlf(raw: &[u8]) -> Vec<u8> {
    let mut message = Vec::with_capacity(raw.len() + raw.len() / 32 + 2);
    for line in raw.split_inclusive(|&octet| octet == b'\n') {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        message.extend_from_slice(line.strip_suffix(b"\r").unwrap_or(line));
        message.extend_from_slice(b"\r\n");
    }
    message
}

/// A reply of the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// The three digits.
    pub code: u16,
    /// Its lines without the code, joined by blanks.
    pub text: String,
}

impl Reply {
    /// Subject and detail of the enhanced status code (RFC 3463), if the text begins with one of the code's class.
    pub fn enhanced(&self) -> Option<(u16, u16)> {
        let mut numbers = self.text.split(' ').next()?.split('.').map(str::parse::<u16>);
        let (class, subject, detail) = (numbers.next()?.ok()?, numbers.next()?.ok()?, numbers.next()?.ok()?);
        (class == self.code / 100 && numbers.next().is_none()).then_some((subject, detail))
    }
}

impl fmt::Display for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.code, self.text)
    }
}

/// Why a message was not handed over.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("SMTP at {server} {failure}")]
pub struct SmtpError {
    /// Host and port.
    pub server: String,
    /// What went wrong there.
    pub failure: Failure,
}

/// What went wrong at a server. A step is the command that it was to answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the message of a variant says what it is")]
pub enum Failure {
    #[error("cannot be reached: {0}")]
    Unreachable(String),
    #[error("closed the connection without a reply")]
    Closed,
    #[error("did not answer {0} in time")]
    TimedOut(String),
    #[error("gave an answer that is not of SMTP")]
    NotSmtp,
    #[error("refused {step}: {reply}")]
    Refused { step: String, reply: Reply },
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Unreachable(error.to_string())
    }
}

impl From<SmtpError> for Error {
    fn from(error: SmtpError) -> Self {
        let exit = match &error.failure {
            Failure::Refused { reply, .. } => Exit::of_smtp(reply.code, reply.enhanced()),
            _ => Exit::Unavailable,
        };
        let hint = match &error.failure {
            Failure::Refused { .. } if exit == Exit::NotFound => {
                "`tempmail domain list` shows the domains that mail is received for"
            }
            Failure::Refused { .. } => "the reply says why; 4yz is temporary, 5yz is not",
            Failure::Closed => {
                "see that it is the port of SMTP and not of HTTP: `tempmail status` shows both. Behind a proxy (proxy-from) give the proxy's address as --smtp HOST:PORT"
            }
            Failure::NotSmtp | Failure::TimedOut(_) => {
                "see that it is the port of SMTP and not of HTTP: `tempmail status` shows both"
            }
            Failure::Unreachable(_) => "see that `tempmail serve` runs there, or give --smtp HOST:PORT",
        };
        Self::new(exit, error).hint(hint)
    }
}

/// Hands a message to the receiver at `server` (host and port); its last reply.
///
/// `Ok` means that the receiver has taken responsibility for the message.
pub(crate) async fn submit(server: &str, submission: &Submission) -> Result<Reply, SmtpError> {
    handed_over(server, submission).await.map_err(|failure| SmtpError { server: server.to_owned(), failure })
}

async fn handed_over(server: &str, submission: &Submission) -> Result<Reply, Failure> {
    let connecting = timeout(CONNECT_WITHIN, TcpStream::connect(server)).await;
    let mut stream = BufReader::new(connecting.map_err(|_| Failure::Unreachable("no answer".to_owned()))??);
    exchange(&mut stream, "the connection", b"", 2).await?;
    let offered = command(&mut stream, "EHLO localhost", 2).await?;
    let parameters = submission.parameters(&offered);
    command(&mut stream, &format!("MAIL FROM:<{}>{parameters}", submission.reverse_path), 2).await?;
    for recipient in &submission.recipients {
        command(&mut stream, &format!("RCPT TO:<{recipient}>"), 2).await?;
    }
    command(&mut stream, "DATA", 3).await?;
    let message = [stuffed(&submission.message).as_slice(), b".\r\n"].concat();
    let reply = exchange(&mut stream, "the message", &message, 2).await?;
    // The message is the receiver's by now, whatever becomes of the farewell.
    let _ = command(&mut stream, "QUIT", 2).await;
    Ok(reply)
}

/// Sends a command and demands a reply whose code begins with `class`.
async fn command(stream: &mut BufReader<TcpStream>, line: &str, class: u16) -> Result<Reply, Failure> {
    let step = line.split(' ').next().unwrap_or(line);
    exchange(stream, step, format!("{line}\r\n").as_bytes(), class).await
}

/// Sends bytes and demands a reply whose code begins with `class`.
async fn exchange(stream: &mut BufReader<TcpStream>, step: &str, bytes: &[u8], class: u16) -> Result<Reply, Failure> {
    let timed_out = |_| Failure::TimedOut(step.to_owned());
    timeout(REPLY_WITHIN, stream.get_mut().write_all(bytes)).await.map_err(timed_out)??;
    let reply = timeout(REPLY_WITHIN, read(stream)).await.map_err(timed_out)??;
    if reply.code / 100 == class { Ok(reply) } else { Err(Failure::Refused { step: step.to_owned(), reply }) }
}

/// Reads a reply.
async fn read(stream: &mut BufReader<TcpStream>) -> Result<Reply, Failure> {
    let mut lines = Vec::new();
    while lines.len() < LINES_MAX {
        let mut line = Vec::new();
        stream.take(LINE_OCTETS_MAX).read_until(b'\n', &mut line).await?;
        if line.is_empty() {
            return Err(Failure::Closed);
        }
        let (code, is_last, text) = parse(&line).ok_or(Failure::NotSmtp)?;
        lines.push(text);
        if is_last {
            return Ok(Reply { code, text: lines.join(" ") });
        }
    }
    Err(Failure::NotSmtp)
}

/// RFC 5321 section 4.5.2: a line that begins with a dot gets another.
fn stuffed(message: &[u8]) -> Vec<u8> {
    let mut stuffed = Vec::with_capacity(message.len() + 16);
    for line in message.split_inclusive(|&octet| octet == b'\n') {
        if line.starts_with(b".") {
            stuffed.push(b'.');
        }
        stuffed.extend_from_slice(line);
    }
    stuffed
}

/// The code of a reply line, whether it is the reply's last, and its text.
fn parse(line: &[u8]) -> Option<(u16, bool, String)> {
    let line = line.strip_suffix(b"\n")?;
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let (code, rest) = line.split_at_checked(3)?;
    let code = std::str::from_utf8(code).ok()?.parse().ok().filter(|code| (200..600).contains(code))?;
    let is_last = match rest.first() {
        None | Some(b' ') => true,
        Some(b'-') => false,
        Some(_) => return None,
    };
    Some((code, is_last, String::from_utf8_lossy(rest.get(1..).unwrap_or_default()).into_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_line_is_distinguished_from_noise() {
        assert_eq!(parse(b"250-x.test\r\n"), Some((250, false, "x.test".to_owned())));
        assert_eq!(parse(b"250 2.1.0 ok\r\n"), Some((250, true, "2.1.0 ok".to_owned())));
        assert_eq!(parse(b"220\n"), Some((220, true, String::new())));
        for noise in [&b"HTTP/1.1 400 Bad Request\r\n"[..], b"25\r\n", b"250 no end", b"999 x\r\n", b"+25 x\r\n", b""] {
            assert_eq!(parse(noise), None, "{}", noise.escape_ascii());
        }
    }

    #[test]
    fn an_enhanced_code_must_be_of_the_replys_class() {
        let enhanced = |code, text: &str| Reply { code, text: text.to_owned() }.enhanced();
        assert_eq!(enhanced(550, "5.1.2 no such domain"), Some((1, 2)));
        assert_eq!(enhanced(550, "4.1.2 odd"), None);
        assert_eq!(enhanced(550, "5.1 short"), None);
        assert_eq!(enhanced(550, "no such domain"), None);
    }

    #[test]
    fn what_is_beyond_ascii_is_announced_where_it_is_offered() {
        let offered = |text: &str| Reply { code: 250, text: text.to_owned() };
        let mut submission = submission();
        submission.message = "\u{fc}\r\n".into();
        submission.recipients.push("j\u{f6}rg@x.test".to_owned());
        assert_eq!(submission.parameters(&offered("x 8BITMIME SMTPUTF8")), " BODY=8BITMIME SMTPUTF8");
        assert_eq!(submission.parameters(&offered("x PIPELINING")), "");
    }

    #[test]
    fn every_line_ends_with_crlf() {
        assert_eq!(with_crlf(b"a\nb\r\n\xff"), b"a\r\nb\r\n\xff\r\n");
        assert_eq!(with_crlf(b""), b"");
    }

    #[test]
    fn leading_dots_are_doubled() {
        assert_eq!(stuffed(b".a\r\nb.\r\n..\r\n"), b"..a\r\nb.\r\n...\r\n");
    }

    /// A server that gives each command its prepared reply; what it was sent.
    async fn server(replies: &'static [&'static str]) -> (String, tokio::task::JoinHandle<Vec<String>>) {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("bind");
        let address = listener.local_addr().expect("address").to_string();
        let task = tokio::spawn(async move {
            let (stream, _) = listener.accept().await.expect("accept");
            let mut stream = BufReader::new(stream);
            let mut lines = Vec::new();
            for reply in replies {
                stream.get_mut().write_all(reply.as_bytes()).await.expect("write");
                let mut line = String::new();
                while stream.read_line(&mut line).await.unwrap_or(0) > 0 {
                    let is_content = reply.starts_with("354") && line.trim_end() != ".";
                    lines.push(std::mem::take(&mut line).trim_end().to_owned());
                    if !is_content {
                        break;
                    }
                }
            }
            lines
        });
        (address, task)
    }

    fn submission() -> Submission {
        Submission {
            reverse_path: "a@x.test".to_owned(),
            recipients: vec!["b@x.test".to_owned(), "c@x.test".to_owned()],
            message: b"Subject: s\r\n\r\n.dot\r\n".to_vec(),
        }
    }

    #[tokio::test]
    async fn a_message_is_handed_over() {
        let (address, task) = server(&[
            "220 x.test ESMTP\r\n",
            "250-x.test\r\n250-SIZE 1000\r\n250 8BITMIME\r\n",
            "250 ok\r\n",
            "250 ok\r\n",
            "250 ok\r\n",
            "354 go on\r\n",
            "250 2.0.0 stored\r\n",
            "221 bye\r\n",
        ])
        .await;
        let reply = submit(&address, &submission()).await.expect("taken");
        assert_eq!(reply.to_string(), "250 2.0.0 stored");
        let sent = task.await.expect("server");
        let expected = [
            "EHLO localhost",
            "MAIL FROM:<a@x.test> SIZE=20",
            "RCPT TO:<b@x.test>",
            "RCPT TO:<c@x.test>",
            "DATA",
            "Subject: s",
            "",
            "..dot",
            ".",
            "QUIT",
        ];
        assert_eq!(sent, expected);
    }

    #[tokio::test]
    async fn a_refusal_says_which_step_and_why() {
        let (address, _task) = server(&["220 x\r\n", "250 x\r\n", "250 ok\r\n", "550 5.1.2 no such domain\r\n"]).await;
        let error = submit(&address, &submission()).await.expect_err("refused");
        assert_eq!(error.to_string(), format!("SMTP at {address} refused RCPT: 550 5.1.2 no such domain"));
        assert_eq!(Error::from(error).exit(), Exit::NotFound);
    }

    #[tokio::test]
    async fn what_is_no_smtp_server_is_unavailable() {
        let (address, _task) = server(&["HTTP/1.1 400 Bad Request\r\n"]).await;
        let error = submit(&address, &submission()).await.expect_err("not SMTP");
        assert_eq!(error, SmtpError { server: address, failure: Failure::NotSmtp });
        assert_eq!(Error::from(error).exit(), Exit::Unavailable);
    }
}
