//! Who may use the interface of another mail catcher, which shows the mail of all inboxes.
//!
//! Those may to whom all mail is open without a token ([`Api::is_all_mail_open`]). All others need a token: as a bearer
//! (RFC 6750), or as the password of Basic (RFC 7617), which clients of this interface can send.

use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, header};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::http::authentication::{is_read, scope_insufficient};
use crate::http::{Api, Caller, Code, Problem};
use crate::model::Scope;

/// Refuses a caller that may not see all mail. One with a valid token in Basic is its bearer.
pub(super) async fn check(api: &Api, caller: &mut Caller, parts: &Parts) -> Result<(), Problem> {
    let is_read = is_read(&parts.method);
    let is_open = (is_read || api.config.http.public.delete) && api.is_all_mail_open(caller);
    if caller.reads_all() || is_open {
        return Ok(());
    }
    api.bear(caller, &password(&parts.headers).ok_or_else(token_required)?).await?;
    if is_read || caller.scope == Some(Scope::Admin) { Ok(()) } else { Err(scope_insufficient()) }
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
