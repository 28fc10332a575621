//! Counts over time, as columns.

use elasticjob::schedule::TimeZone;

use super::scale::Scale;
use super::{Px, Tick, ticks};

pub(crate) const WIDTH: u32 = 900;
pub(crate) const HEIGHT: u32 = 190;

/// The edges of the field with the columns.
const LEFT: f64 = 70.0;
const RIGHT: f64 = WIDTH as f64 - 14.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = HEIGHT as f64 - 28.0;

/// The part of its place that a column fills.
const FILLED: f64 = 0.8;

/// What was counted in a span of time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Count {
    /// The begin of the span, in milliseconds since 1970.
    pub(crate) at: i64,
    /// What was fine, drawn at the bottom.
    pub(crate) fine: u64,
    /// What was not, drawn on top of it.
    pub(crate) bad: u64,
    pub(crate) title: String,
}

/// A part of a column.
#[derive(Debug, PartialEq)]
pub(crate) struct Part {
    pub(crate) y: Px,
    pub(crate) height: Px,
    pub(crate) class: &'static str,
}

#[derive(Debug)]
pub(crate) struct Column {
    pub(crate) x: Px,
    pub(crate) parts: Vec<Part>,
    pub(crate) title: String,
}

/// The picture.
#[derive(Debug)]
pub(crate) struct Columns {
    pub(crate) columns: Vec<Column>,
    pub(crate) width: Px,
    pub(crate) times: Vec<Tick>,
    pub(crate) counts: Vec<Tick>,
}

impl Columns {
    /// The columns of spans of this length between two times; `class` is that of what was fine. `None` where nothing was
    /// counted at all.
    pub(crate) fn of(
        counts: &[Count],
        range: (i64, i64),
        span: i64,
        class: &'static str,
        zone: TimeZone,
    ) -> Option<Self> {
        let highest = counts.iter().map(|count| count.fine + count.bad).max().filter(|highest| *highest > 0)?;
        let x = Scale::time((range.0, range.1 + span), (LEFT, RIGHT));
        let top = round_up(highest);
        let y = Scale::linear((0.0, top as f64), (BOTTOM, TOP));
        let width = x.at_time(range.0 + span).0 - LEFT;
        let column = |count: &Count| {
            let (fine, all) = (y.at(count.fine as f64), y.at((count.fine + count.bad) as f64));
            let parts = [(Px(BOTTOM), fine, class), (fine, all, "bad")];
            let parts = parts.into_iter().filter(|(from, to, _)| from.0 > to.0);
            Column {
                x: Px(x.at_time(count.at).0 + width * (1.0 - FILLED) / 2.0),
                parts: parts.map(|(from, to, class)| Part { y: to, height: Px(from.0 - to.0), class }).collect(),
                title: count.title.clone(),
            }
        };
        Some(Self {
            columns: counts.iter().filter(|count| count.fine + count.bad > 0).map(column).collect(),
            width: Px(width * FILLED),
            times: ticks::of_times(&x, range, zone, 8),
            counts: [0, top / 2, top].map(|count| Tick { at: y.at(count as f64), label: count.to_string() }).into(),
        })
    }

    pub(crate) fn left(&self) -> Px {
        Px(LEFT)
    }

    pub(crate) fn right(&self) -> Px {
        Px(RIGHT)
    }

    pub(crate) fn top(&self) -> Px {
        Px(TOP)
    }

    pub(crate) fn bottom(&self) -> Px {
        Px(BOTTOM)
    }
}

/// The next even number of one digit that counts: its half is whole as well.
fn round_up(count: u64) -> u64 {
    let step = (0..).map(|power| 10_u64.saturating_pow(power)).take_while(|step| *step <= count).last().unwrap_or(1);
    let rounded = count.div_ceil(step) * step;
    if rounded % 2 == 0 { rounded } else { rounded + step }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: i64 = 3_600_000;

    fn count(hour: i64, fine: u64, bad: u64) -> Count {
        Count { at: hour * HOUR, fine, bad, title: String::new() }
    }

    #[test]
    fn columns_stand_side_by_side_with_failures_on_top() {
        let counts = [count(0, 10, 0), count(1, 5, 5), count(2, 0, 0), count(3, 0, 2)];
        let columns =
            Columns::of(&counts, (0, 3 * HOUR), HOUR, "ok", TimeZone::UTC).expect("there is something to draw");
        let [first, second, last] = &columns.columns[..] else { panic!("{columns:?}") };
        assert!(first.x.0 + columns.width.0 < second.x.0 && second.x < last.x);
        assert!(last.x.0 + columns.width.0 <= columns.right().0);
        let classes = |column: &Column| column.parts.iter().map(|part| part.class).collect::<Vec<_>>();
        assert_eq!((classes(first), classes(second), classes(last)), (vec!["ok"], vec!["ok", "bad"], vec!["bad"]));
        assert_eq!(second.parts[0].height, second.parts[1].height);
        assert_eq!(first.parts[0].y, second.parts[1].y, "both have ten");
    }

    #[test]
    fn nothing_at_all_is_no_picture() {
        assert!(Columns::of(&[count(0, 0, 0)], (0, HOUR), HOUR, "ok", TimeZone::UTC).is_none());
    }

    #[test]
    fn the_axis_ends_at_a_round_number_whose_half_is_whole() {
        assert_eq!([1, 2, 3, 10, 11, 99, 101, 1_234].map(round_up), [2, 2, 4, 10, 20, 100, 200, 2_000]);
    }
}
