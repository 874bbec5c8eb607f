//! How a node is set up: small, and quick to start.

use std::ffi::OsString;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;

use super::ports::{self, Ports};

/// The heap of a node that is alone.
pub(super) const HEAP_OF_ONE: &str = "512M";
/// The heap of each of several nodes.
pub(super) const HEAP_OF_EACH: &str = "320M";

/// Names in a node's directory.
pub(super) const SERVER: &str = "cassandra.yaml";
pub(super) const LOGGING: &str = "logback.xml";
pub(super) const LOG: &str = "system.log";
/// Where the node puts the libraries that it has in its jars. Killed, it would leave them in the system's directory.
pub(super) const TEMPORARY: &str = "tmp";

/// The addresses of a ring.
pub(super) fn addresses(count: u8) -> Vec<Ipv4Addr> {
    (1..=count).map(|last| Ipv4Addr::new(127, 0, 0, last)).collect()
}

/// Whether nodes keep writes for one that is down, and hand them to it later.
#[derive(Clone, Copy)]
pub(super) enum Handoff {
    On,
    Off,
}

/// A node's place in its ring.
pub(super) struct Place {
    pub(super) address: Ipv4Addr,
    ports: Ports,
    /// The port on the loopback address for `nodetool`.
    pub(super) management: u16,
    /// Each node has one, at equal distances, so that none waits for others to choose.
    token: i64,
    ring: Vec<Ipv4Addr>,
}

impl Place {
    /// Those of a ring of `count` nodes.
    pub(super) fn of_ring(count: u8, ports: Ports) -> Vec<Self> {
        let ring = addresses(count);
        let distance = u64::MAX / u64::from(count);
        let token = |node: u64| i64::MIN.wrapping_add_unsigned(node * distance);
        let mut used = vec![ports.native, ports.storage];
        let place = |(node, &address)| {
            let management = ports::free_but(&[Ipv4Addr::LOCALHOST], &used);
            used.push(management);
            Self { address, ports, management, token: token(node), ring: ring.clone() }
        };
        (0..).zip(&ring).map(place).collect()
    }

    /// Where it takes connections of clients.
    pub(super) fn native(&self) -> SocketAddr {
        SocketAddr::from((self.address, self.ports.native))
    }
}

/// The server's settings. What is acknowledged is in the commit log on disk before, so that it outlives a killed process.
/// The bounds of times and of sizes of requests are the server's defaults. Only a node that is alone gets more time: its tests are
/// not about the loss of servers, and the machine may be busy.
pub(super) fn server(place: &Place, handoff: Handoff, dir: &Path) -> String {
    let Place { address, ports: Ports { native, storage }, token, ring, .. } = place;
    let handoff = matches!(handoff, Handoff::On);
    let times = if ring.len() == 1 { PATIENT } else { "" };
    let (dir, seeds) = (dir.display(), ring.iter().map(Ipv4Addr::to_string).collect::<Vec<_>>().join(","));
    format!(
        "cluster_name: tests
num_tokens: 1
initial_token: '{token}'
auto_bootstrap: false
partitioner: org.apache.cassandra.dht.Murmur3Partitioner
endpoint_snitch: SimpleSnitch
seed_provider:
  - class_name: org.apache.cassandra.locator.SimpleSeedProvider
    parameters: [{{ seeds: '{seeds}' }}]
listen_address: {address}
rpc_address: {address}
native_transport_port: {native}
storage_port: {storage}
data_file_directories: ['{dir}/data']
commitlog_directory: '{dir}/commitlog'
hints_directory: '{dir}/hints'
saved_caches_directory: '{dir}/saved_caches'
cdc_raw_directory: '{dir}/cdc'
commitlog_sync: batch
commitlog_disk_access_mode: mmap
commitlog_segment_size: 32MiB
commitlog_total_space: 256MiB
memtable_heap_space: 64MiB
memtable_offheap_space: 64MiB
key_cache_size: 4MiB
row_cache_size: 0MiB
counter_cache_size: 0MiB
paxos_cache_size: 1MiB
prepared_statements_cache_size: 4MiB
file_cache_size: 16MiB
networking_cache_size: 16MiB
concurrent_reads: 8
concurrent_writes: 8
concurrent_compactors: 1
memtable_flush_writers: 1
auto_snapshot: false
hinted_handoff_enabled: {handoff}
hints_flush_period: 500ms
materialized_views_enabled: false
{times}"
    )
}

/// How long a server waits for its own disk, and over how many deletions it reads at once: fewer than by default, so that a
/// test need not make so many.
const PATIENT: &str = "read_request_timeout: 10s
range_request_timeout: 10s
write_request_timeout: 10s
cas_contention_timeout: 10s
truncate_request_timeout: 60s
request_timeout: 10s
tombstone_failure_threshold: 10000
";

/// Warnings, and what tells how far a start has come and which nodes are seen.
pub(super) const LOGGERS: &str = r#"<configuration>
  <appender name="FILE" class="ch.qos.logback.core.FileAppender">
    <file>system.log</file>
    <encoder><pattern>%-5level %date{HH:mm:ss.SSS} [%thread] %logger{0} %msg%n</pattern></encoder>
  </appender>
  <logger name="org.apache.cassandra.service.CassandraDaemon" level="INFO"/>
  <logger name="org.apache.cassandra.service.StorageService" level="INFO"/>
  <logger name="org.apache.cassandra.gms.Gossiper" level="INFO"/>
  <logger name="org.apache.cassandra.db.commitlog" level="INFO"/>
  <logger name="org.apache.cassandra.hints" level="INFO"/>
  <root level="WARN"><appender-ref ref="FILE"/></root>
</configuration>
"#;

/// The arguments of `java` for a node.
pub(super) fn arguments(place: &Place, heap: &str, dir: &Path, jars: &Path) -> Vec<OsString> {
    let (dir, jars) = (dir.display(), jars.display());
    let mut arguments: Vec<String> = ["-Xms128M", "-Xss256k"].into_iter().chain(MACHINE).map(str::to_owned).collect();
    arguments.push(format!("-Xmx{heap}"));
    arguments.extend(EXPORTED.map(|package| format!("--add-exports={package}=ALL-UNNAMED")));
    arguments.extend(OPENED.map(|package| format!("--add-opens={package}=ALL-UNNAMED")));
    arguments.push(format!("-Djava.io.tmpdir={dir}/{TEMPORARY}"));
    arguments.push(format!("-Djna.tmpdir={dir}/{TEMPORARY}"));
    arguments.push(format!("-Dcassandra.config=file://{dir}/{SERVER}"));
    arguments.push(format!("-Dcassandra.storagedir={dir}"));
    arguments.push(format!("-Dlogback.configurationFile={dir}/{LOGGING}"));
    arguments.push(format!("-Dcassandra.jmx.local.port={}", place.management));
    arguments.extend(QUICK.map(str::to_owned));
    arguments.extend([
        "-cp".to_owned(),
        format!("{jars}/*"),
        "org.apache.cassandra.service.CassandraDaemon".to_owned(),
    ]);
    arguments.into_iter().map(OsString::from).collect()
}

/// The virtual machine of a short life: the quick compiler alone, a collector without threads of its own, and pools for two
/// processors on every machine.
const MACHINE: [&str; 10] = [
    "-XX:TieredStopAtLevel=1",
    "-XX:+UseSerialGC",
    "-XX:ActiveProcessorCount=2",
    "-XX:+PerfDisableSharedMem",
    "-XX:+ExitOnOutOfMemoryError",
    "-Djava.net.preferIPv4Stack=true",
    "-Djdk.attach.allowAttachSelf=true",
    "-Dio.netty.tryReflectionSetAccessible=true",
    "-Dio.netty.allocator.useCacheForAllThreads=true",
    "-Dio.netty.allocator.maxOrder=11",
];

/// What keeps a start from waiting. The size of a row in memory is what the server would measure: that takes a second.
/// The quarantine is by default as long as the delay of the ring. If it were 0, nodes would forget those that they have
/// just met.
const QUICK: [&str; 7] = [
    "-Dcassandra-foreground=yes",
    "-Dcassandra.ring_delay_ms=0",
    "-Dcassandra.gossip_quarantine_delay_ms=60000",
    "-Dcassandra.skip_wait_for_gossip_to_settle=0",
    "-Dcassandra.superuser_setup_delay_ms=0",
    "-Dcassandra.consistent.rangemovement=false",
    "-Dcassandra.memtable.row_overhead_size=180",
];

/// What the server uses of Java's inner packages, as its own start script says for this version of Java.
const EXPORTED: [&str; 9] = [
    "java.base/jdk.internal.misc",
    "java.base/java.lang.ref",
    "java.management.rmi/com.sun.jmx.remote.internal.rmi",
    "java.rmi/sun.rmi.registry",
    "java.rmi/sun.rmi.server",
    "java.sql/java.sql",
    "jdk.attach/sun.tools.attach",
    "jdk.compiler/com.sun.tools.javac.file",
    "jdk.unsupported/sun.misc",
];
const OPENED: [&str; 14] = [
    "java.base/java.io",
    "java.base/java.lang",
    "java.base/java.lang.module",
    "java.base/java.lang.reflect",
    "java.base/java.util",
    "java.base/jdk.internal.loader",
    "java.base/jdk.internal.math",
    "java.base/jdk.internal.module",
    "java.base/jdk.internal.ref",
    "java.base/jdk.internal.reflect",
    "java.base/jdk.internal.util.jar",
    "java.base/sun.nio.ch",
    "jdk.compiler/com.sun.tools.javac",
    "jdk.management/com.sun.management.internal",
];

/// The arguments of `java` for `nodetool`, before its own.
pub(super) fn nodetool(management: u16, dir: &Path, jars: &Path) -> Vec<String> {
    let mut arguments = vec!["-Xmx128M".to_owned(), format!("-Duser.home={}", dir.display())];
    arguments.extend(EXPORTED.map(|package| format!("--add-exports={package}=ALL-UNNAMED")));
    arguments.extend(OPENED.map(|package| format!("--add-opens={package}=ALL-UNNAMED")));
    arguments.extend(["-cp".to_owned(), format!("{}/*", jars.display())]);
    arguments.extend(["org.apache.cassandra.tools.NodeTool", "-h", "127.0.0.1", "-p"].map(str::to_owned));
    arguments.push(management.to_string());
    arguments
}
