//! Properties that the registry center does not decide alone: the targets of the program's secrets, and the commands
//! and requests that the program runs. A user who can write the registry center must get neither.

use super::job::{Invalid, JobConfiguration};
use super::unknown_props::OptionNames;
use crate::secret::stays_with_program;

/// Options whose source matters: the program or the registry center.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BoundOptions {
    /// Secrets, and the options that decide where they are sent to. All of them come from the program, and another value
    /// in the registry center is refused. A program that has none of the secrets allows those of the registry center,
    /// with their address, by `NAME.from-registry: true`, where NAME is the first of `sent_with`; where that is empty,
    /// the first of the secrets. The handler names the permission among its
    /// `options()`.
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
    fn permission(&self) -> String {
        let name = match self {
            Self::Secret { secrets, sent_with } => sent_with.first().or(secrets.first()).copied().unwrap_or_default(),
            Self::Command(names) => names[0][0],
        };
        format!("{name}{FROM_REGISTRY}")
    }

    /// Whether a program accepts any value of these options from the registry center. The program's own secret goes
    /// nowhere else, whatever it allows.
    pub(crate) fn is_allowed_by(&self, program: &JobConfiguration) -> bool {
        self.own_secret(program).is_none() && program.allows(&self.permission())
    }

    /// The first of the secrets that a program has itself.
    fn own_secret(&self, program: &JobConfiguration) -> Option<&'static str> {
        let Self::Secret { secrets, .. } = self else { return None };
        secrets.iter().copied().find(|key| program.given(key).is_some())
    }

    fn contains(&self, key: &str) -> bool {
        match self {
            Self::Secret { secrets, sent_with } => secrets.contains(&key) || sent_with.contains(&key),
            Self::Command(names) => names.iter().any(|names| names.contains(&key)),
        }
    }

    /// How programs handle this property of the registry center, for an operator who changes it there. `None` for other
    /// properties.
    pub(crate) fn note(&self, key: &str) -> Option<String> {
        let allows = || format!("unless they allow it in their settings with `props.{}: true`", self.permission());
        self.contains(key).then(|| match self {
            Self::Secret { secrets, .. } => format!(
                "props.{key}: programs refuse it and use their own, {}; a program that has {} itself refuses it in any case",
                allows(),
                secrets.join(" or ")
            ),
            Self::Command(_) => format!("props.{key}: programs refuse it and use their own, {}", allows()),
        })
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
        for bound in bound.iter().filter(|bound| !bound.is_allowed_by(program)) {
            let remedy = format!("set `props.{}: true` in the settings of the program", bound.permission());
            match (bound, bound.own_secret(program)) {
                (BoundOptions::Secret { secrets, sent_with }, Some(secret)) => {
                    self.keep_together(program, secret, &[sent_with, secrets], &mut refused)
                }
                (BoundOptions::Secret { secrets, sent_with }, None) => {
                    self.keep_out(program, &remedy, &[sent_with, secrets], &mut refused)
                }
                (BoundOptions::Command(names), _) => self.keep_command(program, &remedy, names, &mut refused),
            }
        }
        Followed { configuration: self, refused }
    }

    /// Takes the address from the program, beside the program's secret.
    fn keep_together(&mut self, program: &Self, secret: &str, keys: &[&[&str]], refused: &mut Vec<String>) {
        for key in keys.iter().copied().flatten() {
            if self.differs(program, key) {
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

    /// Takes neither a secret nor an address of the registry center, for a program without a secret of its own.
    fn keep_out(&mut self, program: &Self, remedy: &str, keys: &[&[&str]], refused: &mut Vec<String>) {
        let keys = || keys.iter().copied().flatten();
        let theirs: Vec<_> =
            keys().filter(|key| self.differs(program, key)).map(|key| format!("props.{key}")).collect();
        if !theirs.is_empty() {
            refused.push(format!(
                "{}: what the registry center has is not used; set the program's own, or, to let the registry center \
                 decide where errors of runs are sent, {remedy}",
                theirs.join(", ")
            ));
        }
        keys().for_each(|key| self.take(program, key));
    }

    fn keep_command(&mut self, program: &Self, remedy: &str, names: OptionNames, refused: &mut Vec<String>) {
        for names in names {
            let value = |configuration: &Self| names.iter().find_map(|key| configuration.given(key)).map(str::to_owned);
            let (ours, theirs) = (value(program), value(self));
            if theirs.is_some() && theirs != ours {
                let key = names.iter().find(|key| self.given(key).is_some()).unwrap_or(&names[0]);
                let instead = if ours.is_some() { "the program's own is used" } else { "it is not used" };
                refused.push(format!("props.{key}: {instead}; to use that of the registry center {remedy}"));
            }
            names.iter().for_each(|key| self.take(program, key));
        }
    }

    /// Whether the problem is an option that is missing in the program's configuration because the program leaves it to
    /// the registry center.
    pub(crate) fn leaves_to_registry(&self, problem: &Invalid, bound: &[BoundOptions]) -> bool {
        let Some(key) = problem.setting.strip_prefix("props.") else { return false };
        self.given(key).is_none() && bound.iter().any(|bound| bound.contains(key) && bound.is_allowed_by(self))
    }

    fn allows(&self, permission: &str) -> bool {
        self.given(permission).is_some_and(|text| text.eq_ignore_ascii_case("true"))
    }

    /// Whether this configuration gives a property that the other one has not, or has otherwise.
    fn differs(&self, other: &Self, key: &str) -> bool {
        self.given(key).is_some() && self.given(key) != other.given(key)
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
