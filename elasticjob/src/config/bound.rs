//! Properties that the registry center does not decide alone: the targets of the program's secrets, and the commands
//! and requests that the program runs. A user who can write the registry center must get neither.

use super::job::{Invalid, JobConfiguration};
use super::unknown_props::OptionNames;
use crate::secret::stays_with_program;

/// Options whose source matters: the program or the registry center.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BoundOptions {
    /// Secrets, and the options that decide where they are sent to. When the program has one of the secrets, all of
    /// these options come from the program, and another value in the registry center is refused.
    Secret {
        /// The secrets.
        secrets: &'static [&'static str],
        /// Hosts, addresses, users, options of TLS.
        sent_with: &'static [&'static str],
    },
    /// Commands, and addresses that are requested. They come from the program, unless the program allows those of the
    /// registry center with `NAME.from-registry: true`, where NAME is the first of these names. They count together.
    Command(OptionNames),
}

/// A configuration of the registry center in the form that a program may follow.
#[derive(Debug)]
pub(crate) struct Followed {
    pub(crate) configuration: JobConfiguration,
    /// The refused values of the registry center, each with the remedy.
    pub(crate) refused: Vec<String>,
}

/// The end of the property with which a program allows the values of the registry center.
const FROM_REGISTRY: &str = ".from-registry";

/// Whether a property is a permission that only the program can give.
pub(crate) fn is_permission(key: &str) -> bool {
    key.ends_with(FROM_REGISTRY)
}

/// Whether a property is never written to the registry center.
pub(crate) fn is_of_program(key: &str) -> bool {
    stays_with_program(key) || is_permission(key)
}

impl BoundOptions {
    /// The property that allows the values of the registry center.
    fn permission(names: OptionNames) -> String {
        format!("{}{FROM_REGISTRY}", names[0][0])
    }

    /// Whether a program accepts any value of these options from the registry center.
    pub(crate) fn is_allowed_by(&self, program: &JobConfiguration) -> bool {
        matches!(self, Self::Command(names) if program.allows(&Self::permission(names)))
    }

    /// How programs handle this property of the registry center, for an operator who changes it there. `None` for other
    /// properties.
    pub(crate) fn note(&self, key: &str) -> Option<String> {
        match self {
            Self::Secret { secrets, sent_with } => sent_with.contains(&key).then(|| {
                format!("props.{key}: a program that has {} itself refuses it and uses its own", secrets.join(" or "))
            }),
            Self::Command(names) => names.iter().any(|names| names.contains(&key)).then(|| {
                format!(
                    "props.{key}: programs refuse it and use their own, unless they allow it in their settings with \
                     `props.{}: true`",
                    Self::permission(names)
                )
            }),
        }
    }
}

impl JobConfiguration {
    /// This configuration of the registry center, in the form that a program with the configuration `program` may
    /// follow.
    pub(crate) fn under(mut self, program: &Self, bound: &[BoundOptions]) -> Followed {
        let mut refused = Vec::new();
        self.props.retain(|key, _| {
            let is_permission = is_permission(key);
            if is_permission {
                refused.push(format!("props.{key}: only the settings of the program can allow that"));
            }
            !is_permission
        });
        for (key, value) in program.props.iter().filter(|(key, _)| is_of_program(key)) {
            if value.trim().is_empty() && self.given(key).is_some() {
                continue;
            }
            if self.props.insert(key.clone(), value.clone()).is_some_and(|theirs| theirs != *value) {
                refused.push(format!("props.{key}: the program's own is used"));
            }
        }
        for bound in bound {
            match bound {
                BoundOptions::Secret { secrets, sent_with } => {
                    self.keep_together(program, secrets, sent_with, &mut refused)
                }
                BoundOptions::Command(names) => self.keep_command(program, names, &mut refused),
            }
        }
        Followed { configuration: self, refused }
    }

    fn keep_together(&mut self, program: &Self, secrets: &[&str], sent_with: &[&str], refused: &mut Vec<String>) {
        let Some(secret) = secrets.iter().find(|key| program.given(key).is_some()) else { return };
        for key in secrets.iter().chain(sent_with) {
            if self.given(key).is_some() && self.given(key) != program.given(key) {
                refused.push(match program.given(key) {
                    Some(_) => format!("props.{key}: the program's own is used, as it has {secret} itself"),
                    None => format!(
                        "props.{key}: not used, as the program has {secret} itself: set it there, beside {secret}"
                    ),
                });
            }
            self.take(program, key);
        }
    }

    fn keep_command(&mut self, program: &Self, names: OptionNames, refused: &mut Vec<String>) {
        let permission = BoundOptions::permission(names);
        if program.allows(&permission) {
            return;
        }
        for names in names {
            let value = |configuration: &Self| names.iter().find_map(|key| configuration.given(key)).map(str::to_owned);
            let (ours, theirs) = (value(program), value(self));
            if theirs.is_some() && theirs != ours {
                let key = names.iter().find(|key| self.given(key).is_some()).unwrap_or(&names[0]);
                let instead = if ours.is_some() { "the program's own is used" } else { "it is not used" };
                refused.push(format!(
                    "props.{key}: {instead}; to use that of the registry center set `props.{permission}: true` in the \
                     settings of the program"
                ));
            }
            names.iter().for_each(|key| self.take(program, key));
        }
    }

    /// Whether the problem is an option that is missing in the program's configuration because the program leaves it to
    /// the registry center.
    pub fn leaves_to_registry(&self, problem: &Invalid, bound: &[BoundOptions]) -> bool {
        let Some(key) = problem.setting.strip_prefix("props.") else { return false };
        let of_registry = |names: OptionNames| {
            names.iter().any(|names| names.contains(&key)) && self.allows(&BoundOptions::permission(names))
        };
        self.given(key).is_none()
            && bound.iter().any(|bound| matches!(bound, BoundOptions::Command(names) if of_registry(names)))
    }

    fn allows(&self, permission: &str) -> bool {
        self.given(permission).is_some_and(|text| text.eq_ignore_ascii_case("true"))
    }

    fn given(&self, key: &str) -> Option<&str> {
        self.prop(key).map(str::trim).filter(|text| !text.is_empty())
    }

    /// Sets a property to its value in the other configuration.
    fn take(&mut self, other: &Self, key: &str) {
        match other.props.get_key_value(key) {
            Some((key, value)) => self.props.insert(key.clone(), value.clone()),
            None => self.props.remove(key),
        };
    }
}

#[cfg(test)]
mod tests;
