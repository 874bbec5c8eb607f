//! Who may use the interface of another mail catcher, which shows the mail of all inboxes.
//!
//! Those may to whom all mail is open without a token ([`AllMail`]). All others need a token: as a bearer
//! (RFC 6750), or as the password of Basic (RFC 7617), which clients of this interface can send.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::middleware::Next;
use axum::response::Response;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::Refusal;
use crate::config::Config;
use crate::http::all_mail::AllMail;
use crate::http::authentication::{Authentication, is_read, scope_insufficient};
use crate::http::principal::asker;
use crate::http::{Code, Principal, Problem};

/// The rule for callers.
pub(super) struct Gate {
    auth: Arc<Authentication>,
    all_mail: AllMail,
    /// Whether callers without a token may delete mail.
    may_delete: bool,
}

impl Gate {
    pub(super) fn new(config: &Config, auth: Arc<Authentication>) -> Arc<Self> {
        Arc::new(Self { auth, all_mail: AllMail::of(config), may_delete: config.http.public.delete })
    }

    /// The caller of a request, if it may send it.
    async fn admit(&self, request: &mut Request) -> Result<Principal, Problem> {
        let principal = request.extensions().get().copied().unwrap_or_default();
        let is_read = is_read(request.method());
        let is_open = (is_read || self.may_delete) && self.all_mail.is_open_to(request);
        if principal != Principal::Public || is_open {
            return Ok(principal);
        }
        let Some(token) = password(request.headers()) else { return Err(token_required()) };
        let who = asker(request.extensions());
        match self.auth.bearer(&token, who).await? {
            Principal::Reader if !is_read => Err(scope_insufficient()),
            principal => Ok(principal),
        }
    }
}

/// Refuses callers that may not see all mail.
pub(super) async fn pass(State(gate): State<Arc<Gate>>, mut request: Request, next: Next) -> Result<Response, Refusal> {
    let principal = gate.admit(&mut request).await?;
    request.extensions_mut().insert(principal);
    Ok(next.run(request).await)
}

/// The password of Basic credentials, if there are any.
fn password(headers: &HeaderMap) -> Option<String> {
    let field = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, credentials) = field.split_once(' ')?;
    let credentials = STANDARD.decode(credentials.trim()).ok().filter(|_| scheme.eq_ignore_ascii_case("Basic"))?;
    let (_, password) = str::from_utf8(&credentials).ok()?.split_once(':')?;
    Some(password.to_owned())
}

fn token_required() -> Problem {
    let detail =
        "all mail is shown here, so a token is needed beyond this machine: as a bearer, or as the password of Basic";
    Problem::new(Code::TokenRequired, detail)
        .with_header(header::WWW_AUTHENTICATE, HeaderValue::from_static("Basic realm=\"tempmail\", Bearer"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_follows_the_user_in_basic_credentials() {
        let password_in = |field: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::AUTHORIZATION, HeaderValue::from_str(field).expect("a field"));
            password(&headers)
        };
        let basic = |text: &str| format!("Basic {}", STANDARD.encode(text));
        assert_eq!(password_in(&basic("ci:secret")).as_deref(), Some("secret"));
        assert_eq!(password_in(&basic("ci:se:cret")).as_deref(), Some("se:cret"));
        assert_eq!(password_in(&basic("ci")), None);
        assert_eq!(password_in("Basic !"), None);
        assert_eq!(password_in(&basic("ci:secret").replace("Basic", "Bearer")), None);
    }
}
