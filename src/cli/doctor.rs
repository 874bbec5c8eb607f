//! `tempmail doctor`: checks of a service that runs, and of the machine below it. It changes nothing.
//!
//! Each check asks, and a pure function judges. What `serve` refuses or warns about at its start is no check here.

use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use futures_util::{StreamExt, stream};
use serde::Serialize;
use serde_json::{Map, Value, json};
use tokio::net::{TcpStream, UnixStream};
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::Context;
use super::output::{self, Format, time, visible};
use super::send_test::reachable;
use crate::client::{self, Client, ClientError, Destination, Status};
use crate::config::{self, Config, SettingInEffect, Sources, StoreLocation};
use crate::dns::{Addresses, DnsResolver, MxAnswer, MxReport, Resolver};
use crate::error::{Error, Exit};
use crate::model::{DomainName, Timestamp};

/// How long the daemon may take for one answer.
const ANSWER_WITHIN: Duration = Duration::from_secs(5);
/// How long a check may take.
const CHECK_WITHIN: Duration = Duration::from_secs(10);
/// How long the check of all domains may take.
const DOMAINS_WITHIN: Duration = Duration::from_secs(40);
/// How long a listener of this machine may take to accept a connection.
const CONNECT_WITHIN: Duration = Duration::from_secs(2);
/// How long one query to DNS may take. It is shorter than the daemon has, since somebody waits.
const QUERY_WITHIN: Duration = Duration::from_secs(2);
/// How many domains are asked for; thousands would take too long for a person.
const DOMAINS_MAX: usize = 100;
/// How many domains are asked for at once.
const DOMAINS_AT_ONCE: usize = 8;
/// A resolver should know by itself that it does not exist (RFC 6761 section 6.2). Any answer is as good.
const KNOWN_TO_ALL: &str = "doctor.test";
/// The column of the terminal where the text of a finding begins, behind verdict and check.
const TEXT_COLUMN: usize = 22;
/// How many writes to the disk are measured; the median counts.
const WRITES: usize = 5;
const WRITE_BYTES: usize = 4096;
/// A disk that takes longer makes senders wait.
const SYNC_SLOW: Duration = Duration::from_millis(100);
const SYNC_TOO_SLOW: Duration = Duration::from_secs(2);
/// A cluster that takes longer for a row makes senders wait.
const CLUSTER_SLOW_MILLIS: u64 = 250;
/// Renewals of short-lived certificates come about then.
const SOON: Duration = Duration::from_hours(14 * 24);

/// Check the service, its settings and this machine
///
/// One line per check: ok, warning or failure, and what to do. Changes nothing, needs no root, and every check ends in time.
/// Exit code 8 if there is a failure, 6 if no service runs: `tempmail serve` says what keeps it from starting.
/// In a pipe a line has four fields: verdict, check, what was found, what to do.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  tempmail doctor
  sudo -u tempmail tempmail doctor --config /etc/tempmail/config.toml
  tempmail doctor --json | jq '.findings[] | select(.verdict != \"ok\")'")]
pub(super) struct Doctor {}

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Verdict {
    Ok,
    /// The service works, but perhaps not as was meant, or it can't be known.
    Warning,
    /// The service does not work, or soon will not.
    Failure,
}

/// A line of the result.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct Finding {
    /// The check: one word.
    check: &'static str,
    verdict: Verdict,
    /// What was found.
    found: String,
    /// What to do, in one sentence; nothing where all is well.
    advice: Option<String>,
}

impl Finding {
    fn ok(check: &'static str, found: impl Into<String>) -> Self {
        Self { check, verdict: Verdict::Ok, found: found.into(), advice: None }
    }

    fn warning(check: &'static str, found: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { check, verdict: Verdict::Warning, found: found.into(), advice: Some(advice.into()) }
    }

    fn failure(check: &'static str, found: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { verdict: Verdict::Failure, ..Self::warning(check, found, advice) }
    }
}

impl Doctor {
    pub(super) async fn run(self, cx: &Context) -> Result<Exit, Error> {
        let Destination::Local(sources) = cx.destination()? else {
            return Err(Error::usage("doctor checks the service on this machine; --server names one elsewhere")
                .hint("run it there, or use `tempmail status --server URL`"));
        };
        let client = Client::new(client::daemon(&sources)?);
        let findings = examine(cx, &sources, &client).await;
        cx.print(shown(cx, &findings))?;
        let has_failed = findings.iter().any(|finding| finding.verdict == Verdict::Failure);
        Ok(if has_failed { Exit::CheckFailed } else { Exit::Ok })
    }
}

/// All checks, those that wait at once; the findings in a fixed order.
async fn examine(cx: &Context, sources: &Sources, client: &Client) -> Vec<Finding> {
    let (loaded, mut findings) = settings(sources);
    let told = timeout(ANSWER_WITHIN, async {
        tokio::join!(client.status(), client.get("/api/admin/config", &[]), client.get("/api/admin/domains", &[]))
    });
    let (status, in_effect, domains) = match told.await {
        Ok((status, settings, domains)) => (status, settings.ok(), domains.unwrap_or_default()),
        Err(_) => (Err(ClientError::TimedOut { server: client.transport().shown().to_owned() }), None, Vec::new()),
    };
    let Some(config) = in_effect.map(|settings: Vec<SettingInEffect>| Config::from_in_effect(&settings)).or(loaded)
    else {
        return findings;
    };
    match &status {
        Ok(status) => findings.extend(daemon(status)),
        Err(error) => {
            let advice = "look at its log, and restart it if it hangs";
            findings.push(Finding::failure("daemon", error.to_string(), advice));
        }
    }
    let status = status.ok();
    let is_full = status.as_ref().is_some_and(|status| status.cause.as_deref() == Some("storage_full"));
    let resolver = DnsResolver::new(config.domains.resolvers.clone(), QUERY_WITHIN);
    let config = std::sync::Arc::new(config);
    let on_thread = std::sync::Arc::clone(&config);
    // A check that panics has found nothing, and the panic is said.
    let storage = async { spawn_blocking(move || storage(&on_thread, is_full)).await.unwrap_or_default() };
    let (listeners, storage, answering, mx_hosts, domains) = tokio::join!(
        within(CHECK_WITHIN, "listener", listeners(status.as_ref())),
        within(CHECK_WITHIN, "disk", storage),
        within(CHECK_WITHIN, "resolver", resolves(&config, &resolver)),
        within(CHECK_WITHIN, "mx-host", mx_hosts(&config, &resolver)),
        within(DOMAINS_WITHIN, "domain", all_domains(client, &domains, status.is_some())),
    );
    findings.extend([listeners, storage, answering, mx_hosts, domains].into_iter().flatten());
    findings.extend(status.map(|status| certificate(status.tls.as_ref(), &config, cx.now())));
    findings
}

/// The findings of a check, or that it has none in time.
async fn within(limit: Duration, check: &'static str, findings: impl Future<Output = Vec<Finding>>) -> Vec<Finding> {
    timeout(limit, findings).await.unwrap_or_else(|_| {
        let found = format!("there is no result after {} s", limit.as_secs());
        vec![Finding::failure(check, found, "what it asks for hangs; look at that part of the machine")]
    })
}

/// What a start would be told by flags, environment and file.
fn settings(sources: &Sources) -> (Option<Config>, Vec<Finding>) {
    match config::load(sources) {
        Ok(loaded) => {
            let found = match &loaded.file {
                Some(file) => format!("{} is valid", file.display()),
                None => "there is no configuration file, so the defaults hold".to_owned(),
            };
            let warnings = loaded.warnings.iter().map(ToString::to_string);
            let warnings = warnings.map(|text| Finding::warning("settings", text, "unset it or mend it"));
            (Some(loaded.config), std::iter::once(Finding::ok("settings", found)).chain(warnings).collect())
        }
        Err(error) => {
            let advice = "mend it; `tempmail config check FILE` checks a file";
            let problems = error.problems.iter().map(ToString::to_string);
            (None, problems.map(|text| Finding::failure("settings", text, advice)).collect())
        }
    }
}

/// Whether the daemon takes mail, and whether it is of this version.
fn daemon(status: &Status) -> Vec<Finding> {
    let accepting = match (status.accepts_mail, &status.cause) {
        (Some(false), cause) => {
            let cause = cause.as_ref().map_or_else(String::new, |cause| format!(": {cause}"));
            Finding::failure("daemon", format!("it runs and accepts no mail{cause}"), "its log says more")
        }
        _ => Finding::ok("daemon", "it runs and accepts mail"),
    };
    let (of_daemon, of_binary) = (&status.version, env!("CARGO_PKG_VERSION"));
    let version = if of_daemon == of_binary {
        Finding::ok("version", format!("daemon and this program are both {of_binary}"))
    } else {
        let found = format!("the daemon is {of_daemon}, this program is {of_binary}");
        Finding::warning("version", found, "restart the daemon with the program that is installed")
    };
    [accepting, version].into_iter().chain(status.other.get("cluster").map(cluster)).collect()
}

/// The cluster as the daemon knows it.
fn cluster(status: &Value) -> Finding {
    let number = |name: &str| status[name].as_u64().unwrap_or(0);
    let millis = number("answerMicros").div_ceil(1000);
    let nodes = number("livingNodes");
    let nodes = if nodes == 1 { "1 node lives".to_owned() } else { format!("{nodes} nodes live") };
    let found = format!("{nodes}, and the cluster answered in {millis} ms");
    if millis > CLUSTER_SLOW_MILLIS {
        return Finding::warning("cluster", found, "look at the load of its servers and at the network to them");
    }
    Finding::ok("cluster", found)
}

/// Whether the daemon accepts connections where it says that it listens.
async fn listeners(status: Option<&Status>) -> Vec<Finding> {
    let Some(status) = status else { return Vec::new() };
    let lists = [
        ("SMTP", &status.smtp_listen),
        ("SMTPS", &status.smtps_listen),
        ("LMTP", &status.lmtp_listen),
        ("HTTP", &status.http_listen),
        ("HTTPS", &status.https_listen),
        ("metrics", &status.metrics_listen),
    ];
    join_all(lists.into_iter().flat_map(|(service, list)| list.iter().map(move |text| accepts(service, text)))).await
}

/// Connects and says nothing.
async fn accepts(service: &'static str, text: &str) -> Finding {
    let connect = async {
        match text.parse::<SocketAddr>() {
            Ok(address) => TcpStream::connect(reachable(address)).await.map(drop),
            Err(_) => UnixStream::connect(text).await.map(drop),
        }
    };
    let connected = timeout(CONNECT_WITHIN, connect).await.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()));
    let advice = "restart the daemon; a firewall on this machine may also be in the way";
    match connected {
        Ok(()) => Finding::ok("listener", format!("{service} on {text} is the daemon's and accepts connections")),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            let advice = "run `tempmail doctor` as a user that may open the socket";
            Finding::warning("listener", format!("{service} on {text}: {error}"), advice)
        }
        Err(error) => Finding::failure("listener", format!("{service} on {text}: {error}"), advice),
    }
}

/// The data directory: who may enter it, how much room it has, and how long its disk takes. Blocks as long as that.
fn storage(config: &Config, is_full: bool) -> Vec<Finding> {
    let dir = &config.data_dir;
    let mode = std::fs::metadata(dir).map(|metadata| metadata.mode());
    let mut findings = vec![match mode {
        Ok(mode) => permissions(dir, mode),
        Err(error) => Finding::failure("data-dir", format!("{}: {error}", dir.display()), "see that it is there"),
    }];
    // With a cluster mail is elsewhere, and the few small files here need neither room nor speed.
    if config.store.location != StoreLocation::Embedded || findings[0].verdict == Verdict::Failure {
        return findings;
    }
    findings.push(match rustix::fs::statvfs(dir) {
        Ok(of) => {
            let bytes = |blocks: u64| blocks.saturating_mul(of.f_frsize);
            space(dir, bytes(of.f_bavail), bytes(of.f_blocks), is_full)
        }
        Err(error) => Finding::warning("space", format!("{}: {error}", dir.display()), "look at the file system"),
    });
    findings.push(match sync_time(dir) {
        Ok(time) => sync(time),
        Err(error) => {
            let found = format!("a file in {} cannot be written: {error}", dir.display());
            Finding::failure("disk", found, "see that the disk has room and can be written")
        }
    });
    findings
}

/// A start sets the mode, so a wider one under a daemon is somebody's doing, and nothing else says it.
fn permissions(dir: &Path, mode: u32) -> Finding {
    let (shown, mode) = (dir.display(), mode & 0o777);
    if mode & 0o077 != 0 {
        let found = format!("{shown} has mode {mode:03o}: other users may look into it");
        return Finding::failure("data-dir", found, format!("run chmod 700 {shown}"));
    }
    Finding::ok("data-dir", format!("{shown} belongs to this user alone"))
}

/// Only the daemon knows how much its store needs: `is_full` is its word.
fn space(dir: &Path, free_bytes: u64, total_bytes: u64, is_full: bool) -> Finding {
    let found = format!("{} of {} are free at {}", time::size(free_bytes), time::size(total_bytes), dir.display());
    if is_full {
        return Finding::failure("space", found, "make room: mail is refused");
    }
    if free_bytes < total_bytes / 20 {
        return Finding::warning("space", found, "make room before mail is refused, or shorten retention");
    }
    Finding::ok("space", found)
}

/// How long a small write takes until the disk has it, in a file that has no name any more.
fn sync_time(dir: &Path) -> io::Result<Duration> {
    let mut file = nameless(dir)?;
    let mut times = Vec::with_capacity(WRITES);
    for _ in 0..WRITES {
        let start = Instant::now();
        file.write_all(&[0; WRITE_BYTES])?;
        file.sync_data()?;
        times.push(start.elapsed());
    }
    times.sort_unstable();
    Ok(times[WRITES / 2])
}

fn nameless(dir: &Path) -> io::Result<File> {
    let path = dir.join(format!("doctor-{}", std::process::id()));
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
    // At once, so that nothing stays behind however this ends.
    std::fs::remove_file(&path)?;
    Ok(file)
}

fn sync(time: Duration) -> Finding {
    let found = format!("a write of 4 KB is on the disk after {:.1} ms", time.as_secs_f64() * 1000.0);
    let advice = "use a faster disk: each mail is on the disk before it is acknowledged";
    match time {
        time if time > SYNC_TOO_SLOW => Finding::failure("disk", found, advice),
        time if time > SYNC_SLOW => Finding::warning("disk", found, advice),
        _ => Finding::ok("disk", found),
    }
}

/// Whether the resolver answers.
async fn resolves(config: &Config, resolver: &dyn Resolver) -> Vec<Finding> {
    let Ok(name) = KNOWN_TO_ALL.parse::<DomainName>() else { return Vec::new() };
    let servers: Vec<String> = config.domains.resolvers.iter().map(ToString::to_string).collect();
    let shown = if servers.is_empty() { "the system's resolver".to_owned() } else { servers.join(", ") };
    let MxAnswer::Failed(why) = resolver.mx(&name).await else {
        return vec![Finding::ok("resolver", format!("{shown} answers"))];
    };
    let found = format!("{shown}: {why}");
    vec![if config.domains.mx_hosts.is_empty() {
        let advice = "name another one with resolver: without it webhooks reach only addresses, not names";
        Finding::warning("resolver", found, advice)
    } else {
        let advice = "name another one with resolver: without it no domain can be registered or verified";
        Finding::failure("resolver", found, advice)
    }]
}

/// Whether the names that MX records may point to lead to this machine.
async fn mx_hosts(config: &Config, resolver: &dyn Resolver) -> Vec<Finding> {
    let hosts = &config.domains.mx_hosts;
    if hosts.is_empty() {
        let found = "none is set, so only domains of the settings and pinned ones receive mail";
        return vec![Finding::ok("mx-host", found)];
    }
    let found = join_all(hosts.iter().map(|host| resolver.addresses(host.as_str()))).await;
    let is_here = |address: &IpAddr| config.domains.public_addresses.contains(address) || is_of_this_machine(*address);
    hosts.iter().zip(&found).map(|(host, found)| leads_here(host, found, is_here)).collect()
}

/// Whether an interface of this machine has the address: only then can a socket be bound to it. Nothing is sent.
fn is_of_this_machine(address: IpAddr) -> bool {
    UdpSocket::bind(SocketAddr::new(address, 0)).is_ok()
}

fn leads_here(host: &DomainName, addresses: &Addresses, is_here: impl Fn(&IpAddr) -> bool) -> Finding {
    const CHECK: &str = "mx-host";
    if addresses.found.is_empty() {
        if let Some(why) = &addresses.missing {
            return Finding::warning(CHECK, format!("{host}: {why}"), "try again when the resolver answers");
        }
        let advice = format!("create an A or AAAA record for {host} with the address of this machine");
        return Finding::failure(CHECK, format!("{host} has no address"), advice);
    }
    let elsewhere: Vec<String> =
        addresses.found.iter().filter(|address| !is_here(address)).map(ToString::to_string).collect();
    if elsewhere.is_empty() {
        return Finding::ok(CHECK, format!("{host} leads to this machine"));
    }
    let found = format!("{host} has {}, which this machine does not have", elsewhere.join(", "));
    let advice =
        "behind NAT or a proxy that can be right: name the address with public-address; else correct the record";
    Finding::warning(CHECK, found, advice)
}

/// Asks the daemon for the MX of each domain, as `tempmail domain check-dns` does.
async fn all_domains(client: &Client, domains: &[Value], is_answering: bool) -> Vec<Finding> {
    if domains.is_empty() {
        let advice =
            "`tempmail domain check-dns DOMAIN` says which record it needs, `tempmail domain add DOMAIN` adds it";
        let none = Finding::warning("domain", "there is none, so no mail is received", advice);
        return if is_answering { vec![none] } else { Vec::new() };
    }
    // Fixed in the settings, or pinned by the administrator: never verified.
    let (pinned, verified): (Vec<&Value>, Vec<&Value>) =
        domains.iter().partition(|domain| domain["fixed"] == true || domain["pinned"] == true);
    let name = |domain: &Value| domain["domain"].as_str().unwrap_or_default().to_owned();
    let mut findings = Vec::new();
    if !pinned.is_empty() {
        let names: Vec<String> = pinned.iter().take(3).map(|domain| name(domain)).collect();
        let more = pinned.len() - names.len();
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        let found = format!("{}{more} receive mail without a check of DNS", names.join(", "));
        findings.push(Finding::ok("domain", found));
    }
    let names = verified.iter().filter_map(|domain| name(domain).parse::<DomainName>().ok());
    let asked = stream::iter(names.take(DOMAINS_MAX)).map(|name| async move {
        // In their order, whichever answers first.
        let query = [("domain", Some(name.to_string()))];
        points_here(&name, client.get("/api/domains/check-dns", &query).await)
    });
    findings.extend(asked.buffered(DOMAINS_AT_ONCE).collect::<Vec<_>>().await);
    if let Some(more) = verified.len().checked_sub(DOMAINS_MAX).filter(|more| *more > 0) {
        let advice = "`tempmail domain verify` asks for all";
        findings.push(Finding::warning("domain", format!("{more} more were not asked for"), advice));
    }
    findings
}

fn points_here(name: &DomainName, answer: Result<MxReport, ClientError>) -> Finding {
    match answer {
        Ok(check) if check.ok => Finding::ok("domain", check.message.trim_end_matches('.')),
        Ok(check) => {
            let (found, advice) = check.message.split_once(". ").unwrap_or((&check.message, "correct its MX record"));
            Finding::failure("domain", found, advice)
        }
        Err(why) => Finding::warning("domain", format!("{name}: {why}"), "nothing is known of it; try again later"),
    }
}

/// The certificate in use, as the daemon tells it.
fn certificate(tls: Option<&Map<String, Value>>, config: &Config, now: Timestamp) -> Finding {
    const CHECK: &str = "certificate";
    let Some(tls) = tls else {
        if config.smtp.listen.iter().all(|address| address.ip().is_loopback()) {
            return Finding::ok(CHECK, "there is none, and SMTP listens on loopback only");
        }
        let found = "there is none, so mail arrives in the clear";
        return Finding::warning(CHECK, found, "set tls-cert and tls-key to offer STARTTLS");
    };
    if let Some(fault) = tls.get("fault").and_then(Value::as_str) {
        let found = format!("its files cannot be used, so the old one is in use: {fault}");
        return Finding::failure(CHECK, found, "mend the files; they are read again when they change and at SIGHUP");
    }
    let names: Vec<&str> = tls["names"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let is_self_signed = tls["isSelfSigned"] == true;
    let Some(not_after) = tls["notAfter"].as_str().and_then(Timestamp::from_text) else {
        return Finding::warning(CHECK, "the daemon does not tell its end", "see the row on version");
    };
    let (shown, end) = (names.join(", "), not_after.to_rfc3339());
    if not_after < now {
        let ago = time::duration(now.since(not_after));
        return Finding::failure(CHECK, format!("that of {shown} expired {ago} ago, at {end}"), "renew it");
    }
    let left = not_after.since(now);
    if left < SOON {
        let found = format!("that of {shown} expires in {}, at {end}", time::duration(left));
        return Finding::warning(CHECK, found, "renew it, and see that its renewal works");
    }
    let mut hosts = config.domains.mx_hosts.iter();
    if let Some(host) = hosts.find(|host| !names.iter().any(|name| covers(name, host.as_str()))) {
        let found = format!("it names {shown}, and not {host}, which MX records point to");
        return Finding::warning(CHECK, found, "get one for that name: senders that verify it will not send");
    }
    let kind = if is_self_signed { "self-signed, for development, " } else { "" };
    Finding::ok(CHECK, format!("that of {shown} is {kind}valid until {end}"))
}

/// Whether a name of a certificate covers a host (RFC 6125 section 6.4): a `*` stands for one whole label.
fn covers(name: &str, host: &str) -> bool {
    let name = name.to_ascii_lowercase();
    match name.strip_prefix("*.") {
        Some(parent) => host.split_once('.').is_some_and(|(_, of)| of == parent),
        None => name == host,
    }
}

fn shown(cx: &Context, findings: &[Finding]) -> String {
    let is_ok = findings.iter().all(|finding| finding.verdict != Verdict::Failure);
    match cx.style.of_list() {
        Format::Json => output::json(&json!({ "ok": is_ok, "findings": findings })),
        Format::Ndjson => findings.iter().map(output::json_line).collect(),
        Format::Tsv => findings.iter().map(in_tsv).collect(),
        Format::Id => findings.iter().map(|finding| [finding.check, "\n"].concat()).collect(),
        Format::Table => findings.iter().map(|finding| for_people(cx, finding)).collect(),
    }
}

impl Verdict {
    /// Its word, and its colour on a terminal.
    const fn shown(self) -> (&'static str, &'static str) {
        match self {
            Self::Ok => ("ok", "32"),
            Self::Warning => ("warning", "33"),
            Self::Failure => ("failure", "31"),
        }
    }
}

fn in_tsv(finding: &Finding) -> String {
    let advice = finding.advice.as_deref().unwrap_or_default();
    [finding.verdict.shown().0, finding.check, &finding.found, advice].map(visible::field).join("\t") + "\n"
}

fn for_people(cx: &Context, finding: &Finding) -> String {
    let (word, sgr) = finding.verdict.shown();
    let verdict = cx.style.paint(sgr, &format!("{word:7}"));
    let mut text = visible::line(&finding.found).into_owned();
    if let Some(advice) = &finding.advice {
        // Writing to a String does not fail.
        let _ = write!(text, "; {}", visible::line(advice));
    }
    let text = output::hanging(&text, cx.style.width, TEXT_COLUMN);
    format!("{verdict}  {:11}  {text}\n", finding.check)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Revision;
    use crate::dns::Failure;

    const GB: u64 = 1 << 30;
    const NOW: Timestamp = Timestamp::from_millis(1_800_000_000_000);

    #[tokio::test]
    async fn a_check_that_hangs_is_a_failure_in_time() {
        let findings = within(Duration::from_millis(10), "resolver", std::future::pending()).await;
        assert_eq!((findings.len(), findings[0].verdict), (1, Verdict::Failure));
        assert!(findings[0].found.starts_with("there is no result after"), "{findings:?}");
    }

    #[test]
    fn a_cluster_that_answers_slowly_is_a_warning() {
        let of = |nodes: u64, micros: u64| cluster(&json!({ "livingNodes": nodes, "answerMicros": micros }));
        assert_eq!(of(3, 4_200), Finding::ok("cluster", "3 nodes live, and the cluster answered in 5 ms"));
        assert_eq!(of(1, 251_000).verdict, Verdict::Warning);
    }

    #[test]
    fn a_full_store_is_a_failure_and_a_full_disk_a_warning() {
        let of = |free_bytes, is_full| space(Path::new("/data"), free_bytes, 100 * GB, is_full).verdict;
        assert_eq!((of(50 * GB, true), of(4 * GB, false), of(5 * GB, false)), {
            (Verdict::Failure, Verdict::Warning, Verdict::Ok)
        });
        assert_eq!(sync(SYNC_SLOW).verdict, Verdict::Ok);
        assert_eq!(sync(SYNC_SLOW * 2).verdict, Verdict::Warning);
        assert_eq!(sync(SYNC_TOO_SLOW * 2).verdict, Verdict::Failure);
    }

    #[test]
    fn the_measurement_leaves_nothing_behind() {
        let dir = tempfile::tempdir().expect("directory");
        assert!(sync_time(dir.path()).expect("a time") < Duration::from_mins(1));
        assert_eq!(std::fs::read_dir(dir.path()).expect("list").count(), 0);
    }

    #[test]
    fn an_address_elsewhere_is_doubted_and_none_is_a_failure() {
        let host: DomainName = "mx.example.test".parse().expect("a name");
        let of = |found: &[&str], missing| {
            let found = found.iter().map(|text| text.parse().expect("an address")).collect();
            let here: IpAddr = "192.0.2.1".parse().expect("an address");
            leads_here(&host, &Addresses { found, missing }, |address| *address == here).verdict
        };
        assert_eq!(of(&["192.0.2.1"], None), Verdict::Ok);
        assert_eq!(of(&["192.0.2.1", "192.0.2.2"], None), Verdict::Warning);
        assert_eq!(of(&[], None), Verdict::Failure);
        assert_eq!(of(&[], Some(Failure::ServerFailed)), Verdict::Warning);
        assert!(is_of_this_machine("127.0.0.1".parse().expect("an address")));
        assert!(!is_of_this_machine("192.0.2.1".parse().expect("an address")));
    }

    #[test]
    fn a_certificate_that_ends_or_lacks_our_name_is_said() {
        let of = |names: &[&str], not_after: Timestamp, host: &str| {
            let mut config = Config::of_revision(Revision::Two, "/nonexistent".into());
            config.domains.mx_hosts = vec![host.parse().expect("a name")];
            let tls = json!({ "names": names, "notAfter": not_after.to_interface(), "isSelfSigned": false });
            certificate(tls.as_object(), &config, NOW).verdict
        };
        assert_eq!(of(&["a.test"], NOW.before(Duration::from_secs(1)), "a.test"), Verdict::Failure);
        assert_eq!(of(&["a.test"], NOW, "a.test"), Verdict::Warning);
        assert_eq!(of(&["a.test"], NOW.plus(SOON), "a.test"), Verdict::Ok);
        assert_eq!(of(&["*.A.test"], NOW.plus(SOON), "mx.a.test"), Verdict::Ok);
        for (name, host) in [("*.a.test", "a.test"), ("*.a.test", "x.mx.a.test"), ("a.test", "mx.a.test")] {
            assert_eq!(of(&[name], NOW.plus(SOON), host), Verdict::Warning, "{name} {host}");
        }
    }
}
