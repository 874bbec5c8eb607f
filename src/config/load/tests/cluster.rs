//! Settings of a store in a cluster.

use super::*;
use crate::config::{StoreLocation, Trust};

const URL: &str = "cassandra://10.0.0.1,10.0.0.2/tempmail";

fn clustered() -> World {
    World::new().env("TEMPMAIL_STORE", URL)
}

#[test]
fn the_store_is_named_by_the_environment_the_file_or_a_flag() {
    let in_file = format!("store = '{URL}'");
    for world in [clustered(), World::new().file(&in_file), World::new().flag("store", URL)] {
        let location = world.config().store.location;
        assert!(matches!(&location, StoreLocation::Cassandra(cluster) if cluster.keyspace == "tempmail"), "{location}");
    }
    assert_eq!(World::new().config().store.location, StoreLocation::Embedded);
    assert_eq!(World::new().file(&in_file).flag("store", "embedded").config().store.location, StoreLocation::Embedded);
}

#[test]
fn files_that_the_url_names_are_relative_to_the_file_that_names_them() {
    let world = World::new().file(&format!("store = '{URL}?user=ann&password-file=password&ca=/ca.pem'"));
    let config = world.config();
    let of_file = world.dir.path().join("password");
    let StoreLocation::Cassandra(cluster) = &config.store.location else { panic!("no cluster") };
    assert_eq!(cluster.credentials, Some(("ann".to_owned(), of_file.clone())));
    assert_eq!(cluster.trust, Some(Trust::File("/ca.pem".into())));
    let shown = format!("{URL}?user=ann&password-file={}&ca=/ca.pem", of_file.display());
    assert_eq!(config.values("store"), [shown]);
}

#[test]
fn a_malformed_store_is_said_with_what_is_accepted() {
    let accepted = "accepted is embedded, or a cluster and a keyspace such as cassandra://10.0.0.1,10.0.0.2/tempmail";
    for (url, reason) in [
        ("disk", "'disk': it is neither 'embedded' nor a URL that begins with 'cassandra://'"),
        ("cassandra://a", "'cassandra://a': the keyspace is missing, such as /tempmail at the end"),
        (
            "cassandra://ann:secret@a/t",
            "'…@a/t': a user and a password do not belong here; ?user=NAME&password-file=FILE at the end names them, with %40 for '@'",
        ),
    ] {
        assert_eq!(World::new().flag("store", url).error(), format!("--store: {reason}; {accepted}"));
    }
}
