//! How text looks, as far as elements, attributes and style sheets say: whether it is seen, and how much it stands out.

use super::Look;
use super::colors::Colors;
use super::declarations::{Declaration, Display, Effect, UNSEEN_PX};
use super::kind::Kind;
use super::tag::Tag;
use super::values::PLAIN_PX;

/// Text that is moved farther than so many pixels to the left or to the top is not seen, nor farther to the other sides.
const MOVED_PX: std::ops::RangeInclusive<f32> = -120.0..=3_000.0;
/// What is moved so far is not where its surroundings are.
const LINE_PX: f32 = 16.0;
/// Text of this size stands out.
const LARGE_PX: f32 = 20.0;
/// Nobody sees a colour that differs from the one behind it by less than this.
const CONTRAST_MIN: f32 = 1.0 / 16.0;

/// How the text of an element looks. Most of it is inherited.
#[derive(Clone, Copy, Debug)]
pub(super) struct Style {
    /// Whether neither the element nor anything in it is seen.
    pub(super) is_hidden: bool,
    /// Whether its text is not seen. That of elements in it may be.
    is_invisible: bool,
    /// Whether lines have no height.
    is_flat: bool,
    /// Whether the box has nearly no height or width, or its size is a share of one that has none.
    is_low: bool,
    /// Whether the box may have nearly no height or width, by what is beside it.
    is_flexible: bool,
    pub(super) look: Look,
    /// Whether line ends in the source count.
    pub(super) is_preformatted: bool,
    size_px: f32,
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
    own: Own,
}

/// What is not inherited.
#[derive(Clone, Copy, Debug, Default)]
struct Own {
    /// Whether the element has a background or a border, as buttons have.
    is_boxed: bool,
    display: Option<Display>,
    /// Whether it may not be laid out at all.
    is_gone: bool,
    is_placed: bool,
    is_elsewhere: bool,
    is_low: bool,
    is_high: bool,
    is_cut: bool,
    background: Option<Colors>,
    /// Whether that is the background for certain.
    is_painted: bool,
    image: Option<Colors>,
    /// Whether that is above all of the background for certain.
    is_image_whole: bool,
    is_image_sized: bool,
    /// Whether the background is only in the letters, if that is known.
    is_in_letters: Option<bool>,
}

impl Default for Style {
    fn default() -> Self {
        Self {
            is_hidden: false,
            is_invisible: false,
            is_flat: false,
            is_low: false,
            is_flexible: false,
            look: Look::default(),
            is_preformatted: false,
            size_px: PLAIN_PX,
            moved_px: [0.0; 2],
            opacity: 1.0,
            color: Colors::BLACK,
            other_colors: [None; 2],
            background: Colors::WHITE,
            box_background: Colors::WHITE,
            behind: Colors::WHITE,
            own: Own::default(),
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
        let is_any = !self.is_hidden && !self.is_invisible && self.size_px > UNSEEN_PX;
        is_any && is_clear(self.color) && others.all(is_clear)
    }

    /// Whether a reader sees the text even if it is in another element in place of its own.
    pub(super) fn is_seen_in(&self, around: &Self) -> bool {
        self.is_seen() && around.is_seen() && self.background == around.background
    }

    /// Whether the element has a background or a border of its own, as buttons have.
    pub(super) fn is_boxed(&self) -> bool {
        self.own.is_boxed
    }

    /// Whether the element is a line of its own although its name is not that of a block.
    pub(super) fn is_block(&self) -> bool {
        self.own.display == Some(Display::Block)
    }

    /// The style of an element with this tag in text of this style, with what is declared for it, the weakest first.
    pub(super) fn within(&self, tag: &Tag<'_>, declared: &[Declaration]) -> Self {
        let own = Own { is_boxed: tag.is_button, is_in_letters: Some(false), ..Own::default() };
        let mut style = Self { own, ..*self };
        style.is_hidden |= tag.is_hidden;
        style.look.is_quoted |= tag.is_quoted;
        for it in declared {
            style.apply(it.effect, it.is_certain, self);
        }
        style.place(tag.kind, self);
        style.paint(tag, self);
        style
    }

    /// Applies what a declaration says of an element in text of an outer style.
    fn apply(&mut self, effect: Effect, is_certain: bool, outer: &Self) {
        let is = |now: bool, it: bool| it || now && !is_certain;
        let least = |now: f32, it: f32| if is_certain { it } else { it.min(now) };
        let any = |now: Option<Colors>, it: Option<Colors>| any(now.filter(|_| !is_certain), it);
        let own = &mut self.own;
        match effect {
            Effect::Hidden => self.is_hidden = true,
            Effect::Moved([least, most]) => {
                // Margins, indents and the like add up. Those to the other sides are many in common mails.
                self.moved_px = [self.moved_px[0] + least, self.moved_px[1].max(outer.moved_px[1] + most)];
            }
            Effect::Placed { is_elsewhere } => {
                own.is_placed = true;
                own.is_elsewhere |= is_elsewhere;
            }
            Effect::Display(display) => {
                own.is_gone = is(own.is_gone, display == Display::None);
                // What may count makes no box.
                let has_none = [own.display, Some(display)].contains(&Some(Display::Contents));
                let doubtful = if has_none { Display::Contents } else { Display::Inline };
                own.display = Some(if is_certain { display } else { doubtful });
            }
            Effect::Visible(is_visible) => {
                self.is_invisible = is(self.is_invisible, is_visible.map_or(outer.is_invisible, |it| !it));
            }
            Effect::Low => own.is_low = true,
            Effect::High => own.is_high |= is_certain,
            Effect::Flexible => self.is_flexible = true,
            Effect::Cut => own.is_cut = true,
            Effect::Flat(is_flat) => self.is_flat = is(self.is_flat, is_flat.unwrap_or(outer.is_flat)),
            Effect::Preformatted(is_preformatted) => self.is_preformatted = is_preformatted,
            Effect::FontSize(length) => {
                let px = length.px(outer.size_px);
                self.look.is_large = px >= LARGE_PX;
                self.size_px = least(self.size_px, px);
            }
            Effect::Bold(is_bold) => self.look.is_bold = is_bold,
            Effect::Spaced(is_spaced) => self.look.is_spaced = is_spaced,
            Effect::Opacity(opacity) => self.opacity = least(self.opacity, outer.opacity * opacity.clamp(0.0, 1.0)),
            Effect::Border(is_border) => own.is_boxed |= is_border,
            Effect::Color(color) => self.apply_color(color, is_certain, outer),
            Effect::Fill(color) => self.other_colors[1] = any(self.other_colors[1], Some(color)),
            Effect::Background(color) => {
                own.is_boxed |= color.is_some();
                own.is_painted = is_certain || own.is_painted && own.background.is_some() && color.is_some();
                own.background = any(own.background, color);
            }
            Effect::Image(color) => {
                own.is_image_whole = is_certain || own.is_image_whole && own.image.is_some() && color.is_some();
                own.image = any(own.image, color);
            }
            Effect::ImageSize => own.is_image_sized = true,
            Effect::InLetters(it) => {
                let is_known = is_certain || own.is_in_letters == Some(it);
                own.is_in_letters = Some(it).filter(|_| is_known);
            }
        }
    }

    /// Applies a colour of text; `None` is that of its surroundings.
    fn apply_color(&mut self, color: Option<Colors>, is_certain: bool, outer: &Self) {
        if is_certain {
            let of_outer = (outer.color, outer.other_colors[0]);
            (self.color, self.other_colors[0]) = color.map_or(of_outer, |color| (color, None));
        } else {
            let color = color.or_else(|| any(Some(outer.color), outer.other_colors[0]));
            self.other_colors[0] = any(self.other_colors[0], color);
        }
    }

    /// Finds out whether the box of the element hides what is in it.
    fn place(&mut self, kind: Kind, outer: &Self) {
        let own = &self.own;
        // Cells grow with what is in them, and a width of nothing cuts off long lines alone.
        let is_of_table = matches!(kind, Kind::Table | Kind::Row | Kind::Cell);
        let grows = is_of_table && outer.own.display.or(own.display).is_none() && !own.is_placed;
        self.is_low = !grows && (own.is_low || outer.is_low && !own.is_high);
        let is_cut = !grows && own.is_cut && (self.is_flat || self.is_low || self.is_flexible && !own.is_high);
        let is_moved_out = self.moved_px.iter().any(|px| !MOVED_PX.contains(px));
        self.is_hidden |= own.is_gone || is_cut || is_moved_out;
    }

    /// Finds out what is behind the text.
    fn paint(&mut self, tag: &Tag<'_>, outer: &Self) {
        let own = self.own;
        let is_block = self.is_block() || tag.kind.is_block();
        if own.is_elsewhere || self.moved_px[0] < outer.moved_px[0] - LINE_PX {
            self.background = outer.behind;
        } else if is_block && outer.background != outer.box_background {
            // A block in an inline element leaves the box of that.
            self.background = outer.background.or(outer.box_background);
        }
        let is_box = own.display != Some(Display::Contents) && !self.is_low && !self.is_invisible;
        let layered = |layer: Option<Colors>, behind: Colors, is_whole: bool| {
            let seen = layer.map_or(behind, |color| color.over(behind));
            if is_box && is_whole { seen } else { seen.or(behind) }
        };
        let painted = layered(own.background, self.background, own.is_painted);
        let painted = layered(own.image, painted, own.is_image_whole && !own.is_image_sized);
        let in_letters = |color: Colors| match own.is_in_letters {
            Some(true) => color.over(painted),
            Some(false) => color,
            None => color.over(painted).or(color),
        };
        self.other_colors = self.other_colors.map(|it| it.map(in_letters));
        self.color = in_letters(self.color);
        self.background = match own.is_in_letters {
            Some(true) => self.background,
            Some(false) => painted,
            None => painted.or(self.background),
        };
        let bounds_blocks = match own.display {
            Some(display) => !matches!(display, Display::Inline | Display::Contents),
            None => is_block || tag.kind == Kind::Cell || tag.name == "button",
        };
        if bounds_blocks {
            self.box_background = self.background;
        }
        self.behind = outer.behind.or(self.background);
    }
}

/// What may be one of two colours, if there are any.
fn any(one: Option<Colors>, other: Option<Colors>) -> Option<Colors> {
    one.into_iter().chain(other).reduce(Colors::or)
}
