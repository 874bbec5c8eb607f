//! The trait `Cluster`, and the store in a cluster, where this build has it.
//!
//! What waits for the driver gives out a box. A `pub async fn` that is no method is compiled into each test binary of its
//! crate with all that it waits for, called or not, and each future around a deep one is checked for `Send` through all that
//! lies in it.

use std::fs::File;
#[cfg(not(feature = "cassandra"))]
use std::future::ready;
use std::io;
use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde::Serialize;
use tokio::sync::watch;

#[cfg(feature = "cassandra")]
use super::backup::BackupError;
use super::backup::{BackupCounts, RestoreError};
#[cfg(feature = "cassandra")]
use super::cassandra::{CassandraOptions, CassandraStore, RestoreInto, Survey};
use super::check::CheckReport;
use super::{OpenError, Storage, StoreOptions};
use crate::config::Config;
use crate::model::Timestamp;

/// What a store that several processes may share says and does beside.
pub trait Cluster: Send + Sync + 'static {
    /// Whether other processes may share the store.
    fn is_shared(&self) -> bool {
        false
    }

    /// What this node knows of the cluster that the store is in; `None` if it is in none. Asks nobody.
    fn cluster(&self) -> Option<ClusterStatus> {
        None
    }

    /// Whether this process does the work that only one of those that share the store may do at a time.
    fn leads(&self) -> bool {
        true
    }

    /// Changes after another process that shares the store has changed domains, webhooks or tokens, and now and then. It is
    /// closed if no other process can.
    fn changed(&self) -> watch::Receiver<u64> {
        watch::channel(0).1
    }
}

/// What a node knows of the cluster that its store is in.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ClusterStatus {
    /// The keyspace of the store.
    pub keyspace: String,
    /// The id of this node, new at each start.
    pub node: String,
    /// The nodes of the service that live, this one included.
    pub living_nodes: u32,
    /// Whether this node does the work that one node does for all.
    pub leads: bool,
    /// How long the cluster took for the last sign of life of this node, in microseconds.
    pub answer_micros: u64,
}

/// Opens the store in the cluster that the settings name. A daemon makes keyspace and tables, as far as they are not there.
///
/// The errors for a cluster that cannot be used are [`OpenError::Cluster`], [`OpenError::NoKeyspace`] and
/// [`OpenError::Schema`]. A build without the feature `cassandra` has [`OpenError::NotBuiltIn`] alone.
#[cfg(feature = "cassandra")]
pub fn open_cluster<'a>(
    config: &'a Config,
    options: &'a StoreOptions,
    is_made: bool,
) -> BoxFuture<'a, Result<Arc<dyn Storage>, OpenError>> {
    async move {
        let cluster = CassandraOptions::from_config(config)?.ok_or(OpenError::Empty)?;
        if is_made && CassandraStore::create(&cluster, options).await? {
            tracing::info!(keyspace = cluster.keyspace, copies = cluster.replication, "the keyspace was made");
        }
        Ok(Arc::new(CassandraStore::connect(&cluster, options).await?) as Arc<dyn Storage>)
    }
    .boxed()
}

/// Fills the keyspace that the settings name from a backup. It is made, or must be empty. `open` opens the file, twice.
///
/// Blocks the thread, which must be one for blocking work. `checking` and `restoring` get the octets read so far. Mail that
/// has expired by `now` is left out, and pending events are unless `with_events`. The counts are of what was restored.
#[cfg(feature = "cassandra")]
pub fn restore_into_cluster(
    config: &Config,
    open: &dyn Fn() -> io::Result<File>,
    (with_events, now): (bool, Timestamp),
    checking: &mut dyn FnMut(u64),
    restoring: &mut dyn FnMut(u64),
) -> Result<BackupCounts, RestoreError> {
    let unread = |error: io::Error| RestoreError::Backup(BackupError::Io(error.to_string()));
    let survey = Survey::of(&mut open().map_err(unread)?, checking)?;
    let cluster = CassandraOptions::from_config(config)?.ok_or(OpenError::Empty)?;
    // How long mail lives says how long the servers remember its deletion.
    let store = StoreOptions { retention: Some(config.mail.retention), ..StoreOptions::for_a_moment(config) };
    let how = RestoreInto { with_events, now };
    CassandraStore::restore(&mut open().map_err(unread)?, &survey, (&cluster, &store), how, restoring)
}

/// Checks the store in the cluster that the settings name, without writing to it. Nodes may run meanwhile.
///
/// `progress` gets what is done and all that is to be done, as parts of the whole. An error means that not everything could
/// be read.
#[cfg(feature = "cassandra")]
pub fn check_cluster<'a>(
    config: &'a Config,
    now: Timestamp,
    progress: &'a mut (dyn FnMut(u64, u64) + Send),
) -> BoxFuture<'a, Result<CheckReport, OpenError>> {
    async move {
        let cluster = CassandraOptions::from_config(config)?.ok_or(OpenError::Empty)?;
        CassandraStore::check(&cluster, &StoreOptions::for_a_moment(config), now, progress).await
    }
    .boxed()
}

/// Fills the empty keyspace that the settings name from a backup, in a build that has the store.
#[cfg(not(feature = "cassandra"))]
pub fn restore_into_cluster(
    _: &Config,
    _: &dyn Fn() -> io::Result<File>,
    _: (bool, Timestamp),
    _: &mut dyn FnMut(u64),
    _: &mut dyn FnMut(u64),
) -> Result<BackupCounts, RestoreError> {
    Err(OpenError::NotBuiltIn.into())
}

/// Checks the store in the cluster that the settings name, in a build that has it.
#[cfg(not(feature = "cassandra"))]
pub fn check_cluster<'a>(
    _: &'a Config,
    _: Timestamp,
    _: &'a mut (dyn FnMut(u64, u64) + Send),
) -> BoxFuture<'a, Result<CheckReport, OpenError>> {
    ready(Err(OpenError::NotBuiltIn)).boxed()
}

/// Opens the store in the cluster that the settings name, in a build that has it.
#[cfg(not(feature = "cassandra"))]
pub fn open_cluster<'a>(
    _: &'a Config,
    _: &'a StoreOptions,
    _: bool,
) -> BoxFuture<'a, Result<Arc<dyn Storage>, OpenError>> {
    ready(Err(OpenError::NotBuiltIn)).boxed()
}
