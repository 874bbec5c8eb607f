//! Who sent a request: the bearer of a token over TCP (RFC 6750), or the public.
//!
//! A request over the local socket comes from the administrator and needs no token. A token that is not valid is refused
//! on every path. So a caller never mistakes the answer to the public for the answer to the administrator.

use std::sync::Arc;

use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::access;
use super::all_mail::AllMail;
use super::principal::{Principal, who};
use super::problem::{Code, Problem};
use super::rate_limit;
use crate::admission::{Admission, What, Who};
use crate::clock::Clock;
use crate::config::PublicConfig;
use crate::model::{Scope, Secret};
use crate::service::Service;
use crate::tokens::Tokens;

/// The token that a request was permitted by, in its extensions.
#[derive(Clone, Debug)]
pub(super) struct Bearer(pub(super) Secret);

/// Finds out who sent a request.
pub(super) struct Authentication {
    tokens: Arc<Tokens>,
    clock: Arc<dyn Clock>,
    admission: Arc<Admission>,
    public: PublicConfig,
    /// Whose requests read what the administrator reads, without a token.
    readers: AllMail,
}

impl Authentication {
    pub(super) fn new(service: &Service) -> Arc<Self> {
        let Service { tokens, clock, admission, config, .. } = service;
        Arc::new(Self {
            tokens: Arc::clone(tokens),
            clock: Arc::clone(clock),
            admission: Arc::clone(admission),
            public: config.http.public,
            readers: if config.dev { AllMail::of(config) } else { AllMail::Closed },
        })
    }

    /// Sets the principal of a request with a valid token. The problem is that its token is not valid.
    ///
    /// A valid token is never refused because of wrong ones: strangers may share the client's address.
    pub(super) async fn identify(&self, request: &mut Request) -> Result<(), Problem> {
        let Some(token) = token(request.headers()).map(str::to_owned) else { return Ok(()) };
        let who = who(request.extensions(), &self.admission);
        if who == Who::Administrator {
            return Ok(());
        }
        let principal = self.bearer(&token, who).await?;
        request.extensions_mut().insert(principal);
        if let Some(token) = Secret::new(token) {
            request.extensions_mut().insert(Bearer(token));
        }
        Ok(())
    }

    /// Lets a request of the public read what the administrator reads, if the setting `dev` permits it. It writes what the
    /// public writes, and has the limits of its client.
    pub(super) fn admit_reader(&self, request: &mut Request) {
        let is_public = request.extensions().get::<Principal>().is_none();
        if is_public && is_read(request.method()) && self.readers.is_open_to(request) {
            request.extensions_mut().insert(Principal::Reader);
        }
    }

    /// The bearer of a token that `who` sent. The problem is that the token is not valid.
    pub(super) async fn bearer(&self, token: &str, who: Who) -> Result<Principal, Problem> {
        match self.tokens.look_up(token, self.clock.now()).await {
            Some(Scope::Admin) => Ok(Principal::Administrator),
            Some(Scope::Read) => Ok(Principal::Reader),
            None => Err(self.refuse(who)),
        }
    }

    /// Refuses what the principal of a request may not do, whatever the request says beyond its method and route.
    fn permit(&self, request: &Request) -> Result<(), Problem> {
        let method = request.method();
        match request.extensions().get().copied().unwrap_or_default() {
            Principal::Administrator => Ok(()),
            Principal::Reader if is_read(method) => Ok(()),
            Principal::Reader => Err(scope_insufficient()),
            Principal::Public => match request.extensions().get::<MatchedPath>() {
                Some(route) => access::check(self.public, method, route.as_str()),
                None => Ok(()),
            },
        }
    }

    fn refuse(&self, who: Who) -> Problem {
        if let Err(refused) = self.admission.spend(who, What::WrongTokens, 1) {
            return rate_limit::exceeded(&self.admission, refused);
        }
        token_invalid()
    }
}

/// Whether a request with this method changes nothing.
pub(super) fn is_read(method: &Method) -> bool {
    [Method::GET, Method::HEAD].contains(method)
}

pub(super) fn token_invalid() -> Problem {
    Problem::new(Code::TokenInvalid, "the token is wrong, has expired, or was revoked")
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

/// Refuses what the principal of a request may not do whatever the path is.
pub(super) async fn pass(State(auth): State<Arc<Authentication>>, request: Request, next: Next) -> Response {
    match auth.permit(&request) {
        Ok(()) => next.run(request).await,
        Err(problem) => problem.into_response(),
    }
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
}
