//! Properties that hide an element with all that is in it.

use super::values::{Color, PAGE_PX, Rgba, Value, calls, color, is};
use crate::mime::step;

/// Text that is moved farther than so many pixels to the left or to the top of the page is not seen.
const MOVED_PX: f32 = 500.0;
/// Text that is moved farther than so many pixels to the right is not seen.
const MOVED_ON_PX: f32 = 3_000.0;
/// A page is scrolled down so far and no farther.
const MOVED_DOWN_PX: f32 = 20_000.0;
/// Nobody reads text in a box of this height or width, or in letters of this size.
pub(super) const UNSEEN_PX: f32 = 2.0;
/// Nobody reads text that is made smaller than this share of its size.
pub(super) const SCALE_MIN: f32 = 0.1;

/// When a property hides an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum When {
    Always,
    /// If the element also cuts off what is outside its box.
    Cut,
    /// It is that property.
    IsCut,
    /// If the element also has a place of its own.
    Placed,
    /// It is that property.
    IsPlaced,
}

/// A property, when it hides, and whether a value does.
pub(super) type Hiding = (&'static str, When, fn(&[Value]) -> bool);

/// All of them.
pub(super) const HIDING: [Hiding; 26] = [
    ("display", When::Always, is_not_displayed),
    ("content-visibility", When::Always, |it| is(it, &["hidden"])),
    ("overflow", When::IsCut, |it| !is(it, &["visible"])),
    ("height", When::Cut, is_flat),
    ("max-height", When::Cut, is_flat),
    ("width", When::Cut, is_flat),
    ("max-width", When::Cut, is_flat),
    ("position", When::IsPlaced, |it| !is(it, &["static"])),
    ("left", When::Placed, is_far),
    ("right", When::Placed, is_far),
    ("top", When::Placed, is_far_up),
    ("bottom", When::Placed, is_far),
    ("inset", When::Placed, is_far),
    ("clip", When::Placed, |it| calls(it).any(|(_, edges)| is_empty_rectangle(edges))),
    ("clip-path", When::Always, |it| calls(it).any(|(name, arguments)| is_empty_shape(name, arguments))),
    ("margin", When::Always, is_far),
    ("margin-left", When::Always, is_far),
    ("margin-right", When::Always, is_far),
    ("margin-top", When::Always, is_far_up),
    ("margin-bottom", When::Always, is_far),
    ("mask", When::Always, is_mask_empty),
    ("transform", When::Always, |it| calls(it).any(|(name, arguments)| is_transformed_away(name, arguments))),
    ("scale", When::Always, is_tiny),
    ("translate", When::Always, is_far),
    ("rotate", When::Always, |it| matches!(it, [Value::Word(axis), angle] if axis != "z" && is_edge_on(angle))),
    ("zoom", When::Always, is_tiny),
];

/// A height or width of almost nothing. A share of something is something.
pub(super) fn is_flat(values: &[Value]) -> bool {
    matches!(values, [value @ (Value::Number(_) | Value::Px(_))] if value.px() <= UNSEEN_PX)
        || values.first().and_then(Value::number).is_some_and(|number| number <= 0.0)
}

/// What a variable stands for is not known, and it is used here to hide.
fn is_not_displayed(values: &[Value]) -> bool {
    is(values, &["none", "table-column", "table-column-group"]) || calls(values).next().is_some()
}

pub(super) fn is_far(values: &[Value]) -> bool {
    step(values.len());
    values.iter().any(|value| !(-MOVED_PX..=MOVED_ON_PX).contains(&value.px()))
}

fn is_far_up(values: &[Value]) -> bool {
    values.first().is_some_and(|value| !(-MOVED_PX..=MOVED_DOWN_PX).contains(&value.px()))
}

fn is_tiny(values: &[Value]) -> bool {
    values.iter().filter_map(Value::number).any(|share| share.abs() < SCALE_MIN)
}

/// Whether a plane that is turned so far shows its edge.
fn is_edge_on(angle: &Value) -> bool {
    angle.number().is_some_and(|degrees| (degrees.rem_euclid(180.0) - 90.0).abs() < 5.0)
}

fn is_transformed_away(name: &str, arguments: &[Value]) -> bool {
    let number = |index: usize| arguments.get(index).and_then(Value::number).unwrap_or(0.0);
    match name {
        "matrix" => (number(0) * number(3) - number(1) * number(2)).abs() < SCALE_MIN * SCALE_MIN || is_far(arguments),
        "rotatex" | "rotatey" => arguments.first().is_some_and(is_edge_on),
        _ if name.starts_with("scale") => is_tiny(arguments),
        _ => name.starts_with("translate") && is_far(arguments),
    }
}

/// The rectangle of the property `clip`, by its top, right, bottom and left edge.
fn is_empty_rectangle(edges: &[Value]) -> bool {
    let edge = |index: usize| edges.get(index).and_then(Value::number);
    let is_narrow = |from, to| matches!((edge(from), edge(to)), (Some(from), Some(to)) if to - from <= UNSEEN_PX);
    is_narrow(0, 2) || is_narrow(3, 1)
}

/// A shape of the property `clip-path`.
fn is_empty_shape(name: &str, arguments: &[Value]) -> bool {
    let Some(first) = arguments.first() else { return false };
    match name {
        "inset" => {
            let inset = |index: usize, same: usize| arguments.get(index).or(arguments.get(same)).unwrap_or(first).px();
            inset(0, 0) + inset(2, 0) >= PAGE_PX || inset(1, 0) + inset(3, 1) >= PAGE_PX
        }
        "circle" | "ellipse" => first.number() == Some(0.0),
        _ => arguments.iter().all(|argument| argument == first),
    }
}

/// A mask shows nothing where it has no colour. Images are not loaded.
fn is_mask_empty(values: &[Value]) -> bool {
    let is_none = is(values, &["none", "initial", "inherit", "unset"]);
    !is_none && color(values).is_none_or(|color| matches!(color, Color::Known(color) if color.alpha < Rgba::ALPHA_MIN))
}
