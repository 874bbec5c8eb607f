//! What each answer of a real server means.
//! Promise: it outlives the code below it.

use serde_json::json;

use super::{CLIENT, OTHER_HOST, OUR_HOST, Setup, outcome, reply};

#[derive(Debug, PartialEq, Eq)]
enum To {
    Here,
    Elsewhere,
    NoOne,
}

async fn ask(setup: &Setup, domain: &str) -> To {
    match setup.check(domain).await {
        (200, report) if report["ok"] == true => To::Here,
        (200, _) => To::Elsewhere,
        (503, problem) if problem["code"] == "dns_unavailable" => To::NoOne,
        other => panic!("{domain}: {other:?}"),
    }
}

#[tokio::test]
async fn each_answer_of_a_server_is_understood() {
    let setup = Setup::with(&format!("mx-host = ['{OUR_HOST}', 'post.bücher.test']")).await;
    let zone = &setup.zone;
    zone.set_mx("case.test", &[(10, "MX.TempMail.TEST.")]);
    zone.set_mx("idn.test", &[(10, "post.xn--bcher-kva.test")]);
    zone.set_mx("xn--caf-dma.test", &[(10, OUR_HOST)]);
    zone.set_mx("best.test", &[(20, OTHER_HOST), (10, OUR_HOST)]);
    zone.set_mx("backup.test", &[(20, OUR_HOST), (10, OTHER_HOST)]);
    zone.set_cname("alias.test", "case.test");
    zone.set_cname("dangling.test", "nowhere.test");
    zone.set_cname("loop.test", "loop.test");
    zone.set_mx("byalias.test", &[(10, "mail.byalias.test")]);
    zone.set_cname("mail.byalias.test", OUR_HOST);
    zone.set_mx("byaddress.test", &[(10, "mail.byaddress.test")]);
    zone.set_addresses("mail.byaddress.test", &["2001:db8::25"]);
    zone.set_mx("mixed.test", &[(10, "mail.mixed.test")]);
    zone.set_addresses("mail.mixed.test", &["192.0.2.25", "203.0.113.9"]);
    zone.set_mx("literal.test", &[(10, "192.0.2.25")]);
    // An operator typed the preference into the field for the name.
    zone.set_mx("typo.test", &[(10, "10 mail.typo.test")]);
    zone.set_mx("null.test", &[(0, ".")]);
    zone.set_addresses("website4.test", &["192.0.2.25"]);
    zone.set_addresses("website6.test", &["2001:db8::25"]);
    zone.set_addresses("web.test", &["203.0.113.80"]);
    zone.set_empty("nodata.test");
    zone.servfail("servfail.test");
    zone.refuse("refused.test");
    zone.set_mx("half.test", &[(10, "mail.half.test")]);
    zone.set_addresses("mail.half.test", &["203.0.113.9"]);
    zone.servfail_aaaa("mail.half.test");
    for (domain, expected) in [
        ("case.test", To::Here),
        ("CASE.test.", To::Here),
        ("idn.test", To::Here),
        ("café.test", To::Here),
        ("best.test", To::Here),
        ("backup.test", To::Elsewhere),
        ("alias.test", To::Here),
        ("dangling.test", To::Elsewhere),
        ("loop.test", To::NoOne),
        ("byalias.test", To::Here),
        ("byaddress.test", To::Here),
        ("mixed.test", To::Elsewhere),
        ("literal.test", To::Elsewhere),
        ("typo.test", To::Elsewhere),
        ("null.test", To::Elsewhere),
        // Their own addresses are ours, but without an MX record their owners have agreed to nothing.
        ("website4.test", To::Elsewhere),
        ("website6.test", To::Elsewhere),
        (OUR_HOST, To::Elsewhere),
        ("web.test", To::Elsewhere),
        ("nodata.test", To::Elsewhere),
        ("nxdomain.test", To::Elsewhere),
        ("servfail.test", To::NoOne),
        ("refused.test", To::NoOne),
        ("half.test", To::NoOne),
    ] {
        assert_eq!(ask(&setup, domain).await, expected, "{domain}");
    }
}

#[tokio::test]
async fn why_there_was_no_answer_is_kept_with_the_domain() {
    let setup = Setup::new().await;
    let domains = setup.register_many(5).await;
    setup.zone.servfail(&domains[0]);
    setup.zone.refuse(&domains[1]);
    setup.zone.silence(&domains[2]);
    setup.zone.set_cname(&domains[3], &domains[3]);
    setup.zone.set_mx(&domains[4], &[(10, "mail.half.test")]);
    setup.zone.set_addresses("mail.half.test", &["203.0.113.9"]);
    setup.zone.servfail_aaaa("mail.half.test");
    assert_eq!(setup.round().await, "checked 5, failed 5");
    for (domain, why) in [
        ("d0.test", "the name server failed (SERVFAIL)"),
        ("d1.test", "the name server refused to answer (REFUSED)"),
        ("d2.test", "the name server did not answer in time"),
        ("d3.test", "the name server failed (SERVFAIL)"),
        ("d4.test", "the name server failed (SERVFAIL)"),
    ] {
        assert_eq!(setup.record(domain).await["lastCheckResult"], format!("No answer: {why}"), "{domain}");
    }
}

#[tokio::test]
async fn a_server_that_is_not_there_is_no_answer() {
    let setup = Setup::new().await;
    setup.register_many(1).await;
    // Since it is connected to another address, the system answers for it that nobody is there.
    let elsewhere = std::net::UdpSocket::bind("127.0.0.1:0").expect("a free port");
    elsewhere.connect("127.0.0.1:9").expect("an address");
    let silent = elsewhere.local_addr().expect("address");
    let setup = setup.restarted(&format!("resolver = ['{silent}']")).await;
    assert_eq!(setup.round().await, "checked 1, failed 1");
    let why = setup.record("d0.test").await["lastCheckResult"].to_string();
    assert!(why.contains("cannot be reached") || why.contains("did not answer in time"), "{why}");
    assert_eq!(ask(&setup, "a.test").await, To::NoOne);
}

#[tokio::test]
async fn an_answer_cut_short_over_udp_is_asked_for_over_tcp() {
    let setup = Setup::new().await;
    setup.point_here("long.test");
    setup.zone.cut_short_over_udp("long.test");
    assert_eq!(ask(&setup, "long.test").await, To::Here);
    assert!(setup.zone.tcp_questions("long.test") > 0);
}

#[tokio::test]
async fn no_answer_is_remembered() {
    let setup = Setup::new().await;
    assert_eq!(ask(&setup, "a.test").await, To::Elsewhere);
    setup.point_here("a.test");
    assert_eq!(ask(&setup, "a.test").await, To::Here);
    setup.point_elsewhere("a.test");
    assert_eq!(ask(&setup, "a.test").await, To::Elsewhere);
    setup.zone.set_addresses(OTHER_HOST, &["192.0.2.25"]);
    assert_eq!(ask(&setup, "a.test").await, To::Here);
}

#[tokio::test]
async fn a_check_names_what_is_there_and_what_should_be() {
    let setup = Setup::new().await;
    setup.zone.set_mx("shop.test", &[(5, "MX.other.test")]);
    let report = json!({
        "ok": false,
        "domain": "shop.test",
        "expected": ["shop.test. IN MX 10 mx.tempmail.test."],
        "found": ["shop.test. IN MX 5 mx.other.test.", "mx.other.test. IN A 203.0.113.9"],
        "message": "The MX record of shop.test points at mx.other.test, not at mx.tempmail.test. \
         Replace the MX records of the domain with: shop.test. IN MX 10 mx.tempmail.test.",
    });
    assert_eq!(setup.check("shop.test").await, (200, report));
}

#[tokio::test]
async fn a_stranger_learns_of_addresses_only_whether_they_are_ours() {
    let setup = Setup::new().await;
    setup.zone.set_mx("evil.test", &[(5, "db.internal.test"), (5, "mail.evil.test")]);
    setup.zone.set_addresses("db.internal.test", &["10.1.2.3", "fd00::1"]);
    setup.zone.set_addresses("mail.evil.test", &["192.0.2.25"]);
    let check = setup.server.request("GET", "/api/domains/check-dns?domain=evil.test");
    let (_, report) = reply(check.header("x-forwarded-for", CLIENT)).await;
    let found = [
        "evil.test. IN MX 5 db.internal.test.",
        "evil.test. IN MX 5 mail.evil.test.",
        "; db.internal.test is not at our address",
        "; mail.evil.test is at our address",
    ];
    assert_eq!(report["found"], json!(found));
    let refused = setup.register("evil.test").await;
    assert_eq!((refused.0, outcome(&refused)), (422, "mx_mismatch"));
    let told = ["found", "expected", "detail"].map(|member| &refused.1[member]);
    assert_eq!(told, ["found", "expected", "message"].map(|member| &report[member]));
}
