//! Properties that the registry center does not decide alone: where a secret of the program is sent to, and what makes
//! the program run or ask something. Who can write the registry center must get neither.

use super::job::{Invalid, JobConfiguration};
use super::unknown_props::OptionNames;
use crate::secret::stays_with_program;

/// Options that only count together with where they come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BoundOptions {
    /// Secrets, and what decides where they are sent to. Where the program has one of the secrets, all of them are the
    /// program's, and another value in the registry center is refused.
    Secret {
        /// The secrets.
        secrets: &'static [&'static str],
        /// Hosts, addresses, users, options of TLS.
        sent_with: &'static [&'static str],
    },
    /// Commands, and addresses that are asked: the program's, unless it allows those of the registry center with
    /// `NAME.from-registry: true` under the first of these names. They count together.
    Command(OptionNames),
}

/// A configuration of the registry center as a program may follow it.
#[derive(Debug)]
pub(crate) struct Followed {
    pub(crate) configuration: JobConfiguration,
    /// What the registry center has and is refused, each with the remedy.
    pub(crate) refused: Vec<String>,
}

/// The end of the name under which a program allows what the registry center has.
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
    /// The property that allows what the registry center has.
    fn permission(names: OptionNames) -> String {
        format!("{}{FROM_REGISTRY}", names[0][0])
    }

    /// Whether a program takes these from the registry center as it likes.
    pub(crate) fn is_allowed_by(&self, program: &JobConfiguration) -> bool {
        matches!(self, Self::Command(names) if program.allows(&Self::permission(names)))
    }

    /// What becomes of these properties of the registry center, for whoever changes them there: `None` where they are
    /// none of these.
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
    /// This configuration of the registry center as a program with that one may follow it.
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

    /// Whether a problem of the program's configuration is that something is missing which it leaves to the registry
    /// center.
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

    /// Has a property as the other configuration has it.
    fn take(&mut self, other: &Self, key: &str) {
        match other.props.get_key_value(key) {
            Some((key, value)) => self.props.insert(key.clone(), value.clone()),
            None => self.props.remove(key),
        };
    }
}

#[cfg(test)]
mod tests;
