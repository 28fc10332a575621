//! The schema of the settings of a job, made from the table that the attribute and the library read too.

use elasticjob_syntax::job_option::{JobOption, OptionKind, Unset};
use elasticjob_syntax::job_settings::JOB_SETTINGS;

use super::{Default, Kind, Schema, Setting};

pub(in super::super) const JOB: &[Setting] = &{
    let mut settings = [Setting::value("", Kind::Text, ""); JOB_SETTINGS.len()];
    let mut at = 0;
    while at < settings.len() {
        settings[at] = of(&JOB_SETTINGS[at]);
        at += 1;
    }
    settings
};

const fn of(option: &'static JobOption) -> Setting {
    let schema = match option.kind {
        OptionKind::Text | OptionKind::Name | OptionKind::Path => Schema::Value(Kind::Text),
        OptionKind::Flag => Schema::Value(Kind::Flag),
        OptionKind::Count => Schema::Value(Kind::Whole { from: 1, to: i32::MAX as i64, unit: option.counts }),
        OptionKind::Number => Schema::Value(Kind::any(option.counts)),
        OptionKind::Names => Schema::Value(Kind::List),
        OptionKind::Props => Schema::Props,
    };
    let default = match option.unset {
        Unset::Value(value) => Default::Value(value),
        Unset::Words(words) => Default::Words(words),
    };
    let JobOption { key: name, older: aliases, meaning, see, short, example, instead_of, .. } = *option;
    let shared = Setting::section(name, meaning, schema);
    Setting { aliases, see, short_in_attribute: short, default, example, instead_of, ..shared }
}
