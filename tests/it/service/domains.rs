//! A domain whose MX points here comes, goes with its MX, and returns.
//! Promise: it outlives the code below it.

use std::net::IpAddr;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::support::dns_zone::DnsZone;
use crate::support::http;
use crate::support::smtp_peer::SmtpPeer;
use crate::support::test_server::TestServer;
use crate::support::until::until;

const MX_HOST: &str = "mx.here.test";
const DOMAIN: &str = "guest.example";
const TO: &str = "hello@guest.example";

async fn zone() -> DnsZone {
    let zone = DnsZone::start().await;
    zone.set_addresses(MX_HOST, &["192.0.2.1"]);
    zone.set_mx(DOMAIN, &[(10, MX_HOST)]);
    zone
}

fn of_zone(zone: &DnsZone) -> String {
    format!("mx-host = '{MX_HOST}'\nresolver = ['{}']\n", zone.addr())
}

async fn active(server: &TestServer) -> Value {
    http::get(server.http(), "/api/domains/active").await.1
}

async fn refused(server: &TestServer) {
    let mut peer = SmtpPeer::greeted(server.smtp()).await;
    peer.command("EHLO client.test", "250").await;
    peer.command("MAIL FROM:<a@sender.test>", "250").await;
    peer.command(&format!("RCPT TO:<{TO}>"), "550 5.1.2").await;
}

#[tokio::test]
async fn a_domain_added_over_http_follows_its_mx() {
    let zone = zone().await;
    let server = TestServer::with(&of_zone(&zone)).await;
    assert_eq!(active(&server).await, json!([]));
    refused(&server).await;
    let (status, added) = http::add_domain(server.http(), DOMAIN).await;
    assert_eq!((status, &added["status"]), (201, &json!("active")), "{added}");
    assert_eq!(active(&server).await, json!([DOMAIN]));
    SmtpPeer::greeted(server.smtp()).await.deliver(TO, "Subject: kept\r\n\r\n").await;

    zone.set_mx(DOMAIN, &[(10, "mx.elsewhere.test")]);
    let asked = zone.mx_questions(DOMAIN);
    assert_eq!(server.tempmail(&["domain", "verify"]).await.code, Some(0));
    assert_eq!(zone.mx_questions(DOMAIN), asked + 2, "a clear no is asked for twice");
    assert_eq!(active(&server).await, json!([]));
    refused(&server).await;
    assert_eq!(http::total(server.http(), TO).await, 1, "what it received stays");

    let server = server.restart(&of_zone(&zone)).await;
    refused(&server).await;

    zone.set_mx(DOMAIN, &[(10, MX_HOST)]);
    assert_eq!(server.tempmail(&["domain", "verify", DOMAIN]).await.code, Some(0));
    assert_eq!(active(&server).await, json!([DOMAIN]));
    SmtpPeer::greeted(server.smtp()).await.deliver(TO, "Subject: again\r\n\r\n").await;
    assert_eq!(http::total(server.http(), TO).await, 2);
    server.stop().await;
}

#[tokio::test]
async fn a_domain_is_added_from_the_command_line() {
    let zone = zone().await;
    zone.set_mx("other.example", &[(10, "mx.elsewhere.test")]);
    let server = TestServer::with(&of_zone(&zone)).await;
    let refused = server.tempmail(&["domain", "add", "other.example"]).await;
    assert_eq!(refused.code, Some(8), "{refused:?}");
    let record = format!("{refused:?}").contains(MX_HOST);
    assert!(record, "the record to create is shown: {refused:?}");
    let added = server.tempmail(&["domain", "add", DOMAIN]).await;
    assert_eq!(added.code, Some(0), "{added:?}");
    assert_eq!(active(&server).await, json!([DOMAIN]));
    SmtpPeer::greeted(server.smtp()).await.deliver(TO, "Subject: x\r\n\r\n").await;
    assert_eq!(server.tempmail(&["domain", "remove", DOMAIN, "--yes"]).await.code, Some(0));
    assert_eq!(active(&server).await, json!([]));
    server.stop().await;
}

#[tokio::test]
async fn the_daemon_itself_asks_again_every_period() {
    let period = Duration::from_secs(1);
    let zone = zone().await;
    let server = TestServer::with(&format!("{}verify-every = '1s'", of_zone(&zone))).await;
    assert_eq!(http::add_domain(server.http(), DOMAIN).await.0, 201);
    for (host, expected) in [("mx.elsewhere.test", json!([])), (MX_HOST, json!([DOMAIN]))] {
        zone.set_mx(DOMAIN, &[(10, host)]);
        until(format!("a round finds {host}"), async || {
            server.clock.advance(period / 20);
            active(&server).await == expected
        })
        .await;
    }
    server.stop().await;
}

#[tokio::test]
async fn slow_names_of_one_client_delay_no_other_client() {
    let zone = zone().await;
    let names: Vec<String> = (0..32).map(|number| format!("slow{number}.example")).collect();
    for name in &names {
        zone.silence(name);
    }
    let server = TestServer::with(&of_zone(&zone)).await;
    let check = |client: &reqwest::Client, name: &str| {
        client.get(format!("http://{}/api/domains/check-dns?domain={name}", server.http())).send()
    };
    let hostile = http::client_builder().local_address(IpAddr::from([127, 0, 0, 2])).build().expect("a client");
    let mut slow: JoinSet<_> = names.iter().map(|name| check(&hostile, name)).collect();
    until("four slow checks in progress", async || {
        names.iter().map(|name| zone.mx_questions(name)).sum::<usize>() == 4
    })
    .await;

    let (status, checked) = http::get(server.http(), &format!("/api/domains/check-dns?domain={DOMAIN}")).await;
    assert_eq!((status, &checked["ok"]), (200, &json!(true)), "{checked}");
    let busy = slow.join_next().await.expect("an answer").expect("no panic").expect("an answer");
    assert_eq!((busy.status().as_u16(), busy.headers().contains_key("retry-after")), (503, true));
    let problem: Value = busy.json().await.expect("JSON");
    assert_eq!(problem["code"], "busy", "DNS was not asked: {problem}");
}

#[tokio::test]
async fn only_the_administrator_sees_what_the_resolver_knows_of_inner_networks() {
    let zone = zone().await;
    zone.set_mx("evil.example", &[(5, "db.internal.test")]);
    zone.set_addresses("db.internal.test", &["10.1.2.3"]);
    let server = TestServer::with(&of_zone(&zone)).await;
    let path = "/api/domains/check-dns?domain=evil.example";
    for (status, shown) in [http::get(server.http(), path).await, http::add_domain(server.http(), "evil.example").await]
    {
        let lines = ["evil.example. IN MX 5 db.internal.test.", "; db.internal.test is not at our address"];
        assert_eq!(shown["found"], json!(lines), "{status}");
        assert!(!shown.to_string().contains("10.1.2.3"), "{shown}");
    }
    let local = server.admin_get(path).await;
    assert_eq!(local["found"][1], "db.internal.test. IN A 10.1.2.3");
}
