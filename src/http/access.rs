//! Which parts of the interface are closed to callers without a token.

use axum::http::{HeaderValue, Method, header};

use super::problem::{Code, Problem};
use crate::config::PublicConfig;

/// Refuses a request of the public for a part that is closed. `route` is the pattern of the path.
///
/// A route below `/api/mail` reads mail unless it is known to do something else. So a new route is closed rather than
/// open.
pub(super) fn check(config: PublicConfig, method: &Method, route: &str) -> Result<(), Problem> {
    let (is_public, what) = match route {
        "/api/domains" if method == Method::POST => (config.domains, "registering domains"),
        "/api/webhooks" => (config.webhooks, "webhooks"),
        "/api/mail/delete" => (config.delete, "deleting mail"),
        route if route.starts_with("/api/mail/") => (config.read, "reading mail"),
        _ => return Ok(()),
    };
    if is_public {
        return Ok(());
    }
    Err(Problem::new(Code::TokenRequired, format!("this service asks for a token: {what}"))
        .with_header(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_setting_closes_its_own_part() {
        let open = PublicConfig { read: true, delete: true, webhooks: true, domains: true, web: true };
        let refused = |config: PublicConfig| -> Vec<String> {
            let requests = [
                ("GET", "/api/domains"),
                ("POST", "/api/domains"),
                ("GET", "/api/domains/check-dns"),
                ("GET", "/api/webhooks"),
                ("POST", "/api/webhooks"),
                ("DELETE", "/api/webhooks"),
                ("DELETE", "/api/mail/delete"),
                ("GET", "/api/mail/messages"),
                ("GET", "/api/mail/messages/{id}"),
                ("GET", "/api/mail/messages/{id}/raw"),
                ("GET", "/api/mail/some-later-route"),
                ("GET", "/healthz"),
            ];
            let is_refused =
                |(method, route): &(&str, &str)| check(config, &method.parse().expect("method"), route).is_err();
            requests.into_iter().filter(is_refused).map(|(method, route)| format!("{method} {route}")).collect()
        };
        assert_eq!(refused(open), Vec::<String>::new());
        assert_eq!(refused(PublicConfig { domains: false, ..open }), ["POST /api/domains"]);
        assert_eq!(
            refused(PublicConfig { webhooks: false, ..open }),
            ["GET /api/webhooks", "POST /api/webhooks", "DELETE /api/webhooks"]
        );
        assert_eq!(refused(PublicConfig { delete: false, ..open }), ["DELETE /api/mail/delete"]);
        assert_eq!(
            refused(PublicConfig { read: false, ..open }),
            [
                "GET /api/mail/messages",
                "GET /api/mail/messages/{id}",
                "GET /api/mail/messages/{id}/raw",
                "GET /api/mail/some-later-route"
            ]
        );
    }
}
