//! The disk of these tests itself: it loses what a real one may lose, and nothing else.
//! Promise: it outlives the code below it.

use std::io::ErrorKind;

use tempmail::store::disk::Disk;

use crate::support::test_disk::{Kind, TestDisk};
use crate::support::until::blocking::until;

const SEEDS: u64 = 40;

/// The contents of a file in each image of a power cut at this moment.
fn images(disk: &TestDisk, name: &str) -> Vec<Option<Vec<u8>>> {
    (0..SEEDS).map(|seed| disk.power_cut(disk.operations(), seed).files().remove(name)).collect()
}

#[test]
fn a_power_cut_keeps_what_was_synced_and_may_lose_the_rest_by_sectors() {
    let disk = TestDisk::default();
    let file = disk.create("a").expect("create");
    file.write_at(0, &[1; 1024]).expect("write");
    file.sync().expect("sync");
    assert!(images(&disk, "a").contains(&None), "the name was not synced");
    disk.sync_dir().expect("sync");
    assert!(images(&disk, "a").iter().all(|image| *image == Some(vec![1; 1024])));
    file.write_at(0, &[2; 1024]).expect("write");
    let half = [[2; 512], [1; 512]].concat();
    for possible in [vec![1; 1024], vec![2; 1024], half] {
        assert!(images(&disk, "a").contains(&Some(possible)));
    }
}

#[test]
fn what_a_failed_sync_had_to_write_is_lost_unless_it_is_written_again() {
    let disk = TestDisk::default();
    let file = disk.create("a").expect("create");
    disk.sync_dir().expect("sync");
    file.write_at(0, b"x").expect("write");
    let failing = disk.fail_next(|call| call.is(Kind::Sync, "a"));
    assert_eq!(file.sync().expect_err("a sync that fails").kind(), ErrorKind::Other);
    assert_eq!(failing.failed(), 1);
    file.sync().expect("the kernel has nothing to write");
    assert!(disk.contains("x") && images(&disk, "a").contains(&Some(Vec::new())));
    file.write_at(0, b"x").expect("write");
    file.sync().expect("sync");
    assert!(images(&disk, "a").iter().all(|image| *image == Some(b"x".to_vec())));
}

#[test]
fn calls_fail_and_wait_until_the_guard_is_dropped_and_a_killed_process_does_nothing_more() {
    let disk = TestDisk::default();
    let file = disk.create("a").expect("create");
    let failing = disk.fail(|call| (!call.is_look()).then_some(ErrorKind::StorageFull));
    disk.cut_writes_short();
    assert_eq!(file.write_at(0, b"1234").expect_err("full").kind(), ErrorKind::StorageFull);
    assert_eq!(file.size().expect("a look"), 2);
    drop(failing);
    let held = disk.hold(|call| call.kind == Kind::Write);
    std::thread::scope(|scope| {
        let writing = scope.spawn(|| file.write_at(0, b"1234"));
        until("a write is held", || held.waiting() == 1);
        let next = disk.kill();
        drop(held);
        writing.join().expect("no panic").expect_err("it was killed");
        assert_eq!(next.files()["a"], b"12");
    });
}

#[test]
fn a_full_disk_overwrites_and_takes_more_once_blocks_are_free() {
    let disk = TestDisk::default();
    disk.room(8192);
    let file = disk.create("a").expect("create");
    file.allocate(8192).expect("room");
    file.write_at(0, b"x").expect("a block that it has");
    assert_eq!(file.write_at(8192, b"x").expect_err("no block").kind(), ErrorKind::StorageFull);
    file.punch(4096, 4096).expect("punch");
    assert_eq!(disk.free_octets().expect("free"), 4096);
    disk.hide_room();
    assert_eq!(disk.free_octets().expect("free"), u64::MAX);
    file.write_at(8192, b"x").expect("the freed block");
    disk.remove("a").expect("remove");
    assert_eq!(disk.room_left(), 8192);
}
