//! Properties that look like options of a type or handler of the job, and are not read.

use std::collections::{BTreeSet, VecDeque};

use super::{Invalid, JobConfiguration};
use elasticjob_syntax::suggest::hint;

/// The options of a type of jobs or of an error handler: each is its name followed by the names of older releases. All
/// of them begin with the same word and a dot.
pub type OptionNames = &'static [&'static [&'static str]];

/// The properties that no code reads although their names look like options of the job's type or error handler. They
/// are no error: Java ignores them, too.
pub(crate) fn unread(configuration: &JobConfiguration, options: OptionNames) -> Vec<Invalid> {
    let known = || options.iter().copied().flatten().copied();
    let words: BTreeSet<&str> = known().filter_map(first_word).collect();
    let looks_like_one = |key: &&str| first_word(key).is_some_and(|word| words.contains(word));
    let given = configuration.props.keys().map(AsRef::as_ref).filter(looks_like_one);
    let strangers = given.filter(|key| !known().any(|name| name == *key));
    let strangers =
        strangers.map(|key| Invalid::prop(key, format!("is not known and has no effect: {}", hint(key, known()))));
    strangers.chain(options.iter().flat_map(|names| named_twice(configuration, names))).collect()
}

fn first_word(name: &str) -> Option<&str> {
    name.split_once('.').map(|(word, _)| word)
}

/// The names of an option that have no effect because the option is given under another name as well.
fn named_twice(configuration: &JobConfiguration, names: &[&'static str]) -> impl Iterator<Item = Invalid> {
    let is_given = |name: &&str| configuration.prop(name).is_some_and(|text| !text.trim().is_empty());
    let mut given: VecDeque<&str> = names.iter().copied().filter(is_given).collect();
    let used = given.pop_front().unwrap_or_default();
    given.into_iter().map(move |other| {
        Invalid::prop(other, format!("has no effect: it is another name of '{used}', which is given, too, and is used"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPTIONS: OptionNames = &[&["http.uri", "http.url"], &["http.method"]];

    fn told(props: &[(&str, &str)]) -> Vec<String> {
        let builder = JobConfiguration::builder("job", 1);
        let job = props.iter().fold(builder, |builder, (key, value)| builder.prop(*key, *value)).build().unwrap();
        unread(&job, OPTIONS).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_misspelt_option_is_told_with_the_one_that_may_be_meant() {
        assert_eq!(
            told(&[("http.metod", "GET"), ("http.colour", "red"), ("http.method", "GET")]),
            [
                "props.http.colour: is not known and has no effect: known here: http.uri, http.url, http.method",
                "props.http.metod: is not known and has no effect: did you mean 'http.method'?",
            ]
        );
    }

    #[test]
    fn what_others_may_read_is_nobody_s_mistake() {
        assert_eq!(told(&[("http.url", "x"), ("email.hots", "x"), ("https", "x"), ("region", "x")]), [""; 0]);
    }

    #[test]
    fn of_two_names_of_one_option_the_one_that_is_used_is_told() {
        let used = "props.http.url: has no effect: it is another name of 'http.uri', which is given, too, and is used";
        assert_eq!(told(&[("http.url", "x"), ("http.uri", "y")]), [used]);
        assert_eq!(told(&[("http.url", "x"), ("http.uri", " ")]), [""; 0], "one that is left empty is not given");
    }
}
