//! What a browser is shown in place of the document while the service refuses it.

use std::time::Duration;

use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::Response;

/// It needs no other file: a service that refuses the document refuses those as well.
const PAGE: &str = include_str!("refused.html");
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; \
    frame-ancestors 'none'";
/// After what time the page is loaded again at the earliest. It is made of some thirty files, and each is a request.
const AGAIN_AFTER: Duration = Duration::from_secs(10);

/// Whether somebody opens the page for people in a browser.
pub(in crate::http) fn is_document(request: &Request) -> bool {
    request.method() == Method::GET && request.uri().path() == "/" && super::is_wanted(request.headers())
}

/// The answer to somebody who opens the page: a refusal as a small page, and any other answer as it is.
pub(in crate::http) fn shown(mut response: Response) -> Response {
    let seconds = seconds(response.headers());
    let (title, text, is_passing) = match response.status() {
        StatusCode::TOO_MANY_REQUESTS => (
            "Too many requests",
            format!(
                "Your network has sent this service more requests than it takes. Wait {seconds} seconds; then this page goes on by itself."
            ),
            true,
        ),
        StatusCode::SERVICE_UNAVAILABLE => (
            "The service is busy",
            "It is stopping, or it has too much to do. Wait a moment; this page goes on by itself.".to_owned(),
            true,
        ),
        StatusCode::MISDIRECTED_REQUEST => (
            "This name is not known here",
            "The service does not answer under the name in your address bar. Use another name, or ask its administrator to add this one to the setting http-allowed-hosts.".to_owned(),
            false,
        ),
        _ => return response,
    };
    let again = if is_passing { format!("<meta http-equiv=\"refresh\" content=\"{seconds}\">") } else { String::new() };
    let page = PAGE.replace("{again}", &again).replace("{title}", title).replace("{text}", &text);
    *response.body_mut() = page.into();
    let headers = response.headers_mut();
    headers.remove(header::CONTENT_LENGTH);
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.append(header::VARY, HeaderValue::from_static("accept"));
    response
}

/// When it is worth another try.
fn seconds(headers: &HeaderMap) -> u64 {
    let after = headers.get(header::RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok());
    after.unwrap_or(0).max(AGAIN_AFTER.as_secs())
}

#[cfg(test)]
mod tests {
    use axum::body::to_bytes;
    use axum::response::IntoResponse;

    use super::*;

    #[tokio::test]
    async fn a_busy_service_says_when_the_page_goes_on() {
        for (after, seconds) in [("1", 10), ("30", 30)] {
            let busy = (StatusCode::SERVICE_UNAVAILABLE, [(header::RETRY_AFTER, after)], "{}").into_response();
            let answer = shown(busy);
            assert_eq!(answer.status(), StatusCode::SERVICE_UNAVAILABLE);
            let page = to_bytes(answer.into_body(), PAGE.len() * 2).await.expect("a page");
            let page = String::from_utf8_lossy(&page);
            assert!(page.contains("The service is busy"), "{page}");
            assert!(page.contains(&format!("http-equiv=\"refresh\" content=\"{seconds}\"")), "{page}");
        }
    }
}
