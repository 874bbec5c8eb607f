//! Shares of what many clients use together.

/// How much of something one client, one network and all together may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// What one client may have.
    pub client: u64,
    /// What one network may have.
    pub network: u64,
    /// What all may have.
    pub all: u64,
}

impl Share {
    /// The usual shares of `all`: a sixteenth for a client, a quarter for a network.
    pub const fn of(all: u64) -> Self {
        Self { client: all / 16, network: all / 4, all }
    }

    /// Whether a client, its network and all may have so much.
    pub const fn allows(self, of_client: u64, of_network: u64, in_all: u64) -> bool {
        of_client <= self.client && of_network <= self.network && in_all <= self.all
    }
}
