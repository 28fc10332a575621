//! The last fires of a job as small bars in a row, the newest on the right. What failed is seen by its height as well.

use super::Px;
use super::sign::Sign;

const STEP: f64 = 7.0;
const THICK: f64 = 5.0;
const HEIGHT: f64 = 16.0;

/// The bar of a fire.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Bar {
    pub(crate) x: Px,
    pub(crate) y: Px,
    pub(crate) height: Px,
    pub(crate) sign: Sign,
    pub(crate) title: String,
}

/// The picture.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Strip {
    pub(crate) bars: Vec<Bar>,
}

impl Strip {
    /// The bars of fires, the oldest first. `places` is how many bars have room: a shorter strip ends on the right.
    pub(crate) fn of(fires: impl ExactSizeIterator<Item = (Sign, String)>, places: usize) -> Self {
        let empty = places.saturating_sub(fires.len());
        let bar = |(place, (sign, title)): (usize, (Sign, String))| {
            let height = match sign {
                Sign::Bad => HEIGHT,
                Sign::Warn => 12.0,
                Sign::Ok | Sign::Run | Sign::Unknown => 8.0,
            };
            Bar { x: Px((empty + place) as f64 * STEP), y: Px(HEIGHT - height), height: Px(height), sign, title }
        };
        Self { bars: fires.enumerate().map(bar).collect() }
    }

    pub(crate) fn width(places: usize) -> Px {
        Px(places as f64 * STEP)
    }

    pub(crate) fn thick(&self) -> Px {
        Px(THICK)
    }

    pub(crate) fn height(&self) -> Px {
        Px(HEIGHT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_fire_is_on_the_right_and_a_failed_one_is_the_highest() {
        let fires = [Sign::Ok, Sign::Bad].map(|sign| (sign, String::new()));
        let strip = Strip::of(fires.into_iter(), 24);
        let [well, failed] = &strip.bars[..] else { panic!("{strip:?}") };
        assert_eq!((well.x, failed.x), (Px(22.0 * STEP), Px(23.0 * STEP)));
        assert!(failed.x.0 + THICK <= Strip::width(24).0);
        assert!(failed.height > well.height && failed.y == Px(0.0) && well.y.0 + well.height.0 == HEIGHT);
    }
}
