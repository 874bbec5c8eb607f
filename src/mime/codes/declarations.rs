//! What the declarations of a style say about how text looks.

/// The size of plain text in pixels.
pub(super) const PLAIN_PX: f32 = 16.0;
pub(super) const WHITE: u32 = 0xff_ffff;
/// Text that is moved farther than so many pixels out of the page is not seen.
const MOVED_PX: f32 = 500.0;

/// The declarations of one `style` attribute or of one rule. Of those of one property the last one counts.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Declarations {
    pub(super) is_hidden: bool,
    /// A background or a border.
    pub(super) is_boxed: bool,
    pub(super) is_block: Option<bool>,
    pub(super) is_bold: Option<bool>,
    pub(super) is_preformatted: Option<bool>,
    pub(super) font_size: Option<Length>,
    pub(super) letter_spacing: Option<Length>,
    pub(super) color: Option<u32>,
    pub(super) background: Option<u32>,
}

impl Declarations {
    /// Reads the text of a `style` attribute, or what a rule has between its braces.
    pub(super) fn of(text: &str) -> Self {
        let mut declarations = Self::default();
        for declaration in text.split(';') {
            let Some((property, value)) = declaration.split_once(':') else { continue };
            let value = value.trim().to_ascii_lowercase();
            let value = value.trim_end_matches("!important").trim_end();
            declarations.add(&property.trim().to_ascii_lowercase(), value);
        }
        declarations
    }

    fn add(&mut self, property: &str, value: &str) {
        match property {
            "display" => {
                self.is_hidden |= value == "none";
                self.is_block = Some(matches!(value, "block" | "table" | "flex"));
            }
            "visibility" => self.is_hidden |= value == "hidden",
            "mso-hide" => self.is_hidden |= value == "all",
            "opacity" | "max-height" | "height" | "max-width" => {
                // Whatever a share is of, it is something.
                self.is_hidden |= Length::of(value).is_some_and(|it| it.px(PLAIN_PX) <= 0.0);
            }
            "text-indent" | "left" | "right" | "top" | "bottom" | "margin-left" | "margin-top" => {
                self.is_hidden |= Length::of(value).is_some_and(|it| it.px(PLAIN_PX) < -MOVED_PX);
            }
            "clip" | "clip-path" => {
                self.is_hidden |= value.starts_with("rect(0") || value.starts_with("inset(100%");
            }
            "font-size" => self.font_size = Length::of(value).or(self.font_size),
            "font" => self.font(value),
            "font-weight" => self.is_bold = Some(is_bold(value)),
            "letter-spacing" => self.letter_spacing = Some(Length::of(value).unwrap_or(Length::Pixels(0.0))),
            "color" if value == "transparent" => self.is_hidden = true,
            "color" => self.color = color(value).or(self.color),
            "background" | "background-color" => {
                self.is_boxed = true;
                self.background = value.split_ascii_whitespace().find_map(color).or(self.background);
            }
            "border" => self.is_boxed |= !value.starts_with("none") && !value.starts_with('0'),
            "white-space" => self.is_preformatted = Some(value.starts_with("pre")),
            _ => {}
        }
    }

    /// The property `font`, which has weight and size among other words.
    fn font(&mut self, value: &str) {
        for word in value.split_ascii_whitespace() {
            let size = word.split('/').next().unwrap_or(word);
            if word == "bold" || matches!(word, "600" | "700" | "800" | "900") {
                self.is_bold = Some(true);
            } else if let Some(length) = Length::of(size).filter(|_| size.ends_with(['x', 't', 'm', '%'])) {
                self.font_size = Some(length);
            }
        }
    }
}

fn is_bold(weight: &str) -> bool {
    weight.starts_with("bold") || weight.parse::<f32>().is_ok_and(|weight| weight >= 600.0)
}

/// A length: so many pixels, or a share of the size of the text around it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Length {
    Pixels(f32),
    Share(f32),
}

impl Length {
    fn of(value: &str) -> Option<Self> {
        match value {
            "x-large" => return Some(Self::Pixels(24.0)),
            "xx-large" | "xxx-large" => return Some(Self::Pixels(32.0)),
            "larger" => return Some(Self::Share(1.2)),
            "medium" => return Some(Self::Pixels(PLAIN_PX)),
            "large" => return Some(Self::Pixels(18.0)),
            "small" | "x-small" | "xx-small" => return Some(Self::Pixels(12.0)),
            _ => {}
        }
        let end = value.find(|c: char| !c.is_ascii_digit() && c != '.' && c != '-').unwrap_or(value.len());
        let number: f32 = value[..end].parse().ok()?;
        Some(match value[end..].trim() {
            "pt" => Self::Pixels(number * 4.0 / 3.0),
            "em" => Self::Share(number),
            "rem" | "vw" => Self::Pixels(number * PLAIN_PX),
            "%" => Self::Share(number / 100.0),
            _ => Self::Pixels(number),
        })
    }

    /// In pixels, within text of this size.
    pub(super) fn px(self, around_px: f32) -> f32 {
        match self {
            Self::Pixels(px) => px,
            Self::Share(share) => share * around_px,
        }
    }
}

/// A colour as 0xRRGGBB. Of the named ones only black and white are known.
pub(super) fn color(value: &str) -> Option<u32> {
    match value {
        "white" => return Some(WHITE),
        "black" => return Some(0),
        _ => {}
    }
    if let Some(list) = value.strip_prefix("rgb(").and_then(|rest| rest.strip_suffix(')')) {
        let mut color = 0;
        for part in list.split(',').take(3) {
            color = color << 8 | u32::from(part.trim().parse::<u8>().ok()?);
        }
        return Some(color);
    }
    let digits = value.strip_prefix('#')?;
    let number = u32::from_str_radix(digits, 16).ok()?;
    match digits.len() {
        6 => Some(number),
        3 => Some((number >> 8 & 0xf) * 0x11_0000 + (number >> 4 & 0xf) * 0x1100 + (number & 0xf) * 0x11),
        _ => None,
    }
}
