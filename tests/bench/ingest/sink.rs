//! Postfix's server, which is compared.

use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::process::geteuid;

use crate::support::Result;
use crate::support::daemon::{Server, free_addresses};

/// Postfix's smtp-sink: takes every message and throws it away.
pub(crate) struct Sink {
    address: SocketAddr,
    _server: Server,
}

impl Sink {
    pub(crate) fn start(program: &Path) -> Result<Self> {
        let [address] = free_addresses()?;
        let mut command = Command::new(program);
        if geteuid().is_root() {
            command.args(["-u", "nobody"]);
        }
        command.args([&address.to_string(), "1024"]).stdin(Stdio::null()).stdout(Stdio::null());
        let mut server = Server::start(&mut command)?;
        server.wait_until(|| TcpStream::connect(address).is_ok()).map_err(|error| format!("smtp-sink: {error}"))?;
        Ok(Self { address, _server: server })
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }
}
