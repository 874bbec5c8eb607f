//! How text looks, as far as elements, attributes and style sheets say: whether it is seen, and how much it stands out.

use super::Look;
use super::colors::Colors;
use super::declarations::{Declaration, Display, Effect, UNSEEN_PX};
use super::kind::Kind;
use super::tag::Tag;
use super::values::{Length, PLAIN_PX};

/// Text that is moved farther than so many pixels to the left or to the top is not seen, nor farther to the other sides.
const MOVED_PX: std::ops::RangeInclusive<f32> = -120.0..=3_000.0;
/// What is moved so far is not where its surroundings are.
const LINE_PX: f32 = 16.0;
/// Nobody reads text that is made smaller than this share of its size.
const SCALE_MIN: f32 = 0.25;
/// Text of this size stands out.
const LARGE_PX: f32 = 20.0;
/// Signs with gaps of this size stand apart.
const SPACED_PX: f32 = 2.0;
/// Signs with gaps below this share of their size are upon one another.
const SQUEEZED: f32 = -0.4;
/// Nobody sees a colour that differs from the one behind it by less than this.
const CONTRAST_MIN: f32 = 1.0 / 16.0;

/// How the text of an element looks. Most of it is inherited.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Style {
    /// Whether neither the element nor anything in it is seen.
    pub(super) is_hidden: bool,
    /// Whether its text is not seen. That of elements in it may be.
    is_invisible: bool,
    /// Whether lines have no height.
    is_flat: bool,
    /// Whether the box has nearly no height or width, or its size is a share of one that has none.
    is_low: bool,
    pub(super) look: Look,
    /// Whether line ends in the source count.
    pub(super) is_preformatted: bool,
    /// Whether the element has a background or a border of its own, as buttons have. Not inherited.
    pub(super) is_boxed: bool,
    /// Whether the element is a line of its own although its name is not that of a block. Not inherited.
    pub(super) is_block: bool,
    /// Whether a declaration says how the element is laid out, whatever its name is. Not inherited.
    has_display: bool,
    size_px: f32,
    /// How large it is, as a share of what its surroundings say.
    scale: f32,
    /// How far it is moved to the left or to the top, and to the other sides.
    moved_px: [f32; 2],
    opacity: f32,
    color: Colors,
    /// Colours that the text may have in place of `color`: by rules that may count, and as the filling of letters.
    other_colors: [Option<Colors>; 2],
    background: Colors,
    /// The background of the innermost box, without those of inline elements in it.
    box_background: Colors,
    /// What may be behind the text if it is not where it seems to be.
    behind: Colors,
}

impl Default for Style {
    fn default() -> Self {
        Self {
            is_hidden: false,
            is_invisible: false,
            is_flat: false,
            is_low: false,
            look: Look::default(),
            is_preformatted: false,
            is_boxed: false,
            is_block: false,
            has_display: false,
            size_px: PLAIN_PX,
            scale: 1.0,
            moved_px: [0.0; 2],
            opacity: 1.0,
            color: Colors::BLACK,
            other_colors: [None; 2],
            background: Colors::WHITE,
            box_background: Colors::WHITE,
            behind: Colors::WHITE,
        }
    }
}

impl Style {
    /// The style of plain text.
    pub(super) fn preformatted() -> Self {
        Self { is_preformatted: true, ..Self::default() }
    }

    /// Whether a reader sees the text.
    pub(super) fn is_seen(&self) -> bool {
        let is_clear = |color: Colors| color.contrast(self.background) * self.opacity >= CONTRAST_MIN;
        let mut others = self.other_colors.into_iter().flatten();
        !self.is_hidden
            && !self.is_invisible
            && self.size_px > UNSEEN_PX
            && is_clear(self.color)
            && others.all(is_clear)
    }

    /// Whether a reader sees the text even if it is in another element in place of its own.
    pub(super) fn is_seen_in(&self, around: &Self) -> bool {
        self.is_seen() && around.is_seen() && self.background == around.background
    }

    /// The style of an element with this tag in text of this style, with what is declared for it, the weakest first.
    pub(super) fn within(&self, tag: &Tag<'_>, declared: &[Declaration]) -> Self {
        let mut style = Self {
            is_hidden: self.is_hidden || tag.is_hidden,
            is_boxed: tag.is_button,
            is_block: false,
            has_display: false,
            ..*self
        };
        style.look.is_quoted |= tag.is_quoted;
        let mut own = Own::of(tag);
        for it in declared {
            own.apply(it.effect, it.is_certain);
            style.apply(it.effect, it.is_certain, self);
        }
        style.place(&own, tag.kind, self);
        style.paint(&own, self);
        style
    }

    /// Applies what a declaration says of text of this style within that of an outer one.
    fn apply(&mut self, effect: Effect, is_certain: bool, outer: &Self) {
        let is = |now: bool, it: bool| it || now && !is_certain;
        match effect {
            Effect::Hidden => self.is_hidden = true,
            Effect::Display(_) => self.has_display = true,
            Effect::Visible(is_visible) => {
                let is_invisible = is_visible.map_or(outer.is_invisible, |it| !it);
                self.is_invisible = is(self.is_invisible, is_invisible);
            }
            Effect::Flat(is_flat) => self.is_flat = is(self.is_flat, is_flat),
            Effect::Preformatted(is_preformatted) => self.is_preformatted = is_preformatted,
            Effect::FontSize(length) => {
                let px = length.px(outer.size_px);
                self.look.is_large = px >= LARGE_PX;
                self.size_px = if is_certain { px } else { px.min(self.size_px) };
            }
            Effect::Bold(is_bold) => self.look.is_bold = is_bold,
            Effect::Border(is_border) => self.is_boxed |= is_border,
            Effect::Color(color) => {
                let color = color.unwrap_or(outer.color);
                if is_certain {
                    (self.color, self.other_colors[0]) = (color, None);
                } else {
                    self.other_colors[0] = Some(self.other_colors[0].map_or(color, |other| other.or(color)));
                }
            }
            Effect::Fill(color) => {
                let before = self.other_colors[1].filter(|_| !is_certain);
                self.other_colors[1] = Some(before.map_or(color, |other| other.or(color)));
            }
            _ => {}
        }
    }

    /// Finds out where the element is, and how large.
    fn place(&mut self, own: &Own, kind: Kind, outer: &Self) {
        // Cells grow with what is in them, and a width of nothing cuts off long lines alone.
        let is_of_table = matches!(kind, Kind::Table | Kind::Row | Kind::Cell);
        let grows = is_of_table && !outer.has_display && !self.has_display && !own.is_positioned;
        self.is_low = !grows && (own.is_low || outer.is_low && !own.is_plain);
        self.is_block = own.is(&[Display::Block]);
        let is_cut = !grows && own.is_cut && (self.is_flat || self.is_low);
        self.scale *= 1.0 - own.shrunk;
        self.moved_px = [0, 1].map(|side| outer.moved_px[side] + own.moved_px[side]);
        let is_moved_out = self.moved_px.iter().any(|px| !MOVED_PX.contains(px));
        let spacing_px = own.spacing.map(|it| it.px(self.size_px));
        self.look.is_spaced = spacing_px.map_or(self.look.is_spaced, |px| px >= SPACED_PX);
        let is_squeezed = spacing_px.is_some_and(|px| px < SQUEEZED * self.size_px);
        let is_gone = own.is(&[Display::None]) || self.scale < SCALE_MIN;
        self.is_hidden |= is_cut || is_gone || is_moved_out || is_squeezed;
    }

    /// Finds out what is behind the text.
    fn paint(&mut self, own: &Own, outer: &Self) {
        self.opacity *= own.opacity.unwrap_or(1.0).clamp(0.0, 1.0);
        self.is_boxed |= own.background.colors.is_some();
        if own.is_lifted || self.moved_px[0] < outer.moved_px[0] - LINE_PX {
            self.background = outer.behind;
        } else if own.is_block || self.is_block {
            // A block in an inline element leaves the box of that.
            self.background = outer.background.or(outer.box_background);
        }
        let is_whole = !own.is(&[Display::Contents]) && !self.is_low && !self.is_invisible;
        let background = own.background.over(self.background, is_whole);
        let background = own.image.over(background, is_whole && !own.is_image_sized);
        if own.is_in_letters {
            self.color = self.color.over(background);
            self.other_colors = self.other_colors.map(|it| it.map(|color| color.over(background)));
        } else {
            self.background = background;
        }
        if !own.is(&[Display::Inline, Display::Contents]) {
            self.box_background = self.background;
        }
        self.behind = outer.behind.or(self.background);
    }
}

/// What is declared for an element and not inherited.
#[derive(Debug, Default)]
struct Own {
    /// The bits of each [`Display`] that it may have.
    displays: u8,
    /// Whether its name is that of a block.
    is_block: bool,
    is_positioned: bool,
    /// Whether its position is not that of its surroundings' text.
    is_lifted: bool,
    is_low: bool,
    is_plain: bool,
    is_cut: bool,
    /// The share of its size that is taken away.
    shrunk: f32,
    moved_px: [f32; 2],
    spacing: Option<Length>,
    opacity: Option<f32>,
    background: Layer,
    image: Layer,
    is_image_sized: bool,
    is_in_letters: bool,
}

impl Own {
    fn of(tag: &Tag<'_>) -> Self {
        let is_block = tag.kind.is_block();
        let is_box = is_block || tag.kind == Kind::Cell || tag.name == "button";
        Self { displays: if is_box { Display::Box } else { Display::Inline } as u8, is_block, ..Self::default() }
    }

    /// Whether the element may be laid out in one of these ways.
    fn is(&self, displays: &[Display]) -> bool {
        displays.iter().any(|display| self.displays & *display as u8 != 0)
    }

    fn apply(&mut self, effect: Effect, is_certain: bool) {
        match effect {
            Effect::Display(display) => {
                self.displays = display as u8 | if is_certain { 0 } else { self.displays };
            }
            Effect::Placed { moved_px: [least, most], scale } => {
                self.moved_px = [self.moved_px[0].min(least), self.moved_px[1].max(most)];
                self.shrunk = self.shrunk.max(1.0 - scale);
            }
            Effect::Position { is_lifted } => {
                self.is_positioned = true;
                self.is_lifted |= is_lifted;
            }
            Effect::Size { is_low, is_plain } => {
                self.is_low |= is_low;
                self.is_plain |= is_plain && is_certain;
            }
            Effect::Cut => self.is_cut = true,
            Effect::Spacing(spacing) => {
                let before = self.spacing.filter(|_| !is_certain);
                self.spacing = Some(before.map_or(spacing, |before| before.min(spacing)));
            }
            Effect::Opacity(opacity) => {
                let before = self.opacity.filter(|_| !is_certain);
                self.opacity = Some(before.map_or(opacity, |before| before.min(opacity)));
            }
            Effect::Background(colors) => self.background.add(colors, is_certain),
            Effect::Image(colors) => self.image.add(colors, is_certain),
            Effect::ImageSize => self.is_image_sized = true,
            Effect::InLetters(is_in_letters) => self.is_in_letters = is_in_letters,
            _ => {}
        }
    }
}

/// A layer of a background.
#[derive(Clone, Copy, Debug, Default)]
struct Layer {
    colors: Option<Colors>,
    is_certain: bool,
}

impl Layer {
    fn add(&mut self, colors: Option<Colors>, is_certain: bool) {
        let before = self.colors.filter(|_| !is_certain);
        self.colors = before.zip(colors).map(|(one, other)| one.or(other)).or(before).or(colors);
        self.is_certain |= is_certain;
    }

    /// What is seen where this may be above what is behind it.
    fn over(self, behind: Colors, is_whole: bool) -> Colors {
        let seen = self.colors.map_or(behind, |colors| colors.over(behind));
        if is_whole && self.is_certain { seen } else { seen.or(behind) }
    }
}
