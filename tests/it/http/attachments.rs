//! `GET /api/mail/messages/{id}/attachments/{index}`: saved, never shown.
//! Promise: it outlives the code below it.

use super::TestServer;

/// A mail with one attachment, whose fields are `fields` and whose content is `hello`.
async fn receive(api: &TestServer, fields: &str) -> String {
    let raw = format!(
        "Content-Type: multipart/mixed; boundary=m\r\n\r\n--m\r\n\r\ntext\r\n--m\r\n{fields}\r\n\
         Content-Transfer-Encoding: base64\r\n\r\naGVsbG8=\r\n--m--\r\n"
    );
    api.receive(&["ann@example.test"], &raw).await.remove(0)
}

async fn target(api: &TestServer, fields: &str) -> String {
    format!("/api/mail/messages/{}/attachments/0", receive(api, fields).await)
}

#[tokio::test]
async fn an_attachment_is_saved_and_never_shown() {
    let api = TestServer::start().await;
    for (fields, content_type, disposition) in [
        ("Content-Type: application/pdf; name=a.pdf", "application/pdf", "attachment; filename=\"a.pdf\""),
        ("Content-Type: IMAGE/PNG", "image/png", "attachment; filename=\"attachment-0.png\""),
        ("Content-Type: image/svg+xml; name=a.svg", "application/octet-stream", "attachment; filename=\"a.svg\""),
        (
            "Content-Type: text/html\r\nContent-Disposition: attachment; filename=\"../a.html\"",
            "application/octet-stream",
            "attachment; filename=\"_a.html\"",
        ),
        (
            "Content-Type: text/javascript\r\nContent-Disposition: inline; filename*=utf-8''gr%C3%BCn%0D%0Ax.js",
            "application/octet-stream",
            "attachment; filename=\"gr_n__x.js\"; filename*=UTF-8''gr%C3%BCn__x.js",
        ),
    ] {
        let answer = api.get(&target(&api, fields).await).await;
        assert_eq!((answer.status.as_u16(), &*answer.body), (200, &b"hello"[..]));
        assert_eq!(answer.header("content-type"), Some(content_type));
        assert_eq!(answer.header("content-disposition"), Some(disposition));
        assert_eq!(answer.header("content-length"), Some("5"));
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
    }
}

#[tokio::test]
async fn an_index_without_an_attachment_is_not_found() {
    let api = TestServer::start().await;
    let id = receive(&api, "Content-Type: image/png").await;
    for index in ["1", "-1", "x", "99999999999999999999999999", "0%00", "..%2f0"] {
        let answer = api.get(&format!("/api/mail/messages/{id}/attachments/{index}")).await;
        assert_eq!((answer.status.as_u16(), answer.problem().as_str()), (404, "not_found"), "{index}");
    }
    assert_eq!(api.get(&format!("/api/mail/messages/{id}/attachments/%ff")).await.problem(), "id_invalid");
    assert_eq!(api.get("/api/mail/messages/1/attachments/0").await.problem(), "id_invalid");
}
