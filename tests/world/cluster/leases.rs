//! Private inboxes are the same at every node, also when the node dies that gave one.

use std::net::Ipv4Addr;

use serde_json::{Value, json};

use super::nodes::{DOMAIN, Nodes};
use crate::support::smtp_peer::SmtpPeer;

/// How often nodes are asked for one address at one moment.
const ROUNDS: u8 = 20;

/// Leases addresses at one node, and uses them at others.
pub(super) async fn are_shared(nodes: &Nodes) {
    one_wins(nodes).await;
    count_elsewhere(nodes).await;
    outlive_their_node(nodes).await;
}

/// Leases an address at a node. Returns its key, or the status of the refusal. A client may lease 30 in a minute, so each
/// round has one of its own, in a network of its own.
async fn lease(nodes: &Nodes, node: usize, round: u8, address: &str) -> Result<String, (u16, Value)> {
    let body = json!({ "address": address, "keepSeconds": 3600 });
    let client = Ipv4Addr::new(127, 1, round, 1);
    let (status, body) = nodes.post_from(client, node, "/api/addresses", &body).await.expect("an answer");
    let body: Value = serde_json::from_slice(&body).expect("JSON");
    if status == 201 { Ok(body["key"].as_str().expect("a key").to_owned()) } else { Err((status, body)) }
}

async fn send(nodes: &Nodes, node: usize, to: &str, subject: &str) {
    let mut peer = SmtpPeer::greeted(nodes.running(node).await.smtp).await;
    peer.deliver(to, &format!("Subject: {subject}\r\n\r\ntext")).await;
}

/// The subjects in the inbox of an address, for whoever has a key or none.
async fn subjects(nodes: &Nodes, node: usize, address: &str, key: Option<&str>) -> Vec<String> {
    let (status, body) =
        nodes.get_with(node, &format!("/api/mail/messages?to={address}&limit=100"), key).await.expect("an answer");
    assert_eq!(status, 200);
    let body: Value = serde_json::from_slice(&body).expect("JSON");
    let emails = body["emails"].as_array().expect("a list");
    emails.iter().map(|email| email["subject"].as_str().expect("a subject").to_owned()).collect()
}

async fn one_wins(nodes: &Nodes) {
    let mut unknown = 0;
    for round in 0..ROUNDS {
        let address = format!("contended-{round}@{DOMAIN}");
        let leases = (0..nodes.count()).map(|node| lease(nodes, node, round, &address));
        let (won, lost): (Vec<_>, Vec<_>) =
            futures_util::future::join_all(leases).await.into_iter().partition(Result::is_ok);
        let refusals: Vec<_> = lost.into_iter().filter_map(Result::err).collect();
        let is_known =
            |(status, problem): &(u16, Value)| (*status, &problem["code"]) == (409, &json!("address_in_use"));
        // A server that is too slow does not say what became of a request, which may have won.
        let slow = refusals.iter().filter(|(status, _)| *status == 503).count();
        assert_eq!(refusals.iter().filter(|refusal| is_known(refusal)).count() + slow, refusals.len(), "{refusals:?}");
        assert!(won.len() == 1 || won.is_empty() && slow > 0, "{address}: {refusals:?}");
        unknown += slow;
        send(nodes, usize::from(round) % nodes.count(), &address, "to the winner").await;
        let key = won.into_iter().next().and_then(Result::ok);
        let expected = key.as_ref().map(|_| "to the winner");
        for node in 0..nodes.count() {
            assert!(subjects(nodes, node, &address, key.as_deref()).await.iter().map(String::as_str).eq(expected));
        }
    }
    assert!(unknown < usize::from(ROUNDS), "{unknown} requests had no outcome");
    println!("leases: {ROUNDS} addresses that all nodes leased at one moment; {unknown} requests had no outcome");
}

async fn count_elsewhere(nodes: &Nodes) {
    for round in 0..ROUNDS {
        let address = format!("elsewhere-{round}@{DOMAIN}");
        let [here, there, elsewhere] = [0, 1, 2].map(|step| (usize::from(round) + step) % nodes.count());
        let key = lease(nodes, here, round, &address).await.expect("a lease");
        // The very next recipient at another node, and the very next list at a third.
        send(nodes, there, &address, "secret").await;
        assert_eq!(subjects(nodes, elsewhere, &address, Some(&key)).await, ["secret"]);
        for node in 0..nodes.count() {
            assert_eq!(subjects(nodes, node, &address, None).await, [""; 0], "a stranger sees it");
        }
        assert_eq!(lease(nodes, there, round, &address).await.expect_err("it is taken").0, 409);
    }
    println!("leases: {ROUNDS} leases counted at once at other nodes");
}

async fn outlive_their_node(nodes: &Nodes) {
    let address = format!("outlives@{DOMAIN}");
    let key = lease(nodes, 0, ROUNDS, &address).await.expect("a lease");
    nodes.kill(0);
    send(nodes, 1, &address, "after the death").await;
    assert_eq!(subjects(nodes, 2, &address, Some(&key)).await, ["after the death"]);
    assert_eq!(subjects(nodes, 2, &address, None).await, [""; 0]);
    nodes.restart(0);
    assert_eq!(subjects(nodes, 0, &address, Some(&key)).await, ["after the death"]);
    assert_eq!(subjects(nodes, 0, &address, None).await, [""; 0]);
    println!("leases: one outlived the node that gave it");
}
