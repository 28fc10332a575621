//! The tiers of the tests: what needs no service, what needs servers or a clock that can be set, and what needs Java jobs.
//!
//! `cargo test` by itself runs the first, so that it is short and the same everywhere. `tests/run` asks for all.

use std::env;

/// Names the tiers to run, with blanks between: `unit`, which it is unless set, `services`, `java` or `all`.
const VARIABLE: &str = "ELASTICJOB_TEST_TIER";

/// A part of the tests, or all of them.
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
    /// When the variable names no tier, or one that is not known.
    pub fn asked() -> Tiers {
        let Some(names) = env::var_os(VARIABLE) else { return Tiers(vec![Self::Unit]) };
        let tiers = names.to_str().and_then(Tiers::of_names);
        tiers.unwrap_or_else(|| panic!("{VARIABLE} is {names:?}: use some of unit, services, java and all"))
    }

    fn of_name(name: &str) -> Option<Self> {
        match name {
            "unit" => Some(Self::Unit),
            "services" => Some(Self::Services),
            "java" => Some(Self::Java),
            "all" => Some(Self::All),
            _ => None,
        }
    }

    /// The tier of tests that need a service of this name.
    pub fn of_service(service: &str) -> Self {
        if service == "maven" { Self::Java } else { Self::Services }
    }

    /// Why tests that need a service are left out where they are not asked for.
    pub fn why_left_out(service: &str) -> String {
        let tier = if Self::of_service(service) == Self::Java { "java" } else { "services" };
        format!("not asked for; tests/run --tier {tier} does, or {VARIABLE}={tier}")
    }
}

/// The tiers that are asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tiers(Vec<Tier>);

impl Tiers {
    /// The tiers of a text with their names; `None` where it has none, or one that is not known.
    fn of_names(names: &str) -> Option<Self> {
        let tiers: Vec<Tier> = names.split_whitespace().map(Tier::of_name).collect::<Option<_>>()?;
        (!tiers.is_empty()).then_some(Self(tiers))
    }

    /// Whether tests of this tier run.
    pub fn includes(&self, tier: Tier) -> bool {
        self.0.iter().any(|asked| *asked == Tier::All || *asked == tier)
    }
}

#[cfg(test)]
mod tests {
    use super::{Tier, Tiers};

    #[test]
    fn each_tier_runs_its_own_tests_several_run_theirs_and_all_of_them_everything() {
        let all = [Tier::Unit, Tier::Services, Tier::Java];
        let run_by = |names: &str| {
            let asked = Tiers::of_names(names).expect("known names");
            all.into_iter().filter(|tier| asked.includes(*tier)).collect::<Vec<_>>()
        };
        assert_eq!(run_by("unit"), [Tier::Unit]);
        assert_eq!(run_by("services"), [Tier::Services]);
        assert_eq!(run_by("java"), [Tier::Java]);
        assert_eq!(run_by("java unit"), [Tier::Unit, Tier::Java]);
        assert_eq!(run_by("all"), all);
        assert_eq!(run_by("unit all"), all);
        for wrong in ["", " ", "units", "unit,java", "unit other"] {
            assert_eq!(Tiers::of_names(wrong), None, "{wrong:?}");
        }
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
