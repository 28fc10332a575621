//! The runs of one job as bars in one line. Bars that would lie on each other go into lanes below each other; those that
//! are too close together to be told apart become one.

use super::Px;
use super::scale::Scale;
use super::sign::Sign;

/// The height of a line, and of its lanes.
pub(crate) const HEIGHT: f64 = 26.0;
const LANES: usize = 3;

/// No bar is shorter.
const SHORTEST: f64 = 3.0;

/// A fire to draw.
#[derive(Debug, Clone)]
pub(crate) struct Span {
    pub(crate) start: i64,
    pub(crate) end: i64,
    pub(crate) sign: Sign,
}

/// A bar of a lane.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Bar {
    pub(crate) x: Px,
    pub(crate) width: Px,
    pub(crate) y: Px,
    pub(crate) height: Px,
    pub(crate) sign: Sign,
    /// How many fires it stands for, from the start of the first one to the end of the last one.
    pub(crate) count: usize,
    pub(crate) start: i64,
    pub(crate) end: i64,
}

/// A bar under construction.
struct Laid {
    lane: usize,
    from: f64,
    to: f64,
    sign: Sign,
    count: usize,
    start: i64,
    end: i64,
}

/// The bars of spans, which are ordered by their start.
pub(crate) fn pack(spans: &[Span], scale: &Scale) -> Vec<Bar> {
    let (mut laid, mut ends) = (Vec::<Laid>::new(), [f64::NEG_INFINITY; LANES]);
    for span in spans {
        let from = scale.at_time(span.start).0;
        let to = scale.at_time(span.end).0.max(from + SHORTEST);
        let touches = |bar: &&mut Laid| bar.sign == span.sign && from < bar.from + SHORTEST && to < bar.to + SHORTEST;
        if let Some(bar) = laid.iter_mut().rev().take(LANES).find(touches) {
            (bar.to, bar.end, bar.count) = (bar.to.max(to), bar.end.max(span.end), bar.count + 1);
            ends[bar.lane] = ends[bar.lane].max(bar.to);
            continue;
        }
        // Where all lanes are taken, it lies on what ends first.
        let free = ends.iter().position(|end| *end <= from);
        let first = || (0..LANES).min_by(|one, other| ends[*one].total_cmp(&ends[*other])).unwrap_or_default();
        let lane = free.unwrap_or_else(first);
        ends[lane] = ends[lane].max(to);
        let Span { start, end, sign } = *span;
        laid.push(Laid { lane, from, to, sign, count: 1, start, end });
    }
    let lanes = laid.iter().map(|bar| bar.lane + 1).max().unwrap_or(1);
    laid.into_iter().map(|bar| placed(bar, lanes)).collect()
}

/// A failed fire has a bar of the whole height: the colour is not all that tells it.
fn placed(bar: Laid, lanes: usize) -> Bar {
    let room = HEIGHT / lanes as f64;
    let height = if bar.sign == Sign::Bad { room - 1.0 } else { (room * 0.5).max(5.0) };
    let y = bar.lane as f64 * room + (room - height) / 2.0;
    Bar {
        x: Px(bar.from),
        width: Px(bar.to - bar.from),
        y: Px(y),
        height: Px(height),
        sign: bar.sign,
        count: bar.count,
        start: bar.start,
        end: bar.end,
    }
}

/// The places of times, one for those that would lie on each other.
pub(crate) fn places(times: &[i64], scale: &Scale) -> Vec<Px> {
    let mut places: Vec<Px> = Vec::new();
    for time in times {
        let at = scale.at_time(*time);
        if places.last().is_none_or(|last| (at.0 - last.0).abs() >= SHORTEST) {
            places.push(at);
        }
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scale() -> Scale {
        Scale::time((0, 1_000), (0.0, 1_000.0))
    }

    fn packed(spans: &[(i64, i64, Sign)]) -> Vec<Bar> {
        let spans: Vec<Span> =
            spans.iter().map(|(start, end, sign)| Span { start: *start, end: *end, sign: *sign }).collect();
        pack(&spans, &scale())
    }

    #[test]
    fn bars_that_overlap_go_below_each_other_and_others_share_a_lane() {
        let bars = packed(&[(0, 100, Sign::Ok), (50, 150, Sign::Ok), (200, 300, Sign::Ok)]);
        let [first, second, third] = &bars[..] else { panic!("{bars:?}") };
        assert_eq!((first.x, first.width), (Px(0.0), Px(100.0)));
        assert!(first.y.0 + first.height.0 <= second.y.0, "{first:?} {second:?}");
        assert_eq!(first.y, third.y);
        let crowd = packed(&[(0, 900, Sign::Ok), (10, 901, Sign::Ok), (20, 902, Sign::Ok), (30, 903, Sign::Ok)]);
        assert!(crowd.iter().all(|bar| bar.y.0 + bar.height.0 <= HEIGHT), "{crowd:?}");
    }

    #[test]
    fn fires_too_close_to_be_told_apart_become_one_bar_unless_they_ended_otherwise() {
        let bars = packed(&[(0, 1, Sign::Ok), (1, 2, Sign::Ok), (2, 3, Sign::Ok), (2, 3, Sign::Bad)]);
        let counts: Vec<_> = bars.iter().map(|bar| (bar.sign, bar.count, bar.start, bar.end)).collect();
        assert_eq!(counts, [(Sign::Ok, 3, 0, 3), (Sign::Bad, 1, 2, 3)]);
        assert!(bars[1].height > bars[0].height, "what failed is seen by its height, too");
    }

    #[test]
    fn a_fire_each_millisecond_needs_no_more_bars_than_there_is_room_for() {
        let bars = packed(&(0..1_000).map(|at| (at, at + 1, Sign::Ok)).collect::<Vec<_>>());
        assert!(bars.len() <= 400, "{}", bars.len());
        assert_eq!(bars.iter().map(|bar| bar.count).sum::<usize>(), 1_000);
        assert_eq!(places(&(0..1_000).collect::<Vec<_>>(), &scale()).len(), 334);
    }
}
