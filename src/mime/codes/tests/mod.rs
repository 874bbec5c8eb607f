mod names;

use std::fmt::Write as _;

use proptest::prelude::*;

use super::*;
use crate::{Message, STEPS};

fn found(raw: &str) -> Findings {
    findings(&Message::new(raw.as_bytes()))
}

fn codes(raw: &str) -> Vec<String> {
    found(raw).codes.into_iter().map(|code| code.code).collect()
}

#[test]
fn a_code_and_a_link_are_found() {
    let found = found(
        "Subject: Your code\r\n\r\nYour verification code is 482913.\r\nOr open https://x.test/verify?t=a1b2c3d4e5\r\n",
    );
    assert_eq!(codes_of(&found), ["482913"]);
    let link = found.link().map(|link| (link.url.as_str(), link.kind));
    assert_eq!(link, Some(("https://x.test/verify?t=a1b2c3d4e5", LinkKind::Verification)));
}

fn codes_of(findings: &Findings) -> Vec<&str> {
    findings.codes.iter().map(|code| code.code.as_str()).collect()
}

#[test]
fn html_that_is_shown_to_people_alone_is_not_searched_as_text() {
    let hidden = format!("<div hidden>{}Your login code is 482913", "<div>".repeat(600));
    let deep = format!("{}<p>Your login code is 482913", "<div>".repeat(600));
    for html in [hidden, deep] {
        let part = |kind: &str, text: &str| format!("--b\r\nContent-Type: text/{kind}\r\n\r\n{text}\r\n");
        let parts = part("plain", "Hello") + &part("html", &html);
        let raw = format!("Subject: s\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n{parts}--b--\r\n");
        assert_eq!(codes(&raw), Vec::<String>::new());
    }
}

#[test]
fn more_evidence_gives_more_confidence() {
    let confidence = |raw: &str| found(raw).code().map_or(0.0, |code| code.confidence);
    let plain = confidence("Subject: Hello\r\n\r\nUse the login code 482913 today.");
    let certain = confidence(
        "Subject: Your login code\r\nContent-Type: text/html\r\n\r\n\
         <p>Your login code, valid for 10 minutes:</p><h1>482913</h1>",
    );
    assert!(CONFIDENCE_MIN <= plain && plain < certain && certain <= 1.0, "{plain} {certain}");
}

#[test]
fn a_link_to_unsubscribe_is_no_answer() {
    let found = found("List-Unsubscribe: <https://x.test/u>\r\nSubject: News\r\n\r\nNothing new.");
    assert_eq!(found.links.len(), 1);
    assert_eq!(found.link(), None);
}

#[test]
fn an_address_says_what_its_link_is_for() {
    for (path, text, expected) in [
        // A longer word in an address hides a shorter one of another kind.
        ("passwordless/a1b2c3d4e5?token=f6a7b8c9", "", Some(LinkKind::SignIn)),
        ("password/a1b2c3d4e5?token=f6a7b8c9", "", Some(LinkKind::Reset)),
        // Words that nobody knows say nothing against an address that says much.
        ("reset-password?token=a1b2c3d4e5", "Kaomi", Some(LinkKind::Reset)),
        ("reset-password/a1b2c3d4e5", "Kaomi", None),
        // A part for one reader alone is enough beside clear words, but each newsletter has a link to its login.
        ("e/l?c=Vb77q", "Confirm your address", Some(LinkKind::Verification)),
        ("e/l?c=Vb77q", "Sign in", None),
        ("e/l?c=Vb77q", "It wasn't me, reset my password", None),
    ] {
        let html = format!("<a href=\"https://x.test/{path}\">{text}</a>");
        let links = found(&format!("Subject: Habari\r\nContent-Type: text/html\r\n\r\n{html}")).links;
        assert_eq!(links.first().map(|link| link.kind), expected, "{path} {text}");
    }
}

#[test]
fn a_number_that_stands_out_needs_no_known_words() {
    for (subject, body, expected) in [
        ("Nambari yako: 482913", "Nambari yako: 482913", &["482913"][..]),
        ("Nambari yako 482913", "<h1>482913</h1>", &["482913"]),
        ("Habari", "<h1>482913</h1>", &[]),
        ("Habari", "Nambari yako: 482913", &[]),
        // Words about security alone, and words about something else.
        ("Sign in", "<p>Confirm that it is you</p><h1>482913</h1>", &["482913"]),
        ("Sign in", "<p>Confirm that it is you</p>Anytown 48291", &[]),
        ("Sign in", "<p>Order</p><h1>482913</h1>", &[]),
    ] {
        let raw = format!("Subject: {subject}\r\nContent-Type: text/html\r\n\r\n{body}");
        assert_eq!(codes(&raw), expected, "{subject}: {body}");
    }
}

#[test]
fn a_number_beside_the_words_for_a_code_is_none() {
    for (subject, body) in [
        ("Your login code", "If you did not ask for the code, call 482913."),
        ("Your login code", "It expires soon. Northfield Credit Union 482913"),
        ("Sign in", "Somebody has to sign in. Parade code: 482913"),
        ("Sign in", "Paradecode: 482913."),
        ("Choisissez", "Choisissez entre ces 2500 recettes"),
        ("Your security code for galaxy-s24 was changed", "Your security code for galaxy-s24 was changed"),
    ] {
        let raw = format!("Subject: {subject}\r\nContent-Type: text/html\r\n\r\n<p>{body}</p>");
        assert_eq!(codes(&raw), [""; 0], "{subject}: {body}");
    }
}

#[test]
fn what_is_near_a_refusal_or_a_name_is_still_a_code() {
    for (subject, body, expected) in [
        // Refusals.
        ("Your code", "Never tell this code to somebody else: 482913", "482913"),
        ("Tu cuenta", "Código de verificación (no lo compartas con otra persona): 482913", "482913"),
        ("OTP", "รหัส OTP (ห้ามบอกคนอื่น) 482913", "482913"),
        ("Sign in", "If you did not ask for this, ignore it; otherwise your login code is 482913.", "482913"),
        ("Sign in", "(If this wasn't you, ignore this mail.) Your code is 482913", "482913"),
        ("Մուտք", "Եթե դուք չեք, անտեսեք։ Ձեր կոդը՝ 482913", "482913"),
        // Words that mean something else in another language, and what is used or made already.
        ("Potvrda prijave", "Unesite taj broj: 482913", "482913"),
        ("אימות", "קוד האימות שמתחת לתמונה: 482913", "482913"),
        ("ログイン", "認証コードのパラメーター：482913", "482913"),
        ("登录", "验证码（账户号登录）482913", "482913"),
        ("Hesab", "Təsdiq kodu kabinet: 482913", "482913"),
        ("Вход", "Код за потвърждение на операция: 482913", "482913"),
        ("Início de sessão", "O código já foi gerado: 482913", "482913"),
        ("Ihre Anmeldung", "Der Code wurde bereits erzeugt: 482913", "482913"),
        ("लॉगिन", "आपका ओटीपी नंबर: 482913", "482913"),
        ("تسجيل الدخول", "رمز التحقق بناءً على طلبك: 482913", "482913"),
        // The person addressed, and the name of the sender.
        ("Connexion", "Cher sociétaire, 482913 est votre code de connexion", "482913"),
        ("Connexion", "Voyage Privé : 482913 est votre code", "482913"),
        ("登录", "【预约挂号】482913为您的验证码", "482913"),
        ("登录", "【航班管家】482913是您的登录验证码", "482913"),
        ("로그인", "[우체국택배] 482913 인증번호를 입력해 주세요", "482913"),
        ("Your linear.dev code", "Here is your linear.dev code: 482913", "482913"),
        ("Logga in", "Din appkod: 482913", "482913"),
        ("Anmeldung", "Dein Netflixcode: 482913", "482913"),
        ("Your code for O2", "Your code for O2 482 913", "482913"),
        ("Sign in", "Your login code is amber-fox-42 and nothing else", "amber-fox-42"),
        ("Sign in", "Code X7K2Q9 29 11 2026", "X7K2Q9"),
    ] {
        assert_eq!(codes(&format!("Subject: {subject}\r\n\r\n{body}")), [expected], "{subject}: {body}");
    }
}

#[test]
fn codes_of_letters_need_words_that_leave_no_doubt() {
    for (body, expected) in [
        ("<p>Type in this activation code:</p><p>WRKTPL</p>", &["WRKTPL"][..]),
        ("<p>Type in this activation code:</p><p>kVtRmqZe</p>", &["kVtRmqZe"]),
        ("<p>Type in this activation code:</p><p>copper-lantern-otter</p>", &["copper-lantern-otter"]),
        ("Enter the following code in the web vault to go on: 888eed", &["888eed"]),
        ("<p>Your security code:</p><p>XqaJcc</p>", &["XqaJcc"]),
        ("<p>Your security code:</p><p>LinkedIn</p>", &[]),
        ("<p>Your security code was sent to:</p><p>JoBell77x</p>", &[]),
        ("<p>Your security code:</p><p>k7Qm2xP9aB4z</p>", &["k7Qm2xP9aB4z"]),
        ("Security code: k7Qm2xP9aB4z is new", &[]),
        ("<p>Confirm your address.</p><p>YouTube</p>", &[]),
        ("<p>Confirm your address.</p><p>k7Qm2xP9aB4z</p>", &[]),
        ("<p>Confirm your address.</p><p>WRKTPL</p>", &[]),
        ("<p>Confirm your address.</p><p>copper-lantern-otter</p>", &[]),
        ("Enter the code on the page 888eed of the manual", &[]),
    ] {
        let raw = format!("Subject: Confirm your address\r\nContent-Type: text/html\r\n\r\n{body}");
        assert_eq!(codes(&raw), expected, "{body}");
    }
}

#[test]
fn what_a_link_has_as_a_code_is_one_in_the_text() {
    for (path, text, expected) in [
        ("verify?code=CD650T", "A new address was added. CD650T) Was it not you?", &["CD650T"][..]),
        ("verify?key=CD650T", "A new address was added. CD650T) Was it not you?", &[]),
        ("verify-email/NRMFPIOE", "Or enter the code \"NRMFPIOE\" there.", &["NRMFPIOE"]),
        ("verify-email/NRMFPIOE", "<h1>LOGIN CODE</h1>", &[]),
    ] {
        let html = format!("<a href=\"https://x.test/{path}\">Verify your address</a><p>{text}</p>");
        assert_eq!(
            codes(&format!("Subject: Verify\r\nContent-Type: text/html\r\n\r\n{html}")),
            expected,
            "{path} {text}"
        );
    }
}

#[test]
fn a_link_is_for_what_its_text_says() {
    for (subject, path, text, expected) in [
        // What is confirmed is what the subject says; what is refused is nothing.
        ("Password reset", "c?t=a1b2c3d4e5", "Confirm", Some(LinkKind::Reset)),
        ("Confirm your address", "revoke?t=a1b2c3d4e5", "Confirm", None),
        ("Confirm your address", "c?t=a1b2c3d4e5", "Revoke", None),
        ("Confirmation of order 1042", "orders?t=a1b2c3d4e5", "Here", None),
        ("Hello", "login/a?key=a1b2c3d4e5", "Set your password", Some(LinkKind::Reset)),
        ("Hello", "login/a?key=a1b2c3d4e5", "Kaomi", None),
        ("Hello", "settings/password", "Change your password", None),
        ("Password changed", "password-reset?t=a1b2c3d4e5", "Not you? Reset your password", None),
    ] {
        let html = format!("<p>Hello</p><a href=\"https://x.test/{path}\">{text}</a>");
        let links = found(&format!("Subject: {subject}\r\nContent-Type: text/html\r\n\r\n{html}")).links;
        assert_eq!(links.first().map(|link| link.kind), expected, "{subject}: {path} {text}");
    }
}

#[test]
fn vouchers_and_codes_of_meetings_are_none() {
    for (subject, body) in [
        ("Enter your code: SKIN15", "Use code SKIN15 and pay 15% less."),
        ("Your gift voucher", "<p>Your code:</p><h1>SKIN15</h1>"),
        ("Your code is ABCD", "Enjoy it: use code SAVE20 at checkout."),
        ("Verifica tu cuenta", "Código de bodega: 482913"),
        ("Sign in to the meeting", "Meeting ID: 841 2093 7715<br>Passcode: 472915"),
    ] {
        let raw = format!("Subject: {subject}\r\nContent-Type: text/html\r\n\r\n{body}");
        assert_eq!(codes(&raw), [""; 0], "{body}");
    }
}

#[test]
fn few_words_are_enough() {
    for (subject, body, expected) in [
        ("Your code is ABCD", "Enter it to sign in.", "ABCD"),
        ("Your code is 482913", "Enter it to sign in. Refer a friend, and both get a discount.", "482913"),
        ("Hello", "4830 is what you need to log in to Pebble.", "4830"),
    ] {
        assert_eq!(codes(&format!("Subject: {subject}\r\n\r\n{body}")), [expected], "{subject}: {body}");
    }
}

#[test]
fn lists_and_addresses_are_bounded() {
    let mut html = String::from("Subject: Verify\r\nContent-Type: text/html\r\n\r\n");
    for number in 0..100 {
        let _ = write!(html, "<a href=\"https://x.test/verify?t=a1b2c3d4e5{number}\">Verify email</a> ");
    }
    let long = format!("<a href=\"https://x.test/verify?t={}\">Verify email</a>", "a1".repeat(3_000));
    let links = found(&format!("{html}{long}")).links;
    assert_eq!(links.len(), LINKS_MAX);
    assert_eq!(found(&format!("Content-Type: text/html\r\n\r\n{long}")).links, []);
    let text = format!("Verify {}", "very ".repeat(100));
    let named = format!("Content-Type: text/html\r\n\r\n<a href=\"https://x.test/verify?t=a1b2c3d4\">{text}</a>");
    assert!(found(&named).links.iter().all(|link| link.text.len() <= 200));
}

#[test]
fn text_made_of_hidden_html_is_not_read() {
    let hidden =
        "Subject: Your code\r\nContent-Type: text/html\r\n\r\n<p style=\"display:none\">Your login code is 482913</p>";
    assert_eq!(codes(hidden), [""; 0]);
}

/// Bodies that are hard to read, about as long as `octets` says.
fn hostile(octets: usize) -> Vec<(&'static str, String)> {
    let repeated = |piece: &str| piece.repeat(octets / piece.len() + 1);
    vec![
        ("digits", repeated("1")),
        ("groups of digits", repeated("123 ")),
        ("single digits", repeated("1 ")),
        ("cells of digits", repeated("<td>1")),
        ("cells of numbers in one row", format!("<td>code{}", repeated("<td>12"))),
        ("codes", repeated("code 482913 ")),
        ("labels", repeated("code ")),
        ("other labels", repeated("order no ")),
        ("hyphens", repeated("a-")),
        ("parts of a code", repeated("A-")),
        ("accents", repeated("a\u{301}")),
        ("different addresses", (0..octets / 16).map(|it| format!("http://a.b/{it} ")).collect::<Vec<_>>().concat()),
        ("nested elements", repeated("<div style=\"color:#fff\">")),
        ("unclosed tags", repeated("<b <a ")),
        ("unclosed quotes", repeated("<a href=\"")),
        ("end tags", repeated("</p></td>")),
        ("anchors", repeated("<a href=https://x.test/verify?t=a1b2c3d4>go</a>")),
        ("anchors in anchors", repeated("<a href=//x>verify order ")),
        ("addresses", repeated("verify here https://x.test/verify/a1b2c3d4 ")),
        ("schemes", repeated("https://")),
        ("looks", repeated("a<b>b</b>")),
        ("classes", repeated("<i class=\"a b c d e f g h i\">")),
        ("sheets", repeated("<style>.a{color:red}.b{}@media{</style>")),
        ("references", repeated("&#49;&amp;")),
        ("lines", repeated("code\n482913\n")),
        ("Chinese", repeated("验证码")),
        ("a long word", repeated("kod")),
        ("marks", repeated("@a.test #1234\n")),
        (
            "a long rule",
            format!("<style>.a{{{}}}</style>{}", "a:b;".repeat(250), repeated("<b class=\"a a a a a a a a\">")),
        ),
        ("a class again and again", format!("<style>.a{{{}}}</style><b{}>", "a:b;".repeat(250), repeated(" class=a"))),
        ("long hosts", repeated(&format!("https://xn--{}/ ", "a".repeat(1_900)))),
        ("long hosts of Han", repeated(&format!("https://{}/ ", "\u{6c49}".repeat(990)))),
        ("schemes without an address", format!("{}{}", "http ".repeat(1_000), repeated("x "))),
        ("a long line", format!("code\n{}{}", repeated("."), " 482913".repeat(300))),
        ("brackets behind an address", repeated(&format!("https://a{} ", ")".repeat(4_000)))),
        ("declared codes", repeated("verify code: ")),
        ("cells of codes", repeated("<td>123456<td>code")),
        ("codes without blanks", repeated("代码123456，")),
        ("codes for a long word", format!("{}{}", "123456代码、".repeat(300), repeated("a"))),
        ("prices", repeated("1.456")),
        ("long prices", repeated("123.456")),
        ("ends of numbers", repeated("...123456")),
        ("refusals", format!("{}{}", repeated("not you "), "not you: code 482913 ".repeat(300))),
        ("parts of terms", repeated("4829;~")),
        ("parts of masks", repeated("4829;*")),
        ("a long word before a label", format!("{} code x<br>{}", repeated("a"), "QWER ".repeat(300))),
    ]
}

/// The most steps for an octet.
const STEPS_MAX: usize = 12;

fn work(body: &str) -> usize {
    let raw = format!("Subject: code\r\nContent-Type: text/html\r\n\r\n{body}");
    let message = Message::new(raw.as_bytes());
    STEPS.set(0);
    findings(&message);
    STEPS.get()
}

#[test]
fn four_times_the_octets_take_four_times_the_work() {
    const OCTETS: usize = 16 * 1024;
    for ((name, small), (_, large)) in hostile(OCTETS).into_iter().zip(hostile(4 * OCTETS)) {
        let (once, four) = (work(&small), work(&large));
        assert!(four <= 5 * once + 10_000, "{name}: {once} and {four} steps");
        assert!(once <= STEPS_MAX * OCTETS, "{name}: {once} steps");
    }
}

#[test]
fn what_is_beyond_the_bound_is_not_read() {
    for (name, body) in hostile(1024 * 1024) {
        let steps = work(&body);
        assert!(steps <= STEPS_MAX * VISIBLE_TEXT_OCTETS_MAX, "{name}: {steps} steps");
    }
}

/// A mail of 100 KB as many services send them.
fn newsletter() -> String {
    let mut html = String::from("Subject: Your code\r\nContent-Type: text/html\r\n\r\n");
    while html.len() < 100 * 1024 {
        html.push_str(
            "<table style=\"width:100%;background-color:#fff\"><tr><td class=\"c\" style=\"padding:8px;font-size:14px\">\
             Order 1204 of 12 May 2026 &amp; more: <a href=\"https://x.test/p/1204?u=a1b2c3d4\">Read on</a></td></tr></table>",
        );
    }
    html + "<p>Your login code is <b>482913</b></p>"
}

/// Prints the time of a mail of 100 KB. Run it with `--release --package tempmail-mime the_time_of -- --ignored --nocapture`.
#[test]
#[ignore = "a measurement"]
fn the_time_of_a_long_newsletter() {
    for (name, body) in std::iter::once(("newsletter", newsletter())).chain(
        hostile(100 * 1024)
            .into_iter()
            .map(|(name, body)| (name, format!("Subject: code\r\nContent-Type: text/html\r\n\r\n{body}"))),
    ) {
        let message = Message::new(body.as_bytes());
        let times: Vec<_> = (0..20)
            .map(|_| {
                let start = std::time::Instant::now();
                findings(&message);
                start.elapsed()
            })
            .collect();
        println!("{name}: {:?}", times.iter().min());
    }
}

proptest! {
    #[test]
    fn any_octets_give_findings(raw in prop::collection::vec(any::<u8>(), 0..2_000)) {
        let findings = findings(&Message::new(&raw));
        prop_assert!(findings.codes.len() <= CODES_MAX && findings.links.len() <= LINKS_MAX);
    }

    #[test]
    fn anything_that_looks_like_mail_gives_findings(
        subject in "(code|код|验证码|[0-9 -]{1,9}|\\PC){0,8}",
        body in "(<[a-z/!-]{0,6}|<a href=|<td>|</a>|https?://|x\\.test|code|order|код|验证码|رمز|１２|[0-9]{1,7}|[A-Z]{1,4}|[-#@. \n\t:;=\"'>&]|\\PC){0,60}",
    ) {
        for kind in ["html", "plain"] {
            let raw = format!("Subject: {subject}\r\nContent-Type: text/{kind}; charset=utf-8\r\n\r\n{body}");
            let findings = findings(&Message::new(raw.as_bytes()));
            for code in &findings.codes {
                prop_assert!(code.code.len() <= 43 && code.code.is_ascii(), "{code:?}");
                prop_assert!((CONFIDENCE_MIN..=1.0).contains(&code.confidence), "{code:?}");
            }
            for link in &findings.links {
                prop_assert!(link.url.starts_with("http") && link.url.is_ascii(), "{link:?}");
            }
        }
    }
}
