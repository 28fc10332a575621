//! Pictures that the server draws as SVG. Here is their geometry alone: numbers in, places out. Templates write them with
//! attributes and classes, as the policy of the pages allows no style inside of them; each picture has its table beside it.

pub(crate) mod calendar;
pub(crate) mod columns;
pub(crate) mod gantt;
pub(crate) mod lane;
pub(crate) mod layers;
pub(crate) mod pictures;
pub(crate) mod scale;
pub(crate) mod scatter;
pub(crate) mod sign;
pub(crate) mod strip;
pub(crate) mod ticks;

use std::fmt;

/// A length in the units of a picture, written with one digit after the point.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub(crate) struct Px(pub(crate) f64);

impl fmt::Display for Px {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rounded = (self.0 * 10.0).round() / 10.0;
        // Adding zero makes a negative zero positive.
        write!(f, "{}", rounded + 0.0)
    }
}

/// A line of an axis with its label.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tick {
    pub(crate) at: Px,
    pub(crate) label: String,
}
