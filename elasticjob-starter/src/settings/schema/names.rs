//! What spellings of a name have in common, and what a mistyped one may have meant.

/// What kebab-case, camelCase and snake_case of one name have in common.
pub(in super::super) fn squash(name: &str) -> String {
    name.chars().filter(|c| !matches!(c, '-' | '_')).flat_map(char::to_lowercase).collect()
}

/// A hint for a key that is unknown: the nearest known name, else all of them.
pub(in super::super) fn hint<'a>(key: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    match nearest(key, known.iter().copied()) {
        Some(name) => format!("did you mean '{name}'?"),
        None if known.is_empty() => "nothing is known here".to_owned(),
        None => format!("known here: {}", known.join(", ")),
    }
}

/// The known name that a mistyped one is nearest to, if any is near.
pub(crate) fn nearest<'a>(key: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let key = squash(key);
    let limit = (key.chars().count() / 3).max(1);
    known
        .into_iter()
        .map(|name| (strsim::damerau_levenshtein(&key, &squash(name)), name))
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistyped_name_finds_the_nearest_known_one() {
        let known = ["cron", "time-zone", "sharding-total-count", "failover"];
        assert_eq!(nearest("shardingTotalCoutn", known), Some("sharding-total-count"));
        assert_eq!(nearest("timezone", known), Some("time-zone"));
        assert_eq!(nearest("corn", known), Some("cron"));
        assert_eq!(nearest("crn", known), Some("cron"));
        assert_eq!(nearest("schedule", known), None);
        assert_eq!(hint("schedule", ["a", "b"]), "known here: a, b");
    }
}
