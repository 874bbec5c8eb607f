//! Where a command is carried out: at a server that the user names, or by the daemon of this machine.

use std::hash::Hasher;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use siphasher::sip::SipHasher13;

use super::{Access, ServerUrl, Transport};
use crate::config::{self, Sources, ValueOrigin};
use crate::daemon::try_socket;
use crate::error::{Error, Exit};
use crate::store::disk::is_store;

/// The socket of a daemon under systemd, which a command tries when no data directory is named.
pub const SYSTEM_SOCKET: &str = "/run/tempmail/tempmail.sock";
/// Where the service of a package has its store.
pub(super) const SYSTEM_DATA_DIR: &str = "/var/lib/tempmail";
/// The longest path of a socket in octets: `sun_path` is 108 with its final zero.
const SOCKET_PATH_OCTETS_MAX: usize = 107;

/// Where a command is to be carried out.
#[derive(Clone, Debug)]
pub enum Destination {
    /// At a server, named by the user.
    Server(ServerUrl, Access),
    /// On this machine, by its daemon.
    Local(Sources),
}

/// The socket of the daemon on `data_dir`: `DIR/tempmail.sock`, or, where that path is too long for a socket, a name
/// made from the directory's in `runtime_dir` (`$XDG_RUNTIME_DIR`). `None` if it is too long and there is no such
/// directory.
pub fn socket_path(data_dir: &Path, runtime_dir: Option<&Path>) -> Option<PathBuf> {
    let inside = data_dir.join("tempmail.sock");
    if inside.as_os_str().len() <= SOCKET_PATH_OCTETS_MAX {
        return Some(inside);
    }
    // Fixed keys, so that daemon and command compute one name.
    let mut hasher = SipHasher13::new_with_keys(0, 0);
    hasher.write(data_dir.as_os_str().as_encoded_bytes());
    let named = runtime_dir?.join(format!("tempmail-{:016x}.sock", hasher.finish()));
    (named.as_os_str().len() <= SOCKET_PATH_OCTETS_MAX).then_some(named)
}

/// The transport to `target`. On this machine a daemon must run; without one the error says why: nobody runs it, or another
/// user does. Nothing is created.
pub fn choose(target: &Destination) -> Result<Transport, Error> {
    match target {
        Destination::Server(server, access) => Ok(Transport::http(server, access.clone())?),
        Destination::Local(sources) => Ok(Transport::unix(&daemon_socket(sources)?)?),
    }
}

/// The data directory that the user named in a flag or in the environment.
fn named_data_dir(sources: &Sources) -> Option<PathBuf> {
    let of_env = || sources.env.get("TEMPMAIL_DATA_DIR").filter(|dir| !dir.is_empty()).map(PathBuf::from);
    sources.data_dir.clone().or_else(of_env)
}

/// The data directory in effect, absolute. The configuration is read only when nobody named the directory.
pub fn data_dir(sources: &Sources) -> Result<PathBuf, Error> {
    let dir = match named_data_dir(sources) {
        Some(named) => named,
        None => config::load(sources)?.config.data_dir,
    };
    // The socket of a long path is named after it, so daemon and command must spell it alike.
    std::path::absolute(&dir).map_err(|error| Error::usage(format!("{}: {error}", dir.display())))
}

/// Whether nobody named the data directory, so that it is the usual one of whoever runs the command.
pub(super) fn is_usual_data_dir(sources: &Sources) -> Result<bool, Error> {
    let is_of_service = sources.env.get("STATE_DIRECTORY").is_some_and(|dir| !dir.is_empty());
    let is_named = is_of_service || named_data_dir(sources).is_some();
    Ok(!is_named && matches!(config::load(sources)?.config.origin("data-dir"), ValueOrigin::Default(_)))
}

/// Checks that a new store in a usual data directory can be meant: not where a service of this machine has one, and this
/// directory has none.
pub(super) fn check_meant(data_dir: &Path, of_service: &Path) -> Result<(), Error> {
    if of_service.symlink_metadata().is_err() || is_store(data_dir) {
        return Ok(());
    }
    let (data_dir, of_service) = (data_dir.display(), of_service.display());
    Err(Error::usage(format!("{data_dir} has no store, and a service of this machine keeps its mail in {of_service}"))
        .hint(format!("give --data-dir {of_service}, as the user of the service, or --data-dir {data_dir}")))
}

/// Whether a daemon runs on this machine.
pub fn is_running(sources: &Sources) -> Result<bool, Error> {
    Ok(find_daemon(sources, &data_dir(sources)?).is_some())
}

/// The socket of the daemon of this machine. Without one the error says why: nobody runs it, or another user does.
pub fn daemon_socket(sources: &Sources) -> Result<PathBuf, Error> {
    let data_dir = data_dir(sources)?;
    match listening(&sockets(sources, &data_dir)) {
        Ok(socket) => Ok(socket.clone()),
        Err(denied) => {
            check_ours(&data_dir, denied)?;
            let cause = format!("no daemon runs on {}", data_dir.display());
            Err(Error::new(Exit::Unavailable, cause).hint("start `tempmail serve`"))
        }
    }
}

fn sockets(sources: &Sources, data_dir: &Path) -> Vec<PathBuf> {
    let runtime_dir = sources.env.get("XDG_RUNTIME_DIR").filter(|dir| !dir.is_empty()).map(Path::new);
    let mut sockets: Vec<PathBuf> = socket_path(data_dir, runtime_dir).into_iter().collect();
    if named_data_dir(sources).is_none() {
        sockets.push(PathBuf::from(SYSTEM_SOCKET));
    }
    sockets
}

/// The socket of a daemon that runs on `data_dir`, or the one of this machine if no directory was named.
pub(super) fn find_daemon(sources: &Sources, data_dir: &Path) -> Option<PathBuf> {
    listening(&sockets(sources, data_dir)).ok().cloned()
}

/// The first of `sockets` that somebody listens on. Without one the error is the last that this user may not open.
///
/// A daemon that was killed leaves its socket behind, so only a connection shows whether one runs.
fn listening(sockets: &[PathBuf]) -> Result<&PathBuf, Option<&PathBuf>> {
    let mut denied = None;
    for socket in sockets {
        match try_socket(socket) {
            Ok(()) => return Ok(socket),
            Err(error) if error.kind() == ErrorKind::PermissionDenied => denied = Some(socket),
            Err(_) => {}
        }
    }
    Err(denied)
}

/// Checks that the data directory exists and belongs to the user of this process.
///
/// A command of root would otherwise leave files in it that its owner's daemon cannot open.
pub(super) fn check_ours(data_dir: &Path, denied: Option<&PathBuf>) -> Result<(), Error> {
    let not_ours = |path: &Path| {
        Error::new(Exit::NotAllowed, format!("{} belongs to another user", path.display()))
            .hint("run the command as that user, or give --server URL")
    };
    match std::fs::metadata(data_dir) {
        Ok(found) if !found.is_dir() => {
            Err(Error::new(Exit::Failure, format!("{} is no directory", data_dir.display()))
                .hint("give --data-dir DIR"))
        }
        Ok(found) if found.uid() != rustix::process::geteuid().as_raw() => Err(not_ours(data_dir)),
        Ok(_) => Ok(()),
        Err(error) if error.kind() == ErrorKind::PermissionDenied => Err(not_ours(data_dir)),
        Err(_) if denied.is_some() => Err(not_ours(denied.map_or(data_dir, PathBuf::as_path))),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let cause = format!("no daemon runs and {} does not exist", data_dir.display());
            Err(Error::new(Exit::Unavailable, cause).hint("start `tempmail serve`, or give --server URL"))
        }
        Err(error) => Err(Error::new(Exit::Failure, format!("{}: {error}", data_dir.display()))),
    }
}

#[cfg(test)]
mod tests;
