//! The table of answers and verdicts, and properties that no single row can state.

use std::sync::Mutex;

use async_trait::async_trait;
use futures_util::FutureExt;
use proptest::prelude::*;

use super::super::MxAnswer;
use super::*;

/// A resolver with these answers, which notes whose addresses are asked for.
struct Fixed {
    mx: MxAnswer,
    addresses: Vec<(String, Addresses)>,
    asked: Mutex<BTreeSet<String>>,
}

#[async_trait]
impl Resolver for Fixed {
    async fn mx(&self, _: &DomainName) -> MxAnswer {
        self.mx.clone()
    }

    async fn addresses(&self, host: &str) -> Addresses {
        self.asked.lock().expect("asked").insert(host.to_owned());
        let known = self.addresses.iter().find(|(name, _)| name == host);
        known.map(|(_, addresses)| addresses.clone()).unwrap_or_default()
    }
}

/// What a row of the table expects.
#[derive(Debug, PartialEq, Eq)]
enum To {
    Here,
    Elsewhere,
    Nobody,
}

fn name(text: &str) -> DomainName {
    text.parse().expect(text)
}

fn mx(records: &[(u16, &str)]) -> MxAnswer {
    Answer::Records(records.iter().map(|(preference, exchange)| (*preference, (*exchange).to_owned())).collect())
}

fn at(addresses: &[&str]) -> Addresses {
    Addresses { found: addresses.iter().map(|text| text.parse().expect(text)).collect(), missing: None }
}

fn partly(addresses: &[&str], why: Failure) -> Addresses {
    Addresses { missing: Some(why), ..at(addresses) }
}

fn ours() -> Ours {
    Ours {
        hosts: vec![name("mx.tempmail.example"), name("mx.bücher.example")],
        addresses: vec!["198.51.100.7".parse().expect("address")],
    }
}

/// Our first host has one address of each kind, the second has none.
fn our_addresses() -> Vec<Addresses> {
    vec![at(&["192.0.2.25", "2001:db8::25"]), at(&[])]
}

/// What comes of these answers. `addresses` are those of the best hosts in the order of their names, and of no others.
fn report(mx: MxAnswer, addresses: &[Addresses], our: Vec<Addresses>) -> Result<MxReport, Failure> {
    report_with(mx, addresses, our, FoundDetail::Addresses)
}

fn report_with(
    mx: MxAnswer,
    addresses: &[Addresses],
    our: Vec<Addresses>,
    detail: FoundDetail,
) -> Result<MxReport, Failure> {
    let best = if let Answer::Records(records) = &mx { best_hosts(&best_first(records)) } else { BTreeSet::new() };
    let of_ours = ours().hosts.into_iter().map(String::from).zip(our);
    let known = best.iter().cloned().zip(addresses.iter().cloned()).chain(of_ours).collect();
    let dns = Fixed { mx, addresses: known, asked: Mutex::default() };
    let report = check(&dns, &ours(), &name("shop.example"), detail).now_or_never().expect("no answer waits");
    let asked = dns.asked.into_inner().expect("asked");
    let of_theirs = asked.iter().filter(|host| best.contains(*host)).count();
    assert_eq!(of_theirs, addresses.len(), "every row gives the addresses of the names that are asked for: {asked:?}");
    report
}

fn to(report: &Result<MxReport, Failure>) -> To {
    match report {
        Ok(report) if report.ok => To::Here,
        Ok(_) => To::Elsewhere,
        Err(_) => To::Nobody,
    }
}

#[test]
fn every_answer_of_the_dns_has_its_verdict() {
    let other = || mx(&[(10, "mx.other.example.")]);
    let two = || mx(&[(10, "a.other.example."), (10, "b.other.example.")]);
    let rows: Vec<(&str, MxAnswer, Vec<Addresses>, To)> = vec![
        ("our host by name", mx(&[(10, "mx.tempmail.example.")]), vec![], To::Here),
        ("in capitals", mx(&[(10, "MX.TempMail.EXAMPLE.")]), vec![], To::Here),
        ("without trailing dot", mx(&[(10, "mx.tempmail.example")]), vec![], To::Here),
        ("our internationalized host in A-labels", mx(&[(10, "mx.xn--bcher-kva.example.")]), vec![], To::Here),
        ("in U-labels", mx(&[(10, "mx.Bücher.example.")]), vec![], To::Here),
        (
            "best of several preferences",
            mx(&[(20, "mx.other.example."), (10, "mx.tempmail.example.")]),
            vec![],
            To::Here,
        ),
        ("one of several equal ones", mx(&[(5, "mx.other.example."), (5, "mx.tempmail.example.")]), vec![], To::Here),
        (
            "not the best",
            mx(&[(10, "mx.tempmail.example."), (5, "mx.other.example.")]),
            vec![at(&["203.0.113.9"])],
            To::Elsewhere,
        ),
        (
            "ours listed as backup only, best unresolvable",
            mx(&[(5, "gone.example."), (10, "mx.tempmail.example.")]),
            vec![at(&[])],
            To::Elsewhere,
        ),
        ("another host", other(), vec![at(&["203.0.113.9"])], To::Elsewhere),
        ("another host without address", other(), vec![at(&[])], To::Elsewhere),
        ("a name below our host's", mx(&[(10, "a.mx.tempmail.example.")]), vec![at(&[])], To::Elsewhere),
        ("another name with our IPv4 address", other(), vec![at(&["192.0.2.25"])], To::Here),
        ("another name with our IPv6 address", other(), vec![at(&["2001:db8::25"])], To::Here),
        ("another name with our public address", other(), vec![at(&["198.51.100.7"])], To::Here),
        ("our address written as mapped IPv6", other(), vec![at(&["::ffff:192.0.2.25"])], To::Here),
        ("our address and another's", other(), vec![at(&["192.0.2.25", "203.0.113.9"])], To::Elsewhere),
        ("two hosts, both ours by address", two(), vec![at(&["192.0.2.25"]), at(&["2001:db8::25"])], To::Here),
        ("two hosts, one ours by address", two(), vec![at(&["192.0.2.25"]), at(&["203.0.113.9"])], To::Elsewhere),
        ("null MX", mx(&[(0, ".")]), vec![], To::Elsewhere),
        ("null MX against the rules beside us", mx(&[(0, "."), (10, "mx.tempmail.example.")]), vec![], To::Here),
        ("no MX, wherever the name's own address leads", Answer::NoRecords, vec![], To::Elsewhere),
        ("no such domain", Answer::NoSuchName, vec![], To::Elsewhere),
        ("SERVFAIL", Answer::Failed(Failure::ServerFailed), vec![], To::Nobody),
        ("REFUSED", Answer::Failed(Failure::Refused), vec![], To::Nobody),
        ("timeout", Answer::Failed(Failure::TimedOut), vec![], To::Nobody),
        ("no network", Answer::Failed(Failure::Unreachable), vec![], To::Nobody),
        ("bogus DNSSEC", Answer::Failed(Failure::Bogus), vec![], To::Nobody),
        ("truncated over TCP too", Answer::Failed(Failure::Unusable), vec![], To::Nobody),
        ("FORMERR", Answer::Failed(Failure::ErrorCode("x".to_owned())), vec![], To::Nobody),
        ("address unknown", other(), vec![partly(&[], Failure::TimedOut)], To::Nobody),
        ("our A, AAAA unknown", other(), vec![partly(&["192.0.2.25"], Failure::TimedOut)], To::Nobody),
        ("another's A, AAAA unknown", other(), vec![partly(&["203.0.113.9"], Failure::TimedOut)], To::Nobody),
        (
            "one host ours, the other unknown",
            two(),
            vec![at(&["192.0.2.25"]), partly(&[], Failure::Refused)],
            To::Nobody,
        ),
    ];
    for (what, mx, addresses, expected) in rows {
        let report = report(mx, &addresses, our_addresses());
        assert_eq!(to(&report), expected, "{what}: {report:?}");
    }
}

#[test]
fn without_our_own_addresses_another_address_is_nobodys_fault() {
    let other = || mx(&[(10, "mx.other.example.")]);
    let unknown = || vec![partly(&["192.0.2.25"], Failure::TimedOut), at(&[])];
    assert_eq!(to(&report(other(), &[at(&["203.0.113.9"])], unknown())), To::Nobody);
    assert_eq!(to(&report(other(), &[at(&["192.0.2.25"])], unknown())), To::Here);
    // A host without any address has none of ours either.
    assert_eq!(to(&report(other(), &[at(&[])], unknown())), To::Elsewhere);
}

#[test]
fn a_crowd_of_hosts_is_not_resolved() {
    let exchanges: Vec<String> = (0..17).map(|number| format!("mx{number}.other.example.")).collect();
    let records: Vec<(u16, &str)> = exchanges.iter().map(|exchange| (10, exchange.as_str())).collect();
    let crowd = report(mx(&records), &[], Vec::new()).expect("an answer");
    assert_eq!((crowd.ok, crowd.found.len()), (false, 17));
    let with_ours: Vec<(u16, &str)> = [records, vec![(10, "mx.tempmail.example.")]].concat();
    assert_eq!(to(&report(mx(&with_ours), &[], Vec::new())), To::Here);
}

#[test]
fn what_was_found_reads_as_a_zone_best_first_and_only_the_administrator_sees_addresses() {
    let answer =
        || mx(&[(20, "D.other.example."), (10, "b.other.example."), (10, "A.other.example."), (10, "c.example")]);
    let addresses = [at(&["192.0.2.25", "203.0.113.9"]), at(&["192.0.2.25", "2001:db8::25"]), at(&[])];
    let found = |detail| report_with(answer(), &addresses, our_addresses(), detail).expect("an answer").found;
    let records = [
        "shop.example. IN MX 10 a.other.example.",
        "shop.example. IN MX 10 b.other.example.",
        "shop.example. IN MX 10 c.example.",
        "shop.example. IN MX 20 d.other.example.",
    ];
    let of_hosts = [
        "a.other.example. IN A 192.0.2.25",
        "a.other.example. IN A 203.0.113.9",
        "b.other.example. IN A 192.0.2.25",
        "b.other.example. IN AAAA 2001:db8::25",
    ];
    assert_eq!(found(FoundDetail::Addresses), [&records[..], &of_hosts].concat());
    let ours_or_not = [
        "; a.other.example is not at our address",
        "; b.other.example is at our address",
        "; c.example is not at our address",
    ];
    assert_eq!(found(FoundDetail::Ours), [&records[..], &ours_or_not].concat());
}

#[test]
fn each_verdict_has_its_words() {
    let rows: Vec<(MxAnswer, Vec<Addresses>, &str, &str)> = vec![
        (
            mx(&[(10, "mx.tempmail.example.")]),
            vec![],
            "The MX record of shop.example points at mx.tempmail.example",
            ".",
        ),
        (
            mx(&[(10, "a.example.")]),
            vec![at(&["192.0.2.25"])],
            "The MX record of shop.example points at a host that has the address of mx.tempmail.example or \
             mx.xn--bcher-kva.example",
            ".",
        ),
        (
            mx(&[(1, "b."), (1, "c."), (1, "d."), (1, "e.")]),
            vec![at(&[]), at(&[]), at(&[]), at(&[])],
            "The MX record of shop.example points at b, c, d and 1 more, not at mx.tempmail.example or \
             mx.xn--bcher-kva.example",
            ". Replace the MX records of the domain with: shop.example. IN MX 10 mx.tempmail.example.",
        ),
        (
            mx(&[(0, ".")]),
            vec![],
            "shop.example declares that it takes no mail (null MX)",
            ". Replace the MX records of the domain with: shop.example. IN MX 10 mx.tempmail.example.",
        ),
        (
            Answer::NoSuchName,
            vec![],
            "shop.example does not exist in the DNS (NXDOMAIN)",
            ". Create the record: shop.example. IN MX 10 mx.tempmail.example.",
        ),
        (
            Answer::NoRecords,
            vec![],
            "shop.example has no MX record",
            ". Create the record: shop.example. IN MX 10 mx.tempmail.example.",
        ),
    ];
    for (mx, addresses, sentence, todo) in rows {
        let report = report(mx, &addresses, our_addresses()).expect("an answer");
        assert_eq!((report.sentence.as_str(), report.message), (sentence, format!("{sentence}{todo}")));
    }
}

#[test]
fn a_report_has_exactly_the_fields_of_the_interface() {
    let report = report(Answer::NoRecords, &[], Vec::new()).expect("an answer");
    assert_eq!(
        serde_json::to_value(report).expect("JSON"),
        serde_json::json!({
            "ok": false,
            "message": "shop.example has no MX record. \
                Create the record: shop.example. IN MX 10 mx.tempmail.example.",
            "domain": "shop.example",
            "expected": [
                "shop.example. IN MX 10 mx.tempmail.example.",
                "shop.example. IN MX 10 mx.xn--bcher-kva.example.",
            ],
            "found": [],
        })
    );
}

proptest! {
    #[test]
    fn a_missing_answer_never_points_elsewhere(
        theirs in proptest::collection::vec("203\\.0\\.113\\.[1-9]|192\\.0\\.2\\.25", 1..4),
        is_ours_missing: bool,
    ) {
        let theirs: Vec<&str> = theirs.iter().map(String::as_str).collect();
        let (hosts, our) = if is_ours_missing {
            (at(&theirs), vec![partly(&[], Failure::TimedOut), at(&[])])
        } else {
            (partly(&theirs, Failure::TimedOut), our_addresses())
        };
        let report = report(mx(&[(10, "mx.other.example.")]), &[hosts], our);
        prop_assert_ne!(to(&report), To::Elsewhere);
    }

    #[test]
    fn any_exchange_has_a_verdict(exchange in "\\PC{0,80}", preference: u16) {
        let dns = Fixed { mx: mx(&[(preference, &exchange)]), addresses: Vec::new(), asked: Mutex::default() };
        let report = check(&dns, &ours(), &name("shop.example"), FoundDetail::Ours).now_or_never();
        prop_assert!(matches!(report, Some(Ok(_))));
    }
}
