//! An address of a private inbox that was made at random: it is nobody's after its end, and needs no record for that.
//! Promise: it outlives the code below it.

use serde_json::{Value, json};
use tempmail::model::{Address, LEASE_REST, Subaddressing};

use super::{DAY, NOBODY, holder, plain, rcpt, subjects, take, try_take, until_clear};
use crate::support::answer::Answer;
use crate::support::smtp_peer::SmtpPeer;
use crate::support::test_server::TestServer;

/// A new private inbox at a random address: the address and its key.
async fn random(server: &TestServer, body: Value) -> (String, String) {
    let (status, lease) = try_take(server, &body).await;
    assert_eq!(status, 201, "{lease}");
    let text = |member: &str| lease[member].as_str().expect("text").to_owned();
    (text("address"), text("key"))
}

/// How many records the store has of all leases.
async fn records(server: &TestServer) -> u64 {
    server.store().lease_counts(None).await.expect("counts").all
}

#[tokio::test]
async fn nobody_gets_a_random_address_after_its_end() {
    let server = TestServer::start().await;
    for body in [plain(), json!({ "prefix": "Sign-Up" })] {
        let (address, key) = random(&server, body).await;
        server.send(&address, "secret", "").await;
        assert_eq!(subjects(&server, &address, Some(&key)).await, ["secret"]);
        assert_eq!(holder(&server, "DELETE", &address, &key, plain()).await, 200);
        until_clear(&server).await;
        assert_eq!(records(&server).await, 0);
        // Not now, and not when a chosen address would have rested.
        for time in [DAY, LEASE_REST] {
            let (local_part, domain) = address.split_once('@').expect("an address");
            let upper = format!("{}@{domain}", local_part.to_uppercase());
            for spelling in
                [&address, &upper, &format!("{local_part}+x@{domain}"), &format!("\"{local_part}\"@{domain}")]
            {
                assert_eq!(rcpt(&server, spelling).await, NOBODY, "{spelling}");
                let (status, problem) = try_take(&server, &json!({ "address": spelling })).await;
                assert_eq!((status, &problem["code"]), (409, &json!("address_in_use")), "{spelling}");
                assert_eq!(problem["until"], Value::Null);
            }
            let named = json!({ "localPart": local_part, "domain": domain });
            assert_eq!(try_take(&server, &named).await.0, 409);
            let submit = server.admin("POST", "/api/mail/messages").query(&[("to", &address)]);
            let submit = submit.header("content-type", "message/rfc822").body("Subject: submitted\r\n\r\n");
            assert_eq!(Answer::to(submit).await.status, 400);
            server.clock.advance(time);
        }
        assert_eq!(server.stats().await.emails, 0);
    }
    server.stop().await;
}

/// A recipient that was accepted before the end gets nothing, the others do.
#[tokio::test]
async fn mail_on_its_way_to_a_random_address_does_not_become_public() {
    let server = TestServer::start().await;
    let (address, key) = random(&server, plain()).await;
    let mut peer = SmtpPeer::greeted(server.smtp()).await;
    let [own, bob] = [&address, "bob@example.test"].map(|address| format!("RCPT TO:<{address}>"));
    let dialog = [("EHLO client.test", "250"), ("MAIL FROM:<>", "250"), (&*own, "250"), (&*bob, "250")];
    peer.dialog(&dialog).await;
    assert_eq!(holder(&server, "DELETE", &address, &key, plain()).await, 200);
    peer.dialog(&[("DATA", "354"), ("Subject: late\r\n\r\n.", "250")]).await;
    assert_eq!(subjects(&server, "bob@example.test", None).await, ["late"]);
    assert_eq!(subjects(&server, &address, None).await, [""; 0]);
    assert_eq!(server.stats().await.emails, 1);
    server.stop().await;
}

#[tokio::test]
async fn a_random_public_address_takes_mail() {
    let server = TestServer::start().await;
    for _ in 0..20 {
        let address = server.get("/api/addresses/random").await.json()["address"].as_str().expect("one").to_owned();
        assert_eq!(rcpt(&server, &address).await, "250 2.1.5 Recipient OK");
    }
    // It is as long as a private one, but its last characters do not follow from the others.
    take(&server, "bcdfghjkmnpqrstvwbcd@example.test", plain()).await;
    server.stop().await;
}

/// Only what lives, and chosen addresses that rest, take places of all.
#[tokio::test]
async fn what_was_random_takes_no_place_after_its_end() {
    let server = TestServer::with("leases-max = 2").await;
    for _ in 0..5 {
        let (address, key) = random(&server, plain()).await;
        assert_eq!(holder(&server, "DELETE", &address, &key, plain()).await, 200);
        let mailbox = address.parse::<Address>().expect("an address").mailbox(Subaddressing::Strip);
        assert_eq!(server.store().lease(&mailbox).await, Ok(None));
    }
    for name in ["ann@example.test", "bob@example.test"] {
        let key = take(&server, name, plain()).await;
        assert_eq!(holder(&server, "DELETE", name, &key, plain()).await, 200);
    }
    let (status, problem) = try_take(&server, &plain()).await;
    assert_eq!((status, &problem["limit"]), (422, &json!("leases")), "{problem}");
    server.clock.advance(LEASE_REST);
    crate::support::until::until("the names have rested", async || records(&server).await == 0).await;
    random(&server, plain()).await;
    server.stop().await;
}
