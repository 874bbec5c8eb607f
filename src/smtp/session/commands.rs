//! What each command does, except those of a transaction.

use super::faults::Then;
use super::{ClientName, Session, State};
use crate::model::Greeting;
use crate::smtp::auth::Progress;
use crate::smtp::command::Command;
use crate::smtp::fault::{Parties, Stage};
use crate::smtp::reasons::End;
use crate::smtp::reply::Reply;

impl Session<'_> {
    /// Executes a command. `None`: its reply comes later or is written already.
    pub(super) fn execute(&mut self, command: Command) -> Option<Reply> {
        let done = match command {
            Command::Greeting(greeting, name) => self.greet(greeting, name),
            Command::Mail(mail) => self.mail(mail),
            Command::Rcpt { path, is_ascii } => self.rcpt(path, is_ascii),
            Command::Data => self.data(),
            Command::Bdat { octets, is_last } => {
                self.bdat(octets, is_last);
                // The reply comes after the octets, the fault before them.
                self.hold(Then::GoOn);
                return None;
            }
            Command::BdatOfUnknownSize => {
                self.answer(&Reply::CHUNK_SYNTAX);
                self.answer(&Reply::OUT_OF_SYNC);
                return None;
            }
            Command::StartTls => self.start_tls(),
            Command::Auth(begun) => self.auth(begun),
            Command::Rset => {
                self.transaction = None;
                Ok(Reply::OK)
            }
            Command::Noop => Ok(Reply::OK),
            Command::Vrfy => Ok(Reply::NOT_VERIFIED),
            Command::Help => Ok(Reply::help(self.dialect, self.tls.is_some())),
            Command::Quit => Ok(Reply::BYE),
        };
        Some(done.unwrap_or_else(|refusal| refusal))
    }

    fn greet(&mut self, greeting: Greeting, name: String) -> Result<Reply, Reply> {
        self.meet(Stage::Ehlo, Parties::None)?;
        // RFC 5321 section 4.1.4: a greeting implies RSET.
        self.transaction = None;
        self.client_name = Some(ClientName { name, greeting });
        Ok(match greeting {
            Greeting::Helo => Reply::helo(&self.settings.hostname),
            Greeting::Ehlo | Greeting::Lhlo | Greeting::Http => {
                Reply::ehlo(&self.settings.hostname, self.settings.message_octets_max, self.dialect, self.tls.is_some())
            }
        })
    }

    fn start_tls(&mut self) -> Result<Reply, Reply> {
        if self.tls.is_some() {
            return Err(Reply::TLS_ALREADY);
        }
        if !self.dialect.offers_tls {
            return Err(Reply::NOT_OFFERED);
        }
        self.meet(Stage::Tls, Parties::None)?;
        self.state = if self.breaks_handshake() { State::Closed(End::Fault) } else { State::Handshake };
        Ok(Reply::START_TLS)
    }

    fn auth(&mut self, begun: Result<Progress, Reply>) -> Result<Reply, Reply> {
        if self.client_name.is_none() {
            return Err(Reply::greeting_first(self.dialect.is_lmtp()));
        }
        if self.is_authenticated {
            return Err(Reply::AUTH_ALREADY);
        }
        if self.transaction.is_some() {
            return Err(Reply::AUTH_TOO_LATE);
        }
        Ok(self.authenticate(begun?))
    }

    /// Continues an exchange of AUTH.
    pub(super) fn authenticate(&mut self, progress: Progress) -> Reply {
        match progress {
            Progress::Challenge(exchange) => {
                self.state = State::Credentials(exchange);
                exchange.challenge()
            }
            Progress::Succeeded => {
                self.is_authenticated = true;
                Reply::AUTHENTICATED
            }
        }
    }
}
