//! The runs of the items of one fire as bars, one below the other.

use elasticjob::schedule::TimeZone;

use super::scale::Scale;
use super::sign::Sign;
use super::{Px, Tick, ticks};

pub(crate) const WIDTH: u32 = 1_000;

/// The most bars of a picture.
pub(crate) const MOST: usize = 100;

const LEFT: f64 = 60.0;
/// The labels of bars have the rest.
const RIGHT: f64 = 680.0;
const TOP: f64 = 22.0;
const ROW: f64 = 20.0;
const THICK: f64 = 12.0;

/// No bar is too short to be seen.
const SHORTEST: f64 = 3.0;

/// The run of an item.
#[derive(Debug, Clone)]
pub(crate) struct Span {
    pub(crate) item: u32,
    pub(crate) start: i64,
    /// `None` where it is not known.
    pub(crate) end: Option<i64>,
    pub(crate) sign: Sign,
    pub(crate) label: String,
    pub(crate) title: String,
}

/// A bar of the picture.
#[derive(Debug)]
pub(crate) struct Bar {
    pub(crate) y: Px,
    /// The line that text stands on.
    pub(crate) base: Px,
    pub(crate) middle: Px,
    pub(crate) x: Px,
    pub(crate) width: Px,
    /// From where the wait before the begin is drawn.
    pub(crate) wait: Option<Px>,
    /// Where its label begins.
    pub(crate) label_x: Px,
    /// Whether it is the first bar of its item.
    pub(crate) is_first: bool,
    pub(crate) span: Span,
}

/// The picture.
#[derive(Debug)]
pub(crate) struct Gantt {
    pub(crate) bars: Vec<Bar>,
    pub(crate) times: Vec<Tick>,
    /// The time for which the fire was scheduled.
    pub(crate) planned: Option<Px>,
    pub(crate) now: Option<Px>,
    pub(crate) height: Px,
    /// How many bars there would be with those that are left out.
    pub(crate) total: usize,
}

impl Gantt {
    /// The picture of runs, ordered by item and start.
    pub(crate) fn of(spans: Vec<Span>, planned: Option<i64>, now: i64, zone: TimeZone) -> Option<Self> {
        let ends = |span: &Span| span.end.unwrap_or(span.start);
        let is_open = spans.iter().any(|span| span.sign == Sign::Run);
        let low = spans.iter().map(|span| span.start).chain(planned).min()?;
        let high = spans.iter().map(ends).chain(is_open.then_some(now)).max()?.max(low + 1);
        let range = (low, high);
        let x = Scale::time(range, (LEFT, RIGHT));
        let (total, mut bars) = (spans.len(), Vec::<Bar>::new());
        for (row, span) in spans.into_iter().take(MOST).enumerate() {
            let before = bars.last().map(|bar| &bar.span).filter(|before| before.item == span.item);
            let is_first = before.is_none();
            // An item waits for its fire, and after a run that was lost for the next one.
            let waits_since = before.map_or(planned, |before| Some(ends(before)));
            let end = if span.sign == Sign::Run { now } else { ends(&span) };
            let (from, to) = (x.at_time(span.start).0, x.at_time(end).0);
            let y = TOP + row as f64 * ROW + (ROW - THICK) / 2.0;
            let width = (to - from).max(SHORTEST);
            bars.push(Bar {
                y: Px(y),
                base: Px(y + THICK - 2.0),
                middle: Px(y + THICK / 2.0),
                x: Px(from),
                width: Px(width),
                wait: waits_since.map(|since| x.at_time(since)).filter(|since| since.0 + 1.0 < from),
                label_x: Px(from + width + 6.0),
                is_first,
                span,
            });
        }
        let height = Px(TOP + bars.len() as f64 * ROW + 4.0);
        let times = ticks::of_times(&x, range, zone, 6);
        Some(Self {
            bars,
            times,
            planned: planned.map(|at| x.at_time(at)),
            now: is_open.then(|| x.at_time(now)),
            height,
            total,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(item: u32, start: i64, end: Option<i64>, sign: Sign) -> Span {
        Span { item, start, end, sign, label: String::new(), title: String::new() }
    }

    #[test]
    fn a_run_waits_from_the_time_of_its_fire_and_a_second_one_from_the_end_of_the_first() {
        let spans =
            vec![span(0, 100, Some(500), Sign::Ok), span(1, 200, Some(600), Sign::Bad), span(1, 800, None, Sign::Run)];
        let gantt = Gantt::of(spans, Some(0), 1_000, TimeZone::UTC).expect("there is something to draw");
        let part = |x: Px| (x.0 - LEFT) / (RIGHT - LEFT) * 1_000.0;
        let places: Vec<_> = gantt
            .bars
            .iter()
            .map(|bar| [part(bar.x), part(Px(bar.x.0 + bar.width.0)), bar.wait.map_or(-1.0, part)].map(f64::round))
            .collect();
        assert_eq!(places, [[100.0, 500.0, 0.0], [200.0, 600.0, 0.0], [800.0, 1_000.0, 600.0]]);
        assert_eq!(gantt.bars.iter().map(|bar| bar.is_first).collect::<Vec<_>>(), [true, true, false]);
        assert!(gantt.bars[0].y < gantt.bars[1].y && gantt.now == Some(Px(RIGHT)));
    }

    #[test]
    fn a_run_without_a_length_can_be_seen_and_a_fire_of_many_items_is_cut() {
        let spans = (0..150).map(|item| span(item, 7, Some(7), Sign::Ok)).collect();
        let gantt = Gantt::of(spans, None, 9, TimeZone::UTC).expect("there is something to draw");
        assert!(gantt.bars.iter().all(|bar| bar.width.0 >= SHORTEST && bar.wait.is_none()));
        assert_eq!((gantt.bars.len(), gantt.total), (MOST, 150));
        assert!(Gantt::of(Vec::new(), Some(7), 9, TimeZone::UTC).is_none());
    }
}
