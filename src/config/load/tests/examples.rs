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
        "tls-cert" | "tls-key" => &["/etc/tempmail/tls.pem"],
        "store" => &["cassandra://10.0.0.1,node.example:9142/tempmail?dc=east"],
        "dev" | "trusted-network" | "webhook-limits-allowed" => &["true"],
        "fault" => &["RCPT user4xx@* first 2 451 4.3.0", "end delay 5s drop"],
        "mx-host" => &["mx1.example.com", "mx2.example.com"],
        "hostname" => &["mail.example.com"],
        "retention" | "verify-every" | "webhook-grace" | "webhook-idle" | "webhook-unproven-life" => &["1h30m"],
        "max-message-size" => &["2MB"],
        "segment-size" | "outbox-size-per-webhook" | "outbox-size" | "smtp-body-budget" => &["160MB"],
        "page-size-default" => &["50"],
        "page-size-max" => &["200"],
        "subaddressing" => &["strip"],
        "role-addresses" => &["abuse", "root"],
        "resolver" => &["127.0.0.1:5353", "9.9.9.9:53"],
        "public-address" => &["192.0.2.1", "2001:db8::1"],
        "public" => &["read", "web"],
        "webhook-allow" | "proxy-from" | "trusted-proxies" | "limit-exempt" | "refuse-client" => {
            &["10.0.0.0/8", "::1/128"]
        }
        "webhook-schedule" => &["50ms", "50ms", "2s"],
        "http-allowed-hosts" => &["mail.example.com", "192.0.2.1"],
        "http-allowed-origins" => &["https://app.example"],
        "rate-limit" | "sender-verdicts" => &["off"],
        "accept" => &["opened"],
        "lease-for" | "lease-max" | "lease-retention-max" => &["2h"],
        "leases-max" => &["5"],
        "domain" | "refuse-sender-domain" => &["a.test", "*.b.test"],
        "smtp-auth" => &["accept-any"],
        "access-log" => &["masked"],
        "compat-api" => &["mailpit"],
        "log-format" => &["json"],
        "lmtp-socket-mode" => &["600"],
        _ if key.ends_with("-timeout") => &["300ms"],
        _ if key.starts_with("max-") || key.contains("-per-") || key.starts_with("outbox-") => &["5"],
        "smtp-errors-max" => &["5"],
        _ => panic!("{key} has no example"),
    };
    values.iter().map(|&value| value.to_owned()).collect()
}

/// The variables without which a setting means nothing.
pub(super) fn companions(key: &str) -> &'static [(&'static str, &'static str)] {
    match key {
        "tls-key" => &[("TEMPMAIL_TLS_CERT", "/c.pem")],
        "smtps-listen" | "https-listen" => &[("TEMPMAIL_TLS_CERT", "self-signed")],
        _ => &[],
    }
}
