//! Finds the process that already listens on a port.

use std::fs;
use std::net::SocketAddr;

/// The state of a listening socket in `/proc/net/tcp`.
const LISTEN: &str = "0A";

/// The process that listens on the port of `address`, as `name (process 123)`; `None` where the system doesn't tell.
pub(super) fn of(address: SocketAddr) -> Option<String> {
    let inode = ["/proc/net/tcp", "/proc/net/tcp6"]
        .iter()
        .filter_map(|table| fs::read_to_string(table).ok())
        .find_map(|table| listening_inode(&table, address.port()))?;
    let link = format!("socket:[{inode}]");
    let process = fs::read_dir("/proc").ok()?.flatten().find_map(|entry| {
        let number: u32 = entry.file_name().to_str()?.parse().ok()?;
        let mut files = fs::read_dir(entry.path().join("fd")).ok()?.flatten();
        files.any(|file| fs::read_link(file.path()).is_ok_and(|target| target.as_os_str() == &*link)).then_some(number)
    })?;
    let name = fs::read_to_string(format!("/proc/{process}/comm")).unwrap_or_default();
    Some(format!("{} (process {process})", name.trim()))
}

/// The inode of the socket that listens on `port`, from the kernel's table.
fn listening_inode(table: &str, port: u16) -> Option<String> {
    let port = format!("{port:04X}");
    table.lines().skip(1).find_map(|line| {
        let mut columns = line.split_whitespace().skip(1);
        let (_, local_port) = columns.next()?.rsplit_once(':')?;
        let state = columns.nth(1)?;
        let inode = columns.nth(5)?;
        (local_port == port && state == LISTEN).then(|| inode.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_process_that_listens_is_found() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("bind");
        let owner = of(listener.local_addr().expect("address")).expect("a owner");
        assert!(owner.ends_with(&format!("(process {})", std::process::id())), "{owner}");
    }
}
