mod rows;
mod tree;

use proptest::prelude::*;

use super::declarations::{Declaration, declarations};
use super::tag::Tag;
use super::tree::Element;
use super::*;
use crate::limits::{STEPS_PER_OCTET, WORK_OCTETS_MIN};
use crate::{Message, STEPS, findings, visible_text};
use rows::{HIDING_DECLARATIONS, HIDING_HTML, SHOWING_HTML};

/// What strangers hide in the rows, in the place of `XX`.
const SECRET: &str = "your login code is 482913";

/// What each reader of a mail with this HTML body reads: MCP's tools, people, and the search for codes.
fn read(html: &str) -> (String, String, bool) {
    let html = format!("<p>Seen before.</p>{}\n<p>Seen after.</p>", html.replace("XX", SECRET));
    let raw = format!("Subject: Hello\r\nContent-Type: text/html; charset=utf-8\r\n\r\n{html}");
    let has_code = findings(&Message::new(raw.as_bytes())).codes.iter().any(|code| code.code == "482913");
    (visible_text(&html), to_text(&html), has_code)
}

#[test]
fn what_a_person_does_not_see_is_neither_text_nor_code() {
    let of_style = HIDING_DECLARATIONS.iter().flat_map(|css| {
        let long = "a:b;".repeat(500);
        [format!("<div style=\"{css}\">XX</div>"), format!("<div style=\"{long}{css}\">XX</div>")]
    });
    let of_rule = HIDING_DECLARATIONS.iter().filter(|css| !css.contains(['&', '}']));
    let of_rule = of_rule.map(|css| format!("<style>.h{{{css}}}</style><div class=h>XX</div>"));
    let nested = format!("<style>{}.h{{display:none}}</style><p class=h>XX</p>", "@media all{".repeat(9));
    let parts = format!("<style>{}{{display:none}}</style>{}XX</b>", "b ".repeat(9), "<b>".repeat(9));
    let later = format!("<style>{}.h{{display:none}}</style><p class=h>XX</p>", ".a{color:red}".repeat(2_000));
    let mut leaks = Vec::new();
    for html in of_style.chain(of_rule).chain(HIDING_HTML.iter().map(ToString::to_string)).chain([later, nested, parts])
    {
        let (visible, shown, has_code) = read(&html);
        let is_around = |text: &str| text.contains("Seen before.") && text.contains("Seen after.");
        if visible.contains("482913")
            || shown.contains("482913")
            || has_code
            || !is_around(&visible)
            || !is_around(&shown)
        {
            leaks.push(format!("{}: {visible:?} {shown:?} {has_code}", &html[..html.len().min(120)]));
        }
    }
    assert!(leaks.is_empty(), "{} leaks:\n{}", leaks.len(), leaks.join("\n"));
}

#[test]
fn what_a_person_sees_is_text_and_code() {
    let mut lost = Vec::new();
    for html in SHOWING_HTML {
        let (visible, shown, has_code) = read(html);
        if !visible.contains("482913") || !shown.contains("482913") || !has_code {
            lost.push(format!("{html}: {visible:?} {shown:?} {has_code}"));
        }
    }
    assert!(lost.is_empty(), "{} lost:\n{}", lost.len(), lost.join("\n"));
}

/// Nothing is known of what the rules hide once the steps are used up.
#[test]
fn rules_that_take_too_long_hide_the_rest() {
    for (rules, elements) in [
        ("*{top:0}".repeat(3_000), 120),
        (format!("*{{margin:{}}}", "0 ".repeat(9_000)), 99),
        ("@media all{".repeat(300), 1),
        ("a{".repeat(300), 1),
        (".x{+.h{display:none}}".to_owned(), 1),
    ] {
        let html =
            format!("<style>{rules}.h{{display:none}}</style>{}<p class=h>{SECRET}</p>", "<i></i>".repeat(elements));
        let (visible, shown, has_code) = read(&html);
        assert!(!format!("{visible}{shown}").contains("Seen after") && !has_code, "{}: {visible}", &rules[..20]);
    }
}

#[test]
fn a_body_that_is_hidden_stays_hidden() {
    for html in [
        "<body hidden>x</body>XX",
        "<html style=display:none><body>x</body></html>XX",
        "<!-- XX",
        "<style>XX",
        "<script><!--<script></script>XX</script>",
    ] {
        let html = html.replace("XX", SECRET);
        assert_eq!((visible_text(&html), to_text(&html)), Default::default(), "{html}");
    }
}

#[test]
fn lines_and_cells_are_those_that_a_reader_sees() {
    for (html, text) in [
        ("<p>a</p><p>b<br><br>c</p>", "a\nb\nc"),
        ("<table><tr><td>a<td>b</tr><tr><td>c</table>d", "a\tb\nc\nd"),
        ("a<span style=display:none>x</span>b", "ab"),
        ("<div style=\"display:none\"><b>x</div>y", "y"),
        ("<table><tr><td style=display:none>x<td>y", "y"),
        ("<span style=display:block>x</span>y", "x\ny"),
        ("<pre>a\nb</pre>", "a\nb"),
        ("a\nb", "a b"),
        ("４８２９１３ ٤٨٢ १२३ ௧ 𝟗", "482913 482 123 1 9"),
        ("4\u{200b}8\u{feff}2\u{e0041}9\u{fe0f}1\u{1}3", "482913"),
        ("<!-- x -->a<style>.x{}</style>", "a"),
    ] {
        assert_eq!(Page::of_html(html).text, text, "{html}");
    }
    assert_eq!(Page::of_text(" a\r\n\r\n b\tc").text, "a\nb c");
}

#[test]
fn text_for_people_has_paragraphs_items_and_targets() {
    for (html, text) in [
        ("<p>Hello,</p><p>your code is <b>123 456</b>.</p>", "Hello,\n\nyour code is 123 456."),
        ("a<br>b<BR/>c<br class=x>d<br><br><br>e", "a\nb\nc\nd\n\ne"),
        ("<html><head><title>T</title><style type=\"text/css\">p{}</style></head><body>x</body></html>", "x"),
        ("<script>if (a < b) { '</p>' }</script>x<SCRIPT>", "x"),
        ("<!-- a > b -->x<!-- open", "x"),
        ("<ul><li>one</li><li>two</li><li hidden>three</ul>", "- one\n- two"),
        ("<table><tr><td>a</td><td>b</td></tr><tr><td>c</td></tr></table>", "a b\nc"),
        ("<pre>a\nb</pre>４８\u{200c}", "a\nb\n４８\u{200c}"),
        ("a &lt;b&gt; &amp;&nbsp;&uuml;&#x20AC;&#8364; &no-such; & c", "a <b> & ü€€ &no-such; & c"),
        ("<a href=\"https://x.test/?a=1&amp;b=2\">Verify</a> now", "Verify <https://x.test/?a=1&b=2> now"),
        ("<a href='https://x.test/'>https://x.test/</a>", "https://x.test/"),
        ("<a href=https://x.test/ hidden>y</a>", ""),
        ("<a href=javascript:x>y</a>", "y"),
        ("<img alt=\"a > b\" src=x>after", "after"),
        ("1 < 2 <", "1 < 2 <"),
        ("x<p title=\"never closed>text", "x"),
        ("<aa\u{20000}\u{16ff0}<!a\u{1057c}</a>x", "x"),
        ("<", "<"),
        ("", ""),
    ] {
        assert_eq!(to_text(html), text, "{html}");
    }
}

#[test]
fn what_stands_out_is_found_by_its_position() {
    let page = Page::of_html("<p>a<b>b</b></p><h1>c</h1>");
    let looks: Vec<_> = [0, 1, 3].map(|at| (page.look(at).is_bold, page.look(at).is_large)).into();
    assert_eq!(looks, [(false, false), (true, false), (true, true)]);
}

#[test]
fn an_anchor_has_its_text() {
    let page =
        Page::of_html("x <a href=\"https://a.test/?a=1&amp;b=2\"><b style='background:#06c'>Go</b> on</a> y <a>z</a>");
    let [anchor] = &page.anchors[..] else { panic!("{page:?}") };
    assert_eq!(anchor.target, "https://a.test/?a=1&b=2");
    assert_eq!((page.text[anchor.start..anchor.end].trim(), anchor.is_button), ("Go on", true));
}

#[test]
fn an_anchor_is_there_if_anything_of_it_is_seen() {
    let texts = |inner: &str| {
        let page = Page::of_html(&format!("<div style='font-size:0'><a href=https://x.test/>{inner}</a></div>"));
        page.anchors.iter().map(|it| page.text[it.start..it.end].trim().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(texts("<span style=font-size:16px>Go</span>"), ["Go"]);
    assert_eq!(texts("<img src=x alt=y>"), [""]);
    assert_eq!(texts("<span>Go</span>"), [""; 0]);
    assert_eq!(texts("<img width=1 src=x>"), [""; 0]);
}

#[test]
fn lower_case_keeps_positions() {
    let page = Page::of_line("İSTANBUL ÇĞ Код ẞ");
    assert_eq!(page.text.len(), page.lower.len());
    assert!(page.lower.contains("код") && page.lower.contains("stanbul çğ"));
}

fn style(name: &'static str, attributes: &str) -> Style {
    let mut tree = Tree::of(Sheet::for_octets(100), 100);
    let tag = tree.tag(name.into(), attributes);
    tree.element(tag).style
}

/// An element with this tag, as a sheet reads it.
fn element<'a>(name: &'static str, attributes: &'a str) -> Element<'a> {
    let mut tree = Tree::of(Sheet::default(), 100);
    let tag = tree.tag(name.into(), attributes);
    tree.element(tag)
}

/// What the rules declare for an element within others, with all the steps that this takes.
fn declared(sheet: &mut Sheet, element: &Element<'_>, around: &[Element<'_>]) -> Vec<Declaration> {
    let mut tag = Tag::read(element.tag.name.clone(), element.tag.attributes);
    tag.selectors = sheet.selectors(&tag);
    let mut all = Vec::new();
    sheet.declared(&tag, around, &mut all);
    all
}

#[test]
fn what_stands_out_is_known() {
    for large in ["font-size:24px", "font-size:18pt", "font-size:2em", "font-size:150%", "font:bold 30px/40px Arial"] {
        assert!(style("p", &format!(" style=\"{large}\"")).look.is_large, "{large}");
    }
    assert!(style("p", " style=\"letter-spacing:.3em\"").look.is_spaced);
    assert!(style("p", " style=\"font:bold 16px a\"").look.is_bold);
    assert!(style("h1", "").look.is_large && style("font", " size=6").look.is_large);
    assert!(style("td", " style='border:1px solid'").is_boxed() && !style("td", " style='border:0 none'").is_boxed());
}

/// Each element of a class has the rules of all its sheets, and there are as many of one as of the other.
#[test]
fn steps_are_as_many_as_the_html_is_long() {
    let html = "<style>.a{color:red}</style><i class=a>x</i>".repeat(20_000);
    let mut sheet = sheets(&html);
    let bound = STEPS_PER_OCTET * (html.len() + WORK_OCTETS_MIN);
    assert_eq!(sheet.steps_left, bound);
    let element = element("i", " class=a");
    while sheet.steps_left > 0 {
        declared(&mut sheet, &element, &[]);
    }
    assert!(declared(&mut sheet, &element, &[]).is_empty());
}

/// Each name of a selector costs a step, and an element keeps no property that is not known.
#[test]
fn nothing_in_a_rule_is_free() {
    let html = format!("<style>{}{{color:red}}</style>", "#a".repeat(1_000));
    let mut sheet = sheets(&html);
    let element = element("i", " id=a");
    let before = sheet.steps_left;
    declared(&mut sheet, &element, &[]);
    assert!(before - sheet.steps_left >= 1_000, "{}", before - sheet.steps_left);
    let css = "a:b;margin-a:0;margin-a-left:0;".repeat(1_000);
    assert!(declarations(&mut cssparser::Parser::new(&css)).is_ok_and(|all| all.is_empty()));
}

/// Nothing is known of what the rules hide once the steps are used up, in HTML of any length.
#[test]
fn elements_do_not_multiply_selectors() {
    let rules = format!("<style>{}*{{}}</style>", "*,".repeat(65_000));
    let html = rules + &"<i></i>".repeat(4_000);
    STEPS.set(0);
    to_text(&html);
    assert!(STEPS.get() <= 60 * html.len(), "{}", STEPS.get());
    let long = "<i></i>".repeat(VISIBLE_TEXT_OCTETS_MAX);
    let nested = format!("<style>{}.h{{display:none}}</style><p class=h>{SECRET}</p>{long}", "@media all{".repeat(300));
    assert!(!to_text(&nested).contains(SECRET));
}

/// One id is stronger than any number of classes.
#[test]
fn classes_do_not_outweigh_an_id() {
    let html = format!(
        "<style>#h{{display:none}}{}{{display:block}}</style><p id=h class=h>{SECRET}</p>{}",
        ".h".repeat(257),
        "<!-- -->".repeat(500)
    );
    assert_eq!(to_text(&html), "");
}

/// People read all of a long mail that is no more than its parts again and again.
#[test]
fn long_mails_of_common_rules_are_read_to_the_end() {
    let cell = "<table class=a><tr><td class='b c'><p class=d>x</p></td></tr></table>";
    let html = "<style>.a .b p{margin:0}table td{padding:0}.c p{color:#333}.d{font-size:14px}</style>".to_owned();
    assert_eq!(to_text(&(html + &cell.repeat(20_000))).matches('x').count(), 20_000);
}

#[test]
fn style_sheets_that_take_long_end() {
    let rules = "div div div div b,[a^=b] [c=d] b{color:red}".repeat(1_000);
    let html = format!("<style>{rules}</style>{}{}", "<div>".repeat(100), "<b class='a b c' e=f>x</b>".repeat(2_000));
    let reader = Reader::read(&html, Form::Searched);
    assert!((1..2_000).contains(&reader.text.matches('x').count()));
    let mut sheet = sheets(&html);
    let bold = element("b", "");
    for _ in 0..2_000 {
        declared(&mut sheet, &bold, std::slice::from_ref(&bold));
    }
    assert_eq!(sheet.steps_left, 0);
    assert!(declared(&mut sheet, &bold, &[]).is_empty());
}

#[test]
fn long_values_take_time_in_proportion() {
    let work = |css: &str, count: usize| {
        let html = format!("<style>*{{{}{}}}</style>{}", css, " 0 0,".repeat(count), "<i>".repeat(count));
        STEPS.set(0);
        to_text(&html);
        (STEPS.get(), html.len())
    };
    for css in ["color:", "background:linear-gradient(", "margin:", "clip-path:polygon(", "transform:translate("] {
        let ((once, octets), (four, _)) = (work(css, 1_500), work(css, 6_000));
        assert!(four <= 5 * once && once <= 60 * octets, "{css} {once} and {four} steps for {octets} octets");
    }
}

proptest! {
    #[test]
    fn any_html_is_rendered(html in "(<[a-z/!-]{0,6}|[a-z =\"'>&;#-]|</a>|<a href=https://x|\\PC){0,60}") {
        prop_assert!(to_text(&html).len() <= 4 * html.len() + 16);
    }

    #[test]
    fn any_style_gives_a_page(css in "(display:none|[.#*]?[a-c]|@media |[a-z-]{1,9}:|rgb\\(|calc\\(|[0-9.]{1,4}(px|%|em)?|/\\*|\\*/|[{}();,: >\\[\\]\"'=\\\\-]|\\PC){0,40}") {
        let html = format!("<style>{css}</style><p class=a style=\"{css}\">x</p>y");
        prop_assert!(to_text(&html).len() <= 4 * html.len() + 16);
    }
}
