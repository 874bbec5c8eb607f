//! Pictures of the page: of each view for those who change it, and the one in the guide.
//! Promise: it outlives the code below it.

use std::fs;
use std::path::Path;

use super::{Trial, views};
use crate::support::smtp_peer::SmtpPeer;

/// Where the pictures of each view are left.
const DIR: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/target/web");
const OF_GUIDE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/man/guide/browser.png");
/// The largest picture of a guide in octets.
const OF_GUIDE_OCTETS_MAX: usize = 200_000;
const WIDTHS: [u32; 3] = [360, 768, 1280];

/// Each view, with a check that no width cuts it off.
#[tokio::test]
#[ignore = "needs Chromium"]
async fn each_view_fits_each_width_and_is_pictured() {
    let trial = Trial::with(views::SETTINGS).await;
    fs::create_dir_all(DIR).expect("a directory");
    for view in views::prepare(&trial).await {
        view.show(&trial).await;
        for width in WIDTHS {
            trial.browser.set_size(width, 800).await;
            trial.expect_to_fit(&format!("{} at {width}", view.name)).await;
            for (theme, is_dark) in [("light", false), ("dark", true)] {
                trial.browser.set_dark(is_dark).await;
                let file = Path::new(DIR).join(format!("{}-{width}-{theme}.png", view.name));
                fs::write(file, trial.browser.screenshot().await).expect("a file");
            }
        }
    }
}

#[test]
fn the_guide_has_a_picture() {
    let picture = fs::read(OF_GUIDE).expect("the picture");
    assert!(picture.len() < OF_GUIDE_OCTETS_MAX, "{} octets", picture.len());
    assert_eq!(size(&picture), (1200, 800));
}

#[tokio::test]
#[ignore = "needs Chromium, and takes the picture of the guide again"]
async fn on_demand_the_picture_of_the_guide() {
    const TO: &str = "quiet-otter@example.test";
    let trial = Trial::start().await;
    let html = "<h2>Welcome to the shop</h2><p>Your verification code is <b>482913</b>. It is valid for ten minutes.</p>\
        <p><a href=\"https://shop.example/confirm?token=1\">Confirm your address</a></p>";
    for (name, from, subject, kind, text) in [
        ("Books", "news@books.example", "Your order has been sent", "plain", "Order 4711 arrives on Friday."),
        (
            "Ann",
            "ann@example.org",
            "Lunch on Thursday?",
            "plain",
            "The usual place at noon? Bring the photos of the garden.",
        ),
        ("Shop", "hello@shop.example", "Your verification code is 482913", "html", html),
    ] {
        let mut peer = SmtpPeer::greeted(trial.server.smtp()).await;
        peer.command("EHLO shop.example", "250").await;
        peer.command(&format!("MAIL FROM:<{from}>"), "250").await;
        peer.command(&format!("RCPT TO:<{TO}>"), "250").await;
        peer.command("DATA", "354").await;
        let head = format!("From: {name} <{from}>\r\nTo: {TO}\r\nSubject: {subject}\r\nContent-Type: text/{kind}");
        peer.command(&format!("{head}\r\n\r\n{text}\r\n."), "250").await;
    }
    trial.browser.set_size(1200, 800).await;
    trial.open_inbox(TO).await;
    trial.browser.press("jo").await;
    trial.browser.until("isLoaded(document.querySelector('iframe'))").await;
    fs::write(OF_GUIDE, trial.browser.screenshot().await).expect("a file");
}

/// The width and the height of a picture in PNG, from its first chunk.
fn size(png: &[u8]) -> (u32, u32) {
    let number = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().expect("four octets"));
    assert_eq!(&png[12..16], b"IHDR");
    (number(16), number(20))
}
