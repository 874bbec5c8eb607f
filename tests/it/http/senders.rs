//! Who really sent a mail, over a name server of the test.
//! Promise: it outlives the code below it.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::dns_zone::DnsZone;
use crate::support::smtp_peer::SmtpPeer;
use crate::support::test_server::TestServer;
use crate::support::until::until;

/// The example of RFC 8463, without its second signature.
const SIGNED: &str = "DKIM-Signature: v=1; a=ed25519-sha256; c=relaxed/relaxed;\r\n d=football.example.com; i=@football.example.com;\r\n q=dns/txt; s=brisbane; t=1528637909; h=from : to :\r\n subject : date : message-id : from : subject : date;\r\n bh=2jUSOH9NhtVGCQWNr9BrIAPreKQjO6Sn7XIkfJVOzv8=;\r\n b=/gCrinpcQOoIfuHNQIbq4pgh9kyIK3AQUdt9OdqQehSwhEIug4D11Bus\r\n Fa3bT3FY5OsU7ZbnKELq+eXdp1Q1Dw==\r\nFrom: Joe SixPack <joe@football.example.com>\r\nTo: Suzie Q <suzie@shopping.example.net>\r\nSubject: Is dinner ready?\r\nDate: Fri, 11 Jul 2003 21:00:37 -0700 (PDT)\r\nMessage-ID: <20030712040037.46341.5F8J@football.example.com>\r\n\r\nHi.\r\n\r\nWe lost the game.  Are you hungry yet?\r\n\r\nJoe.\r\n";
const KEY: (&str, &str) =
    ("brisbane._domainkey.football.example.com", "v=DKIM1; k=ed25519; p=11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=");
const PLAIN: &str = "From: Pay <pay@paypal.example>\r\n\r\nhi\r\n";
const ANN: &str = "ann@example.test";

/// A service that asks `dns`, behind a proxy that names its clients.
async fn server(dns: &DnsZone, more: &str) -> TestServer {
    let settings =
        format!("resolver = '{}'\nproxy-from = '127.0.0.1'\nsender-verdicts = 'on-read'\n{more}", dns.addr());
    TestServer::with(&settings).await
}

/// Receives a message from a client, and returns its id.
async fn receive(server: &TestServer, client: &str, from: &str, raw: &str) -> String {
    let mut peer = SmtpPeer::connect(server.smtp()).await;
    peer.send(format!("PROXY TCP4 {client} 198.51.100.1 51234 25\r\n")).await;
    peer.expect("220").await;
    peer.command("EHLO client.example", "250").await;
    peer.command(&format!("MAIL FROM:<{from}>"), "250").await;
    peer.command(&format!("RCPT TO:<{ANN}>"), "250").await;
    peer.command("DATA", "354").await;
    peer.send(raw).await;
    peer.command(".", "250").await;
    let inbox = format!("/api/mail/messages?to={ANN}&limit=1&fields=id");
    let newest = server.administrator("GET", &inbox, "").await.json();
    newest["emails"][0]["id"].as_str().expect("an id").to_owned()
}

/// What a reader is told of a mail.
async fn read(server: &TestServer, id: &str) -> Value {
    let mail = server.get(&format!("/api/mail/messages/{id}")).await;
    assert_eq!(mail.status, 200);
    mail.json()["authentication"].clone()
}

fn checked(result: &str, domain: &str) -> Value {
    json!({ "result": result, "domain": domain })
}

#[tokio::test]
async fn a_signature_and_a_policy_prove_the_sender() {
    let dns = DnsZone::start().await;
    dns.set_texts(KEY.0, &[KEY.1]);
    dns.set_texts("football.example.com", &["other", "v=spf1 ip4:8.8.4.0/24 -all"]);
    dns.set_texts("_dmarc.example.com", &["v=DMARC1; p=reject"]);
    let server = server(&dns, "").await;
    let id = receive(&server, "8.8.8.8", "joe@football.example.com", SIGNED).await;
    assert_eq!(dns.all_questions(), 0, "nobody has read it");
    let dmarc = json!({ "result": "pass", "domain": "football.example.com", "aligned": ["dkim"] });
    let expected = json!({
        "summary": "sent by football.example.com, proven", "verified": "football.example.com",
        "spf": checked("fail", "football.example.com"), "dkim": [checked("pass", "football.example.com")],
        "dmarc": dmarc, "arc": checked("none", ""),
    });
    assert_eq!(read(&server, &id).await, expected);
    let asked = dns.all_questions();
    let raw = server.get(&format!("/api/mail/messages/{id}/raw")).await.body;
    assert!(raw.ends_with(SIGNED.as_bytes()) && !String::from_utf8_lossy(&raw).contains("Authentication-Results"));
    assert_eq!((read(&server, &id).await, dns.all_questions()), (expected, asked), "the answer is remembered");
    // A wait gives the same mail, and a list asks nothing.
    let waited = server.get(&format!("/api/mail/wait?to={ANN}&timeout=0")).await.json();
    assert_eq!(waited["authentication"]["verified"], "football.example.com");

    for (domain, found) in [
        ("example.com", format!("{id}\n")),
        ("football.example.com", format!("{id}\n")),
        ("ball.example.com", String::new()),
    ] {
        let listed = server.tempmail(&["inbox", ANN, "--verified", domain, "-o", "id"]).await;
        assert_eq!((listed.code, listed.stdout), (Some(0), found.clone()), "{domain}");
        let waited = server.tempmail(&["wait", ANN, "--verified", domain, "--timeout", "0s", "-o", "id"]).await;
        assert_eq!((waited.code == Some(0), waited.stdout), (!found.is_empty(), found), "{domain}: {}", waited.stderr);
    }
    let shown = server.tempmail(&["read", &id]).await.stdout;
    assert!(shown.contains("\nAuthentication: sent by football.example.com, proven\n"), "{shown}");

    let forged = SIGNED.replace("Joe.\r\n", "Joe!\r\n");
    let id = receive(&server, "8.8.4.4", "joe@other.example", &forged).await;
    let found = read(&server, &id).await;
    assert_eq!(found["summary"], "claims to be football.example.com; not proven");
    assert_eq!((&found["dkim"][0]["result"], &found["dmarc"]["result"]), (&json!("fail"), &json!("fail")));
    let id = receive(&server, "8.8.4.4", "joe@football.example.com", &forged).await;
    assert_eq!(read(&server, &id).await["dmarc"]["aligned"], json!(["spf"]));
}

#[tokio::test]
async fn nothing_is_asked_about_mail_of_this_machine_or_where_it_is_off() {
    let dns = DnsZone::start().await;
    dns.set_texts("paypal.example", &["v=spf1 -all"]);
    let on = server(&dns, "").await;
    for client in ["127.0.0.1", "10.0.0.1"] {
        let id = receive(&on, client, "pay@paypal.example", PLAIN).await;
        assert_eq!(read(&on, &id).await, Value::Null, "{client}");
    }
    assert_eq!(dns.all_questions(), 0);
    let off = TestServer::with("proxy-from = '127.0.0.1'").await;
    let id = receive(&off, "8.8.8.8", "pay@paypal.example", SIGNED).await;
    assert_eq!(read(&off, &id).await, Value::Null);
}

#[tokio::test]
async fn a_name_server_that_fails_is_an_error_for_now_and_a_late_one_delays_by_two_seconds() {
    let dns = DnsZone::start().await;
    for (name, text) in [("paypal.example", "v=spf1 ip4:8.8.8.8 -all"), ("_dmarc.paypal.example", "v=DMARC1; p=reject")]
    {
        dns.set_texts(name, &[text]);
        dns.servfail(name);
    }
    let server = server(&dns, "").await;
    let id = receive(&server, "8.8.8.8", "pay@paypal.example", PLAIN).await;
    let found = read(&server, &id).await;
    assert_eq!((&found["spf"]["result"], &found["dmarc"]["result"]), (&json!("temperror"), &json!("temperror")));
    assert_eq!(found["summary"], "claims to be paypal.example; it could not be checked now");
    dns.silence("paypal.example");
    let begun = Instant::now();
    let found = read(&server, &id).await;
    assert_eq!((&found["spf"]["result"], &found["verified"]), (&json!("temperror"), &json!("")));
    assert!(begun.elapsed() < Duration::from_secs(4), "{:?}", begun.elapsed());
    dns.recover("paypal.example");
    dns.recover("_dmarc.paypal.example");
    assert_eq!(read(&server, &id).await["summary"], "sent by paypal.example, proven");
}

#[tokio::test]
async fn a_wait_for_a_sender_looks_again_at_its_end_where_dns_had_failed() {
    let dns = DnsZone::start().await;
    dns.set_texts("paypal.example", &["v=spf1 ip4:8.8.8.8 -all"]);
    dns.set_texts("_dmarc.paypal.example", &["v=DMARC1; p=reject"]);
    dns.servfail("paypal.example");
    let server = server(&dns, "").await;
    let id = receive(&server, "8.8.8.8", "pay@paypal.example", PLAIN).await;
    let wait = ["wait", ANN, "--verified", "paypal.example", "--timeout", "4s", "-o", "id"];
    let (waited, ()) = tokio::join!(server.tempmail(&wait), async {
        until("a question", async || dns.all_questions() > 0).await;
        dns.recover("paypal.example");
    });
    assert_eq!((waited.code, waited.stdout), (Some(0), format!("{id}\n")), "{}", waited.stderr);
    dns.servfail("other.example");
    receive(&server, "8.8.8.8", "pay@other.example", "From: a@other.example\r\n\r\n").await;
    let listed = server.tempmail(&["inbox", ANN, "--verified", "other.example", "-o", "id"]).await;
    assert_eq!((listed.code, &*listed.stdout), (Some(0), ""));
    assert!(listed.stderr.contains("could not be checked now: 1;"), "{}", listed.stderr);
}

/// Each mail of a domain whose servers are silent is read within two seconds, and the wait has three for all of them.
#[tokio::test]
async fn a_wait_for_a_sender_ends_soon_after_its_time_however_many_name_servers_are_silent() {
    let dns = DnsZone::start().await;
    let names: Vec<String> = (0..10).map(|number| format!("silent{number}.example")).collect();
    let server = server(&dns, "").await;
    for name in &names {
        dns.servfail(name);
        receive(&server, "8.8.8.8", &format!("a@{name}"), &format!("From: a@{name}\r\n\r\n")).await;
    }
    let wait = ["wait", ANN, "--verified", "silent0.example", "--timeout", "5s", "-o", "id"];
    let counts = || names.iter().map(|name| dns.questions(name)).collect::<Vec<_>>();
    let (waited, before) = tokio::join!(server.tempmail(&wait), async {
        until("questions about all", async || !counts().contains(&0)).await;
        for name in &names {
            dns.silence(name);
        }
        counts()
    });
    assert_eq!((waited.code, &*waited.stdout), (Some(124), ""), "{}", waited.stderr);
    let asked_again = before.iter().zip(counts()).filter(|(before, after)| *before < after).count();
    assert!((1..=5).contains(&asked_again), "{asked_again} of {} were read again", names.len());
}

#[tokio::test]
async fn a_domain_of_many_questions_gets_twenty_and_its_senders_120_checks_a_minute() {
    let dns = DnsZone::start().await;
    let hosts: Vec<String> = (0..10).map(|number| format!("mx{number}.many.example")).collect();
    let mx: Vec<(u16, &str)> = hosts.iter().map(|host| (10, host.as_str())).collect();
    for host in &hosts {
        dns.set_addresses(host, &["192.0.2.1"]);
    }
    for zone in ["a", "b", "c"] {
        dns.set_mx(&format!("{zone}.many.example"), &mx);
    }
    dns.set_texts("many.example", &["v=spf1 mx:a.many.example mx:b.many.example mx:c.many.example -all"]);
    dns.set_texts("loop.example", &["v=spf1 include:loop.example -all"]);
    dns.set_texts("turn.example", &["v=spf1 redirect=turn.example"]);
    let server = server(&dns, "").await;
    for domain in ["many.example", "loop.example", "turn.example"] {
        let before = dns.all_questions();
        let raw = format!("From: a@{domain}\r\n\r\n");
        let id = receive(&server, "8.8.8.8", &format!("a@{domain}"), &raw).await;
        assert_eq!(read(&server, &id).await["spf"], checked("permerror", domain));
        let asked = dns.all_questions() - before;
        assert!(asked <= 20, "{asked} questions about {domain}");
    }
    dns.set_texts("flood.example", &["v=spf1 -all"]);
    let refused = "who sent it could not be checked now";
    let mut results = Vec::new();
    // Two come back each second.
    while results.last().is_none_or(|last| last != refused) && results.len() < 600 {
        let number = results.len();
        let from = format!("a@s{number}.flood.example");
        let id = receive(&server, "8.8.8.8", &from, "From: a@flood.example\r\n\r\n").await;
        let mail = server.administrator("GET", &format!("/api/mail/messages/{id}"), "").await.json();
        results.push(mail["authentication"]["summary"].as_str().expect("a sentence").to_owned());
    }
    assert_eq!(results[0], "claims to be flood.example; not proven");
    assert!((115..600).contains(&results.len()), "{}", results.len());
}

#[tokio::test]
async fn a_signature_proves_nothing_of_what_a_stranger_put_before_it() {
    let dns = DnsZone::start().await;
    dns.set_texts(KEY.0, &[KEY.1]);
    let server = server(&dns, "").await;
    for (head, verified) in [
        ("Received: from b.example by a.example\r\n", "football.example.com"),
        ("Subject: Your code is 999111\r\n", ""),
        ("From: security@football.example.com\r\n", ""),
        ("Dear customer: \r\n <p>Your code is 999111</p><!--\r\n", ""),
        ("Content-Type: text/html\r\nDear customer,\r\n", ""),
        ("Content-Type: text/html\r\nContent-Type: text/plain\r\n", ""),
    ] {
        let id = receive(&server, "8.8.8.8", "joe@football.example.com", &format!("{head}{SIGNED}")).await;
        assert_eq!(read(&server, &id).await["verified"], verified, "{head}");
    }
    let two = SIGNED.replace("<joe@football.example.com>", "<joe@football.example.com>, a@evil.example");
    let id = receive(&server, "8.8.8.8", "joe@football.example.com", &two).await;
    assert_eq!(read(&server, &id).await["summary"], "names no single sender; not proven");
}

#[tokio::test]
async fn hostile_headers_end_within_the_bounds() {
    let dns = DnsZone::start().await;
    dns.set_texts(KEY.0, &[KEY.1]);
    let server = server(&dns, "max-message-size = '10MB'\n").await;
    let signature = "DKIM-Signature: v=1; a=rsa-sha256; d=x.example; s=a; h=from; bh=AAAA; b=AAAA\r\n";
    let names = "x:".repeat(40_000);
    let fields = "a:\r\n".repeat(20_000);
    for head in [
        signature.repeat(10_000),
        signature.replace("h=from", &format!("h={names}from")),
        fields,
        "ARC-Seal: i=1; a=rsa-sha256; cv=none; d=x; s=y; b=AAAA\r\n".repeat(60),
    ] {
        let id = receive(&server, "8.8.8.8", "", &format!("{head}{PLAIN}")).await;
        let begun = Instant::now();
        let found = read(&server, &id).await;
        assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
        assert_eq!((&found["spf"]["result"], &found["verified"]), (&json!("permerror"), &json!("")));
    }
    assert_eq!(dns.all_questions(), 0);
    // A signature of a part proves nothing of the rest, one that has expired nothing any more, and one that does not cover From
    // says nothing of it. The end of a body that the crate reads in another way leaves a doubt.
    for (raw, result) in [
        (SIGNED.to_owned(), "pass"),
        (SIGNED.replace("t=1528637909;", "t=1528637909; l=5;"), "neutral"),
        (SIGNED.replace("t=1528637909;", "t=1528637909; x=1528637910;"), "neutral"),
        (SIGNED.replace("h=from : to :", "h=to :").replace("message-id : from :", "message-id :"), "permerror"),
        (format!("{SIGNED}  \r\n"), "neutral"),
    ] {
        let id = receive(&server, "8.8.8.8", "", &raw).await;
        let found = read(&server, &id).await;
        assert_eq!(found["dkim"], json!([checked(result, "football.example.com")]), "{raw}");
        assert_eq!(found["verified"] == "football.example.com", result == "pass", "{raw}");
    }
    dns.set_texts(KEY.0, &[&format!("v=DKIM1; k=rsa; p={}", "MIIC".repeat(12_000))]);
    let id = receive(&server, "8.8.8.8", "", &SIGNED.replace("ed25519-sha256", "rsa-sha256")).await;
    let begun = Instant::now();
    assert_ne!(read(&server, &id).await["dkim"][0]["result"], "pass");
    assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
}
