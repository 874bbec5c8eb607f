//! Limits of parsing. No limit refuses a mail: what exceeds one is shown undecoded or left out.

/// The most octets of a header section whose fields are read, for messages and parts. Postfix has this limit too.
pub const HEADER_SECTION_OCTETS_MAX: usize = 102_400;

/// The longest field of a message that is decoded, in octets. A longer field is shown undecoded.
///
/// The decoder of RFC 2047 searches the whole field for the end of each word, which takes quadratic time.
pub const FIELD_OCTETS_MAX: usize = 16 * 1024;

/// The most octets that are read of a part's field. The rest of the field is ignored.
///
/// The limit is lower than [`FIELD_OCTETS_MAX`], since each of [`PARTS_MAX`] parts has three such fields.
pub const PART_FIELD_OCTETS_MAX: usize = 2 * 1024;

/// The deepest nesting of multiparts. A multipart that is nested deeper is shown as text.
pub const NESTING_MAX: usize = 100;

/// The most parts of a message, multiparts included. Later parts are left out.
pub const PARTS_MAX: usize = 1_000;

/// The longest boundary that is accepted, in octets. RFC 2046 section 5.1.1 permits 70.
pub const BOUNDARY_OCTETS_MAX: usize = 200;

/// The longest file name of an attachment in octets, which is the limit of file systems.
pub const FILENAME_OCTETS_MAX: usize = 255;

/// The longest `type/subtype` in octets. RFC 6838 section 4.2 permits 127 octets each.
pub const CONTENT_TYPE_OCTETS_MAX: usize = 255;

/// The most octets of HTML or text that are read for codes and links, and for the visible text that tools get. Large mail
/// services show about as much of a mail. The body as plain text is made of all of the HTML.
pub const VISIBLE_TEXT_OCTETS_MAX: usize = 128 * 1024;

/// The most open elements of HTML. What comes after a deeper one is not read, since browsers move it elsewhere.
pub const DEPTH_MAX: usize = 512;

/// The most links of a mail in which codes are searched.
pub const ANCHORS_MAX: usize = 1_000;

/// The most octets of style sheets that are read.
pub const SHEET_OCTETS_MAX: usize = 128 * 1024;

/// Short HTML gets as much work as if it had so many octets more.
pub const WORK_OCTETS_MIN: usize = 400;

/// How much work may be done for each octet of HTML to tell what is in what: elements that are looked at. After that, no
/// more text is seen. Common mails need a tenth of it.
pub const WORK_PER_OCTET: usize = 6;

/// How often selectors are compared with elements or declarations of rules applied, for each octet of HTML. After
/// that, no more text is seen. Common mails need an eighth of it.
pub const STEPS_PER_OCTET: usize = 3;
