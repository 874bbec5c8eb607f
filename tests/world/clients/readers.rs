//! Files of the program that others read: reports.
//! Mechanism: it goes with reports of `expect`.

use std::process::Command;

use super::serve;
use crate::support::programs;
use crate::support::smtp_peer::SmtpPeer;

const ANN: &str = "ann@example.test";

/// What a reader of XML finds in the file of a report: the counts, and the name, message and text of the failure.
const READ_JUNIT: &str = "
import sys, xml.etree.ElementTree as tree
suite = tree.parse(sys.argv[1]).getroot().find('testsuite')
case = suite.find('testcase')
failure = case.find('failure')
print([suite.get(name) for name in ('tests', 'failures', 'errors')], float(case.get('time')) >= 0)
print(ascii(case.get('name')))
if failure is not None:
    print(failure.get('message'))
    print(ascii(failure.text))
";

#[tokio::test]
#[ignore = "needs Python and prove"]
async fn reports_of_expect_are_read_whatever_the_mail_has() {
    let (dir, daemon) = serve(&[]);
    let (junit, tap) = (dir.path().join("result.xml"), dir.path().join("result.tap"));
    let (to_junit, to_tap) = (format!("junit={}", junit.display()), format!("tap={}", tap.display()));
    let head = "From: Ann <ann@sender.test>\r\nSubject: a\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n";
    let mail = format!("{head}]]></failure><x a=\"\u{1}\u{8}\u{1b}[2J\u{9b}\u{ffff}\u{202e} &amp; # TODO\r\n");
    SmtpPeer::greeted(daemon.smtp).await.deliver(ANN, &mail).await;
    let expect = |assertion: &str, wanted: &str| {
        let args = ["expect", ANN, "--timeout", "0s", "--report", &to_junit, "--report", &to_tap, assertion, wanted];
        let code = daemon.tempmail(&args).code;
        let xml = programs::run(Command::new(programs::find("python3")).args(["-c", READ_JUNIT]).arg(&junit), "");
        let proved = Command::new(programs::find("prove")).args(["--exec", "cat"]).arg(&tap).output().expect("prove");
        let [xml, proved] = [xml, proved].map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
        assert!(!proved.contains("Parse errors"), "{proved}");
        (code, xml, proved)
    };

    let (code, xml, proved) = expect("--text", "code # SKIP <&>");
    assert!(code == Some(8) && proved.contains("Failed 1/1 subtests"), "{proved}");
    let lines: Vec<&str> = xml.lines().collect();
    let name = "'ann@example.test gets a mail: text matches /code # SKIP <&>/'";
    let message = "1 mail came for ann@example.test within 0s, none of them as expected";
    assert_eq!(lines[..3], ["['1', '1', '0'] True", name, message]);
    let text = r#"]]></failure><x a="\u2401\u2408\u241b[2J<U+009B>\ufffd<U+202E> &amp; # TODO"#;
    assert!(lines[3].contains(text), "{xml}");

    let (code, xml, proved) = expect("--from", "sender.test");
    assert!(code == Some(0) && proved.contains("Result: PASS"), "{proved}");
    assert!(xml.starts_with("['1', '0', '0'] True\n"), "{xml}");
    daemon.stop();
}
