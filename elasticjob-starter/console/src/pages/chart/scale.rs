//! Axes: the place of a value.

use super::Px;

/// From this quotient of the largest and the smallest value on, equal steps would show the small ones as one line.
const SPANS: f64 = 20.0;

/// From a millisecond to ten weeks, in steps of about ten.
const DURATIONS: [f64; 12] = [1.0, 10.0, 100.0, 1e3, 1e4, 6e4, 6e5, 3.6e6, 3.6e7, 8.64e7, 8.64e8, 6.048e9];

/// The steps between durations, in milliseconds: what people count by, up to ten weeks.
const STEPS: [f64; 30] = [
    1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1e3, 2e3, 5e3, 1e4, 1.5e4, 3e4, 6e4, 1.2e5, 3e5, 6e5, 9e5,
    1.8e6, 3.6e6, 7.2e6, 1.08e7, 2.16e7, 4.32e7, 8.64e7, 1.728e8, 6.048e8, 6.048e9,
];

/// An axis: values from `low` to `high` are drawn from `from` to `to`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Scale {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
    is_logarithmic: bool,
}

impl Scale {
    /// Equal steps for equal differences. Values of an empty range are drawn in the middle.
    pub(crate) fn linear((low, high): (f64, f64), (from, to): (f64, f64)) -> Self {
        Self { low, high, from, to, is_logarithmic: false }
    }

    /// An axis of times in milliseconds since 1970.
    pub(crate) fn time((low, high): (i64, i64), range: (f64, f64)) -> Self {
        Self::linear((low as f64, high as f64), range)
    }

    /// An axis that all these positive values fit on: from zero on, or with equal steps for equal quotients where they
    /// span far. Its high end is a round duration, of about `count` from zero on.
    pub(crate) fn fitting(values: impl Iterator<Item = f64>, count: u32, range: (f64, f64)) -> Self {
        let (low, high) = values.fold((f64::INFINITY, 1.0_f64), |(low, high), it| (low.min(it), high.max(it)));
        let low = low.clamp(1.0, high);
        match high / low > SPANS {
            false => {
                let step = step(high / f64::from(count.max(1)));
                Self::linear((0.0, (high / step).ceil() * step), range)
            }
            true => {
                let (low, high) = (low.log10().floor(), high.log10().ceil());
                Self { is_logarithmic: true, ..Self::linear((10_f64.powf(low), 10_f64.powf(high)), range) }
            }
        }
    }

    /// The place of a value; that of the nearest end for one beyond.
    pub(crate) fn at(&self, value: f64) -> Px {
        let level = |value: f64| if self.is_logarithmic { value.max(1.0).log10() } else { value };
        let (low, high) = (level(self.low), level(self.high));
        let part = if high > low { (level(value) - low) / (high - low) } else { 0.5 };
        Px(self.from + part.clamp(0.0, 1.0) * (self.to - self.from))
    }

    /// The place of a time.
    pub(crate) fn at_time(&self, time: i64) -> Px {
        self.at(time as f64)
    }

    /// Whether a time is on the axis.
    pub(crate) fn has(&self, time: i64) -> bool {
        (self.low..=self.high).contains(&(time as f64))
    }

    /// Round durations in milliseconds to write at the axis; where the steps are equal, at most about `count`.
    pub(crate) fn durations(&self, count: u32) -> Vec<f64> {
        if self.is_logarithmic {
            let is_on = |value: &f64| (self.low..=self.high).contains(value);
            return DURATIONS.into_iter().filter(is_on).collect();
        }
        let rough = (self.high - self.low) / f64::from(count.max(1));
        if rough <= 0.0 || !rough.is_finite() {
            return vec![self.low];
        }
        let step = step(rough);
        let first = (self.low / step).ceil() as i64;
        (first..).map(|number| number as f64 * step).take_while(|value| *value <= self.high).collect()
    }
}

/// The shortest round step of at least this many milliseconds.
fn step(rough: f64) -> f64 {
    STEPS.into_iter().find(|step| *step >= rough).unwrap_or(rough)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_drawn_between_the_ends_in_proportion() {
        let scale = Scale::linear((0.0, 200.0), (100.0, 0.0));
        assert_eq!([0.0, 50.0, 200.0, 900.0, -1.0].map(|value| scale.at(value).0), [100.0, 75.0, 0.0, 0.0, 100.0]);
        assert_eq!(Scale::time((7, 7), (0.0, 10.0)).at_time(7), Px(5.0), "one time alone is in the middle");
        assert!(Scale::time((7, 9), (0.0, 1.0)).has(9) && !Scale::time((7, 9), (0.0, 1.0)).has(10));
    }

    #[test]
    fn values_that_span_far_get_equal_steps_for_equal_quotients() {
        let near = Scale::fitting([50.0, 900.0].into_iter(), 5, (0.0, 90.0));
        assert_eq!(
            (near.at(0.0), near.at(900.0), near.at(1_000.0)),
            (Px(0.0), Px(81.0), Px(90.0)),
            "up to a round end"
        );
        let far = Scale::fitting([20.0, 900.0].into_iter(), 5, (0.0, 90.0));
        assert_eq!((far.at(10.0), far.at(100.0), far.at(1_000.0)), (Px(0.0), Px(45.0), Px(90.0)));
        let zero = Scale::fitting([0.0, 900.0].into_iter(), 5, (0.0, 90.0));
        assert_eq!((zero.at(0.0), zero.at(10.0)), (Px(0.0), Px(30.0)), "no time at all is drawn as the shortest");
        assert_eq!(Scale::fitting(std::iter::empty(), 5, (0.0, 90.0)).at(1.0), Px(90.0));
    }

    #[test]
    fn round_durations_are_on_the_axis() {
        assert_eq!(Scale::linear((0.0, 900.0), (0.0, 1.0)).durations(5), [0.0, 200.0, 400.0, 600.0, 800.0]);
        assert_eq!(Scale::fitting([3.0, 900.0].into_iter(), 5, (0.0, 1.0)).durations(5), [1.0, 10.0, 100.0, 1_000.0]);
        let far = Scale::fitting([500.0, 700_000.0].into_iter(), 5, (0.0, 1.0));
        assert_eq!(far.durations(5), [100.0, 1_000.0, 10_000.0, 60_000.0, 600_000.0], "a minute and not 100 s");
        assert_eq!(Scale::linear((7.0, 7.0), (0.0, 1.0)).durations(5), [7.0]);
        assert_eq!(Scale::linear((0.0, 2.0), (0.0, 1.0)).durations(5), [0.0, 1.0, 2.0], "no parts of a millisecond");
        let minutes = Scale::linear((0.0, 340_000.0), (0.0, 1.0)).durations(5);
        assert_eq!(minutes, [0.0, 120_000.0, 240_000.0], "minutes and not 100 s");
    }

    #[test]
    fn a_length_is_written_short() {
        assert_eq!([1.25, 3.0, -0.01, 2.96].map(|it| Px(it).to_string()), ["1.3", "3", "0", "3"]);
    }
}
