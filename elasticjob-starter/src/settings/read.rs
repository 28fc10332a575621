//! Turns the merged settings into typed values.

use std::collections::BTreeMap;
use std::str::FromStr;
use std::time::Duration;

use elasticjob::secret::Secret;

use super::doubt::Doubt;
use super::error::SettingError;
use super::layer::Layer;
use super::node::Origin;
use super::placeholder::{self, Found};
use super::schema::{Default, Key, Kind, kind_at, setting_at};

/// A typed value and its place.
#[derive(Clone)]
pub(crate) struct Sourced<T> {
    pub value: T,
    pub origin: Origin,
}

/// Reads values by their keys and collects all problems.
pub(super) struct Reader<'a> {
    pub merged: &'a Layer,
    pub lookup: &'a dyn Fn(&str) -> Option<Found>,
    pub errors: Vec<SettingError>,
    /// Oddities that are no errors.
    pub warnings: Vec<String>,
    /// Settings that cannot be read, found here or before.
    pub doubt: Doubt,
}

impl Reader<'_> {
    pub fn text(&mut self, key: &Key) -> Option<Sourced<String>> {
        let (origin, text) = self.merged.text(key)?;
        let origin = origin.clone();
        match placeholder::expand(&text, self.lookup) {
            Ok(value) => Some(Sourced { value, origin }),
            Err(reason) => {
                self.doubt.add(key.clone());
                self.errors.push(SettingError::Placeholder { origin, key: key.to_string(), reason });
                None
            }
        }
    }

    pub fn flag(&mut self, key: &Key) -> Option<bool> {
        self.parsed(key, parse_flag)
    }

    pub fn whole<N: TryFrom<i64>>(&mut self, key: &Key) -> Option<N> {
        let given = self.text(key)?;
        let in_range = |number: &i64| match kind_at(key) {
            Some(Kind::Whole { from, to, .. }) => (from..=to).contains(number),
            _ => true,
        };
        let number =
            given.value.trim().parse::<i64>().ok().filter(in_range).and_then(|number| N::try_from(number).ok());
        self.checked(key, given, number)
    }

    pub fn list(&mut self, key: &Key) -> Option<Sourced<Vec<String>>> {
        let Sourced { value, origin } = self.text(key)?;
        Some(Sourced { value: items(&value), origin })
    }

    /// The value, or the default of the schema.
    pub fn or_default<T>(&mut self, key: &Key, parse: fn(&str) -> Option<T>) -> T {
        self.parsed(key, parse).unwrap_or_else(|| default_at(key, parse))
    }

    /// The same for whole numbers.
    pub fn whole_or_default<N: TryFrom<i64> + FromStr>(&mut self, key: &Key) -> N {
        self.whole(key).unwrap_or_else(|| default_at(key, |text| text.parse().ok()))
    }

    fn parsed<T>(&mut self, key: &Key, parse: fn(&str) -> Option<T>) -> Option<T> {
        let given = self.text(key)?;
        let value = parse(given.value.trim());
        self.checked(key, given, value)
    }

    fn checked<T>(&mut self, key: &Key, given: Sourced<String>, value: Option<T>) -> Option<T> {
        if value.is_none() {
            let kind = kind_at(key);
            let shown = match kind {
                Some(kind) if kind.is_secret() => Secret::MASK.to_owned(),
                _ => format!("'{}'", given.value),
            };
            self.doubt.add(key.clone());
            let expected = kind.map_or_else(|| "another value".to_owned(), |kind| kind.to_string());
            self.errors.push(SettingError::WrongValue {
                origin: given.origin,
                key: key.to_string(),
                value: shown,
                expected,
            });
        }
        value
    }

    /// Reports that a setting is missing, unless it was given with a value that cannot be read.
    pub fn missing(&mut self, origin: Origin, key: &Key, reason: impl Into<String>) {
        if !self.doubt.is_about(key) {
            self.errors.push(SettingError::Missing { origin, key: key.to_string(), reason: reason.into() });
        }
    }

    /// The names in a section, each with its place.
    pub fn names(&self, key: &Key) -> Vec<(String, Origin)> {
        let names = self.merged.names_below(key);
        names.into_iter().map(|(name, origin)| (name.to_owned(), origin.clone())).collect()
    }

    /// Properties, `None` when none are given.
    pub fn props(&mut self, key: &Key) -> Option<BTreeMap<String, String>> {
        self.origin(key)?;
        let names = self.names(key);
        let text = |(name, _): (String, Origin)| Some((name.clone(), self.text(&key.child(&name))?.value));
        Some(names.into_iter().filter_map(text).collect())
    }

    /// The place of a value.
    pub fn origin(&self, key: &Key) -> Option<Origin> {
        self.merged.origin(key).cloned()
    }
}

/// The items of a list in one text.
pub(super) fn items(text: &str) -> Vec<String> {
    text.split(',').map(str::trim).filter(|item| !item.is_empty()).map(str::to_owned).collect()
}

fn default_at<T>(key: &Key, parse: fn(&str) -> Option<T>) -> T {
    match setting_at(key).map(|setting| &setting.default) {
        Some(Default::Value(text)) => parse(text).expect("a default can be read"),
        _ => unreachable!("{key} has no default"),
    }
}

/// The words that YAML 1.1 and Spring accept as flags.
pub(super) fn parse_flag(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "yes" | "on" => Some(true),
        "false" | "no" | "off" => Some(false),
        _ => None,
    }
}

/// A whole number and a unit: `25s`, `1500ms`, `2m`, `1h`.
pub(super) fn parse_duration(text: &str) -> Option<Duration> {
    let digits = text.find(|c: char| !c.is_ascii_digit())?;
    let number: u64 = text[..digits].parse().ok()?;
    match text[digits..].trim() {
        "ms" => Some(Duration::from_millis(number)),
        "s" => Some(Duration::from_secs(number)),
        "m" => number.checked_mul(60).map(Duration::from_secs),
        "h" => number.checked_mul(3600).map(Duration::from_secs),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_needs_its_unit() {
        assert_eq!(parse_duration("25s"), Some(Duration::from_secs(25)));
        assert_eq!(parse_duration("1500 ms"), Some(Duration::from_millis(1500)));
        assert_eq!(parse_duration("2m"), Some(Duration::from_secs(120)));
        for wrong in ["25", "s", "-1s", "1.5s", "99999999999999999999s", "18446744073709551615h"] {
            assert_eq!(parse_duration(wrong), None, "{wrong}");
        }
    }
}
