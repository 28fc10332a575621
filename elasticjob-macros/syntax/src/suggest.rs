//! Compares spellings of a name, and finds the name that a mistyped one may mean.

/// The form that kebab-case, camelCase and snake_case of one name share.
pub fn squash(name: &str) -> String {
    name.chars().filter(|c| !matches!(c, '-' | '_')).flat_map(char::to_lowercase).collect()
}

/// The known name that is nearest to a mistyped one. `None` when no name is near.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let name = squash(name);
    let limit = (name.chars().count() / 3).max(1);
    known
        .into_iter()
        .map(|known| (strsim::damerau_levenshtein(&name, &squash(known)), known))
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, known)| known)
}

/// A hint for an unknown name: the nearest known name, else all known names.
pub fn hint<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    match nearest(name, known.iter().copied()) {
        Some(name) => format!("did you mean '{name}'?"),
        None if known.is_empty() => "nothing is known here".to_owned(),
        None => format!("known here: {}", known.join(", ")),
    }
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
