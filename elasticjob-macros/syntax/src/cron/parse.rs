//! Parses a text to a [`CronExpression`]: first each field by itself, then the two day fields together.

use std::ops::Range;

use super::{CronExpression, CronField, DayRule};
use crate::message::Message;
use crate::texts;

/// An error and its place.
pub(super) struct Fault {
    pub(super) field: Option<CronField>,
    pub(super) span: Range<usize>,
    pub(super) reason: Message,
}

/// The content of one field: its values, counted from the field's lowest value, and the mark of a day field that
/// changes their meaning.
#[derive(Default)]
struct FieldValues {
    bits: [u64; 4],
    mark: Mark,
}

#[derive(Default, Clone, Copy, PartialEq)]
enum Mark {
    #[default]
    None,
    Unspecified,
    Last {
        days_before: u8,
    },
    LastWeekday {
        days_before: u8,
    },
    NearestWeekday,
    LastOfWeek,
    Nth(u8),
}

impl FieldValues {
    fn insert(&mut self, index: u32) {
        self.bits[index as usize / 64] |= 1 << (index % 64);
    }

    fn lowest(&self) -> u8 {
        self.bits[0].trailing_zeros() as u8
    }
}

pub(super) fn parse(source: &str) -> Result<CronExpression, Fault> {
    let upper = source.to_ascii_uppercase();
    let words: Vec<(usize, &str)> =
        upper.split_ascii_whitespace().map(|word| (word.as_ptr() as usize - upper.as_ptr() as usize, word)).collect();
    check_word_count(source, &words)?;

    let mut fields: [FieldValues; 7] = Default::default();
    for ((field, values), (start, text)) in CronField::ALL.into_iter().zip(&mut fields).zip(&words) {
        *values = FieldParser { field, start: *start, text, values: FieldValues::default() }.parse()?;
    }
    let [seconds, minutes, hours, days_of_month, months, days_of_week, years] = &fields;
    let years = if words.len() < 7 { [u64::MAX; 4] } else { years.bits };
    let days = day_rule(days_of_month, days_of_week).map_err(|reason| {
        let (start, text) = words[5];
        Fault { field: Some(CronField::DayOfWeek), span: start..start + text.len(), reason }
    })?;
    Ok(CronExpression {
        source: source.into(),
        seconds: seconds.bits[0],
        minutes: minutes.bits[0],
        hours: hours.bits[0] as u32,
        months: (months.bits[0] << 1) as u16,
        days,
        years,
    })
}

fn check_word_count(source: &str, words: &[(usize, &str)]) -> Result<(), Fault> {
    let fault = |span, reason: Message| Err(Fault { field: None, span, reason });
    const FORM: &str = "'second minute hour day-of-month month day-of-week [year]'";
    let (Some((start, first)), Some((end, last))) = (words.first(), words.last()) else {
        return fault(0..source.len(), texts::cron_blank(FORM));
    };
    let span = *start..end + last.len();
    if first.starts_with('@') {
        let meaning = match *first {
            "@YEARLY" | "@ANNUALLY" => "0 0 0 1 1 ?",
            "@MONTHLY" => "0 0 0 1 * ?",
            "@WEEKLY" => "0 0 0 ? * SUN",
            "@HOURLY" => "0 0 * * * ?",
            _ => "0 0 0 * * ?",
        };
        return fault(span, texts::cron_at_form(meaning));
    }
    match words.len() {
        1 => fault(span, texts::cron_one_field(FORM)),
        5 => fault(span, texts::cron_five_fields(FORM)),
        count if count < 6 => fault(span, texts::cron_few_fields(count, FORM)),
        _ => Ok(()),
    }
}

fn day_rule(of_month: &FieldValues, of_week: &FieldValues) -> Result<DayRule, Message> {
    let weekday = of_week.lowest();
    Ok(match (of_month.mark, of_week.mark) {
        (Mark::Unspecified, Mark::Unspecified) => return Err(texts::cron_no_day()),
        (Mark::Unspecified, Mark::LastOfWeek) => DayRule::LastOfWeek { weekday },
        (Mark::Unspecified, Mark::Nth(nth)) => DayRule::NthOfWeek { weekday, nth },
        (Mark::Unspecified, _) => DayRule::OfWeek(of_week.bits[0] as u8),
        (Mark::Last { days_before }, Mark::Unspecified) => DayRule::Last { days_before },
        (Mark::LastWeekday { days_before }, Mark::Unspecified) => DayRule::LastWeekday { days_before },
        (Mark::NearestWeekday, Mark::Unspecified) => DayRule::NearestWeekday { day: of_month.lowest() + 1 },
        (_, Mark::Unspecified) => DayRule::OfMonth((of_month.bits[0] << 1) as u32),
        _ => return Err(texts::cron_two_days()),
    })
}

/// Parses the list in one field. All positions are relative to the field's text.
struct FieldParser<'a> {
    field: CronField,
    start: usize,
    text: &'a str,
    values: FieldValues,
}

impl<'a> FieldParser<'a> {
    fn parse(mut self) -> Result<FieldValues, Fault> {
        if self.text == "?" {
            if !self.field.is_day() {
                return self.fault(0..1, texts::cron_question_mark());
            }
            self.values.mark = Mark::Unspecified;
            return Ok(self.values);
        }
        if self.text.bytes().all(|b| b == b',') {
            return self.fault(0..self.text.len(), texts::cron_empty_list());
        }
        if self.field.is_day() && self.text.contains(',') {
            if let Some(at) = self.text.find('L') {
                return self.fault(at..at + 1, texts::cron_last_in_list());
            }
            if let Some(at) = self.text.rfind('#').filter(|at| self.text.find('#') != Some(*at)) {
                return self.fault(at..at + 1, texts::cron_two_nth());
            }
        }
        let mut at = 0;
        for item in self.text.split(',') {
            if !item.is_empty() {
                self.item(at, item)?;
            }
            at += item.len() + 1;
        }
        Ok(self.values)
    }

    fn item(&mut self, at: usize, item: &'a str) -> Result<(), Fault> {
        let first = item.chars().next().unwrap_or(' ');
        match first {
            '*' | '/' => self.every(at, item),
            '0'..='9' => self.number_item(at, item),
            'L' if self.field.is_day() => self.last(at, item),
            'A'..='Z' => self.name_item(at, item),
            '?' => self.fault(at..at + item.len(), texts::cron_question_mark_alone()),
            other => self.unexpected(at, other, texts::cron_unexpected(other)),
        }
    }

    /// `*`, `*/n` and `/n`.
    fn every(&mut self, at: usize, item: &'a str) -> Result<(), Fault> {
        let rest = item.strip_prefix('*').unwrap_or(item);
        let rest_at = at + item.len() - rest.len();
        let mut step = 1;
        if let Some(text) = rest.strip_prefix('/') {
            step = self.whole_number(rest_at + 1, text, "/")?;
            self.check_step(rest_at + 1, text, step)?;
        } else if let Some(other) = rest.chars().next() {
            return self.unexpected(rest_at, other, texts::cron_unexpected_after(other, "*"));
        }
        // Quartz reads a step of zero after `*` as one, but a step of zero after a number leaves the number alone.
        self.insert_range(self.field.min(), self.field.max(), step.max(1));
        Ok(())
    }

    /// `n`, `n/step`, `n-m`, `n-m/step`, and of the days `nW`, `nL` and `n#nth`.
    fn number_item(&mut self, at: usize, item: &'a str) -> Result<(), Fault> {
        let (value, rest_at, rest) = self.value(at, item)?;
        let Some(sign) = rest.chars().next() else {
            self.insert_range(value, value, 1);
            return Ok(());
        };
        let (tail_at, tail) = (rest_at + sign.len_utf8(), &rest[sign.len_utf8()..]);
        match sign {
            '-' => {
                let (end, rest_at, rest) = self.value(tail_at, tail)?;
                if end < value && self.field == CronField::Year {
                    let reason = texts::cron_years_reversed(end, value);
                    return self.fault(at..rest_at, reason);
                }
                let step = match rest.strip_prefix('/') {
                    Some(text) => self.whole_number(rest_at + 1, text, "/")?,
                    None => match rest.chars().next() {
                        Some(other) => {
                            return self.unexpected(rest_at, other, texts::cron_unexpected_after_range(other));
                        }
                        None => 1,
                    },
                };
                self.insert_range(value, if step == 0 { value } else { end }, step.max(1));
            }
            '/' => {
                let step = self.whole_number(tail_at, tail, "/")?;
                self.check_step(tail_at, tail, step)?;
                self.insert_range(value, if step == 0 { value } else { self.field.max() }, step.max(1));
            }
            'W' if self.field == CronField::DayOfMonth && tail.is_empty() => {
                self.insert_range(value, value, 1);
                self.values.mark = Mark::NearestWeekday;
            }
            'L' if self.field == CronField::DayOfWeek && tail.is_empty() => {
                self.insert_range(value, value, 1);
                self.values.mark = Mark::LastOfWeek;
            }
            '#' if self.field == CronField::DayOfWeek => {
                self.insert_range(value, value, 1);
                self.values.mark = self.nth(tail_at, tail)?;
            }
            'W' if tail.is_empty() => {
                return self.fault(rest_at..rest_at + 1, texts::cron_nearest_weekday());
            }
            'L' if tail.is_empty() => {
                return self.fault(rest_at..rest_at + 1, texts::cron_last_of_week());
            }
            '#' => return self.fault(rest_at..rest_at + 1, texts::cron_nth()),
            other => return self.unexpected(rest_at, other, texts::cron_unexpected_after_number(other)),
        }
        Ok(())
    }

    /// `MON`, `MON-FRI`, `MONL` and `MON#2`; other text after a name has no effect.
    fn name_item(&mut self, at: usize, item: &'a str) -> Result<(), Fault> {
        let value = self.name(at, item)?;
        let rest = &item[3..];
        let mut end = value;
        if let Some(text) = rest.strip_prefix('-') {
            end = self.name(at + 4, text)?;
        } else if self.field == CronField::DayOfWeek {
            if let Some(text) = rest.strip_prefix('#') {
                self.values.mark = self.nth(at + 4, text)?;
            } else if rest.starts_with('L') {
                self.values.mark = Mark::LastOfWeek;
            }
        }
        self.insert_range(value, end, 1);
        Ok(())
    }

    /// `L`, `L-n`, `LW` and `L-nW` as day-of-month, `L` (which is Saturday) as day-of-week.
    fn last(&mut self, at: usize, item: &'a str) -> Result<(), Fault> {
        let rest = &item[1..];
        if self.field == CronField::DayOfWeek {
            if !rest.is_empty() {
                return self.fault(at..at + item.len(), texts::cron_last_alone());
            }
            self.insert_range(7, 7, 1);
            return Ok(());
        }
        let (rest, weekday) = rest.strip_suffix('W').map_or((rest, false), |rest| (rest, true));
        let mut days_before = 0;
        if let Some(text) = rest.strip_prefix('-') {
            days_before = self.whole_number(at + 2, text, "L-")?;
            if days_before > 30 {
                return self.fault(at + 2..at + 2 + text.len(), texts::cron_days_before_last(days_before));
            }
        } else if let Some(other) = rest.chars().next() {
            return self.unexpected(at + 1, other, texts::cron_unexpected_after_last(other));
        }
        let days_before = days_before as u8;
        self.values.mark = if weekday { Mark::LastWeekday { days_before } } else { Mark::Last { days_before } };
        Ok(())
    }

    fn nth(&self, at: usize, text: &str) -> Result<Mark, Fault> {
        match text.parse::<u8>() {
            Ok(nth @ 1..=5) => Ok(Mark::Nth(nth)),
            _ => self.fault(at..at + text.len(), texts::cron_nth_number()),
        }
    }

    fn name(&self, at: usize, text: &str) -> Result<u32, Fault> {
        let names = self.field.names();
        if let Some(index) = text.get(..3).and_then(|name| names.iter().position(|known| *known == name)) {
            return Ok(index as u32 + 1);
        }
        let word_length = text.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(text.len());
        let word = &text[..word_length];
        let reason = if names.is_empty() {
            texts::cron_not_a_number(word, self.field.allowed())
        } else if word.is_empty() || word.starts_with(|c: char| c.is_ascii_digit()) {
            texts::cron_range_of_names(self.field.allowed())
        } else {
            texts::cron_not_a_name(word, self.field.allowed())
        };
        self.fault(at..at + word_length, reason)
    }

    /// A value of this field and what follows it.
    fn value(&self, at: usize, text: &'a str) -> Result<(u32, usize, &'a str), Fault> {
        let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        if digits == 0 {
            return self.fault(at..at + text.len(), texts::cron_end_missing(self.field.allowed()));
        }
        let value = saturating_number(&text[..digits]);
        if value < self.field.min() || value > self.field.max() {
            let reason = texts::cron_out_of_range(&text[..digits], self.field.allowed());
            return self.fault(at..at + digits, reason);
        }
        Ok((value, at + digits, &text[digits..]))
    }

    fn whole_number(&self, at: usize, text: &str, behind: &str) -> Result<u32, Fault> {
        if text.is_empty() || !text.bytes().all(|b| b.is_ascii_digit()) {
            return self.fault(at..at + text.len(), texts::cron_number_missing(behind));
        }
        Ok(saturating_number(text))
    }

    fn check_step(&self, at: usize, text: &str, step: u32) -> Result<(), Fault> {
        let field = self.field;
        if step > field.max() && field != CronField::Year {
            return self.fault(at..at + text.len(), texts::cron_step_too_large(text, field.max()));
        }
        Ok(())
    }

    /// Inserts every `step`-th value from `from` to `to`. Where `to` is lower, it goes over the end of the field and
    /// continues at its start.
    fn insert_range(&mut self, from: u32, to: u32, step: u32) {
        let (min, size) = (self.field.min(), self.field.max() - self.field.min() + 1);
        let end = if to < from { to + size } else { to };
        for value in (from..=end).step_by(step as usize) {
            self.values.insert((value - min) % size);
        }
    }

    fn unexpected<T>(&self, at: usize, found: char, reason: Message) -> Result<T, Fault> {
        self.fault(at..at + found.len_utf8(), reason)
    }

    fn fault<T>(&self, span: Range<usize>, reason: Message) -> Result<T, Fault> {
        Err(Fault { field: Some(self.field), span: self.start + span.start..self.start + span.end, reason })
    }
}

/// The digits as a number. A number that does not fit becomes larger than every limit here.
fn saturating_number(digits: &str) -> u32 {
    digits.parse().unwrap_or(u32::MAX)
}
