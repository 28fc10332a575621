//! Checks cron expressions, and whether they ever fire.

use elasticjob_syntax::cron::{CronError, CronExpression};

/// The year before which no job was written. With the year of the build the check would find more schedules that have
/// ended, but a program that compiles today must also compile next year.
const FIRST_YEAR: i32 = 2026;

/// The error of a cron expression, with a caret under its place.
pub fn check(expression: &str) -> Result<(), String> {
    let parsed: CronExpression =
        expression.parse().map_err(|error: CronError| format!("this is not a cron expression\n{}", error.caret()))?;
    if parsed.never_fires(FIRST_YEAR) {
        return Err(format!("this schedule never fires\n{}", why_never(expression).caret()));
    }
    Ok(())
}

/// Points at the fields that make every fire impossible: day and month, or the year when there are fires in other
/// years.
fn why_never(expression: &str) -> CronError {
    let fields: Vec<&str> = expression.split_ascii_whitespace().take(7).collect();
    let without_year: String = fields.iter().take(6).flat_map(|field| [*field, " "]).collect();
    let in_other_years = without_year.parse().is_ok_and(|any: CronExpression| !any.never_fires(FIRST_YEAR));
    let (first, last, reason) = match fields[..] {
        [.., year] if in_other_years => (year, year, "none of these years has such a day and is still to come"),
        [_, _, _, day, month, ..] => (day, month, "none of these months has such a day"),
        _ => (expression, expression, "there is no such day"),
    };
    let start = |field: &str| field.as_ptr().addr() - expression.as_ptr().addr();
    let span = start(first)..start(last) + last.len();
    CronError { expression: expression.to_owned(), field: None, span, reason: reason.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schedule_with_a_fire_is_fine() {
        for cron in ["0/5 * * * * ?", "0 0 0 29 2 ?", "0 0 0 1 1 ? 2026", "0 0 0 ? FEB MON#5", "0 0 0 L-30 1,2 ?"] {
            assert_eq!(check(cron), Ok(()), "{cron}");
        }
    }

    #[test]
    fn what_never_fires_is_refused_with_a_caret_under_the_cause() {
        for (cron, caret) in [
            ("0 0 0 30 2 ?", "      ^^^^ none of these months has such a day"),
            ("0 0 0 31 4,6,9,11 ?", "      ^^^^^^^^^^^ none"),
            ("0 0 0 30 2 ? 2030", "      ^^^^ none"),
            ("0 0 0 L-28 2 ?  2027,2029", "                ^^^^^^^^^ none of these years has such a day"),
            ("0 0 0 1 1 ? 2020-2025", "            ^^^^^^^^^ none of these years"),
        ] {
            let error = check(cron).unwrap_err();
            let expected = format!("this schedule never fires\n{cron}\n{caret}");
            assert!(error.starts_with(&expected), "{error}");
        }
    }

    #[test]
    fn an_expression_that_is_none_is_refused_with_a_caret_under_the_field() {
        let error = check("0 0 25 * * ?").unwrap_err();
        assert!(error.contains("\n0 0 25 * * ?\n    ^^ hour: 25"), "{error}");
    }
}
