//! Every setting with its meaning: what `docs/settings.md` is made of.

use super::schema::{Default, Names, ROOT, Schema, Setting};

/// The job and the property that stand for any other in keys.
const JOB_NAME: &str = "settle";
const PROPERTY: &str = "script.command.line";

/// One setting, as those who write it need to know it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SettingReference {
    /// Its names below `elasticjob`, in kebab-case. A job called `settle` stands for any job, its property
    /// `script.command.line` for any property.
    pub path: Vec<&'static str>,
    /// Names of older releases and of their manual, instead of the last one.
    pub aliases: &'static [&'static str],
    /// What it is for, in Markdown.
    pub meaning: &'static str,
    /// More about it, as a Markdown link from `docs/`.
    pub see: Option<&'static str>,
    /// A shorter name that the attribute `#[elastic_job]` has for it.
    pub short_in_attribute: Option<&'static str>,
    /// What may be given.
    pub value: String,
    /// The value that holds when none is given.
    pub default: Option<&'static str>,
    /// What holds instead where no such value says it, in Markdown.
    pub otherwise: &'static str,
    /// A value as it might be written.
    pub example: &'static str,
    /// The setting beside it that cannot be given as well.
    pub instead_of: Option<&'static str>,
    /// Whether files may have it; the environment and arguments may always.
    pub in_files: bool,
}

impl SettingReference {
    /// Its key, as properties files and arguments have it.
    pub fn key(&self) -> String {
        format!("elasticjob.{}", self.path.join("."))
    }

    /// Its environment variable.
    pub fn variable(&self) -> String {
        self.key().replace(['.', '-'], "_").to_uppercase()
    }
}

/// All settings, in the order in which the page has them. Those of other registry centers and tracings, which have the
/// settings of the ones without a name, are left out.
pub fn reference() -> Vec<SettingReference> {
    let mut all = Vec::new();
    collect(&ROOT, &mut Vec::new(), &mut all);
    all
}

fn collect(schema: &'static Schema, path: &mut Vec<&'static str>, all: &mut Vec<SettingReference>) {
    let (settings, depth) = match schema {
        Schema::Section(settings) => (settings, path.len()),
        // Those are the settings of the one beside it.
        Schema::Named(Names { beside: Some(_), .. }, _) => return,
        Schema::Named(_, settings) => {
            path.push(JOB_NAME);
            (settings, path.len() - 1)
        }
        Schema::Value(_) | Schema::Props => return,
    };
    for setting in *settings {
        path.push(setting.name);
        match &setting.schema {
            Schema::Value(kind) => all.push(entry(setting, path.clone(), kind.to_string())),
            Schema::Props => {
                let path = path.iter().copied().chain([PROPERTY]).collect();
                all.push(entry(setting, path, "text".to_owned()));
            }
            below => collect(below, path, all),
        }
        path.pop();
    }
    path.truncate(depth);
}

fn entry(setting: &Setting, path: Vec<&'static str>, value: String) -> SettingReference {
    let (default, otherwise) = match setting.default {
        Default::Value(value) => (Some(value), ""),
        Default::Words(words) => (None, words),
    };
    let Setting { aliases, meaning, see, short_in_attribute, example, instead_of, in_files, .. } = *setting;
    SettingReference {
        path,
        aliases,
        meaning,
        see,
        short_in_attribute,
        value,
        default,
        otherwise,
        example,
        instead_of,
        in_files,
    }
}
