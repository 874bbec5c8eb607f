//! Tests of the rings themselves, which need no driver.

use super::{Ring, cql};

#[test]
fn the_shared_node_says_what_it_supports() {
    let Some(ring) = Ring::shared("the shared node") else { return };
    ring.wait_for_clients(0);
    let [first, second] = [ring.fresh_keyspace(), ring.fresh_keyspace()];
    assert_ne!(first, second);
}

#[test]
fn a_ring_of_three_takes_back_a_killed_and_a_paused_node() {
    let Some(ring) = Ring::of_three("a ring of three") else { return };
    let [_, second, third] = ring.contact_points()[..] else { panic!("three nodes") };
    ring.kill(1);
    assert!(cql::is_supported(second).is_err(), "a killed node answers");
    ring.start(1);
    ring.wait_until_complete();
    ring.pause(2);
    assert!(cql::is_supported(third).is_err(), "a paused node answers");
    ring.resume(2);
    ring.wait_until_complete();
}
