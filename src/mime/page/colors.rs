//! Colours as far as they are known: from the darkest to the lightest that each may be.

use cssparser::color::{parse_hash_color, parse_named_color};

/// What a colour may be: each part of red, green and blue is within bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Colors {
    least: [u8; 3],
    most: [u8; 3],
    /// How much of what is behind is covered, at least and at most.
    alpha: [u8; 2],
}

impl Colors {
    pub(super) const BLACK: Self = Self::of([0; 3], 255);
    pub(super) const WHITE: Self = Self::of([255; 3], 255);
    const TRANSPARENT: Self = Self::of([0; 3], 0);
    /// A colour that is not known. No text is seen on it.
    pub(super) const ANY: Self = Self { least: [0; 3], most: [255; 3], alpha: [255; 2] };

    const fn of(rgb: [u8; 3], alpha: u8) -> Self {
        Self { least: rgb, most: rgb, alpha: [alpha; 2] }
    }

    /// A colour by its shares of red, green, blue and opacity, each from 0 to 1.
    pub(super) fn of_shares(rgb: [f32; 3], alpha: f32) -> Self {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cast is bounded")]
        let part = |share: f32| (share * 255.0).round() as u8;
        Self::of(rgb.map(part), part(alpha))
    }

    /// A colour by its saturation, its lightness and its opacity, of any hue.
    pub(super) fn of_lightness(saturation: f32, lightness: f32, alpha: f32) -> Self {
        let most = saturation * lightness.min(1.0 - lightness);
        Self::of_shares([lightness - most; 3], alpha).or(Self::of_shares([lightness + most; 3], alpha))
    }

    /// A colour by its digits after `#`; `None` if they are none.
    pub(super) fn of_digits(digits: &str) -> Option<Self> {
        let (red, green, blue, alpha) = parse_hash_color(digits.as_bytes()).ok()?;
        Some(Self::of_shares([red, green, blue].map(|part| f32::from(part) / 255.0), alpha))
    }

    /// A colour by its name in lower case. What is no known name may be any colour.
    pub(super) fn of_name(name: &str) -> Self {
        match name {
            "transparent" => Self::TRANSPARENT,
            "canvas" | "window" | "field" => Self::WHITE,
            "canvastext" | "windowtext" | "fieldtext" => Self::BLACK,
            _ => parse_named_color(name).map_or(Self::ANY, |(red, green, blue)| Self::of([red, green, blue], 255)),
        }
    }

    /// What is seen where this colour is above another.
    pub(super) fn over(self, behind: Self) -> Self {
        let mix = |alpha: u8| {
            let of = |(own, behind): (u8, u8)| {
                let sum = u16::from(own) * u16::from(alpha) + u16::from(behind) * u16::from(255 - alpha);
                u8::try_from(sum / 255).unwrap_or(u8::MAX)
            };
            let (least, most) = (pairs(self.least, behind.least).map(of), pairs(self.most, behind.most).map(of));
            Self { least, most, alpha: [255; 2] }
        };
        mix(self.alpha[0]).or(mix(self.alpha[1]))
    }

    /// One of two colours: it is not known which.
    pub(super) fn or(self, other: Self) -> Self {
        let alpha = [self.alpha[0].min(other.alpha[0]), self.alpha[1].max(other.alpha[1])];
        match (self.alpha[1], other.alpha[1]) {
            // Nothing is seen of that one.
            (0, _) => Self { alpha, ..other },
            (_, 0) => Self { alpha, ..self },
            _ => Self {
                least: pairs(self.least, other.least).map(|(one, other)| one.min(other)),
                most: pairs(self.most, other.most).map(|(one, other)| one.max(other)),
                alpha,
            },
        }
    }

    /// The share by which a part differs for certain where this colour is above another.
    pub(super) fn contrast(self, behind: Self) -> f32 {
        let differs = |part: usize| {
            let lighter = self.least[part].saturating_sub(behind.most[part]);
            lighter.max(behind.least[part].saturating_sub(self.most[part]))
        };
        let most = [0, 1, 2].map(differs).into_iter().max().unwrap_or_default();
        f32::from(most) / 255.0 * f32::from(self.alpha[0]) / 255.0
    }
}

/// The parts of two colours side by side.
fn pairs(one: [u8; 3], other: [u8; 3]) -> [(u8, u8); 3] {
    [0, 1, 2].map(|part| (one[part], other[part]))
}
