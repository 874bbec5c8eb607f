//! Domains against a real DNS server.

mod answers;
mod panics;
mod registration;
mod verification;
mod worker;

use serde_json::{Value, json};

use crate::support::answer::Answer;
use crate::support::dns_zone::DnsZone;
use crate::support::test_server::TestServer;
use crate::support::until::until_some;

/// The name that domains point to in these tests.
const OUR_HOST: &str = "mx.tempmail.test";
/// The name of another provider's host.
const OTHER_HOST: &str = "mx.other.test";
/// The client that registers, unless a test names one.
const CLIENT: &str = "192.0.2.1";

/// A status, and the body as JSON.
type Reply = (u16, Value);

/// What came of a registration: `created`, `known`, or the code of the problem.
fn outcome((status, body): &Reply) -> &str {
    match status {
        201 => "created",
        200 => "known",
        _ => body["code"].as_str().expect("a problem"),
    }
}

/// A service and the DNS that it asks. Its one host is [`OUR_HOST`], at `192.0.2.25` and `2001:db8::25`.
struct Setup {
    zone: DnsZone,
    server: TestServer,
}

impl Setup {
    async fn new() -> Self {
        Self::with("").await
    }

    /// With further settings, or others in place of its own.
    async fn with(settings: &str) -> Self {
        let zone = zone().await;
        Self { server: TestServer::with(&complete(settings, &zone)).await, zone }
    }

    async fn restarted(self, settings: &str) -> Self {
        Self { server: self.server.restart(&complete(settings, &self.zone)).await, zone: self.zone }
    }

    /// Makes the zone say that the mail of `domain` comes to us.
    fn point_here(&self, domain: &str) {
        self.zone.set_mx(domain, &[(10, OUR_HOST)]);
    }

    /// Makes the zone say that it goes to another provider.
    fn point_elsewhere(&self, domain: &str) {
        self.zone.set_mx(domain, &[(10, OTHER_HOST)]);
    }

    fn all_point_here(&self, domains: &[String]) {
        for domain in domains {
            self.point_here(domain);
        }
    }

    fn all_point_elsewhere(&self, domains: &[String]) {
        for domain in domains {
            self.point_elsewhere(domain);
        }
    }

    async fn register_as(&self, client: &str, wish: &Value) -> Reply {
        let request = self.server.request("POST", "/api/domains").header("x-forwarded-for", client).json(wish);
        reply(request).await
    }

    async fn register(&self, domain: &str) -> Reply {
        self.register_as(CLIENT, &json!({ "domain": domain })).await
    }

    /// Registers `count` domains that point here, and returns their names.
    async fn register_many(&self, count: usize) -> Vec<String> {
        let domains: Vec<String> = (0..count).map(|number| format!("d{number}.test")).collect();
        for domain in &domains {
            self.point_here(domain);
            assert_eq!(outcome(&self.register(domain).await), "created", "{domain}");
        }
        domains
    }

    /// Registers a domain as the administrator, without a check.
    async fn pin(&self, mut wish: Value) -> Reply {
        wish["skipDnsCheck"] = true.into();
        self.server.admin_post("/api/admin/domains", &wish).await
    }

    async fn remove(&self, domain: &str) -> Reply {
        reply(self.server.admin("DELETE", &format!("/api/admin/domains?domain={domain}"))).await
    }

    /// Checks a domain as the administrator.
    async fn check(&self, domain: &str) -> Reply {
        reply(self.server.admin("GET", &format!("/api/domains/check-dns?domain={domain}"))).await
    }

    async fn verify(&self, query: &str) -> Reply {
        reply(self.server.admin("POST", &format!("/api/admin/domains/verify{query}"))).await
    }

    /// Verifies all domains now; the numbers other than 0.
    async fn round(&self) -> String {
        shown(&self.verify("").await)
    }

    /// A domain as the administrator sees it; null if it is not listed.
    async fn record(&self, domain: &str) -> Value {
        let list = self.server.admin_get("/api/admin/domains").await;
        let mut entries = list.as_array().expect("a list").iter();
        entries.find(|entry| entry["domain"] == domain).cloned().unwrap_or_default()
    }

    async fn active(&self) -> Value {
        self.server.get("/api/domains/active").await.json()
    }

    /// `active`, `deactivated` or `unknown`, as soon as both lists of the public agree on it.
    async fn served(&self, domain: &str) -> String {
        until_some("both lists agree", async || {
            let list = self.server.get("/api/domains").await.json();
            let entry = list.as_array().expect("a list").iter().find(|entry| entry["domain"] == domain);
            let status = entry.map_or("unknown", |entry| entry["status"].as_str().expect("a status")).to_owned();
            let is_active = self.active().await.as_array().expect("a list").contains(&json!(domain));
            (is_active == (status == "active")).then_some(status)
        })
        .await
    }
}

async fn zone() -> DnsZone {
    let zone = DnsZone::start().await;
    zone.set_addresses(OUR_HOST, &["192.0.2.25", "2001:db8::25"]);
    zone.set_addresses(OTHER_HOST, &["203.0.113.9"]);
    zone
}

/// The settings, with those of every test that they do not name.
fn complete(settings: &str, zone: &DnsZone) -> String {
    let of_every_test = [
        ("mx-host", format!("['{OUR_HOST}']")),
        ("resolver", format!("['{}']", zone.addr())),
        // Longer than a busy machine takes for an answer on loopback; tests of silence wait for two attempts of it.
        ("dns-timeout", "'1s'".to_owned()),
        ("trusted-proxies", "['127.0.0.0/8']".to_owned()),
    ];
    let missing = of_every_test.iter().filter(|(key, _)| !settings.contains(key));
    missing.map(|(key, value)| format!("{key} = {value}\n")).collect::<Vec<_>>().concat() + settings
}

async fn reply(request: reqwest::RequestBuilder) -> Reply {
    let answer = Answer::to(request).await;
    (answer.status.as_u16(), serde_json::from_slice(&answer.body).expect("JSON"))
}

/// What a round of verification came to, or the code of the problem.
fn shown(reply: &Reply) -> String {
    let (200, round) = reply else { return outcome(reply).to_owned() };
    let members = ["checked", "deactivated", "reactivated", "failed", "heldBack"];
    assert_eq!(round.as_object().expect("an object").len(), members.len(), "{round}");
    let counted = members.iter().filter(|member| round[**member] != 0);
    counted.map(|member| format!("{member} {}", round[*member])).collect::<Vec<_>>().join(", ")
}
