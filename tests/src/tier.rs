//! The tiers of the tests: what needs no service, what needs servers or a clock that can be set, and what needs Java jobs.
//!
//! `cargo test` by itself runs the first, so that it is short and the same everywhere. `tests/run` asks for all.

use std::env;

/// Names the tiers to run: `unit`, which it is unless set, `services`, `java` or `all`.
const VARIABLE: &str = "ELASTICJOB_TEST_TIER";

/// The tests that are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tier {
    /// Those that need no service.
    Unit,
    /// Those that need ZooKeeper, a database, a clock that can be set, `promtool`, a browser or a cluster.
    Services,
    /// Those that need Java jobs, which Maven builds.
    Java,
    /// Every test.
    All,
}

impl Tier {
    /// The tiers that the environment asks for.
    ///
    /// # Panics
    ///
    /// When the variable names no tier.
    pub fn asked() -> Self {
        let Some(name) = env::var_os(VARIABLE) else { return Self::Unit };
        let tiers = [("unit", Self::Unit), ("services", Self::Services), ("java", Self::Java), ("all", Self::All)];
        let tier = tiers.into_iter().find(|(known, _)| name == *known);
        tier.unwrap_or_else(|| panic!("{VARIABLE} is {name:?}: use unit, services, java or all")).1
    }

    /// The tier of tests that need a service of this name.
    pub fn of_service(service: &str) -> Self {
        if service == "maven" { Self::Java } else { Self::Services }
    }

    /// Whether tests of another tier run where this one is asked for.
    pub fn includes(self, tier: Self) -> bool {
        self == Self::All || self == tier
    }

    /// Why tests that need a service are left out where they are not asked for.
    pub fn why_left_out(service: &str) -> String {
        let tier = if Self::of_service(service) == Self::Java { "java" } else { "services" };
        format!("not asked for; tests/run --tier {tier} does, or {VARIABLE}={tier}")
    }
}

#[cfg(test)]
mod tests {
    use super::Tier;

    #[test]
    fn each_tier_runs_its_own_tests_and_all_of_them_everything() {
        let tiers = [Tier::Unit, Tier::Services, Tier::Java];
        for asked in tiers {
            assert_eq!(tiers.into_iter().filter(|tier| asked.includes(*tier)).collect::<Vec<_>>(), [asked]);
        }
        assert!(tiers.into_iter().all(|tier| Tier::All.includes(tier)));
    }

    #[test]
    fn only_what_needs_the_java_program_is_of_the_java_tier() {
        assert_eq!(Tier::of_service("maven"), Tier::Java);
        for service in
            ["zookeeper", "faketime", "postgresql", "mariadb", "promtool", "chromium", "nginx", "kubernetes", "slurm"]
        {
            assert_eq!(Tier::of_service(service), Tier::Services);
        }
    }
}
