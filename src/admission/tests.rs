use std::net::{Ipv4Addr, Ipv6Addr};
use std::task::Poll;

use bytes::Bytes;
use futures_util::poll;

use super::*;
use crate::config::Revision;

const MINUTE: Duration = Duration::from_mins(1);

/// The settings, changed by a test.
fn admission(change: impl FnOnce(&mut Config)) -> Arc<Admission> {
    let mut config = Config::of_revision(Revision::Two, "unused".into());
    change(&mut config);
    Arc::new(Admission::new(&config))
}

/// At most 32 connections of SMTP at once, 2 of a client and so 8 of a network.
fn small() -> Arc<Admission> {
    admission(|config| {
        config.smtp.connections_max = 32;
        config.smtp.connections_per_client_max = 2;
    })
}

/// A client in one of 256 networks.
fn client(network: u8, host: u8) -> Who {
    Who::Client(Client::of(Ipv4Addr::new(198, 51, network, host).into()))
}

const fn refused(what: What, by: Bound) -> Refused {
    Refused { what, by, retry_after: Duration::ZERO }
}

/// As many permits as `who` gets, and whose share was used up then.
fn fill(admission: &Arc<Admission>, who: Who, what: What) -> (Vec<Permit>, Bound) {
    let mut permits = Vec::new();
    loop {
        match admission.admit(who, what, 1) {
            Ok(permit) => permits.push(permit),
            Err(refused) => return (permits, refused.by),
        }
    }
}

#[test]
fn each_row_is_at_the_index_of_its_number() {
    assert!(What::ALL.iter().enumerate().all(|(at, what)| *what as usize == at));
}

#[tokio::test]
async fn a_client_a_network_and_all_have_their_shares() {
    let (admission, what) = (small(), What::SmtpConnection);
    let (of_client, bound) = fill(&admission, client(0, 1), what);
    assert_eq!((of_client.len(), bound), (2, Bound::Client));
    let mut held = of_client;
    for host in 2..=4 {
        held.extend(fill(&admission, client(0, host), what).0);
    }
    assert_eq!(admission.admit(client(0, 5), what, 1).err(), Some(refused(what, Bound::Network)));
    let (of_server, bound) = fill(&admission, Who::Server, what);
    assert_eq!((held.len() + of_server.len(), bound), (32, Bound::All));
    assert_eq!(admission.admit(client(1, 1), what, 1).err(), Some(refused(what, Bound::All)));
    assert!(admission.admit(Who::Administrator, what, 1).is_ok(), "never refused");
    held.pop();
    assert!(admission.admit(client(1, 1), what, 1).is_ok(), "what is given back is there again");
    drop((held, of_server));
    assert_eq!(admission.held(what), 0);
}

#[tokio::test]
async fn a_client_of_ipv6_is_a_64_and_its_network_a_48() {
    let (admission, what) = (small(), What::SmtpConnection);
    let at = |third: u16, fourth: u16| admission.who(Ipv6Addr::new(0x2001, 0xdb8, third, fourth, 0, 0, 0, 9).into());
    let held: Vec<_> = (0..4).map(|fourth| fill(&admission, at(1, fourth), what).0).collect();
    assert_eq!(held.iter().map(Vec::len).sum::<usize>(), 8);
    assert_eq!(admission.admit(at(1, 77), what, 1).err(), Some(refused(what, Bound::Network)));
    assert!(admission.admit(at(2, 0), what, 1).is_ok());
}

#[tokio::test]
async fn exempt_clients_have_no_share_except_where_everybody_has_one() {
    let admission = small();
    let who = admission.who(Ipv4Addr::LOCALHOST.into());
    assert_eq!(fill(&admission, who, What::SmtpConnection).0.len(), 32);
    assert_eq!(fill(&admission, who, What::DnsLookup).1, Bound::Client);
    assert_eq!(admission.who("::ffff:127.0.0.1".parse().expect("address")), who);
}

#[tokio::test]
async fn in_a_crowd_newcomers_get_an_eighth_and_nobody_loses_anything() {
    let what = What::SmtpConnection;
    let admission = admission(|config| {
        config.smtp.connections_max = 160;
        config.smtp.connections_per_client_max = 16;
    });
    let of_server: Vec<_> = (0..120).map(|_| admission.admit(Who::Server, what, 1)).collect();
    assert!(of_server.iter().all(Result::is_ok) && !admission.is_crowded(what));
    let one_more = admission.admit(Who::Server, what, 1);
    assert!(admission.is_crowded(what));
    let (of_client, bound) = fill(&admission, client(0, 1), what);
    assert_eq!((of_client.len(), bound), (2, Bound::Client));
    let (of_others, _) = fill(&admission, client(0, 2), what);
    assert_eq!((of_others.len(), fill(&admission, client(0, 3), what).1), (2, Bound::Network));
    drop(one_more);
    drop(of_server);
    assert_eq!(fill(&admission, client(0, 1), what).0.len(), 14);
}

#[tokio::test]
async fn connections_that_wait_for_mail_make_no_crowd() {
    let admission = admission(|config| {
        config.http.connections_max = 100;
        config.http.waiting_max = 60;
    });
    let take = |what, amount| admission.admit(Who::Server, what, amount).expect("room");
    let (connections, waiting) = (take(What::HttpConnection, 90), take(What::Waiting, 60));
    assert!(!admission.is_crowded(What::HttpConnection));
    let more = take(What::HttpConnection, 1);
    assert!(admission.is_crowded(What::HttpConnection));
    drop((connections, waiting, more));
}

#[tokio::test]
async fn octets_grow_and_shrink_and_the_first_message_of_a_client_may_be_any_size() {
    let what = What::MailOctets;
    let admission = admission(|config| config.smtp.bodies_octets_max = 4_000);
    let mut first = admission.admit(client(0, 1), what, 0).expect("nothing");
    assert_eq!((first.grow_to(2_500), first.amount()), (Ok(()), 2_500));
    assert_eq!(admission.admit(client(0, 1), what, 1).err(), Some(refused(what, Bound::Network)));
    assert_eq!(admission.admit(client(0, 2), what, 1).err(), Some(refused(what, Bound::Network)));
    let mut other = admission.admit(client(1, 1), what, 1_000).expect("its first");
    assert_eq!((other.grow_to(1_501), other.amount()), (Err(refused(what, Bound::All)), 1_000));
    first.shrink_to(500);
    assert_eq!((first.amount(), other.grow_to(3_500), other.grow_to(3_501).is_err()), (500, Ok(()), true));
    drop(first.hold(Bytes::from_static(b"held")));
    assert_eq!(admission.held(what), 3_500);
}

#[tokio::test]
async fn a_connection_passes_from_a_proxy_to_its_client() {
    let (admission, what) = (small(), What::SmtpConnection);
    let held = fill(&admission, client(0, 1), what).0;
    let mut permit = admission.admit(Who::Server, what, 1).expect("room");
    assert_eq!(permit.pass_to(client(0, 1)), Err(refused(what, Bound::Client)));
    assert_eq!(permit.amount(), 0);
    let mut permit = admission.admit(Who::Server, what, 1).expect("room");
    assert_eq!((permit.pass_to(client(0, 2)), permit.who()), (Ok(()), client(0, 2)));
    drop((held, permit));
    assert_eq!(admission.held(what), 0);
}

#[tokio::test(start_paused = true)]
async fn a_rate_comes_back_evenly() {
    let (admission, what) = (admission(|_| {}), What::DnsChecks);
    let spend = |who, amount| admission.spend(who, what, amount);
    let left = spend(client(0, 1), 59).expect("all of it at once");
    assert_eq!((left.amount, left.whole_in, admission.quota(what)), (1, Duration::from_secs(59), Some(60)));
    assert_eq!(spend(client(0, 1), 1).map(|left| left.amount), Ok(0));
    let wait = |amount: u64| Refused { what, by: Bound::Client, retry_after: Duration::from_secs(amount) };
    assert_eq!(spend(client(0, 1), 2), Err(wait(2)));
    tokio::time::advance(Duration::from_secs(2)).await;
    assert_eq!(spend(client(0, 1), 2).map(|left| left.amount), Ok(0), "what was refused cost nothing");
    for host in 2..=4 {
        spend(client(0, host), 58).expect("within the network's");
    }
    spend(client(0, 5), 12).expect("the last of the network");
    assert_eq!(spend(client(0, 6), 1).map_err(|refused| refused.by), Err(Bound::Network));
    assert!(spend(client(1, 6), 1).is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_charge_is_waited_for_afterwards() {
    let (admission, what) = (admission(|_| {}), What::ReceivedOctets);
    let asks = || admission.spend(client(0, 1), what, 0).is_ok();
    admission.charge(client(0, 1), what, 256_000_000);
    assert!(asks());
    admission.charge(client(0, 1), what, 1_000_000);
    assert!(!asks());
    tokio::time::advance(Duration::from_secs(1)).await;
    assert!(asks());
}

#[tokio::test(start_paused = true)]
async fn turns_come_in_order_but_past_those_who_have_used_up_their_own() {
    let (admission, what) = (small(), What::DnsLookup);
    let held = fill(&admission, client(0, 1), what).0;
    let rest: Vec<_> = (0..60).map(|_| admission.admit(Who::Server, what, 1).expect("room")).collect();
    let mut own = Box::pin(admission.admit_soon(client(0, 1), what, 1));
    let mut large = Box::pin(admission.admit_soon(Who::Server, what, 2));
    let mut small = Box::pin(admission.admit_soon(client(1, 1), what, 1));
    let mut gone = Box::pin(admission.admit_soon(client(2, 1), what, 1));
    assert!(poll!(&mut own).is_pending() && poll!(&mut large).is_pending());
    assert!(poll!(&mut small).is_pending() && poll!(&mut gone).is_pending());
    let mut rest = rest.into_iter();
    drop(rest.next());
    assert!(poll!(&mut large).is_pending() && poll!(&mut small).is_pending(), "nobody overtakes the first");
    drop(gone);
    drop(rest.next());
    let Poll::Ready(Ok(large)) = poll!(&mut large) else { panic!("its turn") };
    drop(large);
    assert!(matches!(poll!(&mut small), Poll::Ready(Ok(_))));
    assert!(poll!(&mut own).is_pending(), "its own share is used up");
    tokio::time::advance(Duration::from_secs(6)).await;
    assert_eq!(own.await.err(), Some(refused(what, Bound::Network)), "an eighth, in the crowd");
    drop((held, rest));
    assert_eq!(admission.held(what), 0);
}

#[tokio::test(start_paused = true)]
async fn answers_wait_for_room_and_the_largest_one_holds_up_nobody() {
    let (admission, what) = (admission(|_| {}), What::AnswerOctets);
    let (all, share) = (128 << 20, 32 << 20);
    let held = admission.admit(client(0, 1), what, 100).expect("room");
    let mut largest = Box::pin(admission.admit_soon(client(1, 1), what, u64::MAX));
    assert!(poll!(&mut largest).is_pending(), "it takes all there is");
    let others = admission.admit_soon(client(2, 1), what, share).await.expect("room");
    let mut own = Box::pin(admission.admit_soon(client(2, 1), what, 1));
    assert!(poll!(&mut own).is_pending());
    drop((held, others));
    let Poll::Ready(Ok(largest)) = poll!(&mut largest) else { panic!("its turn") };
    assert_eq!(largest.amount(), all);
    tokio::time::advance(Duration::from_secs(11)).await;
    assert_eq!(own.await.err(), Some(refused(what, Bound::All)));
}

#[tokio::test(start_paused = true)]
async fn a_client_prepares_a_few_answers_at_once_and_leaves_the_threads_to_others() {
    let (admission, what) = (admission(|_| {}), What::Preparation);
    let mut prepared = fill(&admission, admission.who(Ipv4Addr::LOCALHOST.into()), what).0;
    assert_eq!(prepared.len(), 8);
    let mut next = Box::pin(admission.admit_soon(admission.who(Ipv4Addr::LOCALHOST.into()), what, 1));
    assert!(poll!(&mut next).is_pending());
    assert!(admission.admit(client(0, 1), what, 1).is_ok(), "another client goes on");
    prepared.pop();
    assert!(matches!(poll!(&mut next), Poll::Ready(Ok(_))));
}

#[tokio::test(start_paused = true)]
async fn the_administrator_waits_behind_nobody() {
    let (admission, what) = (small(), What::DnsLookup);
    let all = admission.admit(Who::Server, what, 64).expect("room");
    let mut waits = Box::pin(admission.admit_soon(client(1, 1), what, 1));
    assert!(poll!(&mut waits).is_pending());
    let mut administrator = Box::pin(admission.admit_soon(Who::Administrator, what, 1));
    assert!(matches!(poll!(&mut administrator), Poll::Ready(Ok(_))));
    drop(all);
    assert!(matches!(poll!(&mut waits), Poll::Ready(Ok(_))));
}

#[tokio::test(start_paused = true)]
async fn those_who_hold_and_owe_nothing_are_forgotten() {
    let admission = admission(|_| {});
    let network = |number: u32| Who::Client(Client::of(Ipv4Addr::from_bits(number << 8).into()));
    let parties = || admission.state().table.parties();
    let held: Vec<_> = (0..10).map(|number| admission.admit(network(number), What::Waiting, 1)).collect();
    for number in 0..1_000 {
        admission.spend(network(number), What::Recipients, 1).expect("room");
    }
    assert!(parties() >= 2_000, "each owes a moment");
    tokio::time::advance(MINUTE).await;
    for number in 2_000..3_100 {
        admission.spend(network(number), What::Recipients, 1).expect("room");
    }
    assert!(parties() < 2 * 1_200, "{}", parties());
    for number in 10_000..110_000 {
        admission.spend(network(number), What::KeptRecipients, 1).expect("room");
    }
    assert!(parties() <= 2 * 65_536 + 20, "{}", parties());
    assert!(held.iter().all(Result::is_ok));
    let of_first: Vec<_> = (0..100).map_while(|_| admission.admit(network(0), What::Waiting, 1).ok()).collect();
    assert_eq!(of_first.len(), 99, "who holds something is remembered");
}
