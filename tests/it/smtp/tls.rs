//! STARTTLS and TLS from the first octet, with clients of our own and of others.

use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use tempmail::smtp::{Service, SmtpSettings};
use tempmail::tls::Keeper;

use super::TestReceiver;
use crate::support::certificates::Pair;
use crate::support::faulty_store::FaultyStore;
use crate::support::keeper::keeper;
use crate::support::programs;
use crate::support::smtp_peer::SmtpPeer;

async fn start(service: Service, tls: &Arc<Keeper>, change: impl FnOnce(&mut SmtpSettings)) -> TestReceiver {
    TestReceiver::of(service, Some(Arc::clone(tls)), FaultyStore::open(), change).await
}

#[tokio::test]
async fn starttls_encrypts_and_forgets() {
    let (tls, connector, _dir) = keeper();
    let receiver = start(Service::Smtp, &tls, |_| ()).await;
    let mut peer = SmtpPeer::greeted(receiver.address).await;
    let extensions = peer.command("EHLO client.test", "250").await;
    assert!(extensions.contains("STARTTLS"), "{extensions}");
    peer.command("MAIL FROM:<ann@sender.test>", "250").await;
    peer.command("STARTTLS now", "501 5.5.4").await;
    peer.command("STARTTLS", "220 2.0.0").await;
    let mut peer = peer.secure(&connector).await.expect("a handshake");
    peer.command("RCPT TO:<bob@example.test>", "503 5.5.1").await;
    peer.command("MAIL FROM:<ann@sender.test>", "503 5.5.1 Send HELO").await;
    let extensions = peer.command("EHLO client.test", "250").await;
    assert!(!extensions.contains("STARTTLS"), "{extensions}");
    peer.command("STARTTLS", "503 5.5.1").await;
    peer.deliver("bob@example.test", "hi\r\n").await;
    peer.command("QUIT", "221").await;
    peer.expect_closed().await;
    assert_eq!(receiver.stop().await.stored()[0].raw, "hi\r\n\r\n");
}

#[tokio::test]
async fn commands_in_the_clear_behind_starttls_are_never_executed() {
    let (tls, connector, _dir) = keeper();
    let receiver = start(Service::Smtp, &tls, |_| ()).await;
    let mut peer = SmtpPeer::greeted(receiver.address).await;
    // In one write, so that the server has read all of it when it begins the handshake.
    peer.send("EHLO a\r\nSTARTTLS\r\nEHLO evil\r\nMAIL FROM:<evil@sender.test>\r\nRCPT TO:<bob@example.test>\r\n")
        .await;
    peer.expect("250").await;
    peer.expect("220 2.0.0").await;
    let mut peer = peer.secure(&connector).await.expect("a handshake");
    // A reply to any of those commands would come before this one.
    peer.command("DATA", "503 5.5.1 Send MAIL").await;
    peer.command("NOOP", "250 2.0.0").await;
    peer.command("QUIT", "221").await;
    peer.expect_closed().await;
    assert_eq!(receiver.stop().await.stored(), []);
}

#[tokio::test]
async fn octets_that_are_no_handshake_end_the_session() {
    let (tls, connector, _dir) = keeper();
    let receiver = start(Service::Smtp, &tls, |settings| settings.connections_max = 1).await;
    let mut peer = SmtpPeer::greeted(receiver.address).await;
    peer.command("STARTTLS", "220 2.0.0").await;
    peer.send("EHLO a\r\nMAIL FROM:<>\r\nRCPT TO:<bob@example.test>\r\nDATA\r\nhi\r\n.\r\n").await;
    let reply = peer.try_exchange("NOOP\r\n").await;
    assert!(!reply.contains("250"), "{reply:?}");
    drop(peer);
    // The slot is free again, also after a handshake that was cut short.
    let mut peer = SmtpPeer::greeted_in_the_end(receiver.address).await;
    peer.command("STARTTLS", "220 2.0.0").await;
    peer.send(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc").await;
    drop(peer);
    let mut peer = SmtpPeer::greeted_in_the_end(receiver.address).await;
    peer.command("STARTTLS", "220 2.0.0").await;
    peer.secure(&connector).await.expect("a handshake").command("NOOP", "250").await;
    assert_eq!(receiver.stop().await.stored(), []);
}

#[tokio::test]
async fn commands_pipelined_across_starttls_are_never_executed_wherever_they_are_cut() {
    let (tls, connector, _dir) = keeper();
    let receiver = start(Service::Smtp, &tls, |_| ()).await;
    let wire = b"STARTTLS\r\nEHLO evil\r\nMAIL FROM:<evil@sender.test>\r\nRCPT TO:<bob@example.test>\r\nDATA\r\n";
    let mut secured = 0;
    for cut in 0..=wire.len() {
        let mut peer = SmtpPeer::greeted(receiver.address).await;
        peer.command("EHLO client.test", "250").await;
        let (before, after) = wire.split_at(cut);
        peer.send_cut(&[before, after]).await;
        peer.expect("220 2.0.0").await;
        // The octets that the server reads after STARTTLS are no handshake.
        let Ok(mut peer) = peer.secure(&connector).await else { continue };
        secured += 1;
        peer.send("DATA\r\nQUIT\r\n").await;
        peer.expect("503 5.5.1 Send MAIL").await;
        peer.expect("221").await;
        peer.expect_closed().await;
    }
    assert!(secured > 0, "none came to the handshake");
    assert_eq!(receiver.stop().await.stored(), []);
}

#[tokio::test]
async fn commands_behind_an_unfinished_handshake_are_never_executed() {
    let (tls, _, _dir) = keeper();
    let commands = "EHLO a\r\nMAIL FROM:<>\r\nRCPT TO:<bob@example.test>\r\nDATA\r\nhi\r\n.\r\n";
    // A record that is longer than what comes; a whole one that is half a message; one that is no handshake.
    let beginnings: [&[u8]; 3] = [
        b"\x16\x03\x01\x20\x00\x01\x00\x01\xfc",
        b"\x16\x03\x01\x00\x05\x01\x00\x01\xfc\x03",
        b"\x15\x03\x01\x00\x02\x01\x00",
    ];
    for service in [Service::Smtp, Service::Smtps] {
        let receiver = start(service, &tls, |settings| settings.handshake_timeout = Duration::from_millis(100)).await;
        for beginning in beginnings {
            let mut peer = SmtpPeer::connect(receiver.address).await;
            if service == Service::Smtp {
                peer.expect("220").await;
                peer.command("STARTTLS", "220 2.0.0").await;
            }
            peer.send(beginning).await;
            let said = peer.try_exchange(commands).await;
            let is_alert = said.starts_with('\x15');
            assert!(said.is_empty() || is_alert, "{service:?}: {said:?}");
        }
        assert_eq!(receiver.stop().await.stored(), []);
    }
}

#[tokio::test]
async fn a_handshake_has_a_timeout() {
    let (tls, _, _dir) = keeper();
    for service in [Service::Smtp, Service::Smtps] {
        let receiver = start(service, &tls, |settings| settings.handshake_timeout = Duration::from_millis(50)).await;
        let mut peer = SmtpPeer::connect(receiver.address).await;
        if service == Service::Smtp {
            peer.expect("220").await;
            peer.command("STARTTLS", "220 2.0.0").await;
        }
        peer.expect_closed().await;
        receiver.until_counted("tlsHandshakesFailed", None, 1).await;
    }
}

#[tokio::test]
async fn stopping_waits_for_no_handshake() {
    let (tls, _, _dir) = keeper();
    for service in [Service::Smtp, Service::Smtps] {
        let receiver = start(service, &tls, |_| ()).await;
        let mut peer = SmtpPeer::connect(receiver.address).await;
        if service == Service::Smtp {
            peer.expect("220").await;
            peer.command("STARTTLS", "220 2.0.0").await;
        }
        receiver.until_counted("connections", None, 1).await;
        receiver.stop().await;
        peer.expect_closed().await;
    }
}

#[tokio::test]
async fn with_tls_from_the_first_octet_nothing_is_sent_in_the_clear() {
    let (tls, connector, _dir) = keeper();
    let receiver = start(Service::Smtps, &tls, |settings| settings.connections_max = 1).await;
    let peer = SmtpPeer::connect(receiver.address).await;
    receiver.until_counted("connections", None, 1).await;
    let mut one_too_many = SmtpPeer::connect(receiver.address).await;
    one_too_many.expect_closed().await;
    let mut peer = peer.secure(&connector).await.expect("a handshake");
    peer.expect("220").await;
    peer.deliver("bob@example.test", "hi\r\n").await;
    peer.command("STARTTLS", "503").await;
    peer.command("QUIT", "221").await;
    peer.expect_closed().await;
    assert_eq!(receiver.stop().await.stored().len(), 1);
}

/// Its first command comes with the last octets of its handshake.
#[tokio::test]
async fn a_client_waits_for_the_greeting_behind_a_handshake_as_well() {
    let (tls, connector, _dir) = keeper();
    let receiver = start(Service::Smtps, &tls, |_| ()).await;
    let peer = SmtpPeer::connect(receiver.address).await;
    let mut peer = peer.secure_saying(&connector, "EHLO client.test\r\n").await.expect("a handshake");
    peer.expect("554 5.5.1 The client must wait").await;
    peer.expect_closed().await;
    receiver.until_counted("ended", "spokeFirst", 1).await;
}

#[tokio::test]
async fn without_a_certificate_there_is_no_starttls() {
    let receiver = TestReceiver::start(FaultyStore::open(), |_| ()).await;
    let mut peer = SmtpPeer::greeted(receiver.address).await;
    let extensions = peer.command("EHLO client.test", "250").await;
    assert!(!extensions.contains("STARTTLS"), "{extensions}");
    peer.command("STARTTLS", "502 5.5.1").await;
    peer.deliver("bob@example.test", "hi\r\n").await;
}

#[tokio::test]
async fn a_session_outlives_its_certificate() {
    let (tls, connector, dir) = keeper();
    let receiver = start(Service::Smtp, &tls, |_| ()).await;
    let secured = async |connector| {
        let mut peer = SmtpPeer::greeted(receiver.address).await;
        peer.command("STARTTLS", "220").await;
        peer.secure(connector).await
    };
    let mut before = secured(&connector).await.expect("a handshake");
    let next = Pair::fresh();
    next.write(dir.path());
    tls.reload(tempmail::model::Timestamp::from_millis(0));
    assert!(secured(&connector).await.is_err(), "the old certificate is served");
    secured(&next.connector()).await.expect("a handshake").command("NOOP", "250").await;
    before.deliver("bob@example.test", "hi\r\n").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn openssl_is_served_with_both_versions() {
    let (tls, _, dir) = keeper();
    let versions = [("-tls1_2", "TLSv1.2"), ("-tls1_3", "TLSv1.3")];
    let starttls = start(Service::Smtp, &tls, |_| ()).await;
    let smtps = start(Service::Smtps, &tls, |_| ()).await;
    let authority = dir.path().join("cert.pem");
    let Some(openssl) = programs::find("openssl", "TLS with OpenSSL") else { return };
    for (flag, version) in versions {
        // With STARTTLS it reads the greeting by itself.
        for (address, mode, prompt) in
            [(starttls.address, &["-starttls", "smtp"][..], ""), (smtps.address, &[], "220 ")]
        {
            let mut command = Command::new(&openssl);
            command.args(["s_client", "-connect", &address.to_string(), "-verify_return_error", "-crlf", flag]);
            command.args(["-verify_hostname", "localhost", "-ign_eof"]).args(mode).arg("-CAfile").arg(&authority);
            let run = move || programs::run_after(prompt, &mut command, "EHLO client.test\nQUIT\n");
            let output = tokio::task::spawn_blocking(run).await.expect("its end");
            let said = String::from_utf8_lossy(&output.stdout);
            assert!(said.contains(version) && said.contains("221 2.0.0"), "{said}");
        }
    }
}
