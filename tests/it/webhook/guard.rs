//! No request leaves for an address that is not public, whatever a name leads to.
//! Promise: it outlives the code below it.

use std::net::SocketAddr;

use serde_json::json;

use super::{LIMITED, LOCAL, first_attempt, lines, receiver, register, test, wait_until};
use crate::support::dns_zone::DnsZone;
use crate::support::program::Program;
use crate::support::test_server::TestServer;
use crate::support::webhook_sink::{Behaviour, WebhookSink};

const TO: &str = "ann@example.test";
const NAME: &str = "hooks.example";

/// Spellings of hosts, separated by blanks, that some parser of URLs, addresses or names takes for this machine or its
/// network.
const NOT_PUBLIC: [&str; 14] = [
    // Names of loopback.
    "localhost LOCALHOST localhost. LocalHost. a.localhost a.b.LOCALHOST. ｌｏｃａｌｈｏｓｔ %6cocalhost ⓛocalhost",
    "local\u{ad}host",
    // Loopback in dotted, decimal, octal, hexadecimal, mixed and short forms.
    "127.0.0.1 127.0.0.1. 127.255.255.254 2130706433 2130706433. 017700000001 0x7f000001 0X7F000001",
    "0x7f.0.0.1 0177.0.0.1 0177.0x0.0.01 127.1 127.0.1 127.65535 0x7f.1 00000177.1 %31%32%37.1",
    // Digits and dots of other scripts.
    "①②⑦.⓪.⓪.① １２７.０.０.１ 127。0。0。1 127．0．0．1 𝟏𝟐𝟕.𝟎.𝟎.𝟏",
    // This network.
    "0 0.0.0.0 0x0 00 0.1 0.0.0.0.",
    // Private, shared, link-local, special.
    "10.0.0.1 10.1 167772161 012.0.0.1 172.16.0.1 172.31.255.255 192.168.1.1 192.168.257 3232235777",
    "0xc0a80101 100.64.0.1 169.254.169.254 2852039166 0xa9fea9fe 0251.0376.0251.0376 169.254.43518",
    "192.0.0.1 192.0.2.1 192.88.99.1 198.18.0.1 198.51.100.7 203.0.113.9 224.0.0.1 240.0.0.1",
    "255.255.255.255 4294967295",
    // IPv6.
    "[::] [::1] [0:0:0:0:0:0:0:1] [::ffff:127.0.0.1] [::ffff:7f00:1] [::ffff:a9fe:a9fe] [::127.0.0.1]",
    "[64:ff9b::8.8.8.8] [64:ff9b:1::1] [2002:7f00:1::] [2001::1] [2001:db8::1] [fe80::1] [fc00::1]",
    "[fd12:3456::1] [fec0::1] [ff02::1] [100::1] [3fff::1] [5f00::1] [4000::1] [2a00:1450::5efe:7f00:1]",
    "[2a00:1450::200:5efe:8.8.8.8] [0:0:0:0:0:FFFF:0a00:0001]",
];

/// What is asked of the name servers that the service uses.
fn asks(zone: &DnsZone) -> String {
    format!("resolver = ['{}']\n", zone.addr())
}

fn url_of(sink: &WebhookSink, host: &str) -> String {
    format!("http://{host}:{}/hook", sink.addr().port())
}

#[tokio::test]
async fn no_spelling_of_an_address_that_is_not_public_can_be_registered() {
    let server = TestServer::with("webhook-registrations-per-minute = 1000").await;
    for host in NOT_PUBLIC.iter().flat_map(|hosts| hosts.split(' ')) {
        for url in [format!("http://{host}/"), format!("HTTPS://{host}:8443/a?b"), format!("http://{host}#x")] {
            let answer = server.post("/api/webhooks", &json!({ "recipient": TO, "url": url })).await;
            assert_eq!((answer.status.as_u16(), answer.problem().as_str()), (400, "url_not_allowed"), "{url}");
        }
    }
    assert_eq!(server.get(&format!("/api/webhooks?recipient={TO}")).await.json(), json!([]));
    server.stop().await;
}

#[tokio::test]
async fn names_of_private_addresses_are_not_dialled() {
    let (zone, sink) = (DnsZone::start().await, receiver(Behaviour::status(200)).await);
    let server = TestServer::with(&asks(&zone)).await;
    zone.set_addresses(NAME, &["127.0.0.1", "::1", "::ffff:127.0.0.1", "64:ff9b::7f00:1"]);
    zone.set_cname("alias.example", NAME);
    for host in [NAME, "alias.example"] {
        let line = first_attempt(&server, &url_of(&sink, host)).await;
        assert_eq!((&line["error"], &line["result"]), (&json!("refused_address"), &json!("retry")), "{host}");
        assert!(line["response"].as_str().is_some_and(|text| text.contains("not a public address")), "{line}");
    }
    assert_eq!(sink.connections(), 0);
    server.stop().await;
}

#[tokio::test]
async fn a_name_that_leads_to_a_private_address_later_is_refused_then() {
    // Here 127.0.0.1 stands for a public address, and 127.0.0.2 for a private one. The receiver listens on both.
    let (zone, sink) = (DnsZone::start().await, WebhookSink::start_on_two().await);
    sink.script("/hook", Behaviour::with_header(200, "connection", "close"));
    let server = TestServer::with(&format!("{}webhook-allow = ['127.0.0.1/32']", asks(&zone))).await;
    let id = register(&server, TO, &url_of(&sink, NAME)).await;
    for round in 0..5 {
        zone.set_addresses(NAME, &["127.0.0.1"]);
        assert_eq!(test(&server, &id).await.1["status"], 200, "round {round}");
        zone.set_addresses(NAME, &["127.0.0.2"]);
        assert_eq!(test(&server, &id).await.1["error"], "refused_address", "round {round}");
        zone.set_addresses(NAME, &["127.0.0.2", "127.0.0.1"]);
        assert_eq!(test(&server, &id).await.1["status"], 200, "round {round}: the one that is public is dialled");
    }
    assert_eq!(sink.requests().len(), 10);
    let addresses = sink.dialled();
    assert!(addresses.iter().all(|address| address.ip().to_string() == "127.0.0.1"), "{addresses:?}");
    server.stop().await;
}

#[tokio::test]
async fn no_webhook_leads_to_a_listener_of_the_daemon_itself() {
    let (zone, sink) = (DnsZone::start().await, receiver(Behaviour::status(200)).await);
    let listeners = ["smtps-listen", "https-listen", "lmtp-listen"].map(|key| format!("{key} = '127.0.0.1:0'\n"));
    let settings =
        format!("webhook-allow = ['127.0.0.0/8']\ntls-cert = 'self-signed'\n{}{}", listeners.concat(), asks(&zone));
    let server = TestServer::with(&settings).await;
    zone.set_addresses(NAME, &["127.0.0.1"]);
    let status = server.admin_get("/api/admin/status").await;
    for service in ["smtpListen", "smtpsListen", "lmtpListen", "httpListen", "httpsListen"] {
        let own: SocketAddr = status[service][0].as_str().and_then(|text| text.parse().ok()).expect(service);
        for host in ["127.0.0.1", "0.0.0.0", "2130706433", "[::ffff:127.0.0.1]", "localhost"] {
            let body = json!({ "recipient": TO, "url": format!("http://{host}:{}/hook", own.port()) });
            let (refused, problem) = server.admin_post("/api/webhooks", &body).await;
            assert_eq!((refused, &problem["code"]), (400, &json!("url_not_allowed")), "{service} by {host}");
        }
        let line = first_attempt(&server, &format!("http://{NAME}:{}/hook", own.port())).await;
        assert_eq!((&line["status"], &line["error"]), (&json!(null), &json!("refused_address")), "{service}");
    }
    for host in [NAME, "127.0.0.1", "localhost"] {
        assert_eq!(first_attempt(&server, &url_of(&sink, host)).await["status"], 200, "the network is allowed: {host}");
    }
    server.stop().await;
}

#[tokio::test]
async fn our_listeners_are_refused_at_the_public_addresses_too() {
    let server = TestServer::with(&format!("{LOCAL}public-address = ['127.0.0.9']")).await;
    for port in [server.smtp().port(), server.http().port()] {
        for (host, status) in [("127.0.0.1", 400), ("127.0.0.9", 400), ("127.0.0.8", 201)] {
            let body = json!({"recipient": TO, "url": format!("http://{host}:{port}/hook")});
            let (answered, answer) = server.admin_post("/api/webhooks", &body).await;
            assert_eq!(answered, status, "{host}: {answer}");
        }
    }
    server.stop().await;
}

#[tokio::test]
async fn what_is_refused_after_the_registration_is_not_called() {
    let sink = receiver(Behaviour::status(200)).await;
    // The administrator closes the network again. The webhook stays registered.
    let server = TestServer::with(LOCAL).await;
    let mut ids = Vec::new();
    for (number, host) in ["127.0.0.1", "localhost", "a.localhost.", "[::ffff:127.0.0.1]"].iter().enumerate() {
        ids.push(register(&server, &format!("a{number}@example.test"), &url_of(&sink, host)).await);
    }
    let server = server.restart("webhook-allow = []").await;
    for (number, id) in ids.iter().enumerate() {
        let to = format!("a{number}@example.test");
        server.send(&to, "Hello", "text").await;
        assert_eq!(lines(&server, id, 1).await[0]["error"], "refused_address", "{number}");
        wait_until(&server, &to, |webhook| webhook["failures"].as_u64() >= Some(1)).await;
    }
    assert_eq!(sink.connections(), 0);
    server.stop().await;
}

#[tokio::test]
async fn a_name_that_does_not_resolve_is_a_dns_error() {
    let (zone, sink) = (DnsZone::start().await, receiver(Behaviour::status(200)).await);
    let server = TestServer::with(&asks(&zone)).await;
    zone.set_empty("empty.example");
    zone.servfail("broken.example");
    for host in ["missing.example", "empty.example", "broken.example"] {
        assert_eq!(first_attempt(&server, &url_of(&sink, host)).await["error"], "dns", "{host}");
    }
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_proxy_of_the_environment_is_used() {
    let (proxy, sink) = (WebhookSink::start().await, receiver(Behaviour::status(200)).await);
    let dir = tempfile::tempdir().expect("directory");
    let daemon = Program::serve_with(dir.path(), &["--webhook-allow", "127.0.0.0/8"], |command| {
        for variable in ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"] {
            command.env(variable, proxy.url(""));
        }
        for variable in ["NO_PROXY", "no_proxy", "REQUEST_METHOD"] {
            command.env_remove(variable);
        }
    });
    let added = daemon.tempmail(&["webhook", "add", TO, &sink.url("/hook"), "-o", "id"]);
    assert_eq!(added.code, Some(0), "{added:?}");
    let tested = daemon.tempmail(&["webhook", "test", added.stdout.trim()]);
    assert!(tested.stdout.contains("result\tdelivered\n"), "{tested:?}");
    assert_eq!((proxy.connections(), sink.requests().len()), (0, 1));
    daemon.stop();
}

#[tokio::test]
async fn names_that_lead_to_one_address_share_its_rate_limit() {
    let zone = DnsZone::start().await;
    let (sink, other) = (receiver(Behaviour::status(200)).await, receiver(Behaviour::status(200)).await);
    // Its first call proves the host, which then may be called seven times more: whatever the name, and at all of its ports.
    let settings = format!("{LIMITED}webhook-per-address-per-minute = 7\n{}", asks(&zone));
    let server = TestServer::with(&settings).await;
    let call = async |sink: &WebhookSink, name: &str| {
        zone.set_addresses(name, &["127.0.0.1"]);
        let body = json!({ "recipient": TO, "url": url_of(sink, name) });
        let (_, registered) = server.admin_post("/api/webhooks", &body).await;
        let (status, answer) = test(&server, registered["id"].as_str().expect("an id")).await;
        if status == 200 { answer["status"].clone() } else { answer["code"].clone() }
    };
    for status in [200, 500] {
        sink.script("/hook", Behaviour::status(status));
        for name in ["a.example", "b.example"] {
            assert_eq!(call(&sink, &format!("{status}{name}")).await, status);
            assert_eq!(call(&other, "port.example").await, 200);
        }
    }
    for (sink, name) in [(&sink, "e.example"), (&sink, "500b.example"), (&other, "port.example")] {
        assert_eq!(call(sink, name).await, "busy", "{name}");
    }
    assert_eq!((sink.requests().len(), other.requests().len()), (4, 4));
    server.stop().await;
}
