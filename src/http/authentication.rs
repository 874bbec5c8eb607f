//! Who sent a request: the bearer of a token over TCP (RFC 6750), or the public, which may bear the key of leases.
//!
//! A request over the local socket comes from the administrator and needs no token. A token or key that is not valid is
//! refused on every path. So a caller never mistakes the answer to the public for the answer to the administrator.

use axum::extract::{MatchedPath, Request};
use axum::http::{HeaderMap, HeaderValue, Method, header};

use super::Api;
use super::caller::Caller;
use super::problem::{Code, Problem};
use super::{rate_limit, ticket};
use crate::admission::{What, Who};
use crate::config::PublicConfig;
use crate::leases::KEY_PREFIX;
use crate::model::Scope;

impl Api {
    /// Makes the caller the bearer of the token or key that its request has. The problem is that it is not valid.
    ///
    /// A valid token is never refused because of wrong ones: strangers may share the client's address.
    pub(super) async fn identify(&self, caller: &mut Caller, headers: &HeaderMap) -> Result<(), Problem> {
        match token(headers) {
            Some(key) if key.starts_with(KEY_PREFIX) => {
                caller.key = self.leases.look_up(key).await?;
                let is_refused = caller.key.is_none() && !caller.is_administrator();
                if is_refused { Err(self.refuse(caller.who)) } else { Ok(()) }
            }
            Some(token) if caller.who != Who::Administrator => self.bear(caller, token).await,
            _ => Ok(()),
        }
    }

    /// Makes the caller the bearer of a token. The problem is that the token is not valid.
    pub(super) async fn bear(&self, caller: &mut Caller, token: &str) -> Result<(), Problem> {
        let scope = self.tokens.look_up(token, self.clock.now()).await;
        caller.bear(token, scope.ok_or_else(|| self.refuse(caller.who))?);
        Ok(())
    }

    /// Refuses what the caller may not do, whatever the request says beyond its method and route.
    ///
    /// With the setting `dev` the public reads what the administrator reads. It writes what it writes else, and has the
    /// limits of its client.
    pub(super) fn permit_route(&self, caller: &mut Caller, request: &Request) -> Result<(), Problem> {
        let (method, is_read) = (request.method(), is_read(request.method()));
        let route = request.extensions().get::<MatchedPath>().map_or("", MatchedPath::as_str);
        // A path there that does not exist has no route.
        let below_admin = request.uri().path().strip_prefix("/api/admin");
        let is_below_admin = below_admin.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        if !caller.reads_all() && is_read && self.config.dev && self.is_all_mail_open(caller) {
            caller.scope = Some(Scope::Read);
        }
        match caller.scope {
            Some(Scope::Admin) => Ok(()),
            // A backup has the secrets of webhooks, which no other answer has.
            Some(Scope::Read) if is_read && route != "/api/admin/backup" => Ok(()),
            Some(Scope::Read) => Err(scope_insufficient()),
            None if is_below_admin => Err(administrator_only()),
            None => check_public(self.config.http.public, method, route).or_else(|closed| {
                let has_key = caller.key.is_some() && is_of_mailboxes(method, route);
                caller.is_confined = has_key || ticket::is_shown(route, request);
                if caller.is_confined { Ok(()) } else { Err(closed) }
            }),
        }
    }

    /// Whether a caller is a program of this machine where nobody else can reach HTTP, or in a network of friends.
    pub(super) fn is_near(&self, caller: &Caller) -> bool {
        let is_among_friends = self.config.dev && self.config.smtp.trusted_network;
        caller.is_administrator() || is_among_friends || self.config.http.is_local() && caller.is_here
    }

    /// Whether the mail of all public inboxes is open to a caller without a token.
    pub(super) fn is_all_mail_open(&self, caller: &Caller) -> bool {
        let (http, is_local) = (&self.config.http, self.config.http.is_local());
        // Pages of any site could read what they get from this machine, or come under a name of their own.
        let is_open_to_pages = match &http.allowed_origins {
            Some(origins) => origins.iter().any(|origin| origin == "*"),
            None => !is_local,
        } || !is_local && http.allowed_hosts.is_empty();
        !is_open_to_pages && http.public.read && self.is_near(caller)
    }

    /// The problem that what the caller presented is not valid, which it may do only so often.
    pub(super) fn refuse(&self, who: Who) -> Problem {
        let admission = &self.admission;
        if let Err(refused) = admission.spend(who, What::WrongTokens, 1) {
            return rate_limit::exceeded(admission, refused);
        }
        token_invalid()
    }
}

/// Whether a request with this method changes nothing.
pub(super) fn is_read(method: &Method) -> bool {
    [Method::GET, Method::HEAD].contains(method)
}

/// Whether all that a route does is about mailboxes, each of which its handler permits or not.
fn is_of_mailboxes(method: &Method, route: &str) -> bool {
    let is_submission = method == Method::POST && route == "/api/mail/messages";
    route == "/api/webhooks" || route.starts_with("/api/mail/") && !is_submission
}

/// Refuses a request of the public for a part that is closed, or the administrator's. `route` is the pattern of the path.
///
/// A route below `/api/mail` reads mail unless it is known to do something else. So a new route is closed rather than
/// open.
fn check_public(config: PublicConfig, method: &Method, route: &str) -> Result<(), Problem> {
    let (is_public, what) = match route {
        "/api/mail/messages" if method == Method::POST => return Err(administrator_only()),
        "/api/domains" if method == Method::POST => (config.domains, "registering domains"),
        "/api/webhooks" => (config.webhooks, "webhooks"),
        "/api/addresses" if method == Method::POST => (config.read, "making private inboxes"),
        "/api/mail/delete" => (config.delete, "deleting mail"),
        route if route.starts_with("/api/mail/") => (config.read, "reading mail"),
        _ => return Ok(()),
    };
    if is_public { Ok(()) } else { Err(closed(what)) }
}

/// The problem that only bearers of tokens may do `what`.
pub(super) fn closed(what: &str) -> Problem {
    Problem::new(Code::TokenRequired, format!("this service asks for a token: {what}"))
        .with_header(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"))
}

/// The problem of a caller from the public on a path of the administrator.
pub(super) fn administrator_only() -> Problem {
    Problem::new(
        Code::TokenRequired,
        "this path is for the administrator only; send a token, or use the command tempmail on the machine of the service",
    )
    .with_header(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"))
}

/// The problem of a request about the leases of a key that bears none.
pub(super) fn key_required() -> Problem {
    Problem::new(Code::TokenRequired, "this path lists the private inboxes of a key; send the key as a bearer token")
        .with_header(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"))
}

pub(super) fn token_invalid() -> Problem {
    Problem::new(Code::TokenInvalid, "the token, key or ticket is wrong, has expired, or was revoked")
        .with_header(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer error=\"invalid_token\""))
}

/// The token in the field Authorization, empty if the field is malformed. Other schemes, which a proxy in front may use,
/// are ignored.
fn token(headers: &HeaderMap) -> Option<&str> {
    let mut fields = headers.get_all(header::AUTHORIZATION).iter();
    let field = fields.next()?.as_bytes();
    let (scheme, token) = field.split_at(field.iter().position(|octet| *octet == b' ').unwrap_or(field.len()));
    if !scheme.eq_ignore_ascii_case(b"Bearer") {
        return None;
    }
    let is_only = fields.next().is_none();
    Some(str::from_utf8(token.trim_ascii()).ok().filter(|_| is_only).unwrap_or_default())
}

/// The problem of a caller that reads all mail and asks for more.
pub(super) fn scope_insufficient() -> Problem {
    Problem::new(
        Code::ScopeInsufficient,
        "this caller may only read; this request needs a token with the scope 'admin'",
    )
    .with_header(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer error=\"insufficient_scope\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_follows_the_scheme_bearer() {
        let token_in = |fields: &[&'static str]| {
            let mut headers = HeaderMap::new();
            for field in fields {
                headers.append(header::AUTHORIZATION, HeaderValue::from_static(field));
            }
            token(&headers).map(str::to_owned)
        };
        assert_eq!(token_in(&[]), None);
        assert_eq!(token_in(&["Basic YTpi"]), None);
        assert_eq!(token_in(&["Bearers x"]), None);
        for field in ["Bearer x", "bearer x", "BEARER   x "] {
            assert_eq!(token_in(&[field]), Some("x".to_owned()), "{field}");
        }
        assert_eq!(token_in(&["Bearer"]), Some(String::new()));
        assert_eq!(token_in(&["Bearer x", "Bearer x"]), Some(String::new()), "two fields are no token");
    }

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
                |(method, route): &(&str, &str)| check_public(config, &method.parse().expect("method"), route).is_err();
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
