//! The presets of the two revisions, as a client sees them.
//! Promise: it outlives the code below it.

use crate::support::http;
use crate::support::smtp_peer::SmtpPeer;
use crate::support::test_server::TestServer;

const PAGE: &str = "/api/mail/messages?to=hello@example.test";

async fn pages(server: &TestServer) -> (u64, u64) {
    let limit = |page: serde_json::Value| page["limit"].as_u64().expect("limit");
    let (_, default) = http::get(server.http(), PAGE).await;
    let (_, most) = http::get(server.http(), &format!("{PAGE}&limit=1000")).await;
    (limit(default), limit(most))
}

async fn announced_size(server: &TestServer) -> String {
    let mut peer = SmtpPeer::greeted(server.smtp()).await;
    let reply = peer.command("EHLO client.test", "250").await;
    reply.lines().find_map(|line| line.get(4..).filter(|text| text.starts_with("SIZE"))).expect("SIZE").to_owned()
}

#[tokio::test]
async fn revision_1_takes_10_mb_and_knows_no_webhooks() {
    let server = TestServer::with("revision = 1").await;
    assert_eq!(announced_size(&server).await, "SIZE 10485760");
    assert_eq!(pages(&server).await, (20, 100));
    assert_eq!(http::get(server.http(), "/api/webhooks").await.0, 404);
    let status = server.tempmail(&["status", "--json"]).await.stdout;
    let status: serde_json::Value = serde_json::from_str(&status).expect("JSON");
    assert_eq!((&status["revision"], &status["retentionSeconds"]), (&1.into(), &7200.into()));
    server.stop().await;
}

#[tokio::test]
async fn revision_2_takes_300_kb_and_larger_pages_if_told() {
    let server = TestServer::with("page-size-max = 300").await;
    assert_eq!(announced_size(&server).await, "SIZE 307200");
    assert_eq!(pages(&server).await, (20, 300));
    server.stop().await;
}
