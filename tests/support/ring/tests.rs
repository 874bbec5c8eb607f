//! Tests of the rings themselves, which need no driver.

use std::fs;
use std::net::SocketAddr;

use rustix::process::Signal;

use super::guarded::Guarded;
use super::{Ring, cql};
use crate::support::until::blocking;

#[test]
#[ignore = "needs Cassandra"]
fn the_shared_node_says_what_it_supports() {
    let ring = Ring::shared();
    ring.wait_for_clients(0);
    let [first, second] = [ring.fresh_keyspace(), ring.fresh_keyspace()];
    assert_ne!(first, second);
}

#[test]
#[ignore = "needs Cassandra"]
fn a_ring_of_three_takes_back_a_killed_node_with_what_it_acknowledged_and_a_paused_one() {
    let ring = Ring::of_three();
    let [first, second, third] = ring.contact_points()[..] else { panic!("three nodes") };
    let table = format!("{}.rows", ring.fresh_keyspace());
    fill(&ring, first, &table);
    ring.kill(1);
    assert!(cql::is_supported(second).is_err(), "a killed node answers");
    ring.start(1);
    ring.wait_until_complete();
    for row in ROWS {
        let read = cql::value(first, &format!("SELECT row FROM {table} WHERE row = {row}"), cql::ONE);
        assert_eq!(read, Ok(Some(row.to_be_bytes().to_vec())), "row {row}");
    }
    ring.pause(2);
    assert!(cql::is_supported(third).is_err(), "a paused node answers");
    ring.resume(2);
    ring.wait_until_complete();
}

/// Their replicas are on all three nodes.
const ROWS: std::ops::Range<i64> = 0..32;

/// Makes a table whose rows have one replica each, and writes them.
fn fill(ring: &Ring, node: SocketAddr, table: &str) {
    let (keyspace, _) = table.split_once('.').expect("a keyspace");
    let replication = "{'class': 'NetworkTopologyStrategy', 'datacenter1': 1}";
    for definition in [
        format!("CREATE KEYSPACE {keyspace} WITH replication = {replication}"),
        format!("CREATE TABLE {table} (row bigint PRIMARY KEY)"),
    ] {
        cql::value(node, &definition, cql::ONE).expect("its result");
    }
    ring.wait_until_complete();
    for row in ROWS {
        cql::value(node, &format!("INSERT INTO {table} (row) VALUES ({row})"), cql::ONE).expect("its result");
    }
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
