mod tree;

use proptest::prelude::*;

use super::*;
use crate::mime::limits::STEPS_PER_OCTET;
use crate::mime::{Message, STEPS, findings, visible_text};

/// What strangers hide in the tables below, in the place of `XX`.
const SECRET: &str = "your login code is 482913";

/// Declarations that hide an element.
const HIDING_DECLARATIONS: &[&str] = &[
    "display:none",
    "DISPLAY : None !important",
    "display/**/:/**/none",
    "\\64isplay:none",
    "d\\000069 splay:n\\6fne",
    "display:n&#111;ne",
    "display:block;display:none",
    "display:none!important;display:block",
    "color:red;;}display:none;display:none",
    "display:table-column",
    "--x:none;display:var(--x)",
    "display:var(--x,none)",
    "visibility:hidden",
    "visibility:collapse",
    "content-visibility:hidden",
    "opacity:0",
    "opacity:.01",
    "opacity:1%",
    "opacity:calc(0)",
    "opacity:-1",
    "filter:opacity(0)",
    "filter:blur(20px)",
    "filter:blur(0) opacity(1%)",
    "opacity:.2;filter:opacity(20%)",
    "font-size:0",
    "font-size:0!important",
    "font-size:1px",
    "font-size:.1em",
    "font-size:1%",
    "font:0/0 a",
    "font:bold 1px/1 Arial",
    "color:transparent",
    "color:rgba(0,0,0,0)",
    "color:rgba(0, 0, 0, 0.01)",
    "color:rgb(0 0 0 / 0%)",
    "color:#0000",
    "color:#00000000",
    "color:hsla(0,0%,0%,0)",
    "color:hsl(0 0% 0% / 0)",
    "color:oklch(0% 0 0 / 0)",
    "color:color(srgb 0 0 0 / 0)",
    "-webkit-text-fill-color:transparent",
    "color:white",
    "color:Canvas",
    "background:CanvasText",
    "COLOR:WHITE",
    "color:#fff",
    "color:#FFFFFF",
    "color:#ffff",
    "color:#fefefe",
    "color:rgb(255,255,255)",
    "color:rgb(100%,100%,100%)",
    "color:rgba(255,255,255,.9)",
    "color:hsl(0,0%,100%)",
    "color:hsl(240deg 100% 100%)",
    "color:hwb(0 100% 0%)",
    "color:#222;background:#222222",
    "color:navy;background-color:#000080",
    "color:red;background:hsl(0,100%,50%)",
    "color:rgb(1, 2, 3);background-color:rgb(1,2,3)",
    "color:#fff;background:url(x.png) no-repeat",
    "color:#fff;background:rgba(0,0,0,.01)",
    "color:#06c;background:linear-gradient(#06c,#06c)",
    "color:#fff;background:linear-gradient(#fff0,#fefefe,#ffffff80)",
    "background:#000",
    "max-height:0;overflow:hidden",
    "max-height:0px;overflow:hidden",
    "height:0;overflow:hidden",
    "height:calc(0px);overflow:hidden",
    "height:0;overflow-y:hidden",
    "height:0;overflow:clip",
    "height:0;min-height:1%;overflow:hidden",
    "height:0;min-height:auto;overflow:hidden",
    "max-block-size:0;overflow:hidden",
    "inline-size:0;overflow:hidden",
    "height:1px;width:1px;overflow:hidden",
    "width:0;overflow:hidden;white-space:nowrap",
    "max-width:0;overflow:hidden",
    "line-height:0;overflow:hidden",
    "line-height:1px;overflow:hidden",
    "text-indent:-9999px",
    "text-indent:-100em",
    "text-indent:100%;white-space:nowrap;overflow:hidden",
    "letter-spacing:-1em",
    "letter-spacing:-50px",
    "position:absolute;left:-9999px",
    "position:absolute;left:-999em",
    "position:fixed;right:-200%",
    "position:absolute;inset-inline-start:-9999px",
    "position:relative;top:-5000px",
    "position:absolute;top:99999px",
    "position:absolute;inset:-9999px auto auto 0",
    "margin-left:-9999px",
    "margin-inline-start:-9999px",
    "margin-top:-10000px",
    "margin:-9999px 0 0",
    "position:absolute;clip:rect(0,0,0,0)",
    "position:absolute;clip:rect(1px 1px 1px 1px)",
    "position:absolute;clip:rect(0 0 1px 200px)",
    "clip-path:inset(100%)",
    "clip-path:inset(50%)",
    "clip-path:inset(0 100% 0 0)",
    "-webkit-clip-path:circle(0)",
    "clip-path:circle(0 at 50% 50%)",
    "clip-path:polygon(0 0,0 0,0 0)",
    "transform:scale(0)",
    "transform:scale(0,1)",
    "transform:scaleY(0)",
    "transform:scale3d(0,0,0)",
    "transform:rotate(5deg) scale(.01)",
    "-ms-transform:matrix(0,0,0,0,0,0)",
    "transform:translateX(-9999px)",
    "transform:translate(-9999px,0)",
    "transform:rotateX(90deg)",
    "transform:rotateY(.25turn)",
    "transform:rotateX(100grad)",
    "transform:rotateX(1.5708rad)",
    "scale:0",
    "translate:-9999px",
    "rotate:x 90deg",
    "zoom:0",
    "zoom:.01",
    "mask:linear-gradient(transparent,transparent)",
    "-webkit-mask-image:linear-gradient(#0000,#0000)",
    "mask-image:url(none.png)",
];

/// HTML that hides what is in the place of `XX`, by other means than an attribute `style`.
const HIDING_HTML: &[&str] = &[
    "<p hidden>XX</p>",
    "<p HIDDEN=until-found>XX</p>",
    "<div popover>XX</div>",
    "<input type=hidden value='XX'>",
    "<font color=white>XX</font>",
    "<font color=ffffff>XX</font>",
    "<font color='#FFF'>XX</font>",
    "<table><tr><td bgcolor=#333333 style='color:#333'>XX</td></tr></table>",
    "<table bgcolor=red><tr><td><font color='#f00'>XX</font></td></tr></table>",
    "<table><tr bgcolor=black><td>XX</td></tr></table>",
    "<table><tr><td style=display:block;height:0;overflow:hidden>XX</td></tr></table>",
    "<iframe>XX</iframe>",
    "<iframe srcdoc='<p>XX</p>'></iframe>",
    "<object data=x>XX</object>",
    "<object data=x><object data=y></object>XX</object>",
    "<noscript><p>XX</p></noscript>",
    "<noembed>XX</noembed>",
    "<noframes>XX</noframes>",
    "<datalist><option>XX</option></datalist>",
    "<select><option>a<option>XX</select>",
    "<dialog>XX</dialog>",
    "<details><p>XX</p></details>",
    "<details>XX<summary>More</summary></details>",
    "<details><summary>More</summary><p>XX</p></details>",
    "<details><summary>More</summary><summary>XX</summary></details>",
    "<details><div><summary>XX</summary></div></details>",
    "<template>XX</template>",
    "<template style=display:block><template></template><p>XX</p></template>",
    "<title>XX</title>",
    "<title>x</titles>XX</title>",
    "<script>XX</script>",
    "<style>XX</style>",
    "<video src=x>XX</video>",
    "<audio src=x>XX</audio>",
    "<canvas>XX</canvas>",
    "<progress>XX</progress>",
    "<meter>XX</meter>",
    "<svg><desc>XX</desc></svg>",
    "<ruby>a<rp>XX</rp></ruby>",
    "<!-- XX -->",
    "<!-- > XX -->",
    "<!--[if mso]><p>XX</p><![endif]-->",
    "<![CDATA[ XX ]]>",
    "<!XX>",
    "<?XX>",
    "</ XX>",
    "<p title='XX' data-x=\"XX\">x</p>",
    "<a href=https://x.test/><img alt='XX' width=1 height=1></a>",
    "<a href=https://x.test/ style=font-size:0><img alt='XX'></a>",
    "<div style=display:none><div>XX</div></div>",
    "<div style=display:none><p style=display:block;visibility:visible;opacity:1>XX</p></div>",
    "<div style=opacity:.2><div style=opacity:.2>XX</div></div>",
    "<div style=opacity:.01><div style=opacity:100>XX</div></div>",
    "<div style=opacity:-1><div style=opacity:-1>XX</div></div>",
    "<p style=text-indent:-9999px><span style=text-indent:0>XX</span></p>",
    "<p style=text-indent:-9999px><span style=display:block>XX</span></p>",
    "<span style=position:absolute;width:0;overflow:hidden>XX</span>",
    "<span style=float:left;width:0;overflow:hidden>XX</span>",
    "<span style=display:inline-block;height:0;overflow:hidden>XX</span>",
    "<div style=display:inline-flex><span style=width:0;overflow:hidden>XX</span></div>",
    "<div style=display:-webkit-box><span style=width:0;overflow:hidden>XX</span></div>",
    "<div style='display:inline grid'><span style=width:0;overflow:hidden>XX</span></div>",
    "<table><tr><td style=position:absolute;height:0;overflow:hidden>XX</td></tr></table>",
    "<div style=max-height:0;overflow:hidden><p style=font-size:20px>XX</p></div>",
    "<div style=font-size:0><span>XX</span></div>",
    "<div style=font-size:0><span style=font-size:2em>XX</span></div>",
    "<div style=color:white><p>XX</p></div>",
    "<div style=background:#000;color:#fff><p style=background:#fff>XX</p></div>",
    "<a href=https://x.test/ style=background:blue>XX</a>",
    "<style>.h{display:none}</style><p class=h>XX</p>",
    "<style>.h{display:none}</style><p class='a b c d e f g i j h'>XX</p>",
    "<style>.h{display:none}</style><p class='&#104;'>XX</p>",
    "<style>.\\68 {display:none}</style><p class=h>XX</p>",
    "<style>#h{display:none}</style><p id=h>XX</p>",
    "<style>x-h{display:none}</style><x-h>XX</x-h>",
    "<style>X-H{display:none}</style><x-h>XX</x-h>",
    "<style>[data-h]{display:none}</style><p data-h>XX</p>",
    "<style>p[title='a b']{display:none}</style><p title='a b'>XX</p>",
    "<style>[class^=h]{display:none}</style><p class=hx>XX</p>",
    "<style>.a .h{display:none}</style><div class=a><b><i class=h>XX</i></b></div>",
    "<style>.a>.b .h{display:none}</style><div class=a><p class=b><u class=b><i class=h>XX</i></u></p></div>",
    "<style>p.a.b{display:none}</style><p class='b a'>XX</p>",
    "<style>u *{display:none}</style><u><b>XX</b></u>",
    "<style>u *{color:#fff}</style><u><a href=https://x.test/>XX</a></u>",
    "<style>.x:hover,.h{display:none}</style><p class=h>XX</p>",
    "<style>.x{color:red}.h{display:block}.h{display:none}</style><p class=h>XX</p>",
    "<style>.h{display:none!important}</style><p class=h style=display:block>XX</p>",
    "<style>#h{display:none}.h{display:block}</style><p id=h class=h>XX</p>",
    "<style>.h{display:none}p{display:block}</style><p class=h>XX</p>",
    "<style><!-- .h{display:none} --></style><p class=h>XX</p>",
    "<style>/* .h{} */.h{/* } */display:none}</style><p class=h>XX</p>",
    "<style>.x{content:'}'}.h{display:none}</style><p class=h>XX</p>",
    "<style>@import 'x';@font-face{src:url(x)}.h{display:none}</style><p class=h>XX</p>",
    "<style>@media all{.h{display:none}}</style><p class=h>XX</p>",
    "<style>@media screen, print{.h{display:none}}</style><p class=h>XX</p>",
    "<style>@media only screen and (min-width:1px){.h{display:none}}</style><p class=h>XX</p>",
    "<style>@media not print{@media (max-width:99999px){.h{display:none}}}</style><p class=h>XX</p>",
    "<style>@supports (display:block){.h{display:none}}</style><p class=h>XX</p>",
    "<style>@supports not (-moz-appearance:none){.h{display:none}}</style><p class=h>XX</p>",
    "<style>@supports (-moz-x:y) or (color:red){.h{display:none}}</style><p class=h>XX</p>",
    "<style>@supports not ((-moz-x:y) and (color:red)){.h{display:none}}</style><p class=h>XX</p>",
    "<style>@layer a{.h{display:none}}</style><p class=h>XX</p>",
    "<style>@media (width>1px){.h{display:none}}</style><p class=h>XX</p>",
    "<style>@media (1px<=width<9999px) and (hover){.h{display:none}}</style><p class=h>XX</p>",
    "<style>@media (color) and (pointer:fine){.h{display:none}}</style><p class=h>XX</p>",
    "<style>@media screen and (-webkit-min-device-pixel-ratio:0){.h{display:none}}</style><p class=h>XX</p>",
    "<style>@media (orientation:landscape){.h{display:none}}</style><p class=h>XX</p>",
    "<style>@media (min-height:1px){.h{display:none}}</style><p class=h>XX</p>",
    "<style>:root .h{display:none}</style><html><p class=h>XX</p></html>",
    "<style type=''>.h{display:none}</style><p class=h>XX</p>",
    "<style media=screen>.h{display:none}</style><p class=h>XX</p>",
    "<STYLE TYPE=text/css>.h{display:none}</STYLE><p class=h>XX</p>",
    "<p class=h>XX</p><style>.h{display:none}</style>",
    "<div hidden><p>x</div2></div3>XX</div>",
    "<div hidden><span>x</p></b></td>XX</span></div>",
    "<table><tr><td hidden><table><tr></td></tr></table>XX</td></tr></table>",
    "<span hidden><div></span>XX</div></span>",
    "<p style=\"/* ' */display:none\">XX</p>",
    "<p style='display:none' style='display:block'>XX</p>",
    "<p/style=display:none>XX</p>",
    "<P STYLE = 'display:none'>XX</P>",
];

/// HTML in which a person sees what is in the place of `XX`.
const SHOWING_HTML: &[&str] = &[
    "<p>XX</p>",
    "<p aria-hidden=true>XX</p>",
    "<table><tr><td style=font-size:0><p style=font-size:16px>XX</p></td></tr></table>",
    "<div style=visibility:hidden><p style=visibility:visible>XX</p></div>",
    "<div style=color:#fff><p style=color:#000>XX</p></div>",
    "<div style=line-height:0;overflow:hidden><p style=line-height:20px>XX</p></div>",
    "<p style=line-height:0>XX</p>",
    "<p style=line-height:1;overflow:hidden>XX</p>",
    "<p style=opacity:.6>XX</p>",
    "<p style=opacity:0;opacity:1>XX</p>",
    "<p style=display:none;display:block>XX</p>",
    "<p style=display:none;display:block!important>XX</p>",
    "<p style='display:none none'>XX</p>",
    "<p style=dis/**/play:none>XX</p>",
    "<p style=display:>XX</p>",
    "<p style=*display:none>XX</p>",
    "<p style='/*display:none*/'>XX</p>",
    "<p style=\"content:';display:none'\">XX</p>",
    "<p hidden style=display:block>XX</p>",
    "<p style=height:0>XX</p>",
    "<p style=height:100%;overflow:hidden>XX</p>",
    "<p style=height:auto;max-height:none;overflow:hidden>XX</p>",
    "<p style=width:1%;overflow:hidden>XX</p>",
    "<p style=width:0>XX</p>",
    "<p style=width:0;min-width:100%;overflow:hidden>XX</p>",
    "<p style=height:0;max-height:0;min-height:40px;overflow:hidden>XX</p>",
    "<span style=height:0;max-width:0;overflow:hidden>XX</span>",
    "<a href=https://x.test/ style=width:0;overflow:hidden>XX</a>",
    "<table><tr><td style=display:table-cell;max-width:0;overflow:hidden>XX</td></tr></table>",
    "<p style=position:absolute;top:3500px>XX</p>",
    "<div style=position:relative;top:400%>XX</div>",
    "<p style=text-indent:-9999px><span style=text-indent:0;display:block>XX</span></p>",
    "<div style=text-indent:-9999px><p style=text-indent:0>XX</p></div>",
    "<p><span style=text-indent:1em>XX</span></p>",
    "<div style=display:flex><p><span style=width:0;overflow:hidden>XX</span></p></div>",
    "<p style=font-size:1.2>XX</p>",
    "<table><tr><td style=width:100%;max-width:0;overflow:hidden;text-overflow:ellipsis>XX</td></tr></table>",
    "<p style=left:-9999px>XX</p>",
    "<p style=position:absolute;left:10px>XX</p>",
    "<p style=clip:rect(0,0,0,0)>XX</p>",
    "<p style=clip-path:inset(5px)>XX</p>",
    "<p style=clip-path:circle(50%)>XX</p>",
    "<p style='margin:-100px auto -20px'>XX</p>",
    "<p style=text-indent:2em>XX</p>",
    "<p style=letter-spacing:-1px>XX</p>",
    "<p style=transform:none;filter:none;mask:none>XX</p>",
    "<p style='transform:scale(1.1) rotate(90deg)'>XX</p>",
    "<p style=transform:matrix(0,1,-1,0,0,0)>XX</p>",
    "<p style=mask-image:linear-gradient(#000,transparent)>XX</p>",
    "<p style=zoom:1>XX</p>",
    "<p style=font-size:9px>XX</p>",
    "<p style='font:700 14px/0 Arial'>XX</p>",
    "<p style=color:#999>XX</p>",
    "<p style=color:inherit>XX</p>",
    "<p style=color:var(--text)>XX</p>",
    "<p style=color:#ff>XX</p>",
    "<p style=color:#fff;background:#06c>XX</p>",
    "<p style=color:#fff;background:var(--brand)>XX</p>",
    "<p style=color:#fff;background:linear-gradient(#fff,#333)>XX</p>",
    "<div style=background:var(--brand)><p style=color:#000;background:transparent>XX</p></div>",
    "<p style='color:#fff;background:linear-gradient(90deg,#06c,#0cf)'>XX</p>",
    "<p style=color:#fff;background-color:#06c;background-image:url(x)>XX</p>",
    "<p style='color:#fff;background:rgba(0,0,0,.8)'>XX</p>",
    "<table bgcolor=#000000><tr><td><font color=white>XX</font></td></tr></table>",
    "<table><tr><td bgcolor=333><p style=color:#fff>XX</p></td></tr></table>",
    "<body bgcolor=black text=white>XX</body>",
    "<div style=background:#000;color:#eee><p>XX</p></div>",
    "<div style=color:#fff><a href=https://x.test/>XX</a></div>",
    "<h1 style='color:transparent;background:linear-gradient(#06c,#0cf);-webkit-background-clip:text'>XX</h1>",
    "<p style=mso-hide:all>XX</p>",
    "<!--[if !mso]><!--><p>XX</p><!--<![endif]-->",
    "<![if !mso]><p>XX</p><![endif]>",
    "<!-->XX",
    "<!--->XX",
    "<!-- x --!>XX",
    "<details open><p>XX</p></details>",
    "<details><summary>XX</summary></details>",
    "<dialog open>XX</dialog>",
    "<dialog style=display:block>XX</dialog>",
    "<p hidden>x<div>XX</div>",
    "<table><tr><td hidden>x<td>XX</table>",
    "<b hidden><div></b>XX</div>",
    "<img width=1 height=1 style=display:none>XX",
    "<input hidden>XX",
    "<noscript>x</noscript>XX",
    "<style>@media print{.h{display:none}}</style><p class=h>XX</p>",
    "<style media=print>.h{display:none}</style><p class=h>XX</p>",
    "<style>@media (prefers-color-scheme:dark){.h{color:#fff!important}}</style><p class=h>XX</p>",
    "<style>[data-ogsc] .h{color:#fff!important}</style><p class=h>XX</p>",
    "<style>@media only screen and (max-width:600px){.h{display:none!important}}</style><p class=h>XX</p>",
    "<style>@media not screen{.h{display:none}}</style><p class=h>XX</p>",
    "<style>@media (1px<width<600px){.h{display:none}}</style><p class=h>XX</p>",
    "<style>{display:none}</style><p class=h>XX</p>",
    "<style>.h,{display:none}</style><p class=h>XX</p>",
    "<style>@media (width<600px){.h{display:none}}</style><p class=h>XX</p>",
    "<style>@media (orientation:portrait),(hover:none){.h{display:none}}</style><p class=h>XX</p>",
    "<style type=text/x>.h{display:none}</style><p class=h>XX</p>",
    "<style>@supports not (display:block){.h{display:none}}</style><p class=h>XX</p>",
    "<style>@supports (-moz-appearance:meterbar){.h{display:none}}</style><p class=h>XX</p>",
    "<style>@supports (-webkit-overflow-scrolling:touch) and (color:red){.h{display:none}}</style><p class=h>XX</p>",
    "<style>.h:hover,.h:not(.x),.h::before{display:none}</style><p class=h>XX</p>",
    "<style>.h,::-ms-foo(b){display:none}</style><p class=h>XX</p>",
    "<style>.x .h,.x>.h,.h.x,.h .x,u.h{display:none}</style><p class=h>XX</p>",
    "<style>.a>.h{display:none}</style><div class=a><p><i class=h>XX</i></p></div>",
    "<style>.h{display:none}</style><p class=h style=display:block>XX</p>",
    "<style>.h{display:none}#h{display:block}</style><p id=h class=h>XX</p>",
    "<style>.h{display:block!important}.h{display:none}</style><p class=h>XX</p>",
    "<style>.h{display:none}.h{display:block}</style><p class=h>XX</p>",
    "<style>.h{display:none</style2></style><p>XX</p>",
    "<style>p{color:#fff}td p{color:#000}</style><table><tr><td><p>XX</p></table>",
    "<style>.b{background:#06c}.b a{color:#fff}</style><div class=b><a href=https://x.test/>XX</a></div>",
];

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
    let deep = format!("{}<p hidden>XX</p>", "<div>".repeat(3 * DEPTH_MAX));
    let nested = format!("<style>{}.h{{display:none}}</style><p class=h>XX</p>", "@media all{".repeat(9));
    let parts = format!("<style>{}{{display:none}}</style>{}XX</b>", "b ".repeat(9), "<b>".repeat(9));
    let later = format!("<style>{}.h{{display:none}}</style><p class=h>XX</p>", ".a{color:red}".repeat(2_000));
    let mut leaks = Vec::new();
    for html in
        of_style.chain(of_rule).chain(HIDING_HTML.iter().map(ToString::to_string)).chain([deep, later, nested, parts])
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
    ] {
        let html =
            format!("<style>{rules}.h{{display:none}}</style>{}<p class=h>{SECRET}</p>", "<i></i>".repeat(elements));
        let (visible, shown, has_code) = read(&html);
        assert!(!format!("{visible}{shown}").contains("Seen after") && !has_code, "{}: {visible}", &rules[..20]);
    }
}

#[test]
fn a_body_that_is_hidden_stays_hidden() {
    for html in ["<body hidden>x</body>XX", "<html style=display:none><body>x</body></html>XX", "<!-- XX", "<style>XX"]
    {
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
        ("<td style=display:none>x<td>y", "y"),
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
        ("<p title=\"never closed>text", "text"),
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
        let page = Page::of_html(&format!("<td style='font-size:0'><a href=https://x.test/>{inner}</a></td>"));
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

fn style(name: &str, attributes: &str) -> Style {
    Element::within(&[], name.to_owned(), attributes, &mut Sheet::for_octets(100)).style
}

#[test]
fn what_stands_out_is_known() {
    for large in ["font-size:24px", "font-size:18pt", "font-size:2em", "font-size:150%", "font:bold 30px/40px Arial"] {
        assert!(style("p", &format!(" style=\"{large}\"")).look.is_large, "{large}");
    }
    assert!(style("p", " style=\"letter-spacing:.3em\"").look.is_spaced);
    assert!(style("p", " style=\"font:bold 16px a\"").look.is_bold);
    assert!(style("h1", "").look.is_large && style("font", " size=6").look.is_large);
    assert!(style("td", " style='border:1px solid'").is_boxed && !style("td", " style='border:0 none'").is_boxed);
}

/// Each element of a class has the rules of all its sheets, and there are as many of one as of the other.
#[test]
fn long_html_takes_no_more_steps_than_what_is_searched_for_codes() {
    let html = "<style>.a{color:red}</style><i class=a>x</i>".repeat(20_000);
    let mut sheet = sheets(&html);
    let bound = STEPS_PER_OCTET * VISIBLE_TEXT_OCTETS_MAX;
    assert_eq!((sheet.steps_left, to_text(&html).len()), (bound, 20_000));
    let element = Element::within(&[], "i".to_owned(), " class=a", &mut sheet);
    while sheet.steps_left > 0 {
        let _ = sheet.declared(&element, &[]).count();
    }
    assert_eq!(sheet.declared(&element, &[]).count(), 0);
}

#[test]
fn style_sheets_that_take_long_end() {
    let rules = "div div div div b,[a^=b] [c=d] b{color:red}".repeat(1_000);
    let html = format!("<style>{rules}</style>{}{}", "<div>".repeat(100), "<b class='a b c' e=f>x</b>".repeat(2_000));
    let reader = Reader::read(&html, Form::Searched);
    assert!((1..2_000).contains(&reader.text.matches('x').count()));
    let mut sheet = sheets(&html);
    let bold = Element::within(&[], "b".to_owned(), "", &mut sheet);
    for _ in 0..2_000 {
        let _ = sheet.declared(&bold, std::slice::from_ref(&bold)).count();
    }
    assert_eq!(sheet.steps_left, 0);
    assert_eq!(sheet.declared(&bold, &[]).count(), 0);
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
