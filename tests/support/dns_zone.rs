//! A DNS server on loopback whose answers a test changes while it runs.
//!
//! It answers as a recursive resolver does. It follows aliases, unknown names do not exist, and a name that has
//! other records has none of the requested kind. Every answer may be cached for five minutes, so that a test fails if a
//! client caches answers.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use hickory_proto::op::{Header, HeaderCounts, Metadata, ResponseCode};
use hickory_proto::rr::rdata::{CNAME, MX, SOA, TXT};
use hickory_proto::rr::{Name, RData, Record, RecordType};
use hickory_server::net::runtime::Time;
use hickory_server::net::xfer::Protocol;
use hickory_server::server::{Request, RequestHandler, ResponseHandler, ResponseInfo, Server};
use hickory_server::zone_handler::MessageResponseBuilder;
use tokio::net::{TcpListener, UdpSocket};

const TTL: u32 = 300;

/// A running server. It ends when it is dropped.
pub(crate) struct DnsZone {
    address: SocketAddr,
    nodes: Arc<Mutex<Nodes>>,
    _server: Server<Handler>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    Code(ResponseCode),
    Silent,
}

#[derive(Default)]
struct Node {
    mx: Vec<(u16, String)>,
    mx_once: Vec<Vec<(u16, String)>>,
    addresses: Vec<IpAddr>,
    texts: Vec<String>,
    alias: Option<String>,
    faults: HashMap<RecordType, Fault>,
    is_cut_short: bool,
    asked: Vec<Asked>,
}

struct Asked {
    id: u16,
    kind: RecordType,
    is_tcp: bool,
    reply: Reply,
}

#[derive(Clone)]
enum Reply {
    Silent,
    Code(ResponseCode),
    Records(Vec<Record>),
    Negative(ResponseCode, Vec<Record>),
    CutShort,
}

#[derive(Default)]
struct Nodes(HashMap<String, Node>);

impl DnsZone {
    /// A server on a free port of 127.0.0.1, for UDP and TCP, with nothing in it.
    pub(crate) async fn start() -> Self {
        let (tcp, udp) = bind_both().await;
        let address = udp.local_addr().expect("bound address");
        let nodes = Arc::<Mutex<Nodes>>::default();
        let mut server = Server::new(Handler(nodes.clone()));
        server.register_socket(udp);
        server.register_listener(tcp, Duration::from_secs(30), 64);
        Self { address, nodes, _server: server }
    }

    /// Where the server listens.
    pub(crate) fn addr(&self) -> SocketAddr {
        self.address
    }

    /// Sets the MX records of `name`; a null MX is `(0, ".")`.
    pub(crate) fn set_mx(&self, name: &str, records: &[(u16, &str)]) {
        self.change(name, |node| node.mx = owned(records));
    }

    /// What the next question for the MX of `name` alone is answered with, whatever faults the name has.
    pub(crate) fn set_mx_once(&self, name: &str, records: &[(u16, &str)]) {
        self.change(name, |node| node.mx_once.push(owned(records)));
    }

    /// Sets the A and AAAA records of `name`.
    pub(crate) fn set_addresses(&self, name: &str, addresses: &[&str]) {
        let addresses = addresses.iter().map(|text| text.parse().expect(text)).collect();
        self.change(name, |node| node.addresses = addresses);
    }

    /// Sets the TXT records of `name`, each of strings of 255 octets at most.
    pub(crate) fn set_texts(&self, name: &str, texts: &[&str]) {
        self.change(name, |node| node.texts = texts.iter().map(|text| (*text).to_owned()).collect());
    }

    /// Makes `name` an alias of `target`.
    pub(crate) fn set_cname(&self, name: &str, target: &str) {
        self.change(name, |node| node.alias = Some(target.to_owned()));
    }

    /// `name` exists, without any record.
    pub(crate) fn set_empty(&self, name: &str) {
        self.remove(name);
        self.change(name, |_| ());
    }

    /// `name` does not exist (any more), and has no faults.
    pub(crate) fn remove(&self, name: &str) {
        self.nodes.lock().expect("nodes").0.remove(&key(name));
    }

    /// Every question for `name` is answered SERVFAIL.
    pub(crate) fn servfail(&self, name: &str) {
        self.fail_all(name, Fault::Code(ResponseCode::ServFail));
    }

    /// Every question for `name` is answered REFUSED.
    pub(crate) fn refuse(&self, name: &str) {
        self.fail_all(name, Fault::Code(ResponseCode::Refused));
    }

    /// No question for `name` is answered.
    pub(crate) fn silence(&self, name: &str) {
        self.fail_all(name, Fault::Silent);
    }

    /// Questions for the AAAA records of `name` are answered SERVFAIL.
    pub(crate) fn servfail_aaaa(&self, name: &str) {
        self.change(name, |node| node.faults.insert(RecordType::AAAA, Fault::Code(ResponseCode::ServFail)));
    }

    /// Questions for `name` are answered again.
    pub(crate) fn recover(&self, name: &str) {
        self.change(name, |node| node.faults.clear());
    }

    /// Over UDP, answers for `name` are empty and marked as cut short.
    pub(crate) fn cut_short_over_udp(&self, name: &str) {
        self.change(name, |node| node.is_cut_short = true);
    }

    /// How many questions for `name` came, of any kind.
    pub(crate) fn questions(&self, name: &str) -> usize {
        self.count(name, |_| true)
    }

    /// How often the MX of `name` was asked for; a question that was sent again counts once.
    pub(crate) fn mx_questions(&self, name: &str) -> usize {
        self.count(name, |asked| asked.kind == RecordType::MX)
    }

    /// How many questions for `name`, of any kind, came over TCP.
    pub(crate) fn tcp_questions(&self, name: &str) -> usize {
        self.count(name, |asked| asked.is_tcp)
    }

    /// How many questions came for all names that are set.
    pub(crate) fn all_questions(&self) -> usize {
        self.nodes.lock().expect("nodes").0.values().map(|node| node.asked.len()).sum()
    }

    fn count(&self, name: &str, is_meant: impl Fn(&Asked) -> bool) -> usize {
        let nodes = self.nodes.lock().expect("nodes");
        nodes.0.get(&key(name)).map_or(0, |node| node.asked.iter().filter(|asked| is_meant(asked)).count())
    }

    fn fail_all(&self, name: &str, fault: Fault) {
        self.change(name, |node| {
            for kind in [RecordType::MX, RecordType::A, RecordType::AAAA, RecordType::TXT] {
                node.faults.insert(kind, fault);
            }
        });
    }

    fn change<T>(&self, name: &str, change: impl FnOnce(&mut Node) -> T) {
        change(self.nodes.lock().expect("nodes").0.entry(key(name)).or_default());
    }
}

async fn bind_both() -> (TcpListener, UdpSocket) {
    for _ in 0..100 {
        let tcp = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        if let Ok(udp) = UdpSocket::bind(tcp.local_addr().expect("bound address")).await {
            return (tcp, udp);
        }
    }
    panic!("no port is free for both TCP and UDP");
}

fn owned(records: &[(u16, &str)]) -> Vec<(u16, String)> {
    records.iter().map(|(preference, host)| (*preference, (*host).to_owned())).collect()
}

/// Names are stored in lower case, with a trailing dot.
fn key(name: &str) -> String {
    format!("{}.", name.trim_end_matches('.').to_ascii_lowercase())
}

/// The name as it stands in a message, which can hold any octets.
fn full(name: &str) -> Name {
    let labels = name.split('.').filter(|label| !label.is_empty()).map(str::as_bytes);
    Name::from_labels(labels).expect(name)
}

impl Nodes {
    fn reply(&mut self, name: &str, kind: RecordType, id: u16, is_tcp: bool) -> Reply {
        let Some(node) = self.0.get_mut(name) else { return Reply::Negative(ResponseCode::NXDomain, Vec::new()) };
        if let Some(same) =
            node.asked.iter().find(|asked| asked.id == id && asked.kind == kind && asked.is_tcp == is_tcp)
        {
            return same.reply.clone();
        }
        let is_once = kind == RecordType::MX && !node.mx_once.is_empty();
        let reply = match node.faults.get(&kind).filter(|_| !is_once) {
            Some(Fault::Silent) => Reply::Silent,
            Some(Fault::Code(code)) => Reply::Code(*code),
            None if node.is_cut_short && !is_tcp => Reply::CutShort,
            None => self.records(name, kind, 0),
        };
        let asked = Asked { id, kind, is_tcp, reply: reply.clone() };
        self.0.get_mut(name).expect("the node is there").asked.push(asked);
        reply
    }

    fn records(&mut self, name: &str, kind: RecordType, depth: u8) -> Reply {
        let Some(node) = self.0.get_mut(name) else { return Reply::Negative(ResponseCode::NXDomain, Vec::new()) };
        if let Some(target) = node.alias.clone() {
            if depth > 8 {
                return Reply::Code(ResponseCode::ServFail);
            }
            let alias = Record::from_rdata(full(name), TTL, RData::CNAME(CNAME(full(&target))));
            return match self.records(&key(&target), kind, depth + 1) {
                Reply::Records(records) => Reply::Records([vec![alias], records].concat()),
                Reply::Negative(code, records) => Reply::Negative(code, [vec![alias], records].concat()),
                other => other,
            };
        }
        let data: Vec<RData> = match kind {
            RecordType::MX => {
                let records = if node.mx_once.is_empty() { node.mx.clone() } else { node.mx_once.remove(0) };
                records.iter().map(|(preference, host)| RData::MX(MX::new(*preference, full(host)))).collect()
            }
            RecordType::A | RecordType::AAAA => {
                let of_kind = node.addresses.iter().filter(|address| address.is_ipv4() == (kind == RecordType::A));
                of_kind.map(|address| RData::from(*address)).collect()
            }
            RecordType::TXT => {
                let strings = |text: &String| text.as_bytes().chunks(255).map(<[u8]>::to_vec).collect::<Vec<_>>();
                let record = |text| RData::TXT(TXT::from_bytes(strings(text).iter().map(Vec::as_slice).collect()));
                node.texts.iter().map(record).collect()
            }
            _ => Vec::new(),
        };
        if data.is_empty() {
            return Reply::Negative(ResponseCode::NoError, Vec::new());
        }
        Reply::Records(data.into_iter().map(|data| Record::from_rdata(full(name), TTL, data)).collect())
    }
}

struct Handler(Arc<Mutex<Nodes>>);

#[async_trait]
impl RequestHandler for Handler {
    async fn handle_request<R: ResponseHandler, T: Time>(&self, request: &Request, mut response: R) -> ResponseInfo {
        let query = request.request_info().expect("one question").query;
        let name = key(&Name::from(query.name()).to_ascii());
        let is_tcp = request.protocol() == Protocol::Tcp;
        let reply = self.0.lock().expect("nodes").reply(&name, query.query_type(), request.metadata.id, is_tcp);
        let mut metadata = Metadata::response_from_request(&request.metadata);
        metadata.recursion_available = true;
        let root = || Name::root();
        let soa = Record::from_rdata(root(), TTL, RData::SOA(SOA::new(root(), root(), 1, 60, 60, 60, TTL)));
        let (code, answers, soa) = match reply {
            Reply::Silent => return ResponseInfo::from(Header { metadata, counts: HeaderCounts::default() }),
            Reply::Code(code) => (code, Vec::new(), None),
            Reply::Records(records) => (ResponseCode::NoError, records, None),
            Reply::Negative(code, aliases) => (code, aliases, Some(soa)),
            Reply::CutShort => {
                metadata.truncation = true;
                (ResponseCode::NoError, Vec::new(), None)
            }
        };
        metadata.response_code = code;
        let message =
            MessageResponseBuilder::from_message_request(request).build(metadata, &answers, [], soa.as_ref(), []);
        // A client that has gone away needs no answer.
        let sent = response.send_response(message).await;
        sent.unwrap_or_else(|_| ResponseInfo::from(Header { metadata, counts: HeaderCounts::default() }))
    }
}
