//! Unix sockets. The control socket is how commands on this machine reach the daemon; a user who may open it is the
//! administrator.
//!
//! A listener has one owner. A second handle, kept while the daemon drains, would let commands connect to what nobody
//! answers any more.

use std::fs::Permissions;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, socket_with};

/// The file of a socket, removed when this is dropped.
#[derive(Debug)]
pub(super) struct SocketFile(PathBuf);

/// Binds a Unix socket in place of whatever has its path, unless somebody listens there.
pub(super) fn bind(path: &Path, mode: u32) -> io::Result<(UnixListener, SocketFile)> {
    match try_socket(path) {
        Ok(()) => return Err(io::ErrorKind::AddrInUse.into()),
        // A leftover, which nobody listens on.
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => std::fs::remove_file(path)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    let listener = UnixListener::bind(path)?;
    let file = SocketFile(path.into());
    std::fs::set_permissions(path, Permissions::from_mode(mode))?;
    listener.set_nonblocking(true)?;
    Ok((listener, file))
}

/// Tries whether somebody listens on the Unix socket at `path`. Never waits: a listener with a full queue counts as one.
pub fn try_socket(path: &Path) -> io::Result<()> {
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    match rustix::net::connect(&socket, &SocketAddrUnix::new(path)?) {
        Ok(()) | Err(Errno::AGAIN) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        // A leftover is replaced by the next start.
        let _ = std::fs::remove_file(&self.0);
    }
}
