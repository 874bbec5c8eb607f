//! Leases in memory and in the file.
//! Mechanism: it goes with the registry.

use super::*;
use crate::model::{LeaseId, LeaseRecord};

fn lease(number: u32) -> LeaseRecord {
    let mut key = [0; 32];
    key[..4].copy_from_slice(&number.to_be_bytes());
    LeaseRecord {
        id: LeaseId::from_octets(rand::random()),
        mailbox: mailbox(&format!("bcdfghjkm{number:08}@example.test")),
        key,
        client: Some(Client::of(std::net::Ipv4Addr::from(number / 10).into())),
        created_at: Timestamp::from_millis(1_795_638_700_000 + i64::from(number)),
        expires_at: Timestamp::from_millis(1_795_638_700_000 + 1000 * i64::from(number.wrapping_mul(7919) % 2_592_000)),
        idle: Some(86_400),
        read_at: Timestamp::from_millis(1_795_638_700_000 + i64::from(number)),
        messages_left: None,
        keep: 604_800,
        ended_at: None,
    }
}

/// Tables double when they grow, so two numbers show what a million takes: one fills them well, one has just doubled them.
#[test]
fn a_lease_takes_less_than_200_octets() {
    for number in [12_500_u32, 14_400] {
        let mut table = None;
        let used = allocation_counter::measure(|| {
            let mut leases = lease_table::LeaseTable::default();
            for lease in (0..number).map(lease) {
                let octets = postcard::to_stdvec(&lease).expect("octets");
                leases.put(lease.mailbox.as_str().as_bytes(), &octets).expect("a row");
            }
            table = Some(leases);
        });
        let each = used.bytes_current / i64::from(number);
        assert!((100..200).contains(&each), "{number}: {each}");
        let table = table.expect("a table");
        assert_eq!(table.counts(lease(5).client).client, 10);
        assert_eq!(table.get(lease(77).mailbox.as_str().as_bytes()).map(|it| it.key), Some(lease(77).key));
        assert_eq!(table.of_key(&lease(99).key).len(), 1);
    }
}

#[test]
fn a_lease_is_durable_on_return() {
    let dir = tempfile::tempdir().expect("directory");
    let registry = open(dir.path());
    let (first, second) = (lease(1), lease(2));
    for lease in [&first, &second] {
        assert_eq!(registry.replace_lease(None, Some(lease)), Ok(true));
    }
    let read = LeaseRecord { read_at: at(9), ..first.clone() };
    assert_eq!(registry.replace_lease(Some(&first), Some(&read)), Ok(true));
    assert_eq!(registry.replace_lease(Some(&second), None), Ok(true));
    assert!(registry.open_mailbox(&second.mailbox, at(50), 9));
    registry.flush().expect("flush");
    let copy = tempfile::tempdir().expect("directory");
    std::fs::copy(stored(dir.path()).join(NAME), stored(copy.path()).join(NAME)).expect("copy");
    let copied = open(copy.path());
    assert_eq!((copied.lease(&first.mailbox), copied.lease(&second.mailbox)), (Some(read), None));
    assert!(copied.is_mailbox_open(&second.mailbox, at(49)));
    drop(copied);
    assert_eq!(EmbeddedRegistry::check(&disk(copy.path())).expect("check"), [""; 0]);
}
