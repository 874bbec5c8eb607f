//! A session played without a socket.

use std::path::PathBuf;

use tempmail::config::{Config, Revision};
use tempmail::model::Address;
use tempmail::smtp::{Action, Budget, Dialect, End, Message, Policy, Reply, Service, Session, Share, SmtpSettings};
use tempmail::store::StoreError;

/// The largest message of these sessions in octets, small enough that messages cross it.
pub(crate) const MESSAGE_OCTETS_MAX: u64 = 2000;

/// The replies to a message that was handed over: kept, or no room for it.
pub(crate) const MESSAGE_END_CODES: [u16; 2] = [250, 452];

/// What sessions of SMTP offer: not TLS, behind which what is thrown away depends on the cuts.
const SMTP: Dialect = Dialect { service: Service::Smtp, offers_tls: false, offers_auth: true };
/// What sessions of LMTP offer.
const LMTP: Dialect = Dialect { service: Service::Lmtp, offers_tls: false, offers_auth: false };

/// Takes mail for everybody.
struct Anybody;

impl Policy for Anybody {
    fn sender(&self, _reverse_path: &str) -> Result<(), Reply> {
        Ok(())
    }

    fn recipient(&self, _: &Address) -> Result<(), Reply> {
        Ok(())
    }

    fn memory(&self, octets: u64) -> Result<Share, Reply> {
        // Each message has a budget of its own, twice its size at least, in which a share may grow.
        Ok(Budget::new(2 * MESSAGE_OCTETS_MAX.max(octets) + 1024).reserve(None, octets).expect("room"))
    }
}

/// What a dialog came to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Played {
    /// As they were written, the greeting first.
    pub(crate) replies: Vec<u8>,
    pub(crate) messages: Vec<Message>,
    pub(crate) end: Option<End>,
}

pub(crate) fn settings() -> SmtpSettings {
    let mut settings = SmtpSettings::from_config(&Config::of_revision(Revision::Two, PathBuf::from("unused")));
    settings.message_octets_max = MESSAGE_OCTETS_MAX;
    settings
}

/// Plays octets as they are cut; the store keeps the first message, has no room for the second, and so on in turn.
pub(crate) fn play(settings: &SmtpSettings, pieces: &[&[u8]]) -> Played {
    played(settings, SMTP, pieces)
}

/// The same over LMTP.
pub(crate) fn play_lmtp(settings: &SmtpSettings, pieces: &[&[u8]]) -> Played {
    played(settings, LMTP, pieces)
}

fn played(settings: &SmtpSettings, dialect: Dialect, pieces: &[&[u8]]) -> Played {
    let mut played = Played { replies: Vec::new(), messages: Vec::new(), end: None };
    step_by_step(settings, dialect, pieces, |replies, message| {
        played.replies.extend_from_slice(replies);
        played.messages.extend(message);
    })
    .clone_into(&mut played.end);
    played
}

/// Plays SMTP for what is to be seen step by step: the replies up to an action, and its message.
pub(crate) fn each_step(settings: &SmtpSettings, pieces: &[&[u8]], seen: impl FnMut(&[u8], Option<Message>)) {
    step_by_step(settings, SMTP, pieces, seen);
}

fn step_by_step(
    settings: &SmtpSettings,
    dialect: Dialect,
    pieces: &[&[u8]],
    mut seen: impl FnMut(&[u8], Option<Message>),
) -> Option<End> {
    let mut session = Session::new(settings, dialect, &Anybody);
    let mut messages = 0;
    // The first piece is empty, so that the greeting is there even when nothing is said.
    for piece in std::iter::once(&&[][..]).chain(pieces) {
        let mut input = *piece;
        loop {
            let action = session.advance(&mut input);
            let replies = std::mem::take(session.replies());
            match action {
                Action::Read => {
                    assert!(input.is_empty(), "{} octets were left", input.len());
                    seen(&replies, None);
                    break;
                }
                Action::Write => seen(&replies, None),
                Action::Wait(_) => unreachable!("there is no rule for faults"),
                Action::Store(message) => {
                    seen(&replies, Some(message));
                    messages += 1;
                    session.stored(if messages % 2 == 1 { Ok(()) } else { Err(StoreError::Full) });
                }
                Action::LookUp(_) => unreachable!("every domain is known"),
                Action::StartTls => unreachable!("it is not offered"),
                Action::Close(end) => {
                    seen(&replies, None);
                    return Some(end);
                }
            }
        }
    }
    None
}

/// Cuts replies into their code and text, line by line; the error says what is wrong with them.
pub(crate) fn read_replies(replies: &[u8]) -> Result<Vec<u16>, String> {
    let wrong = |line: &[u8], what: &str| Err(format!("{what}: {:?}", line.escape_ascii().to_string()));
    let Some(lines) = replies.strip_suffix(b"\r\n") else { return wrong(replies, "no CRLF at the end") };
    let mut codes = Vec::new();
    let mut unfinished = None;
    for line in lines.split(|&octet| octet == b'\n') {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        // RFC 5321 section 4.5.3.1.5, without the CRLF; section 4.2 for the rest.
        if line.len() > 510 || !line.iter().all(|octet| matches!(octet, b' '..=b'~')) {
            return wrong(line, "too long or not printable");
        }
        let code = line.get(..3).and_then(|code| str::from_utf8(code).ok()).and_then(|code| code.parse::<u16>().ok());
        let Some(code) = code.filter(|code| (200..600).contains(code)) else { return wrong(line, "no code") };
        if unfinished.is_some_and(|before| before != code) {
            return wrong(line, "another code in the same reply");
        }
        unfinished = match line.get(3) {
            Some(b'-') => Some(code),
            Some(b' ') => {
                codes.push(code);
                None
            }
            _ => return wrong(line, "neither blank nor hyphen after the code"),
        };
    }
    if unfinished.is_some() { wrong(lines, "the last reply has no last line") } else { Ok(codes) }
}
