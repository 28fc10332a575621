//! Reads the sources in their order.

use std::collections::{BTreeMap, BTreeSet};

use elasticjob::spi::Catalog;

use super::doubt::Doubt;
use super::environment::{self, Known};
use super::error::SettingError;
use super::files::{Document, Search};
use super::layer::{self, Layer};
use super::node::Origin;
use super::placeholder::{self, Found};
use super::read::{Reader, parse_duration, parse_flag};
use super::resolve::{Scope, Wanted};
use super::schema::{Key, KnownNames, squash};
use super::sources::Environment;
use super::{
    ConsoleSettings, RegCenterSettings, Settings, Sources, TracingSettings, arguments, console, dump, jobs, metrics,
    reg_center, tracing,
};

impl Settings {
    /// Reads all sources. `linked` are the names of the jobs of the program, which environment variables may refer to.
    ///
    /// # Errors
    /// All problems, in the order of the sources.
    pub fn load(sources: &Sources, linked: &[&str]) -> Result<Self, Vec<SettingError>> {
        let built_in = Catalog::builder().build().ok();
        let props = built_in.iter().flat_map(Catalog::option_names).map(str::to_owned).collect();
        let Read { settings, errors, .. } = Self::read(sources, linked, props);
        if errors.is_empty() { Ok(settings) } else { Err(errors) }
    }

    /// Reads all sources as far as possible, so that problems in readable parts are reported together with unreadable
    /// parts. `props` are the known properties, which environment variables may refer to.
    pub(crate) fn read(sources: &Sources, linked: &[&str], props: Vec<String>) -> Read<Self> {
        let names = KnownNames::of_jobs(linked.iter().copied());
        let mut load = Load { props, ..Load::new(sources, names, Wanted::All) };
        let documents = load.documents();
        let read = load.put_together(documents);
        load.finish(&read, |reader, load| Self {
            enabled: reader.or_default(&Key::of(["enabled"]), parse_flag),
            reg_center: reg_center::read(reader, &Key::of(["reg-center"])),
            reg_centers: named(reader, "reg-centers", reg_center::read),
            jobs: jobs::read(reader),
            preferred_network_interface: filled(reader.text(&Key::of(["preferred", "network", "interface"]))),
            preferred_network_ip: filled(reader.text(&Key::of(["preferred", "network", "ip"]))),
            preferred_network_origin: reader.origin(&Key::of(["preferred", "network"])),
            shutdown_grace: reader.or_default(&Key::of(["shutdown", "grace"]), parse_duration),
            tracing: tracing::read(reader, &Key::of(["tracing"])),
            tracings: named(reader, "tracings", tracing::read),
            dump: dump::read(reader),
            console: console::read(reader),
            metrics: metrics::read(reader),
            profiles: load.profiles.clone(),
            files: read.files.clone(),
            warnings: load.warnings.iter().cloned().chain(std::mem::take(&mut reader.warnings)).collect(),
        })
    }
}

/// Reads a part of the settings, and warnings about oddities, from all sources.
fn part<T>(
    sources: &Sources,
    wanted: Wanted,
    read_part: impl FnOnce(&mut Reader<'_>) -> T,
) -> Result<(T, Vec<String>), Vec<SettingError>> {
    let mut load = Load::new(sources, KnownNames::default(), wanted);
    let documents = load.documents();
    let read = load.put_together(documents);
    let Read { settings, errors, .. } = load.finish(&read, |reader, load| (read_part(reader), load.warnings.clone()));
    if errors.is_empty() { Ok(settings) } else { Err(errors) }
}

/// Settings by their names.
type Named<T> = BTreeMap<String, T>;

impl RegCenterSettings {
    /// Reads the settings of the registry center, and warnings about oddities, from all sources. All other settings are
    /// ignored, even when they are wrong: a program that operates jobs need not be able to run them.
    ///
    /// # Errors
    /// All problems of `elasticjob.reg-center` and of the settings that decide which files are read.
    pub fn load(sources: &Sources) -> Result<(Self, Vec<String>), Vec<SettingError>> {
        part(sources, Wanted::RegistryCenter, |reader| reg_center::read(reader, &Key::of(["reg-center"])))
    }

    /// The same for the other registry centers, by their names.
    ///
    /// # Errors
    /// All problems of `elasticjob.reg-centers` and of the settings that decide which files are read.
    pub fn load_named(sources: &Sources) -> Result<(Named<Self>, Vec<String>), Vec<SettingError>> {
        part(sources, Wanted::RegistryCenters, |reader| named(reader, "reg-centers", reg_center::read))
    }
}

impl TracingSettings {
    /// Reads the settings of the tracing, `None` when no type is set, and warnings about oddities, from all sources. All
    /// other settings are ignored, even when they are wrong.
    ///
    /// # Errors
    /// All problems of `elasticjob.tracing` and of the settings that decide which files are read.
    pub fn load(sources: &Sources) -> Result<(Option<Self>, Vec<String>), Vec<SettingError>> {
        part(sources, Wanted::Tracing, |reader| tracing::read(reader, &Key::of(["tracing"])))
    }

    /// The same for the other tracings, by their names; those without a type are left out.
    ///
    /// # Errors
    /// All problems of `elasticjob.tracings` and of the settings that decide which files are read.
    pub fn load_named(sources: &Sources) -> Result<(Named<Self>, Vec<String>), Vec<SettingError>> {
        let (all, warnings) = part(sources, Wanted::Tracings, |reader| named(reader, "tracings", tracing::read))?;
        Ok((all.into_iter().filter_map(|(name, one)| Some((name, one?))).collect(), warnings))
    }
}

impl ConsoleSettings {
    /// Reads the settings of the console, and warnings about oddities, from all sources. All other settings are ignored,
    /// even when they are wrong.
    ///
    /// # Errors
    /// All problems of `elasticjob.console` and of the settings that decide which files are read.
    pub fn load(sources: &Sources) -> Result<(Self, Vec<String>), Vec<SettingError>> {
        part(sources, Wanted::Console, console::read)
    }
}

/// The result of reading all sources, with its problems. Settings that cannot be read have their defaults.
pub(crate) struct Read<T> {
    pub settings: T,
    pub errors: Vec<SettingError>,
    pub doubt: Doubt,
}

/// The content of all sources, merged.
struct Merged {
    layer: Layer,
    /// All other keys of the files.
    scalars: BTreeMap<String, String>,
    files: Vec<std::path::PathBuf>,
}

struct Load<'a> {
    sources: &'a Sources,
    /// Names known so far.
    names: KnownNames,
    /// Properties that are known in addition to those of the files.
    props: Vec<String>,
    wanted: Wanted,
    errors: Vec<SettingError>,
    doubt: Doubt,
    warnings: Vec<String>,
    profiles: Vec<String>,
}

impl<'a> Load<'a> {
    fn new(sources: &'a Sources, names: KnownNames, wanted: Wanted) -> Self {
        let (errors, warnings, profiles) = (Vec::new(), Vec::new(), Vec::new());
        Self { sources, names, props: Vec::new(), wanted, errors, doubt: Doubt::default(), warnings, profiles }
    }

    /// Notes that a source which cannot be read may have any setting.
    fn unread(&mut self, errors: impl IntoIterator<Item = SettingError>) {
        self.errors.extend(errors);
        self.doubt.add(Key::default());
    }

    fn scope(&self) -> Scope<'_> {
        Scope { names: &self.names, wanted: self.wanted }
    }

    /// The files: the base file and one for each profile.
    fn documents(&mut self) -> Vec<Document> {
        if !self.sources.has_files {
            return Vec::new();
        }
        // A first reading of the settings that decide which files are read. The second reading reports their problems.
        let (arguments, _) = arguments::resolve(self.sources, self.scope());
        let known = Known { scope: self.scope(), props: &[] };
        let (environment, ..) = environment::resolve(&self.sources.environment, &known);
        let first = |key: &Key| {
            let given = arguments.text(key).or_else(|| environment.text(key));
            given.map(|(origin, text)| (origin.clone(), text))
        };

        let search = match self.search(first(&location_key())) {
            Ok(search) => search,
            Err(error) => {
                self.unread([error]);
                return Vec::new();
            }
        };
        let mut documents = Vec::new();
        match search.base(self.scope()) {
            Ok((base, hidden)) => {
                if let Some(base) = base {
                    self.hidden(&base, &hidden);
                    documents.push(base);
                }
            }
            Err(errors) => self.unread(errors),
        }
        let in_base = || {
            let text = documents.first().and_then(|base| base.layer.text(&profiles_key()));
            text.map(|(origin, text)| (origin.clone(), text))
        };
        let active = first(&profiles_key()).or_else(in_base);
        for (profile, origin) in self.active_profiles(active) {
            self.learn_names(documents.iter().map(|document| &document.layer));
            match search.profile(&profile, &origin, self.scope()) {
                Ok((document, hidden)) => {
                    self.hidden(&document, &hidden);
                    if let Some(origin) = document.layer.origin(&profiles_key()) {
                        self.misplaced(
                            origin,
                            &profiles_key(),
                            "a profile cannot activate others; set it in the base file, the environment or an argument",
                        );
                    }
                    documents.push(document);
                }
                Err(errors) => self.unread(errors),
            }
        }
        for document in &mut documents {
            if let Some(origin) = document.layer.origin(&location_key()) {
                self.misplaced(
                    origin,
                    &location_key(),
                    "it says which files are read; set it in the environment or an argument",
                );
            }
            self.errors.append(&mut document.errors);
        }
        self.learn_names(documents.iter().map(|document| &document.layer));
        documents
    }

    fn search(&self, location: Option<(Origin, String)>) -> Result<Search, SettingError> {
        let folder = &self.sources.working_folder;
        if let Some((origin, text)) = location {
            let text = self.expanded(&origin, &location_key(), &text)?;
            return Search::location(folder, &text, &origin);
        }
        match &self.sources.location {
            Some(location) => {
                Search::location(folder, &location.to_string_lossy(), &Origin::place("the application builder"))
            }
            None => Ok(Search::usual(folder, self.sources.variable("CARGO_MANIFEST_DIR"))),
        }
    }

    fn active_profiles(&mut self, active: Option<(Origin, String)>) -> Vec<(String, Origin)> {
        let builder = Origin::place("the application builder");
        let mut profiles: Vec<(String, Origin)> =
            self.sources.profiles.iter().map(|profile| (profile.clone(), builder.clone())).collect();
        if let Some((origin, text)) = active {
            match self.expanded(&origin, &profiles_key(), &text) {
                Ok(text) => {
                    let named = text.split(',').map(str::trim).filter(|profile| !profile.is_empty());
                    profiles.extend(named.map(|profile| (profile.to_owned(), origin.clone())));
                }
                Err(error) => self.unread([error]),
            }
        }
        let mut seen = BTreeSet::new();
        profiles.retain(|(profile, _)| seen.insert(profile.clone()));
        let is_name = |profile: &str| !profile.contains(['/', '\\']);
        for (profile, origin) in profiles.iter().filter(|(profile, _)| !is_name(profile)) {
            self.unread([SettingError::WrongValue {
                origin: origin.clone(),
                key: profiles_key().to_string(),
                value: format!("'{profile}'"),
                expected: "names of profiles, which are part of a file name".to_owned(),
            }]);
        }
        profiles.retain(|(profile, _)| is_name(profile));
        self.profiles = profiles.iter().map(|(profile, _)| profile.clone()).collect();
        profiles
    }

    fn expanded(&self, origin: &Origin, key: &Key, text: &str) -> Result<String, SettingError> {
        let environment = &self.sources.environment;
        let lookup = |name: &str| environment::variable(environment, name).map(Found::variable);
        placeholder::expand(text, &lookup).map_err(|reason| SettingError::Placeholder {
            origin: origin.clone(),
            key: key.to_string(),
            reason,
        })
    }

    fn misplaced(&mut self, origin: &Origin, key: &Key, reason: &str) {
        let (key, reason) = (key.to_string(), reason.to_owned());
        self.errors.push(SettingError::Misplaced { origin: origin.clone(), key, reason });
    }

    fn hidden(&mut self, read: &Document, hidden: &[std::path::PathBuf]) {
        for path in hidden {
            self.warnings.push(format!("{} is not read: {} is found first", path.display(), read.path.display()));
        }
    }

    fn learn_names<'l>(&mut self, layers: impl IntoIterator<Item = &'l Layer>) {
        for (section, name) in layers.into_iter().flat_map(Layer::names) {
            self.names.add(section, name);
        }
    }

    fn put_together(&mut self, documents: Vec<Document>) -> Merged {
        let mut files = Vec::new();
        let mut scalars = BTreeMap::new();
        let mut layers: Vec<Layer> = Vec::new();
        for document in documents {
            files.push(document.path);
            scalars.extend(document.scalars);
            layers.push(document.layer);
        }
        let (arguments, wrong_arguments) = arguments::resolve(self.sources, self.scope());
        self.learn_names([&arguments]);
        let props: BTreeSet<String> =
            layers.iter().chain([&arguments]).flat_map(Layer::prop_keys).map(str::to_owned).collect();
        let props: Vec<String> = props.into_iter().chain(std::mem::take(&mut self.props)).collect();
        let known = Known { scope: self.scope(), props: &props };
        let (environment, wrong_variables, warnings) = environment::resolve(&self.sources.environment, &known);
        self.errors.extend(wrong_variables);
        self.errors.extend(wrong_arguments);
        self.warnings.extend(warnings);
        layers.extend([environment, arguments]);
        let layer = layer::merge(layers);
        self.doubt.join(layer.doubts());
        Merged { layer, scalars, files }
    }

    /// Turns the content of the sources into values.
    fn finish<T>(mut self, read: &Merged, values: impl FnOnce(&mut Reader<'_>, &Self) -> T) -> Read<T> {
        let lookup = Lookup::new(&self.sources.environment, &read.scalars, &read.layer);
        let lookup = |name: &str| lookup.find(name);
        let doubt = self.doubt.clone();
        let mut reader =
            Reader { merged: &read.layer, lookup: &lookup, errors: Vec::new(), warnings: Vec::new(), doubt };
        let settings = values(&mut reader, &self);
        let Reader { errors, doubt, .. } = reader;
        self.errors.extend(errors);
        Read { settings, errors: self.errors, doubt }
    }
}

/// The name of the section without a name, where a name is needed.
pub(crate) const DEFAULT: &str = "default";

/// All named sections of a kind, by their names.
fn named<T>(reader: &mut Reader<'_>, section: &str, read: impl Fn(&mut Reader<'_>, &Key) -> T) -> BTreeMap<String, T> {
    let section = Key::of([section]);
    let mut all = BTreeMap::new();
    for (name, origin) in reader.names(&section) {
        let key = section.child(&name);
        if name == DEFAULT {
            let beside = section.to_string();
            let reason = format!("the one of `{}` has that name; set it there", beside.trim_end_matches('s'));
            reader.errors.push(SettingError::Misplaced { origin, key: key.to_string(), reason });
        }
        let one = read(reader, &key);
        all.insert(name, one);
    }
    all
}

/// A text that is not empty: a placeholder with an empty default leaves an empty text.
pub(super) fn filled(given: Option<super::read::Sourced<String>>) -> Option<String> {
    given.map(|given| given.value).filter(|text| !text.trim().is_empty())
}

fn location_key() -> Key {
    Key::of(["config", "location"])
}

fn profiles_key() -> Key {
    Key::of(["profiles", "active"])
}

/// The sources of placeholder values: the environment, the settings of `elasticjob`, then all other keys of the files.
struct Lookup<'a> {
    environment: &'a Environment,
    ours: BTreeMap<String, String>,
    others: &'a BTreeMap<String, String>,
}

impl<'a> Lookup<'a> {
    fn new(environment: &'a Environment, others: &'a BTreeMap<String, String>, merged: &Layer) -> Self {
        let ours = merged.texts().map(|(key, text)| (squash(&key.to_string()), text.to_owned())).collect();
        Self { environment, ours, others }
    }

    fn find(&self, name: &str) -> Option<Found> {
        let plain = environment::variable(self.environment, name).map(Found::variable);
        let ours = || self.ours.get(&squash(name)).cloned();
        plain.or_else(|| ours().or_else(|| self.others.get(name).cloned()).map(Found::Text))
    }
}
