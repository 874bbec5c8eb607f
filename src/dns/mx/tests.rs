//! The table of classification, and properties that no single row can state.

use proptest::prelude::*;

use super::*;

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
    let record =
        |(preference, exchange): &(u16, &str)| MxRecord { preference: *preference, exchange: (*exchange).to_owned() };
    MxAnswer::Records(records.iter().map(record).collect())
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

fn verdict(mx: MxAnswer, addresses: &[Addresses], our: Vec<Addresses>) -> MxVerdict {
    let domain = name("shop.example");
    let names = hosts_to_resolve(&mx, &ours());
    assert_eq!(
        names.len(),
        addresses.len(),
        "every row gives the addresses of the names that are asked for: {names:?}"
    );
    let hosts = names.into_iter().zip(addresses.iter().cloned()).collect();
    classify(&domain, &ours(), &Answers { mx, hosts, ours: our })
}

fn to(verdict: &MxVerdict) -> To {
    match verdict {
        MxVerdict::PointsHere { .. } => To::Here,
        MxVerdict::PointsElsewhere { .. } => To::Elsewhere,
        MxVerdict::NoAnswer(_) => To::Nobody,
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
        ("no MX, wherever the name's own address leads", MxAnswer::NoRecords, vec![], To::Elsewhere),
        ("no such domain", MxAnswer::NoSuchName, vec![], To::Elsewhere),
        ("SERVFAIL", MxAnswer::Failed(Failure::ServerFailed), vec![], To::Nobody),
        ("REFUSED", MxAnswer::Failed(Failure::Refused), vec![], To::Nobody),
        ("timeout", MxAnswer::Failed(Failure::TimedOut), vec![], To::Nobody),
        ("no network", MxAnswer::Failed(Failure::Unreachable), vec![], To::Nobody),
        ("bogus DNSSEC", MxAnswer::Failed(Failure::Bogus), vec![], To::Nobody),
        ("truncated over TCP too", MxAnswer::Failed(Failure::Unusable), vec![], To::Nobody),
        ("FORMERR", MxAnswer::Failed(Failure::ErrorCode("x".to_owned())), vec![], To::Nobody),
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
        let verdict = verdict(mx, &addresses, our_addresses());
        assert_eq!(to(&verdict), expected, "{what}: {verdict:?}");
    }
}

#[test]
fn without_our_own_addresses_another_address_is_nobodys_fault() {
    let other = || mx(&[(10, "mx.other.example.")]);
    let unknown = || vec![partly(&["192.0.2.25"], Failure::TimedOut), at(&[])];
    assert_eq!(to(&verdict(other(), &[at(&["203.0.113.9"])], unknown())), To::Nobody);
    assert_eq!(to(&verdict(other(), &[at(&["192.0.2.25"])], unknown())), To::Here);
    // A host without any address has none of ours either.
    assert_eq!(to(&verdict(other(), &[at(&[])], unknown())), To::Elsewhere);
}

#[test]
fn a_crowd_of_hosts_is_not_resolved() {
    let exchanges: Vec<String> = (0..17).map(|number| format!("mx{number}.other.example.")).collect();
    let records: Vec<(u16, &str)> = exchanges.iter().map(|exchange| (10, exchange.as_str())).collect();
    let MxVerdict::PointsElsewhere { found, .. } = verdict(mx(&records), &[], Vec::new()) else { panic!("elsewhere") };
    assert_eq!((found.records.len(), found.hosts.len()), (17, 0));
    let with_ours: Vec<(u16, &str)> = [records, vec![(10, "mx.tempmail.example.")]].concat();
    assert_eq!(to(&verdict(mx(&with_ours), &[], Vec::new())), To::Here);
}

#[test]
fn what_was_found_reads_as_a_zone_best_first() {
    let answer = mx(&[(20, "B.other.example."), (10, "a.other.example.")]);
    let verdict = verdict(answer, &[at(&["203.0.113.9", "2001:db8::99"])], our_addresses());
    let MxVerdict::PointsElsewhere { to, found } = verdict else { panic!("elsewhere") };
    assert_eq!(to, Elsewhere::Hosts(vec!["a.other.example".to_owned()]));
    assert_eq!(found.records, ["shop.example. IN MX 10 a.other.example.", "shop.example. IN MX 20 b.other.example."]);
    let host = FoundHost {
        name: "a.other.example".to_owned(),
        addresses: at(&["203.0.113.9", "2001:db8::99"]).found,
        is_ours: false,
    };
    assert_eq!(found.hosts, [host]);
}

#[test]
fn each_host_is_ours_or_not() {
    let answer = mx(&[(10, "a.other.example."), (10, "b.other.example."), (10, "c.other.example.")]);
    let addresses = [at(&["192.0.2.25", "198.51.100.7"]), at(&["192.0.2.25", "203.0.113.9"]), at(&[])];
    let MxVerdict::PointsElsewhere { found, .. } = verdict(answer, &addresses, our_addresses()) else {
        panic!("elsewhere")
    };
    assert_eq!(found.hosts.iter().map(|host| host.is_ours).collect::<Vec<_>>(), [true, false, false]);
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
        let verdict = verdict(mx(&[(10, "mx.other.example.")]), &[hosts], our);
        prop_assert_ne!(to(&verdict), To::Elsewhere);
    }

    #[test]
    fn any_exchange_has_a_verdict(exchange in "\\PC{0,80}", preference: u16) {
        let answer = mx(&[(preference, &exchange)]);
        let count = hosts_to_resolve(&answer, &ours()).len();
        let _ = verdict(answer, &vec![at(&[]); count], our_addresses());
    }
}
