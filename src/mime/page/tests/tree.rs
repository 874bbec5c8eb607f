//! Which elements are in which ones, where tags alone do not say it.

use proptest::prelude::*;

use super::super::*;

const SECRET: &str = "your login code is 482913";

/// So many texts, each with its number in the place of `N`.
fn numbered(count: usize, text: &str) -> String {
    let all: Vec<_> = (0..count).map(|it| text.replace('N', &it.to_string())).collect();
    all.concat()
}

/// HTML that hides `XX`.
fn hiding() -> Vec<String> {
    let divs = |count: usize| "<div>".repeat(count);
    let ends = |count: usize| "</div>".repeat(count);
    let mut all = vec![
        // Too deep.
        format!("<div style=display:none>{}{}XX", divs(250), ends(240)),
        format!("<div style=display:none>{}{}XX", divs(700), ends(690)),
        format!("<div style=display:none>{}{}{}XX", divs(700), "</x>".repeat(400), ends(600)),
        format!("<div style=display:none>{}{}<p><p><hr>{}XX", divs(700), "</b>".repeat(10), ends(600)),
        format!("{}<div hidden><b></b></b>XX", divs(510)),
        format!("{}<p hidden>XX</p>", divs(1_600)),
        format!("<div hidden>{}{}XX", divs(510), numbered(99, "<xN></div>")),
        // Far from its start tag.
        format!("<b style=color:#000><div style=color:#fff>{}</b>XX", divs(40)),
        format!("<div style=color:#fff><u style=color:#000>{}</u>XX", "<i>".repeat(40)),
    ];
    let plain = [
        // Content without markup.
        "<div style=display:none><textarea></div></textarea>XX",
        "<div style=display:none><xmp></div></xmp>XX",
        "<textarea hidden>XX</textarea>",
        "<progress>XX</progress>",
        "<meter>XX</meter>",
        // Elements without tags.
        "<style>body{display:none}</style>XX",
        "<style>html{color:#fff}</style>XX",
        "<style>body>p{display:none}</style><p>XX",
        "<style>body .h{display:none}</style><head><body class=x><p class=h>XX",
        "<style>tbody .h{display:none}</style><table><tr><td class=h>XX</table>",
        "<style>tbody>tr>.h{display:none}</style><table><td class=h>XX</table>",
        "<style>tbody tbody b{display:block!important}b{display:none}</style><table><tr><td><tbody><tr><td><b>XX",
        "<div><body style=display:none>x</div>XX",
        // Elements that go on.
        "<div><b style=display:none></div>XX",
        "<p><b style=display:none><p>XX",
        "<p><font color=#fff>x<p>XX",
        "<p><i><u><font color=#fff>x</p>XX",
        "<p><b>1<i>2<u>3<s>4<em>5<b>6<i>7<u>8<s>9<em hidden>x<p>XX",
        "<div style=background:#000><font color=#fff></div>XX",
        "<p><b hidden><table><tr><td>x</table>XX",
        "<p><b>x<p hidden></b>XX",
        "<div><b hidden></div><div><div>XX",
        "<b><p hidden></b>XX</p>",
        "<i hidden><b><div></b>XX",
        "<b><i hidden><div></b>XX",
        "<b hidden><b><div></b>XX",
        "<div style=background:#000><b><b><b><b><b><b><b><b><b><font color=#fff></div>XX",
        "<p><code hidden><p>XX",
        "<p><b hidden></p><table>XX</table>",
        "<div><td><b hidden><td>XX",
        "<div style=color:#fff><td style=color:#000>XX",
        // Elements that end later than it seems.
        "<p hidden><button><p>XX",
        "<p hidden><form>XX",
        "<p hidden><table><tr><td>XX",
        "<li hidden><table><tr><td><li>XX",
        "<li hidden><ul></li>XX",
        "<form hidden><div></form>XX",
        "<table><td hidden><svg><td></td></svg>XX",
        "<table><td hidden><template><td></template>XX",
        "<table><td><object><td hidden></object>XX",
        "<svg><p hidden></svg>XX",
        "<div style=visibility:hidden><x style=visibility:visible><span></x>XX",
        "<ul style=visibility:hidden><li><x style=visibility:visible><li>XX",
        "<div style=color:#fff><p style=color:#000><table><tr><td>XX",
        "<option hidden><b><option>XX",
        "<p style=background:#000><form style=color:#fff>XX",
        "<div style=visibility:hidden><table style=visibility:visible>XX</table>",
        "<svg><span hidden></svg>XX",
        "<b hidden><math><mi></b>XX",
        "<div><div><body hidden>x</div>XX</div>",
        // References.
        "<p style=\"display:n&#111ne\">XX",
        "<p style=\"display:n&#x6fne\">XX</p>",
        // Only its own end tag ends it.
        "<svg><g><path></g><text>XX</text></svg>",
        "<svg><svg/><svg></svg>XX</svg>",
        "<b hidden><select></b></select>XX",
        "<svg><style><b hidden></style></svg>XX",
        "<svg><![CDATA[></svg>XX]]>",
        "<svg a=b/>XX",
        "<svg a= />XX",
        "<div style=color:#fff><object><font color=black></object>XX",
        "<div style=color:#fff><svg><a style=color:#000></svg>XX",
        "<table><td><b hidden><object></td></table>XX",
        "<p title=\">XX",
        "<div hidden><plaintext></div>XX",
        "<frameset></frameset>XX",
    ];
    all.extend(plain.map(str::to_owned));
    all
}

/// HTML that shows `XX`.
fn showing() -> Vec<String> {
    let mut all = vec![
        format!("<svg>{}</svg><p>VISIBLE XX", "<path d=a />".repeat(40)),
        format!("<svg>{}</svg><p>VISIBLE XX", "<path d=a>".repeat(40)),
        format!("<select>{}</select><p>XX", "<option>a".repeat(40)),
        format!("<datalist>{}</datalist><p>XX", "<option>a".repeat(40)),
        format!("{}XX", "<p><font size=3>a</p>".repeat(2_000)),
        format!("{}XX", "<div hidden><b>a</div>".repeat(2_000)),
        format!("{}XX", "<p><font face='Arial, Helvetica, sans-serif' color='#333333'>a".repeat(1_000)),
        format!("{}XX", "<b><div class=abc>a</b>".repeat(400)),
    ];
    let plain = [
        "<math><mspace/><mi>x</mi></math>XX",
        "<textarea>a</textarea>XX",
        "<textarea>XX</textarea>",
        "<style>body{background:#000;color:#fff}</style><p style=\"color:#fff\">XX",
        "<style>body{background:#000}</style><html lang=en><head><title>x</title><body class=x style=color:#fff>XX",
        "<html style=background:#000><p style=color:#fff>XX",
        "<style>table>tr{display:none}</style><table><tr><td>XX</table>",
        "<table><tr hidden><td>x<tbody><tr><td>XX</table>",
        "<table><tr><td><b hidden>x</td><td>XX</table>",
        "<div><b hidden>x</div></b>XX",
        "<div hidden><b>x</div>XX",
        "<b hidden><div></b>XX</div>",
        "<p><a href=x hidden>x<p><a href=y>XX</a>",
        "<p><span hidden><p>XX",
        "<svg/>XX",
        "<svg width='1' />XX",
        "<p>x<svg><style>.a{fill:red}</style><title>t</title></svg>XX",
        "<table><tr><td><video src=x></td><td>XX</td></tr></table>",
        "<table><tr><td><object data=x></td></tr></table>XX",
        "<table><tr><td><video src=x><td>XX",
    ];
    all.extend(plain.map(str::to_owned));
    all
}

fn is_seen(html: &str) -> [bool; 2] {
    let html = html.replace("XX", SECRET);
    [Page::of_html(&html).text, to_text(&html)].map(|text| text.contains(SECRET))
}

#[test]
fn what_is_in_something_hidden_is_not_seen() {
    let leaks: Vec<_> = hiding().into_iter().filter(|html| is_seen(html) != [false; 2]).collect();
    assert!(leaks.is_empty(), "{} leaks:\n{}", leaks.len(), leaks.join("\n"));
}

#[test]
fn what_is_in_nothing_hidden_is_seen() {
    let lost: Vec<_> = showing().into_iter().filter(|html| is_seen(html) != [true; 2]).collect();
    assert!(lost.is_empty(), "{} lost:\n{}", lost.len(), lost.join("\n"));
}

#[test]
fn references_need_no_semicolon() {
    for (html, text) in [
        ("&#52&#56&#50", "482"),
        ("&#x34&#X38&#50;", "482"),
        ("&#00000000000000000000000000000000000000052x", "4x"),
        ("&# &#x &#xg &#; &", "&# &#x &#xg &#; &"),
        ("a&#99999999999&#xd800;b", "a\u{fffd}\u{fffd}b"),
    ] {
        assert_eq!(to_text(html), text, "{html}");
    }
}

/// Long attributes of elements that go on are not read again and again.
#[test]
fn elements_go_on_in_linear_time() {
    let (style, paragraphs) = ("a:b;".repeat(500), "<p>x".repeat(5_000));
    let tags = numbered(30, &format!("<b id=N style=\"{style}\">"));
    for html in [format!("<p>{tags}{paragraphs}"), format!("<p hidden>{tags}<font hidden>{paragraphs}")] {
        assert!(to_text(&html).len() <= html.len());
    }
}

proptest! {
    #[test]
    fn any_tags_give_a_page(
        depth in prop_oneof![Just(0), 490..520_usize],
        tags in "(</?(a|b|i|body|div|head|html|math|option|p|select|svg|table|td|textarea|tr)( hidden| x=y|)( /|)>|x){0,99}",
    ) {
        let html = "<div>".repeat(depth) + &tags;
        prop_assert!(to_text(&html).len() <= html.len());
        let starts = tags.replace("</", "<").replace("<table", "<b");
        let hidden = format!("<div hidden><p>{}{starts}x", "<div>".repeat(depth));
        prop_assert_eq!(to_text(&hidden), "");
    }
}
