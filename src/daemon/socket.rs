//! The control socket: how commands on this machine reach the daemon. Whoever may open it is the owner.

use std::fs::Permissions;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use super::DaemonError;

/// Only the owner may connect.
const MODE: u32 = 0o600;

/// The socket, bound. Dropping it removes its file.
#[derive(Debug)]
pub struct ControlSocket {
    listener: UnixListener,
    path: PathBuf,
}

impl ControlSocket {
    /// Binds `path`. The caller holds the lock of the data directory, so a socket that is there is a dead daemon's.
    pub fn bind(path: &Path) -> Result<Self, DaemonError> {
        let failed = |error: io::Error| DaemonError::Socket { path: path.into(), error };
        match std::fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error)),
            _ => {}
        }
        let listener = UnixListener::bind(path).map_err(failed)?;
        std::fs::set_permissions(path, Permissions::from_mode(MODE)).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        Ok(Self { listener, path: path.into() })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A handle for the runtime.
    pub(super) fn listener(&self) -> io::Result<tokio::net::UnixListener> {
        tokio::net::UnixListener::from_std(self.listener.try_clone()?)
    }
}

impl Drop for ControlSocket {
    fn drop(&mut self) {
        // A leftover is replaced by the next start.
        let _ = std::fs::remove_file(&self.path);
    }
}
