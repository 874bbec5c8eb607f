//! `GET /api/mail/messages/{id}/html` and `/text`: mail is shown without scripts and without what is remote.
//! Promise: it outlives the code below it.

use super::TestServer;

const POLICY: &str = "sandbox; default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'";

fn of_html(html: &str) -> String {
    format!("Content-Type: text/html; charset=utf-8\r\n\r\n{html}")
}

/// What is in the body of the page.
async fn body(api: &TestServer, raw: &str, query: &str) -> String {
    let id = api.receive(&["ann@example.test"], raw).await.remove(0);
    let answer = api.get(&format!("/api/mail/messages/{id}/html{query}")).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    let page = String::from_utf8(answer.body.to_vec()).expect("UTF-8");
    let body = page.split_once("<body>\n").expect("a body").1;
    body.strip_suffix("\n</body></html>\n").expect("its end").to_owned()
}

#[tokio::test]
async fn a_page_of_mail_is_sandboxed() {
    let api = TestServer::start().await;
    let id = api.receive(&["ann@example.test"], &of_html("<p>x</p>")).await.remove(0);
    let target = format!("/api/mail/messages/{id}/html");
    let answer = api.get(&target).await;
    for (name, value) in [
        ("content-type", "text/html; charset=utf-8"),
        ("content-security-policy", POLICY),
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("cache-control", "no-store"),
    ] {
        assert_eq!(answer.header(name), Some(value));
        assert_eq!(answer.headers.get_all(name).iter().count(), 1);
    }
    let remote = api.get(&format!("{target}?remote=1")).await;
    let policy = POLICY.replace("data:", "data: http: https:");
    assert_eq!(remote.header("content-security-policy"), Some(policy.as_str()));
    let general = "default-src 'none'; frame-ancestors 'none'; sandbox";
    for other in
        [format!("{target}?remote=yes"), format!("/api/mail/messages/{id}"), format!("/api/mail/messages/{id}/text")]
    {
        assert_eq!(api.get(&other).await.header("content-security-policy"), Some(general), "{other}");
    }
    assert_eq!(api.get(&format!("{target}?remote=yes")).await.problem(), "parameter_invalid");
}

#[tokio::test]
async fn html_is_shown_without_scripts_and_without_what_is_remote() {
    let api = TestServer::start().await;
    let raw =
        of_html("<b onclick=x>b</b><script>y</script><img src=http://x.test/a.png alt=i><a href=https://x.test>l</a>");
    let link = "<a href=\"https://x.test\" target=\"_blank\" rel=\"noopener noreferrer nofollow\">l</a>";
    assert_eq!(body(&api, &raw, "").await, format!("<b>b</b><img alt=\"i\">{link}"));
    assert_eq!(body(&api, &raw, "?remote=0").await, format!("<b>b</b><img alt=\"i\">{link}"));
    let with_remote = format!("<b>b</b><img src=\"http://x.test/a.png\" alt=\"i\">{link}");
    assert_eq!(body(&api, &raw, "?remote=1").await, with_remote);
}

#[tokio::test]
async fn a_text_mail_is_shown_as_text() {
    let api = TestServer::start().await;
    assert_eq!(body(&api, "\r\n<b>1</b>\r\n& 2", "").await, "&lt;b&gt;1&lt;/b&gt;<br>\n&amp; 2");
    assert_eq!(body(&api, "Content-Type: image/png\r\n\r\nx", "").await, "");
}

#[tokio::test]
async fn html_beyond_the_bounds_is_shown_as_its_text() {
    let api = TestServer::start().await;
    for html in [
        format!("{}<b>deep</b>", "<div>".repeat(1_000)),
        format!("<b {}>deep</b>", "a=1 ".repeat(3) + &(0..200).map(|n| format!("a{n} ")).collect::<Vec<_>>().concat()),
        format!("{}deep", "<p>".repeat(30_000)),
    ] {
        assert_eq!(body(&api, &of_html(&html), "").await, "deep", "{}", &html[..20]);
    }
}

#[tokio::test]
async fn an_image_of_the_mail_comes_with_its_page() {
    let api = TestServer::start().await;
    let raw = "Content-Type: multipart/related; boundary=r\r\n\r\n--r\r\nContent-Type: text/html\r\n\r\n\
               <img src=\"cid:logo@x\"><img src=\"cid:other@x\">\r\n--r\r\nContent-Type: image/gif\r\n\r\nx\r\n--r\r\n\
               Content-Type: image/png\r\nContent-ID: <logo@x>\r\nContent-Disposition: inline\r\n\r\npng\r\n--r--";
    let id = api.receive(&["ann@example.test"], raw).await.remove(0);
    let embedded = "<img src=\"data:image/png;base64,cG5n\"><img>";
    assert_eq!(body(&api, raw, "").await, embedded);
    let image = api.get(&format!("/api/mail/messages/{id}/attachments/1")).await;
    assert_eq!((image.header("content-type"), &*image.body), (Some("image/png"), &b"png"[..]));
}

#[tokio::test]
async fn an_image_that_is_named_again_and_again_makes_no_large_page() {
    let api = TestServer::start().await;
    let image = "QUJD".repeat(5_000);
    let raw = format!(
        "Content-Type: multipart/related; boundary=r\r\n\r\n--r\r\nContent-Type: text/html\r\n\r\n{}\r\n--r\r\n\
         Content-Type: image/gif\r\nContent-ID: <a>\r\nContent-Transfer-Encoding: base64\r\n\r\n{image}\r\n--r--",
        "<img src=cid:a>".repeat(1_000)
    );
    let body = body(&api, &raw, "").await;
    assert!(body.starts_with(&format!("<img src=\"data:image/gif;base64,{image}\">")), "{body:.60}");
    assert!(body.ends_with("<img><img>") && body.len() < 4 * raw.len(), "{} octets", body.len());
}

#[tokio::test]
async fn html_that_takes_long_to_write_is_shown_as_its_text() {
    let api = TestServer::with("max-message-size = '2MB'").await;
    for piece in ["&", "\u{a3}"] {
        let text = piece.repeat(1_000_000 / piece.len());
        let escaped = text.replace('&', "&amp;");
        assert!(body(&api, &of_html(&format!("<b>{text}</b>")), "").await == escaped, "{piece}");
    }
}

#[tokio::test]
async fn the_text_is_that_of_the_mail_or_that_of_its_html() {
    let api = TestServer::start().await;
    for (raw, expected) in [
        ("\r\n<b>1</b>\r\n2", "<b>1</b>\n2"),
        (&of_html("<p>one</p><p>gr\u{fc}n</p><script>x</script>"), "one\n\ngr\u{fc}n"),
        ("Content-Type: image/png\r\n\r\nx", ""),
    ] {
        let id = api.receive(&["ann@example.test"], raw).await.remove(0);
        let answer = api.get(&format!("/api/mail/messages/{id}/text")).await;
        assert_eq!(answer.header("content-type"), Some("text/plain; charset=utf-8"));
        assert_eq!(String::from_utf8_lossy(&answer.body), expected);
    }
}
