//! How much of a message is parsed. Nothing here refuses a mail: beyond a bound it is shown with less taken apart.

/// Octets of a header section (the message's or a part's) whose fields are read; Postfix has the same bound.
pub const HEADER_SECTION_OCTETS_MAX: usize = 102_400;

/// Octets of a field of the message that are decoded; a longer one is shown undecoded.
///
/// The decoder of RFC 2047 looks for the end of each word up to the end of the field: quadratic in what this bounds.
pub const FIELD_OCTETS_MAX: usize = 16 * 1024;

/// Octets that are read of each field that says what a part is; the rest of the field is ignored. See
/// [`FIELD_OCTETS_MAX`] for why, and there are up to [`PARTS_MAX`] times three of these.
pub const PART_FIELD_OCTETS_MAX: usize = 2 * 1024;

/// Multiparts within multiparts that are taken apart; one that lies deeper is shown as text.
pub const NESTING_MAX: usize = 100;

/// Parts that are looked at, multiparts included; what follows is left out.
pub const PARTS_MAX: usize = 1_000;

/// The longest boundary in octets that is believed. RFC 2046 section 5.1.1 permits 70.
pub const BOUNDARY_OCTETS_MAX: usize = 200;

/// The longest file name of an attachment in octets, as file systems have it.
pub const FILENAME_OCTETS_MAX: usize = 255;

/// The longest `type/subtype` in octets (RFC 6838 section 4.2: 127 each).
pub const CONTENT_TYPE_OCTETS_MAX: usize = 255;
