//! An address that is kept for one listener, or for none.

use std::net::{Ipv4Addr, SocketAddr};

use socket2::{Domain, Socket, Type};

/// An address of loopback that the system gives to nobody who asks for any port, for as long as this lives. It refuses
/// connections until a program listens at this very address, which may end and begin again.
///
/// The socket is bound and never listens: Linux lets such a socket share its port with a listener if both allow that, and
/// chooses the port for no other socket.
pub(crate) struct Reserved {
    pub(crate) address: SocketAddr,
    _socket: Socket,
}

impl Reserved {
    pub(crate) fn new() -> Self {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None).expect("a socket");
        socket.set_reuse_address(true).expect("an option");
        socket.bind(&SocketAddr::from((Ipv4Addr::LOCALHOST, 0)).into()).expect("a free port");
        let address = socket.local_addr().ok().and_then(|address| address.as_socket()).expect("its address");
        Self { address, _socket: socket }
    }
}
