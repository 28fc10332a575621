//! Draws the durations of fires by time.

use elasticjob::schedule::TimeZone;

use super::scale::Scale;
use super::sign::Sign;
use super::{Px, Tick, ticks};
use crate::pages::time::duration;

pub(crate) const WIDTH: u32 = 900;
pub(crate) const HEIGHT: u32 = 230;

/// The edges of the field with the dots.
const LEFT: f64 = 70.0;
const RIGHT: f64 = WIDTH as f64 - 14.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = HEIGHT as f64 - 28.0;

/// About so many durations are written at their axis.
const TICKS: u32 = 5;

/// A fire to draw.
#[derive(Debug, Clone)]
pub(crate) struct Point {
    pub(crate) time: i64,
    /// `None` where it is not known: then it is drawn on the axis.
    pub(crate) took: Option<u64>,
    pub(crate) sign: Sign,
    pub(crate) title: String,
    pub(crate) link: String,
}

/// A fire that is drawn.
#[derive(Debug)]
pub(crate) struct Dot {
    pub(crate) x: Px,
    pub(crate) y: Px,
    pub(crate) point: Point,
}

/// The picture.
#[derive(Debug)]
pub(crate) struct Scatter {
    pub(crate) dots: Vec<Dot>,
    pub(crate) times: Vec<Tick>,
    pub(crate) durations: Vec<Tick>,
    /// Times that matter, with their text.
    pub(crate) marks: Vec<Tick>,
}

impl Scatter {
    /// `None` where there are too few points for a picture.
    pub(crate) fn of(points: Vec<Point>, marks: &[(i64, String)], zone: TimeZone) -> Option<Self> {
        let times = || points.iter().map(|point| point.time);
        let range = (times().min()?, times().max()?);
        if range.0 == range.1 {
            return None;
        }
        let x = Scale::time(range, (LEFT + 6.0, RIGHT - 6.0));
        let y = Scale::fitting(points.iter().filter_map(|point| Some(point.took? as f64)), TICKS, (BOTTOM, TOP));
        let durations =
            y.durations(TICKS).into_iter().map(|value| Tick { at: y.at(value), label: duration(&(value as u64)) });
        let durations = durations.collect();
        let marks = marks.iter().filter(|(at, _)| x.has(*at));
        let marks = marks.map(|(at, text)| Tick { at: x.at_time(*at), label: text.clone() }).collect();
        let dots = points.into_iter().map(|point| Dot {
            x: x.at_time(point.time),
            y: point.took.map_or(Px(BOTTOM), |took| y.at(took as f64)),
            point,
        });
        Some(Self { dots: dots.collect(), times: ticks::of_times(&x, range, zone, 8), durations, marks })
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

#[cfg(test)]
mod tests {
    use super::*;

    fn point(time: i64, took: Option<u64>) -> Point {
        Point { time, took, sign: Sign::Ok, title: String::new(), link: String::new() }
    }

    #[test]
    fn dots_go_from_left_to_right_by_time_and_up_by_duration() {
        let points = vec![point(0, Some(100)), point(60_000, Some(200)), point(30_000, None)];
        let marks = [(30_000, "inside".to_owned()), (90_000, "later than all".to_owned())];
        let scatter = Scatter::of(points, &marks, TimeZone::UTC).expect("there is something to draw");
        let [first, last, without] = &scatter.dots[..] else { panic!("{scatter:?}") };
        assert!(first.x < without.x && without.x < last.x);
        assert!(last.y < first.y && first.y < without.y && without.y == scatter.bottom());
        assert_eq!(scatter.marks.iter().map(|mark| mark.label.as_str()).collect::<Vec<_>>(), ["inside"]);
        assert_eq!(scatter.durations.first().map(|tick| tick.label.as_str()), Some("0 ms"));
    }

    #[test]
    fn one_fire_alone_is_no_picture() {
        assert!(Scatter::of(Vec::new(), &[], TimeZone::UTC).is_none());
        assert!(Scatter::of(vec![point(7, Some(1))], &[], TimeZone::UTC).is_none());
    }
}
