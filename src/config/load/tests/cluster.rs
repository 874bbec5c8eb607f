//! Settings of a store in a cluster.

use super::*;
use crate::config::StoreLocation;

const URL: &str = "cassandra://10.0.0.1,10.0.0.2/tempmail";

fn clustered() -> World {
    World::new().env("TEMPMAIL_STORE", URL)
}

#[test]
fn the_store_is_named_by_the_environment_the_file_or_a_flag() {
    let in_file = format!("store = '{URL}'");
    for world in [clustered(), World::new().file(&in_file), World::new().flag("store", URL)] {
        let location = world.config().store.location;
        assert!(matches!(&location, StoreLocation::Cassandra { keyspace, .. } if keyspace == "tempmail"), "{location}");
    }
    assert_eq!(World::new().config().store.location, StoreLocation::Embedded);
    assert_eq!(World::new().file(&in_file).flag("store", "embedded").config().store.location, StoreLocation::Embedded);
}

#[test]
fn what_a_cluster_and_its_absence_contradict_is_refused() {
    let unused = "there is no cluster while store is embedded; set store to its URL, or unset this";
    for (world, message) in [
        (World::new().flag("cassandra-data-center", "east"), format!("--cassandra-data-center: {unused}")),
        (World::new().env("TEMPMAIL_CASSANDRA_TLS", "on"), format!("TEMPMAIL_CASSANDRA_TLS: {unused}")),
        (World::new().file("cassandra-timeout = '3s'"), format!("config.toml:1: cassandra-timeout: {unused}")),
        (World::new().flag("cassandra-ca", "/ca.pem"), format!("--cassandra-ca: {unused}")),
        (
            World::new().flag("cassandra-user", "ann").flag("cassandra-password-file", "/p"),
            format!("--cassandra-user: {unused}\n--cassandra-password-file: {unused}"),
        ),
        (
            clustered().flag("cassandra-user", "ann"),
            "--cassandra-user: a user without a password; set cassandra-password-file as well".to_owned(),
        ),
        (
            clustered().flag("cassandra-password-file", "/p"),
            "--cassandra-password-file: a password without a user; set cassandra-user as well".to_owned(),
        ),
        (
            clustered().flag("cassandra-ca", "/ca.pem"),
            "--cassandra-ca: without TLS nothing is checked by it; set cassandra-tls to on".to_owned(),
        ),
        (
            clustered().flag("retention", "9d"),
            "--retention: a store in a cluster remembers deletions for 10 days, so retention and webhook-grace together \
             may be at most 9d; they are 10d, shorten one of them"
                .to_owned(),
        ),
    ] {
        assert_eq!(world.error(), message);
    }
}

#[test]
fn what_a_cluster_permits_is_permitted() {
    let whole = clustered().file(
        "cassandra-data-center = 'east'\ncassandra-user = 'ann'\ncassandra-password-file = 'password'\n\
         cassandra-tls = 'on'\ncassandra-ca = '/ca.pem'\ncassandra-timeout = '10s'\nmax-messages-per-mailbox = 5\n\
         retention = '8d'",
    );
    let config = whole.config();
    let of_file = whole.dir.path().join("password");
    assert_eq!(config.cassandra.password_file.as_deref(), Some(&*of_file), "relative to the file");
    assert_eq!(config.cassandra.ca.as_deref(), Some(Path::new("/ca.pem")));
    // What has its default is no contradiction, so that a file with every default is valid.
    assert!(World::new().flag("cassandra-tls", "off").flag("cassandra-user", "none").load().is_ok());
}

#[test]
fn a_malformed_store_is_said_with_what_is_accepted() {
    let accepted = "accepted is embedded, or a cluster and a keyspace such as cassandra://10.0.0.1,10.0.0.2/tempmail";
    for (url, reason) in [
        ("disk", "'disk': it is neither 'embedded' nor a URL that begins with 'cassandra://'"),
        ("cassandra://a", "'cassandra://a': the keyspace is missing, such as /tempmail at the end"),
        (
            "cassandra://ann:secret@a/t",
            "'…@a/t': a user and a password do not belong here; set cassandra-user and cassandra-password-file",
        ),
    ] {
        assert_eq!(World::new().flag("store", url).error(), format!("--store: {reason}; {accepted}"));
    }
}
