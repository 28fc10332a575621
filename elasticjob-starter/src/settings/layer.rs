//! The settings of one source under canonical keys, and the merging of sources.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::doubt::Doubt;
use super::error::SettingError;
use super::node::Origin;
use super::schema::{Key, has_names};

/// The value of a source for one key.
pub(super) enum Given {
    Text(String),
    List(Vec<String>),
    /// A named section, such as a job, or properties, without any content.
    Empty,
}

/// The settings of one source: a file, the environment, or the command line.
#[derive(Default)]
pub(super) struct Layer {
    values: BTreeMap<Key, (Origin, Given)>,
    /// Items given one by one: `job-listener-types[0]`.
    items: BTreeMap<Key, BTreeMap<usize, (Origin, String)>>,
    /// Named sections, such as jobs, that the source mentions, even in a wrong way: they exist, and are checked all the
    /// same.
    mentioned: BTreeMap<Key, Origin>,
    doubt: Doubt,
}

// Not derived: values may be secret.
impl fmt::Debug for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.values.keys().map(Key::to_string)).finish()
    }
}

impl Layer {
    /// Adds a value. A key that the source gave before is an error.
    pub fn insert(&mut self, key: Key, origin: Origin, given: Given) -> Result<(), SettingError> {
        if let Some((first, _)) = self.values.get(&key) {
            return Err(SettingError::Repeated { key: key.to_string(), first: first.clone(), second: origin });
        }
        self.values.insert(key, (origin, given));
        Ok(())
    }

    /// Adds one item of a list.
    pub fn insert_item(&mut self, key: Key, index: usize, origin: Origin, text: String) -> Result<(), SettingError> {
        let items = self.items.entry(key.clone()).or_default();
        if let Some((first, _)) = items.get(&index) {
            return Err(SettingError::Repeated {
                key: format!("{key}[{index}]"),
                first: first.clone(),
                second: origin,
            });
        }
        items.insert(index, (origin, text));
        Ok(())
    }

    /// Notes that something at a key cannot be read.
    pub fn doubt(&mut self, key: &Key, origin: &Origin) {
        self.mention(key, origin);
        self.doubt.add(key.clone());
    }

    /// Notes that the source may have any setting, in addition to those that were read.
    pub fn doubt_all(&mut self) {
        self.doubt.add(Key::default());
    }

    /// Notes that the source mentions a named section, such as a job.
    pub fn mention(&mut self, key: &Key, origin: &Origin) {
        if let [section, name, ..] = key.segments()
            && has_names(section)
        {
            self.mentioned.entry(Key::of([section, name])).or_insert_with(|| origin.clone());
        }
    }

    /// The parts of the source that could not be read.
    pub fn doubts(&self) -> &Doubt {
        &self.doubt
    }

    /// The settings that it has.
    pub fn keys(&self) -> impl Iterator<Item = &Key> {
        self.values.keys().chain(self.items.keys())
    }

    /// Makes lists from the items that were given one by one.
    pub fn complete(&mut self) -> Vec<SettingError> {
        let mut errors = Vec::new();
        for (key, items) in std::mem::take(&mut self.items) {
            let gap = items.keys().enumerate().find(|(expected, index)| expected != *index);
            if let Some((expected, index)) = gap {
                self.doubt(&key, &items[index].0);
                errors.push(SettingError::WrongValue {
                    origin: items[index].0.clone(),
                    key: format!("{key}[{index}]"),
                    value: "an item after a gap".to_owned(),
                    expected: format!("{key}[{expected}] before it"),
                });
                continue;
            }
            let Some(origin) = items.values().next().map(|(origin, _)| origin.clone()) else { continue };
            let list = items.into_values().map(|(_, text)| text).collect();
            errors.extend(self.insert(key, origin, Given::List(list)).err());
        }
        errors
    }

    /// The names of jobs and other named sections that the source mentions, each after its section.
    pub fn names(&self) -> impl Iterator<Item = (&str, &str)> {
        let keys = self.values.keys().chain(self.mentioned.keys()).map(Key::segments);
        let named = keys.filter(|segments| segments.len() > 1 && has_names(&segments[0]));
        named.map(|segments| (segments[0].as_str(), segments[1].as_str()))
    }

    /// The keys of properties that the source mentions.
    pub fn prop_keys(&self) -> impl Iterator<Item = &str> {
        let keys = self.values.keys().map(Key::segments);
        let props = keys.filter(|segments| segments.len() == 4 && segments[0] == "jobs" && segments[2] == "props");
        props.map(|segments| segments[3].as_str())
    }

    /// The text and the place of a setting, where it is one text.
    pub fn text(&self, key: &Key) -> Option<(&Origin, String)> {
        self.values.get(key).and_then(|(origin, given)| match given {
            Given::Text(text) => Some((origin, text.clone())),
            Given::List(items) => Some((origin, items.join(","))),
            Given::Empty => None,
        })
    }

    /// All settings that are one text.
    pub fn texts(&self) -> impl Iterator<Item = (&Key, &str)> {
        self.values.iter().filter_map(|(key, (_, given))| match given {
            Given::Text(text) => Some((key, text.as_str())),
            Given::List(_) | Given::Empty => None,
        })
    }

    /// The place of a setting, or of a section: the place of its name, else of its first setting.
    pub fn origin(&self, key: &Key) -> Option<&Origin> {
        let own = self.values.get(key).map(|(origin, _)| origin).or_else(|| self.mentioned.get(key));
        own.or_else(|| self.below(key).next().map(|(_, origin)| origin))
    }

    /// The keys right below a section, each with its place.
    pub fn names_below(&self, section: &Key) -> BTreeMap<&str, &Origin> {
        let depth = section.segments().len();
        let names: BTreeSet<&str> = self.below(section).map(|(key, _)| key.segments()[depth].as_str()).collect();
        names.into_iter().filter_map(|name| Some((name, self.origin(&section.child(name))?))).collect()
    }

    /// The keys below a section.
    fn below<'s>(&'s self, section: &Key) -> impl Iterator<Item = (&'s Key, &'s Origin)> {
        // Keys are sorted by their segments, so the keys of a section are neighbours.
        let is_in = move |key: &Key| key.segments().starts_with(section.segments());
        let values = self.values.range(section..).map(|(key, (origin, _))| (key, origin));
        let values = values.take_while(move |(key, _)| is_in(key));
        let mentioned = self.mentioned.range(section..).take_while(move |(key, _)| is_in(key));
        values.chain(mentioned).filter(move |(key, _)| *key != section)
    }

    /// This layer over a weaker one. This layer wins, one setting at a time.
    fn over(self, base: Self) -> Self {
        let Self { mut values, items, mut mentioned, mut doubt } = base;
        values.extend(self.values);
        for (key, origin) in self.mentioned {
            mentioned.entry(key).or_insert(origin);
        }
        doubt.join(&self.doubt);
        Self { values, items, mentioned, doubt }
    }
}

/// The layers over each other; later ones win. Every value keeps its place.
pub(super) fn merge(layers: impl IntoIterator<Item = Layer>) -> Layer {
    layers.into_iter().fold(Layer::default(), |base, layer| layer.over(base))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layer(origin: &str, values: &[(&[&str], &str)]) -> Layer {
        let mut layer = Layer::default();
        for (path, text) in values {
            let key = path.iter().fold(Key::default(), |key, segment| key.child(segment));
            layer.insert(key, Origin::place(origin), Given::Text((*text).to_owned())).unwrap();
        }
        layer
    }

    #[test]
    fn later_layers_win_a_key_at_a_time_and_names_with_dots_or_other_scripts_stay_whole() {
        let below = layer(
            "file",
            &[(&["jobs", "a.b", "cron"], "x"), (&["jobs", "a.b", "label"], "l"), (&["jobs", "任务", "cron"], "z")],
        );
        let above = layer("arg", &[(&["jobs", "a.b", "cron"], "y")]);
        let merged = merge([below, above]);
        let of = |job: &str, setting: &str| merged.text(&Key::of(["jobs", job, setting])).map(|(_, text)| text);
        assert_eq!(of("a.b", "cron").as_deref(), Some("y"));
        assert_eq!(merged.origin(&Key::of(["jobs", "a.b", "cron"])), Some(&Origin::place("arg")));
        assert_eq!(merged.origin(&Key::of(["jobs", "a.b", "label"])), Some(&Origin::place("file")));
        let names = merged.names_below(&Key::of(["jobs"]));
        assert_eq!(names.into_keys().collect::<Vec<_>>(), ["a.b", "任务"]);
    }

    #[test]
    fn a_key_given_twice_names_both_places() {
        let mut layer = layer("file:1", &[(&["enabled"], "true")]);
        let error = layer.insert(Key::of(["enabled"]), Origin::place("file:2"), Given::Empty).unwrap_err().to_string();
        assert!(error.starts_with("file:2: elasticjob.enabled is given twice, first at file:1"), "{error}");
    }

    #[test]
    fn items_given_one_by_one_make_a_list_without_gaps() {
        let key = Key::of(["jobs", "a", "job-listener-types"]);
        let mut layer = Layer::default();
        for (index, item) in [(1, "b"), (0, "a")] {
            layer.insert_item(key.clone(), index, Origin::place("file"), item.to_owned()).unwrap();
        }
        assert!(layer.complete().is_empty());
        assert_eq!(layer.text(&key).unwrap().1, "a,b");

        layer.insert_item(Key::of(["x"]), 1, Origin::place("file:9"), "a".to_owned()).unwrap();
        let errors = layer.complete();
        assert!(errors[0].to_string().contains("elasticjob.x[0] before it"), "{}", errors[0]);
    }

    #[test]
    fn a_layer_never_shows_its_values() {
        let layer = layer("file", &[(&["reg-center", "digest"], "user:secret")]);
        assert!(!format!("{layer:?}").contains("secret"));
    }
}
