//! Differences from Quartz that `docs/cron.md` lists.

use elasticjob::schedule::{TimeZone, format_rfc3339};

use super::{Answer, Row};

/// Why an answer differs from that of Quartz.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Known {
    /// An expression with a slip, which Quartz passes over.
    RefusedHere,
    /// Quartz finds no end with `L` or `W`, on a day that the month or the zone does not have.
    EndlessInQuartz,
    /// The weekday nearest to a day that the month does not have.
    NearestToMissingDay,
    /// The start is in the first pass of an hour that comes twice.
    StartInFirstPass,
    /// The clocks are put forward within an hour, and Quartz passes over the rest of the hour.
    HourLeftInPart,
    /// A slip made a year that is later than those that Quartz counts.
    YearTooLate,
}

/// The longest that clocks are put back.
const LONGEST_REPEAT: i64 = 3 * 3_600;

impl Known {
    pub(super) fn explains(row: &Row, ours: &Answer, quartz: &Answer) -> Option<Self> {
        match (ours, quartz) {
            (Answer::Refused(_), Answer::Fires(_) | Answer::Endless) if row.has_slip => Some(Self::RefusedHere),
            (Answer::Fires(_), Answer::Endless) if may_miss_its_day(row) => Some(Self::EndlessInQuartz),
            (Answer::Fires(ours), Answer::Refused(why))
                if row.has_slip && ours.is_empty() && why.contains("stop year") =>
            {
                Some(Self::YearTooLate)
            }
            (Answer::Fires(ours), Answer::Fires(quartz)) => Self::of_fires(row, ours, quartz),
            _ => None,
        }
    }

    /// Takes away what the one or the other has in excess; the rest has to be the same.
    fn of_fires(row: &Row, ours: &[i64], quartz: &[i64]) -> Option<Self> {
        let zone = row.time_zone();
        if let Some(needed) = days_needed(row) {
            let exists = |fire: &&i64| days_in_month(**fire, zone) >= needed;
            let quartz: Vec<i64> = quartz.iter().filter(exists).copied().collect();
            return is_begin_of(&quartz, ours).then_some(Self::NearestToMissingDay);
        }
        let is_whole = |fire: &&i64| !is_in_part_of_hour(**fire, zone);
        let whole: Vec<i64> = ours.iter().filter(is_whole).copied().collect();
        if whole.len() < ours.len() && is_begin_of(&whole, quartz) {
            return Some(Self::HourLeftInPart);
        }
        let until = repeated_until(row.from, zone)?;
        let ours: Vec<i64> = ours.iter().filter(|fire| **fire > until).copied().collect();
        is_begin_of(&ours, quartz).then_some(Self::StartInFirstPass)
    }
}

/// Whether the first list is how the second one begins.
fn is_begin_of(first: &[i64], second: &[i64]) -> bool {
    second.get(..first.len()) == Some(first)
}

fn day_of_month(row: &Row) -> &str {
    row.expression.split_whitespace().nth(3).unwrap_or_default()
}

/// Whether the day of the month is one that a month may not have.
fn may_miss_its_day(row: &Row) -> bool {
    day_of_month(row).starts_with(['L', 'l']) || days_needed(row).is_some()
}

/// How many days a month needs so that it has the day of `31W` or `L-30W`, where not every month has it.
fn days_needed(row: &Row) -> Option<i64> {
    let day = day_of_month(row).to_ascii_uppercase();
    let day = day.strip_suffix('W')?;
    let needed = match day.strip_prefix("L-") {
        Some(before) => before.parse::<i64>().ok()? + 1,
        None => day.parse().ok()?,
    };
    (29..=31).contains(&needed).then_some(needed)
}

fn days_in_month(fire: i64, zone: TimeZone) -> i64 {
    let month = |days: i64| format_rfc3339((fire + days * 86_400) * 1_000, zone)[..7].to_owned();
    let day: i64 = format_rfc3339(fire * 1_000, zone)[8..10].parse().unwrap_or_default();
    let here = month(0);
    (day..=31).take_while(|last| month(last - day) == here).last().unwrap_or(day)
}

/// Whether the clocks were put forward within the hour of a fire, before it.
fn is_in_part_of_hour(fire: i64, zone: TimeZone) -> bool {
    let into_the_hour = (fire + i64::from(zone.offset_at(fire))).rem_euclid(3_600);
    zone.offset_at(fire - into_the_hour) < zone.offset_at(fire)
}

/// For a time in the first pass of what comes twice: the same wall-clock time in the second pass.
fn repeated_until(from: i64, zone: TimeZone) -> Option<i64> {
    let offset = zone.offset_at(from);
    let back = |at: i64| i64::from(offset - zone.offset_at(at));
    let change = (from + 1..=from + LONGEST_REPEAT).find(|at| back(*at) != 0)?;
    let repeated = back(change);
    (from + repeated >= change).then_some(from + repeated)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(zone: &'static str, from: i64, expression: &str, has_slip: bool) -> Row {
        Row { zone, from, expression: expression.to_owned(), has_slip }
    }

    fn fires(fires: &[i64]) -> Answer {
        Answer::Fires(fires.to_vec())
    }

    #[test]
    fn only_an_expression_with_a_slip_may_be_refused_here_alone() {
        let refused = Answer::Refused("no".to_owned());
        let explains = |has_slip, ours: &Answer, quartz: &Answer| {
            Known::explains(&row("UTC", 0, "0 5x * * * ?", has_slip), ours, quartz)
        };
        let [one, two] = [1, 2].map(|fire| fires(&[fire]));
        assert_eq!(explains(true, &refused, &one), Some(Known::RefusedHere));
        assert_eq!(explains(false, &refused, &one), None);
        assert_eq!(explains(true, &one, &refused), None);
        assert_eq!(explains(true, &one, &two), None);
    }

    #[test]
    fn a_fire_too_many_in_a_short_month_is_known_and_one_elsewhere_is_not() {
        // 2027-04-30, 2027-05-31, 2027-07-30, each at noon.
        let [april, may, july] = [1_809_086_400, 1_811_764_800, 1_816_948_800];
        let row = row("UTC", april - 86_400, "0 0 12 31W * ?", false);
        let explains = |quartz: &[i64]| Known::explains(&row, &fires(&[may, july]), &fires(quartz));
        assert_eq!(explains(&[april, may]), Some(Known::NearestToMissingDay));
        assert_eq!(explains(&[april, july]), None);
        assert_eq!(explains(&[may - 86_400, may]), None);
    }

    #[test]
    fn a_fire_on_a_day_before_the_first_of_a_short_month_is_known() {
        // 2016-02-01, a month of 29 days, and 2016-03-02 and 2016-04-01.
        let [february, march, april] = [1_454_328_000, 1_456_920_000, 1_459_512_000];
        let row = row("UTC", february - 86_400, "0 0 12 L-29W * ?", false);
        let explains = |quartz: &[i64]| Known::explains(&row, &fires(&[march, april]), &fires(quartz));
        assert_eq!(explains(&[february, march]), Some(Known::NearestToMissingDay));
        assert_eq!(explains(&[february, april]), None);
    }

    #[test]
    fn what_lies_behind_the_wall_clock_time_of_a_start_in_the_first_pass_is_known() {
        // 2024-11-03, 01:20 in summer time, of which 01:05 in winter time is to come, and 01:05 of the day after.
        let (from, first, second) = (1_730_611_200, 1_730_613_900, 1_730_700_300);
        let explains = |from, ours: &[i64]| {
            Known::explains(&row("America/New_York", from, "0 5 1 * * ?", false), &fires(ours), &fires(&[second]))
        };
        assert_eq!(explains(from, &[first, second]), Some(Known::StartInFirstPass));
        assert_eq!(explains(from, &[first, second + 1]), None);
        assert_eq!(explains(from - 3_600, &[first, second]), None, "before the first pass");
        assert_eq!(explains(from + 3_600, &[first, second]), None, "in the second pass");
    }

    #[test]
    fn what_is_left_of_an_hour_after_the_clocks_are_put_forward_is_known() {
        // 2001-04-01: at 00:01 the clocks were set to 01:01; 01:06 of that day and of the next one.
        let (first, second) = (986_096_160, 986_182_560);
        let explains = |zone, ours: &[i64]| {
            Known::explains(&row(zone, first - 3_600, "0 6 1 * * ?", false), &fires(ours), &fires(&[second]))
        };
        assert_eq!(explains("America/St_Johns", &[first, second]), Some(Known::HourLeftInPart));
        assert_eq!(explains("America/St_Johns", &[first + 3_600, second]), None, "the hour after");
        assert_eq!(explains("UTC", &[first, second]), None);
    }

    #[test]
    fn a_slip_may_make_a_year_that_quartz_does_not_count() {
        let refused = Answer::Refused("Start year must be less than stop year".to_owned());
        let explains = |has_slip, ours: &[i64]| {
            Known::explains(&row("UTC", 0, "0 0 0 ? * 1 2179/4", has_slip), &fires(ours), &refused)
        };
        assert_eq!(explains(true, &[]), Some(Known::YearTooLate));
        assert_eq!(explains(true, &[1]), None);
        assert_eq!(explains(false, &[]), None);
    }

    #[test]
    fn quartz_may_loop_with_a_day_that_a_month_may_not_have_only() {
        let explains = |expression| Known::explains(&row("UTC", 0, expression, false), &fires(&[1]), &Answer::Endless);
        assert_eq!(explains("0 0 12 L-30W * ?"), Some(Known::EndlessInQuartz));
        assert_eq!(explains("36 42 8 31W NOV ?"), Some(Known::EndlessInQuartz));
        assert_eq!(explains("0 0 12 28W * ?"), None);
        assert_eq!(explains("0 0 12 ? * 6L"), None);
    }
}
