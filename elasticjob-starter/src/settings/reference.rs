//! All settings with their meaning: the source of `docs/settings.md`.

use super::schema::{Default, Names, ROOT, Schema, Setting};

/// The job and the property that are the examples in keys.
const PROPERTY: &str = "script.command.line";

/// One setting, for users who write it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SettingReference {
    /// Its names below `elasticjob`, in kebab-case. A job called `settle` stands for any job, its property
    /// `script.command.line` for any property.
    pub path: Vec<&'static str>,
    /// Names in older releases and in their manual, instead of the last one.
    pub aliases: &'static [&'static str],
    /// Its meaning, in Markdown.
    pub meaning: &'static str,
    /// A Markdown link to more about it, relative to `docs/`.
    pub see: Option<&'static str>,
    /// A shorter name that the attribute `#[elastic_job]` has for it.
    pub short_in_attribute: Option<&'static str>,
    /// The values that are allowed.
    pub value: String,
    /// The default value.
    pub default: Option<&'static str>,
    /// The default behaviour where no value describes it, in Markdown.
    pub otherwise: &'static str,
    /// An example of a value.
    pub example: &'static str,
    /// The setting in the same section that excludes this one.
    pub instead_of: Option<&'static str>,
    /// Whether files may have it; the environment and arguments always may.
    pub in_files: bool,
}

impl SettingReference {
    /// Its key in properties files and arguments.
    pub fn key(&self) -> String {
        format!("elasticjob.{}", self.path.join("."))
    }

    /// Its environment variable.
    pub fn variable(&self) -> String {
        self.key().replace(['.', '-'], "_").to_uppercase()
    }
}

/// All settings, in the order of the page. The settings of named registry centers and named tracings are left out: they
/// are the same as those of the ones without a name.
pub fn reference() -> Vec<SettingReference> {
    let mut all = Vec::new();
    collect(&ROOT, &mut Vec::new(), &mut all);
    all
}

fn collect(schema: &'static Schema, path: &mut Vec<&'static str>, all: &mut Vec<SettingReference>) {
    let (settings, depth) = match schema {
        Schema::Section(settings) => (settings, path.len()),
        // They have the same settings as the section without a name.
        Schema::Named(Names { beside: Some(_), .. }, _) => return,
        Schema::Named(names, settings) => {
            path.push(names.named);
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
