mod tempmail;

use tempmail::{Inbox, Tempmail};

async fn post(path: &str, form: String) -> u16 {
    let request = reqwest::Client::new().post(std::env::var("APP_URL").expect("APP_URL") + path);
    let request = request.header("Content-Type", "application/x-www-form-urlencoded").body(form);
    request.send().await.expect("an answer").status().as_u16()
}

async fn sign_up(inbox: &Inbox<'_>) {
    let address = &inbox.address;
    post("/sign-up", format!("email={address}")).await;
    let code = inbox.wait_for_code().await;
    assert_eq!(post("/confirm", format!("email={address}&code={code}")).await, 200);
}

#[tokio::test]
#[ignore = "needs the application of APP_URL"]
async fn a_visitor_signs_up() {
    let tempmail = Tempmail::start();
    let inbox = tempmail.inbox().await;
    sign_up(&inbox).await;
    assert_eq!(inbox.delete(None).await, 2);
}

#[tokio::test]
#[ignore = "needs the application of APP_URL"]
async fn a_visitor_signs_up_in_private() {
    let tempmail = Tempmail::start();
    let inbox = tempmail.private_inbox().await;
    sign_up(&inbox).await;
    inbox.end().await;
}

#[tokio::test]
#[ignore = "needs the application of APP_URL"]
async fn a_visitor_is_welcome() {
    let tempmail = Tempmail::start();
    let inbox = tempmail.inbox().await;
    post("/sign-up", format!("email={}", inbox.address)).await;
    let mail = inbox.wait(60, &[("subject", "welcome")]).await;
    let id = mail["id"].as_str().expect("an id");
    assert!(inbox.list(&[("from", "no-reply@")]).await.iter().any(|listed| listed["id"] == id));
    assert!(inbox.read(id).await["bodyText"].as_str().expect("a text").contains("founded"));
    assert_eq!(inbox.wait_for_link().await, "https://app.test/verify?token=8f2a3c4d5e6b");
    assert_eq!(inbox.delete(Some(id)).await, 1);
}
