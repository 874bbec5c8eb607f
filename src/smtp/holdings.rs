//! What clients hold of something that each of them may have a part of, by address and by network.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Whose part is used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Whose {
    /// That of the address.
    Address,
    /// That of its network: /24 of IPv4, /64 of IPv6.
    Network,
}

/// How much each of them may hold, and who holds how much. There is an entry for who holds something, and no other.
#[derive(Debug)]
pub(super) struct Holdings {
    per_address_max: u64,
    per_network_max: u64,
    addresses: HashMap<IpAddr, u64>,
    networks: HashMap<IpAddr, u64>,
}

impl Holdings {
    pub(super) fn new(per_address_max: u64, per_network_max: u64) -> Self {
        Self { per_address_max, per_network_max, addresses: HashMap::new(), networks: HashMap::new() }
    }

    /// Gives a client so much more, unless that is beyond a part.
    pub(super) fn take(&mut self, client: IpAddr, amount: u64) -> Result<(), Whose> {
        let network = network_of(client);
        let would_have =
            |held: &HashMap<IpAddr, u64>, key| held.get(key).copied().unwrap_or_default().saturating_add(amount);
        if would_have(&self.addresses, &client) > self.per_address_max {
            return Err(Whose::Address);
        }
        if would_have(&self.networks, &network) > self.per_network_max {
            return Err(Whose::Network);
        }
        *self.addresses.entry(client).or_default() += amount;
        *self.networks.entry(network).or_default() += amount;
        Ok(())
    }

    /// Takes back what a client was given.
    pub(super) fn give_back(&mut self, client: IpAddr, amount: u64) {
        lessen(&mut self.addresses, client, amount);
        lessen(&mut self.networks, network_of(client), amount);
    }

    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        self.addresses.is_empty() && self.networks.is_empty()
    }
}

fn lessen(held: &mut HashMap<IpAddr, u64>, key: IpAddr, amount: u64) {
    if let Entry::Occupied(mut entry) = held.entry(key) {
        *entry.get_mut() = entry.get().saturating_sub(amount);
        if *entry.get() == 0 {
            entry.remove();
        }
    }
}

/// The first address of the network that a client belongs to.
pub(super) fn network_of(client: IpAddr) -> IpAddr {
    match client {
        IpAddr::V4(address) => IpAddr::V4(Ipv4Addr::from_bits(address.to_bits() & 0xffff_ff00)),
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX))),
    }
}
