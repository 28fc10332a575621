//! Matches the content of a source with the settings that exist.

use std::collections::BTreeMap;

use super::dependency::{DEPENDS_ON, EXPECTED, short_form};
use super::dotted::{self, Token};
use super::error::SettingError;
use super::layer::{Given, Layer};
use super::node::{Node, NodeValue, Origin};
use super::schema::{Key, Kind, KnownNames, Names, ROOT, Schema, Setting, hint, nearest, squash};

/// The name of the library's section in a file, and the prefix of its arguments.
const ROOT_NAME: &str = "elasticjob";

/// The settings that are read from the sources.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    All,
    /// Only the settings of the registry center and those that decide which files are read. All other settings are
    /// ignored.
    RegistryCenter,
    /// The same for the other registry centers, which have names.
    RegistryCenters,
    /// The same for the tracing.
    Tracing,
    /// The same for the other tracings, which have names.
    Tracings,
    /// The same for the console.
    Console,
}

impl Wanted {
    /// Whether a setting of the top level is one of them.
    pub fn includes(self, name: &str) -> bool {
        match (self, name) {
            (Self::All, _) | (_, "profiles" | "config") => true,
            (Self::RegistryCenter, name) => name == "reg-center",
            (Self::RegistryCenters, name) => name == "reg-centers",
            (Self::Tracing, name) => name == "tracing",
            (Self::Tracings, name) => name == "tracings",
            (Self::Console, name) => {
                matches!(name, "console" | "console-oidc" | "console-groups" | "console-users" | "console-tokens")
            }
        }
    }
}

/// The settings that a source is searched for.
#[derive(Clone, Copy)]
pub(super) struct Scope<'a> {
    pub names: &'a KnownNames,
    pub wanted: Wanted,
}

/// Collects the settings of one source and all its problems.
pub(super) struct Resolver<'a> {
    scope: Scope<'a>,
    layer: Layer,
    errors: Vec<SettingError>,
}

/// The parts of a dotted key after `elasticjob`; `None` when it is not a key of the library.
pub(super) fn ours(key: &str) -> Option<Result<Vec<Token>, &'static str>> {
    let end = key.find(['.', '[']).unwrap_or(key.len());
    if squash(&key[..end]) != ROOT_NAME {
        return None;
    }
    Some(dotted::tokens(key).map(|mut tokens| tokens.split_off(1)))
}

impl<'a> Resolver<'a> {
    pub fn new(scope: Scope<'a>) -> Self {
        Self { scope, layer: Layer::default(), errors: Vec::new() }
    }

    pub fn finish(mut self) -> (Layer, Vec<SettingError>) {
        self.errors.extend(self.layer.complete());
        (self.layer, self.errors)
    }

    /// Reads a whole document, of which only the section `elasticjob` counts. Returns whether it has that section.
    pub fn document(&mut self, root: &Node) -> bool {
        let NodeValue::Map(entries) = &root.value else { return false };
        let mut sections: Vec<&Node> = Vec::new();
        let mut found = false;
        for (key, node) in entries {
            match ours(key) {
                None => continue,
                Some(Ok(tokens)) => {
                    if tokens.is_empty() {
                        if let Some(first) = sections.first() {
                            self.repeated(&Key::default(), &first.origin, &node.origin);
                            continue;
                        }
                        sections.push(node);
                    }
                    self.resolve(&ROOT, &Key::default(), &tokens, node);
                }
                Some(Err(reason)) => self.unknown(&node.origin, key, reason.to_owned()),
            }
            found = true;
        }
        found
    }

    /// Reads a value under a dotted key. `tokens` are the parts of the key after `elasticjob`.
    pub fn dotted(&mut self, tokens: &[Token], node: &Node) {
        self.resolve(&ROOT, &Key::default(), tokens, node);
    }

    /// Notes settings, under a dotted key, whose value cannot be read.
    pub fn without_value(&mut self, tokens: &[Token], origin: &Origin) {
        let mut meant = Resolver::new(self.scope);
        meant.dotted(tokens, &Node::text(origin.clone(), ""));
        let (layer, errors) = meant.finish();
        self.errors.extend(errors);
        layer.keys().for_each(|key| self.layer.doubt(key, origin));
    }

    pub fn unknown(&mut self, origin: &Origin, key: &str, hint: String) {
        self.errors.push(SettingError::UnknownKey { origin: origin.clone(), key: key.to_owned(), hint });
    }

    fn resolve(&mut self, schema: &'static Schema, key: &Key, tokens: &[Token], node: &Node) {
        match schema {
            Schema::Section(settings) => self.section(settings, key, tokens, node),
            Schema::Named(names, settings) => self.named(names, settings, key, tokens, node),
            Schema::Props => self.props(key, &dotted::join(tokens), node),
            Schema::Value(kind) => self.value(*kind, key, tokens, node),
        }
    }

    fn section(&mut self, settings: &'static [Setting], key: &Key, tokens: &[Token], node: &Node) {
        if let [first, rest @ ..] = tokens {
            match settings.iter().find(|setting| !first.bracketed && setting.is_named(&first.text)) {
                Some(setting) if !self.is_wanted(key, setting) => {}
                Some(setting) => self.resolve(&setting.schema, &key.child(setting.name), rest, node),
                None => {
                    let names = || settings.iter().map(|setting| setting.name);
                    // The setting that the key probably means is not missing.
                    match nearest(&first.text, names()) {
                        Some(meant) => self.layer.doubt(&key.child(meant), &node.origin),
                        None => self.layer.mention(key, &node.origin),
                    }
                    let hint = hint(&first.text, names());
                    self.unknown(&node.origin, &key.child(&dotted::join(tokens)).to_string(), hint);
                }
            }
            return;
        }
        let entries = match &node.value {
            NodeValue::Map(entries) => entries,
            NodeValue::Null => return,
            _ => {
                let names: Vec<&str> = settings.iter().map(|setting| setting.name).collect();
                return self.wrong(key, node, format!("a map with any of the keys {}", names.join(", ")));
            }
        };
        let mut seen: BTreeMap<&'static str, &Origin> = BTreeMap::new();
        for (name, node) in entries {
            let tokens = match dotted::tokens(name) {
                Ok(tokens) => tokens,
                Err(reason) => {
                    self.unknown(&node.origin, &key.child(name).to_string(), reason.to_owned());
                    continue;
                }
            };
            // Without this the second of two maps with the same name would not be noticed when they have no key in
            // common.
            if let ([only], NodeValue::Map(_)) = (tokens.as_slice(), &node.value)
                && let Some(setting) = settings.iter().find(|setting| setting.is_named(&only.text))
                && self.is_wanted(key, setting)
                && let Some(first) = seen.insert(setting.name, &node.origin)
            {
                self.repeated(&key.child(setting.name), first, &node.origin);
                continue;
            }
            self.section(settings, key, &tokens, node);
        }
    }

    fn is_wanted(&self, section: &Key, setting: &Setting) -> bool {
        !section.segments().is_empty() || self.scope.wanted.includes(setting.name)
    }

    fn named(&mut self, names: &'static Names, settings: &'static [Setting], key: &Key, tokens: &[Token], node: &Node) {
        let what = names.what;
        if !tokens.is_empty() {
            return match self.split(settings, key, tokens) {
                Some((name, rest)) => self.one(settings, key, &name, rest, node),
                None if matches!(node.value, NodeValue::Map(_)) => {
                    self.one(settings, key, &dotted::join(tokens), &[], node);
                }
                None => {
                    let given = key.child(&dotted::join(tokens)).to_string();
                    let example = names.example;
                    let hint = match tokens {
                        [_] => format!("a {what} needs a setting after its name, for example {given}.{example}"),
                        [.., last] => hint(&last.text, settings.iter().map(|setting| setting.name)),
                        [] => String::new(),
                    };
                    self.unknown(&node.origin, &given, hint);
                }
            };
        }
        let entries = match &node.value {
            NodeValue::Map(entries) => entries,
            NodeValue::Null => return,
            _ => return self.wrong(key, node, format!("a map in which each {what} has its name and settings")),
        };
        for (name, node) in entries {
            if matches!(node.value, NodeValue::Map(_) | NodeValue::Null) {
                let name = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
                self.one(settings, key, name, &[], node);
                continue;
            }
            match dotted::tokens(name) {
                Ok(tokens) if tokens.len() > 1 => self.named(names, settings, key, &tokens, node),
                _ => self.wrong(&key.child(name), node, format!("a map with the settings of the {what}")),
            }
        }
    }

    /// Reads the settings of a named section.
    fn one(&mut self, settings: &'static [Setting], section: &Key, name: &str, tokens: &[Token], node: &Node) {
        let key = section.child(name);
        let is_empty = match &node.value {
            NodeValue::Map(entries) => entries.is_empty(),
            NodeValue::Null => true,
            _ => false,
        };
        if tokens.is_empty() && is_empty {
            self.insert(key, node, Given::Empty);
        } else {
            self.section(settings, &key, tokens, node);
        }
    }

    /// Finds where a name ends in a dotted key: after the longest known name, else at a place where a setting follows.
    fn split<'t>(&self, settings: &[Setting], section: &Key, tokens: &'t [Token]) -> Option<(String, &'t [Token])> {
        let named = |token: &Token| settings.iter().find(|setting| !token.bracketed && setting.is_named(&token.text));
        if let [first, rest @ ..] = tokens
            && first.bracketed
        {
            return (!rest.is_empty()).then(|| (first.text.clone(), rest));
        }
        let is_known =
            |name: &str| section.segments().first().is_some_and(|section| self.scope.names.has(section, name));
        let known = (1..tokens.len())
            .rev()
            .find(|end| is_known(&dotted::join(&tokens[..*end])) && named(&tokens[*end]).is_some());
        let guessed = || {
            let has_keys = |setting: &Setting| matches!(setting.schema, Schema::Props | Schema::Section(_));
            let section = (1..tokens.len().saturating_sub(1)).find(|at| named(&tokens[*at]).is_some_and(has_keys));
            let value = || {
                let items = tokens.iter().rev().take_while(|token| token.bracketed).count();
                tokens.len().checked_sub(items + 1).filter(|at| *at > 0)
            };
            section.or_else(value)
        };
        let at = known.or_else(guessed)?;
        Some((dotted::join(&tokens[..at]), &tokens[at..]))
    }

    fn props(&mut self, key: &Key, name: &str, node: &Node) {
        match &node.value {
            NodeValue::Map(entries) if entries.is_empty() && name.is_empty() => {
                self.insert(key.clone(), node, Given::Empty);
            }
            NodeValue::Map(entries) => {
                for (inner, node) in entries {
                    let inner = inner.strip_prefix('[').and_then(|inner| inner.strip_suffix(']')).unwrap_or(inner);
                    let name = if name.is_empty() { inner.to_owned() } else { format!("{name}.{inner}") };
                    self.props(key, &name, node);
                }
            }
            NodeValue::Null if name.is_empty() => {}
            NodeValue::Text(_) | NodeValue::List(_) if name.is_empty() => {
                self.wrong(key, node, "a map of properties".to_owned());
            }
            NodeValue::Null => self.insert(key.child(name), node, Given::Text(String::new())),
            NodeValue::Text(text) => self.insert(key.child(name), node, Given::Text(text.clone())),
            NodeValue::List(_) => self.wrong(&key.child(name), node, "text".to_owned()),
        }
    }

    fn value(&mut self, kind: Kind, key: &Key, tokens: &[Token], node: &Node) {
        match (tokens, &node.value) {
            ([], NodeValue::Text(text)) => self.insert(key.clone(), node, Given::Text(text.clone())),
            ([], NodeValue::Null) => self.insert(key.clone(), node, Given::Text(String::new())),
            ([], NodeValue::List(items)) if kind == Kind::List => {
                let mut texts = Vec::new();
                for item in items {
                    match &item.value {
                        NodeValue::Text(text) => texts.push(text.clone()),
                        NodeValue::Map(fields) if key.segments().last().is_some_and(|last| last == DEPENDS_ON) => {
                            match short_form(fields) {
                                Some(text) => texts.push(text),
                                None => self.wrong(key, item, EXPECTED.to_owned()),
                            }
                        }
                        _ => self.wrong(key, item, "text as an item of the list".to_owned()),
                    }
                }
                self.insert(key.clone(), node, Given::List(texts));
            }
            ([index], NodeValue::Text(text)) if kind == Kind::List && index.bracketed => match index.text.parse() {
                Ok(index) => {
                    let added = self.layer.insert_item(key.clone(), index, node.origin.clone(), text.clone());
                    self.errors.extend(added.err());
                }
                Err(_) => {
                    self.layer.doubt(key, &node.origin);
                    let hint = "a list has items [0], [1], ...".to_owned();
                    self.unknown(&node.origin, &format!("{key}[{}]", index.text), hint);
                }
            },
            ([], _) => self.wrong(key, node, kind.to_string()),
            _ => {
                self.layer.doubt(key, &node.origin);
                let given = format!("{key}.{}", dotted::join(tokens));
                self.unknown(&node.origin, &given, format!("{key} is {kind} and has no keys below it"));
            }
        }
    }

    fn insert(&mut self, key: Key, node: &Node, given: Given) {
        self.errors.extend(self.layer.insert(key, node.origin.clone(), given).err());
    }

    fn repeated(&mut self, key: &Key, first: &Origin, second: &Origin) {
        let key = key.to_string();
        self.errors.push(SettingError::Repeated { key, first: first.clone(), second: second.clone() });
    }

    fn wrong(&mut self, key: &Key, node: &Node, expected: String) {
        self.layer.doubt(key, &node.origin);
        let (key, value) = (key.to_string(), node.kind().to_owned());
        self.errors.push(SettingError::WrongValue { origin: node.origin.clone(), key, value, expected });
    }
}
