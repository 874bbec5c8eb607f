//! Examples of settings.

/// A value of each setting that is not its default. A new setting needs one here.
pub(super) fn example(key: &str) -> Vec<String> {
    let values: &[&str] = match key {
        "data-dir" => &["/data"],
        "revision" => &["1"],
        "smtp-listen" => &["127.0.0.1:2526", "[::1]:2526"],
        "http-listen" => &["0.0.0.0:80"],
        "https-listen" | "metrics-listen" => &["127.0.0.1:4430", "[::1]:4430"],
        "smtps-listen" => &["127.0.0.1:4650", "[::1]:4650"],
        "lmtp-listen" => &["127.0.0.1:24", "/run/tempmail/lmtp"],
        "lmtp-socket-mode" => &["600"],
        "tls-cert" | "tls-key" => &["/etc/tempmail/tls.pem"],
        "store" => &["cassandra://10.0.0.1,node.example:9142/tempmail"],
        "cassandra-data-center" | "cassandra-user" => &["east"],
        "cassandra-password-file" | "cassandra-ca" => &["/etc/tempmail/cassandra"],
        "cassandra-tls" => &["on"],
        "peer-listen" => &["10.0.0.1:2527"],
        "peer-address" => &["node1.example:2527"],
        "tls-handshake-timeout" | "cassandra-timeout" => &["3s"],
        "accept-any-domain" | "fault-anywhere" | "tls-self-signed" => &["true"],
        "fault" => &["RCPT user4xx@* first 2 451 4.3.0", "end delay 5s drop"],
        "mx-host" => &["mx1.example.com", "mx2.example.com"],
        "hostname" => &["mail.example.com"],
        "retention" | "verify-every" | "webhook-grace" | "webhook-idle" | "webhook-unproven-life" => &["1h30m"],
        "max-message-size" | "max-line-size" => &["2MB"],
        "segment-size" | "index-cache-size" | "outbox-size-per-webhook" | "outbox-size" | "smtp-body-budget" => {
            &["160MB"]
        }
        "page-size-default" => &["50"],
        "page-size-max" => &["200"],
        "subaddressing" => &["strip"],
        "role-addresses" => &["abuse", "root"],
        "resolver" => &["127.0.0.1:5353", "9.9.9.9:53"],
        "public-address" => &["192.0.2.1", "2001:db8::1"],
        "public-domains" | "public-webhooks" => &["token"],
        "max-domains"
        | "max-domains-per-client"
        | "max-smtp-connections"
        | "max-smtp-connections-per-client"
        | "smtp-connections-per-minute"
        | "max-messages-per-mailbox"
        | "max-messages-per-domain"
        | "max-http-connections"
        | "max-http-connections-per-client"
        | "max-http-waiting"
        | "max-http-waiting-per-client"
        | "max-webhooks"
        | "max-webhooks-per-recipient"
        | "outbox-events"
        | "webhook-in-flight"
        | "max-webhooks-per-client"
        | "webhook-registrations-per-minute"
        | "webhook-per-address-per-minute" => &["5"],
        "webhook-allow" | "proxy-from" | "trusted-proxies" | "limit-exempt" | "refuse-client" => {
            &["10.0.0.0/8", "::1/128"]
        }
        "webhook-refused-ports" => &["22", "6379"],
        "webhook-schedule" => &["50ms", "50ms", "2s"],
        "webhook-timeout" => &["300ms"],
        "http-allowed-hosts" => &["mail.example.com", "192.0.2.1"],
        "http-allowed-origins" => &["https://app.example"],
        "public-delete" | "public-read" | "rate-limit" | "web" => &["off"],
        "domain" | "refuse-sender-domain" => &["a.test", "*.b.test"],
        "accept-local-part" => &["test-*", "user?"],
        "mailbox-full" => &["drop-oldest"],
        "smtp-timeout" => &["500ms"],
        "smtp-auth" => &["accept-any"],
        "access-log" => &["masked"],
        "compat-api" => &["mailpit"],
        "log-format" => &["json"],
        _ => panic!("{key} has no example"),
    };
    values.iter().map(|&value| value.to_owned()).collect()
}

/// The variables without which a setting means nothing.
pub(super) fn companions(key: &str) -> &'static [(&'static str, &'static str)] {
    const STORE: (&str, &str) = ("TEMPMAIL_STORE", "cassandra://node/tempmail");
    match key {
        "tls-key" => &[("TEMPMAIL_TLS_CERT", "/c.pem")],
        "smtps-listen" | "https-listen" => &[("TEMPMAIL_TLS_SELF_SIGNED", "true")],
        "cassandra-user" => &[STORE, ("TEMPMAIL_CASSANDRA_PASSWORD_FILE", "/password")],
        "cassandra-password-file" => &[STORE, ("TEMPMAIL_CASSANDRA_USER", "ann")],
        "cassandra-ca" => &[STORE, ("TEMPMAIL_CASSANDRA_TLS", "on")],
        "peer-address" => &[STORE, ("TEMPMAIL_PEER_LISTEN", "10.0.0.1:2527")],
        "peer-listen" => &[STORE],
        _ if key.starts_with("cassandra-") => &[STORE],
        _ => &[],
    }
}
