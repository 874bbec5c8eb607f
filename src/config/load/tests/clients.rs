//! What an address and its network may have.

use super::World;

#[test]
fn the_memory_of_a_client_follows_the_budget_and_what_was_set() {
    for (world, expected) in [
        (World::new(), (64, 128)),
        (World::new().flag("smtp-body-budget", "100MB").flag("max-message-size", "30MB"), (30, 50)),
        (World::new().flag("smtp-body-budget-per-network", "10MB"), (10, 10)),
        (World::new().flag("smtp-body-budget-per-address", "200MB"), (200, 200)),
        (World::new().flag("smtp-body-budget-per-address", "2MB"), (2, 128)),
    ] {
        let bounds = world.config().smtp.bounds;
        let parts = (bounds.bodies_octets_per_address_max >> 20, bounds.bodies_octets_per_network_max >> 20);
        assert_eq!(parts, expected);
    }
}

#[test]
fn the_connections_of_an_address_follow_those_of_its_network_and_the_other_way_round() {
    for (world, expected) in [
        (World::new(), (50, 200)),
        (World::new().flag("max-smtp-connections-per-network", "10"), (10, 10)),
        (World::new().flag("max-smtp-connections-per-network", "1000"), (50, 1000)),
        (World::new().flag("max-smtp-connections-per-address", "500"), (500, 500)),
    ] {
        let bounds = world.config().smtp.bounds;
        assert_eq!((bounds.connections_per_address_max, bounds.connections_per_network_max), expected);
    }
}

#[test]
fn an_address_has_no_more_than_its_network() {
    let (address, network) = ("max-smtp-connections-per-address", "max-smtp-connections-per-network");
    assert_eq!(
        World::new().flag(address, "11").flag(network, "10").error(),
        "--max-smtp-connections-per-address: 11 is more than max-smtp-connections-per-network, which is 10"
    );
    World::new().flag(address, "10").flag(network, "10").config();
    let (address, network) = ("smtp-body-budget-per-address", "smtp-body-budget-per-network");
    assert_eq!(
        World::new().flag(address, "3MB").flag(network, "2MB").error(),
        "--smtp-body-budget-per-address: 3MB is more than smtp-body-budget-per-network, which is 2MB"
    );
    World::new().flag(address, "2MB").flag(network, "2MB").config();
    // One thing is wrong, and it is told once.
    assert_eq!(
        World::new().flag(network, "1MB").flag("max-message-size", "2MB").error(),
        "--smtp-body-budget-per-network: 1MB is less than max-message-size, which is 2MB"
    );
}
