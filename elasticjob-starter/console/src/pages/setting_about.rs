//! The meaning of a setting of a job, its unit and its default, in the language of the reader.

use elasticjob_syntax::job_option::{JobOption, Unset};
use i18n_embed_fl::fl;

use crate::text::{Language, Text};

/// English has the words of `docs/settings.md`.
pub(super) fn about(text: &Text, setting: &JobOption) -> String {
    let loader = text.loader();
    let translated = |end: &str, english: &str| {
        let id = format!("setting-of-{}{end}", setting.key);
        match text.language() != Language::English && loader.has(&id) {
            true => loader.get(&id),
            false => english.to_owned(),
        }
    };
    let meaning = translated("", setting.meaning);
    let unit = (!setting.counts.is_empty()).then(|| fl!(loader, "setting-unit", unit = setting.counts));
    let unset = match setting.unset {
        Unset::Value(value) => fl!(loader, "setting-default", value = format!("`{value}`")),
        Unset::Words(words) => fl!(loader, "setting-if-empty", words = translated("-unset", words)),
    };
    let parts = [Some(meaning), unit, Some(unset)];
    let between = match text.language() {
        Language::English => " ",
        Language::Chinese => "",
    };
    parts.into_iter().flatten().collect::<Vec<_>>().join(between)
}

#[cfg(test)]
mod tests {
    use super::super::configuration_edit::{PROPS, settings};
    use super::*;
    use crate::text::Texts;
    use elasticjob_syntax::job_settings::JOB_SETTINGS;

    #[test]
    fn each_field_says_meaning_unit_and_default_in_each_language() {
        let texts = Texts::load().expect("they load");
        let english = |setting| about(texts.of(Language::English), setting);
        let props = JOB_SETTINGS.iter().filter(|setting| setting.key == PROPS);
        for setting in settings().chain(props) {
            let chinese = about(texts.of(Language::Chinese), setting);
            let (_, rest) = chinese.split_once('。').unwrap_or_else(|| panic!("{}: {chinese}", setting.key));
            assert!(rest.contains("默认") || rest.contains("不填"), "{}: {chinese}", setting.key);
            assert!(!chinese.contains(setting.meaning), "{}: {chinese}", setting.key);
            if let Unset::Words(words) = setting.unset {
                assert!(!chinese.contains(words), "{}: {chinese}", setting.key);
            }
            assert!(english(setting).starts_with(setting.meaning), "{}", setting.key);
        }
        let late = settings().find(|setting| setting.key == "max-time-diff-seconds").expect("it is in the form");
        assert!(english(late).ends_with("Unit: seconds. Default: `60`."), "{}", english(late));
        let chinese = about(texts.of(Language::Chinese), late);
        assert!(chinese.ends_with("单位：秒。默认值：`60`。"), "{chinese}");
    }
}
