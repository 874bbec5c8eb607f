//! Tests of the rings themselves, which need no driver.

use std::fs;

use rustix::process::Signal;

use super::guarded::Guarded;
use super::{Ring, cql};
use crate::support::until::blocking;

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

#[test]
fn a_guarded_process_ends_when_the_other_end_of_its_input_closes_even_if_it_is_stopped() {
    let dir = tempfile::tempdir().expect("directory");
    for is_stopped in [false, true] {
        let log = dir.path().join(is_stopped.to_string());
        let mut process = Guarded::start(dir.path(), &log, &["sh", "-c", "echo begun; exec sleep 600"]);
        blocking::until("the program runs", || fs::read_to_string(&log).is_ok_and(|log| log == "begun\n"));
        if is_stopped {
            process.signal(Signal::STOP);
        }
        assert!(!process.has_ended());
        process.close_input();
        blocking::until("its guard kills it", || process.has_ended());
    }
}
