//! Times on pages: always with their zone, and how long ago or from now.

use askama::filters::Safe;
use elasticjob::schedule::{Schedule, TimeZone, format_rfc3339};

use crate::text::Text;

/// The clock of a page: the moment at which it is made, and the zone of its times.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock {
    pub(crate) now: i64,
    pub(crate) zone: TimeZone,
}

impl Clock {
    /// Times in the zone of a schedule, else in that of this host.
    pub(crate) fn of(schedule: Option<&Schedule>) -> Self {
        Self::in_zone(schedule.map(Schedule::time_zone))
    }

    /// Times in this zone, else in that of this host.
    pub(crate) fn in_zone(zone: Option<TimeZone>) -> Self {
        let zone = zone.or_else(|| TimeZone::local().ok()).unwrap_or(TimeZone::UTC);
        Self { now: crate::service::now(), zone }
    }

    /// `2026-11-21 03:00:00+08:00`.
    pub(crate) fn at(&self, time: &i64) -> String {
        format_rfc3339(*time, self.zone).replacen('T', " ", 1)
    }

    /// The time, and how long ago it was or is from now, as HTML. Neither has a character that would have to be escaped.
    pub(crate) fn html(&self, text: &Text, time: &i64) -> Safe<String> {
        let (machine, shown, span) = (format_rfc3339(*time, TimeZone::UTC), self.at(time), self.away(text, time));
        Safe(format!(r#"<time datetime="{machine}">{shown}</time> <span class="ago">{span}</span>"#))
    }

    /// `in 5 min`, `3 h ago`.
    pub(crate) fn away(&self, text: &Text, time: &i64) -> String {
        let away = time.saturating_sub(self.now);
        let (number, unit) = rounded(away.unsigned_abs());
        let number = number.to_string();
        let span = match unit {
            Unit::Seconds => i18n_embed_fl::fl!(text.loader(), "seconds", number = number),
            Unit::Minutes => i18n_embed_fl::fl!(text.loader(), "minutes", number = number),
            Unit::Hours => i18n_embed_fl::fl!(text.loader(), "hours", number = number),
            Unit::Days => i18n_embed_fl::fl!(text.loader(), "days", number = number),
        };
        match away >= 0 {
            true => i18n_embed_fl::fl!(text.loader(), "time-in", span = span),
            false => i18n_embed_fl::fl!(text.loader(), "time-ago", span = span),
        }
    }
}

/// `999 ms`, `12.3 s`, `4 min 5 s`, `2 h`.
pub(crate) fn duration(milliseconds: &u64) -> String {
    let milliseconds = *milliseconds;
    match milliseconds {
        0..1_000 => format!("{milliseconds} ms"),
        1_000..60_000 => format!("{}.{} s", milliseconds / 1_000, milliseconds % 1_000 / 100),
        60_000..3_600_000 => parts((milliseconds / 60_000, "min"), (milliseconds % 60_000 / 1_000, "s")),
        _ => parts((milliseconds / 3_600_000, "h"), (milliseconds % 3_600_000 / 60_000, "min")),
    }
}

/// A number of large units and the rest in small ones, unless it is zero.
fn parts(large: (u64, &str), small: (u64, &str)) -> String {
    match small.0 {
        0 => format!("{} {}", large.0, large.1),
        _ => format!("{} {} {} {}", large.0, large.1, small.0, small.1),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unit {
    Seconds,
    Minutes,
    Hours,
    Days,
}

fn rounded(milliseconds: u64) -> (u64, Unit) {
    let seconds = milliseconds / 1_000;
    match seconds {
        0..120 => (seconds, Unit::Seconds),
        120..7_200 => (seconds / 60, Unit::Minutes),
        7_200..172_800 => (seconds / 3_600, Unit::Hours),
        _ => (seconds / 86_400, Unit::Days),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_has_the_unit_that_people_would_say() {
        for (milliseconds, span) in [
            (0, (0, Unit::Seconds)),
            (119_999, (119, Unit::Seconds)),
            (120_000, (2, Unit::Minutes)),
            (7_200_000, (2, Unit::Hours)),
            (172_800_000, (2, Unit::Days)),
        ] {
            assert_eq!(rounded(milliseconds), span, "{milliseconds}");
        }
        let texts = [999, 1_000, 60_000, 61_000, 3_600_000, 3_660_000].each_ref().map(duration);
        assert_eq!(texts, ["999 ms", "1.0 s", "1 min", "1 min 1 s", "1 h", "1 h 1 min"]);
    }
}
