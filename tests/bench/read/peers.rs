//! Other servers whose lists are measured beside ours: each needs its program.

use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::support::Result;
use crate::support::daemon::{Server, free_addresses};
use crate::support::programs;

/// The servers that this benchmark can start.
const KNOWN: [&str; 2] = ["inbucket", "mailpit"];

/// A running server.
pub(crate) struct Peer {
    pub(crate) name: &'static str,
    pub(crate) smtp: SocketAddr,
    pub(crate) http: SocketAddr,
    _server: Server,
}

impl Peer {
    /// Starts every known server whose program is given as `NAME=PATH`, or is on the PATH.
    pub(crate) fn start_all(given: &[String]) -> Result<Vec<Self>> {
        let mut programs: Vec<(&'static str, PathBuf)> =
            KNOWN.iter().filter_map(|name| Some((*name, programs::installed(name)?))).collect();
        for peer in given {
            let known = peer.split_once('=').and_then(|(name, path)| Some((KNOWN.iter().find(|k| **k == name)?, path)));
            let (name, path) = known.ok_or_else(|| format!("--peer {peer}: give {}=PATH", KNOWN.join("=PATH or ")))?;
            programs.retain(|(found, _)| found != name);
            programs.push((name, path.into()));
        }
        programs.into_iter().map(|(name, program)| Self::start(name, &program)).collect()
    }

    fn start(name: &'static str, program: &Path) -> Result<Self> {
        let [smtp, http, pop3] = free_addresses()?;
        let mut command = Command::new(program);
        if name == "inbucket" {
            command.env("INBUCKET_SMTP_ADDR", smtp.to_string()).env("INBUCKET_WEB_ADDR", http.to_string());
            command.env("INBUCKET_POP3_ADDR", pop3.to_string()).env("INBUCKET_STORAGE_TYPE", "memory");
            command.env("INBUCKET_LOGLEVEL", "error").env("INBUCKET_STORAGE_MAILBOXMSGCAP", "0");
        } else {
            command.args(["--smtp", &smtp.to_string(), "--listen", &http.to_string(), "--quiet", "--max", "0"]);
        }
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut server = Server::start(&mut command)?;
        let is_ready = || [smtp, http].iter().all(|address| TcpStream::connect(address).is_ok());
        server.wait_until(is_ready).map_err(|error| format!("{name}: {error}"))?;
        Ok(Self { name, smtp, http, _server: server })
    }

    /// Where the list of a mailbox is. Mailpit has one mailbox for all, of which this is the newest page.
    pub(crate) fn list_path(&self, address: &str, limit: usize) -> String {
        match (self.name, address.split_once('@')) {
            ("inbucket", Some((mailbox, _))) => format!("/api/v1/mailbox/{mailbox}"),
            _ => format!("/api/v1/messages?limit={limit}"),
        }
    }
}
