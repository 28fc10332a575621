//! Finds and reads the files.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::string::FromUtf8Error;

use super::error::SettingError;
use super::layer::Layer;
use super::node::{Node, NodeValue, Origin};
use super::resolve::{Resolver, Scope, ours};
use super::{properties, toml, yaml};

/// The name of the base file without its extension.
const BASE: &str = "application";
const EXTENSIONS: [&str; 4] = ["yaml", "yml", "toml", "properties"];

/// A file that was read.
pub(super) struct Document {
    pub path: PathBuf,
    pub layer: Layer,
    pub errors: Vec<SettingError>,
    /// All its single values, including those outside of the section `elasticjob`, for placeholders.
    pub scalars: Vec<(String, String)>,
    is_ours: bool,
}

impl Document {
    /// Notes that a part of it, or a file beside it, cannot be read: that part may have any setting.
    fn has_unread(&mut self, errors: Vec<SettingError>) {
        if !errors.is_empty() {
            self.layer.doubt_all();
            self.errors.extend(errors);
        }
    }
}

/// The places where files are looked for.
pub(super) struct Search {
    /// The first folder that has a file wins.
    folders: Vec<PathBuf>,
    /// The name without extension, and the file itself if the location names one.
    stem: String,
    file: Option<PathBuf>,
    /// Paths below this folder are shown without it.
    working_folder: PathBuf,
}

impl Search {
    /// The usual places: the working folder, `config` in it, and the folder of the package under `cargo run`.
    pub fn usual(working_folder: &Path, package_folder: Option<&str>) -> Self {
        let mut folders = vec![working_folder.to_owned(), working_folder.join("config")];
        let package = package_folder.map(PathBuf::from).filter(|package| package != working_folder);
        folders.extend(package);
        Self { folders, stem: BASE.to_owned(), file: None, working_folder: working_folder.to_owned() }
    }

    /// One folder, or one file with its profile files in the same folder.
    pub fn location(working_folder: &Path, location: &str, origin: &Origin) -> Result<Self, SettingError> {
        let path = working_folder.join(location);
        let (folder, stem, file) = match (path.is_dir(), path.is_file(), path.parent(), path.file_stem()) {
            (true, ..) => (path.clone(), BASE.to_owned(), None),
            (_, true, Some(parent), Some(stem)) => {
                let is_known = path.extension().is_some_and(|found| EXTENSIONS.iter().any(|known| found == *known));
                if !is_known {
                    return Err(SettingError::NoFile {
                        origin: origin.clone(),
                        what: format!("elasticjob.config.location: '{location}'"),
                        looked_for: format!("a file with one of the extensions {}", EXTENSIONS.join(", ")),
                    });
                }
                (parent.to_owned(), stem.to_string_lossy().into_owned(), Some(path.clone()))
            }
            _ => {
                return Err(SettingError::NoFile {
                    origin: origin.clone(),
                    what: format!("elasticjob.config.location: '{location}'"),
                    looked_for: path.display().to_string(),
                });
            }
        };
        Ok(Self { folders: vec![folder], stem, file, working_folder: working_folder.to_owned() })
    }

    /// The base file, if there is one, and the base files in later folders that it hides.
    pub fn base(&self, scope: Scope<'_>) -> Result<(Option<Document>, Vec<PathBuf>), Vec<SettingError>> {
        match &self.file {
            Some(file) => self.read(file, scope).map(|document| (Some(document), vec![])).map_err(|error| vec![error]),
            None => self.first(&self.stem, scope),
        }
    }

    /// The file of a profile.
    pub fn profile(
        &self,
        profile: &str,
        origin: &Origin,
        scope: Scope<'_>,
    ) -> Result<(Document, Vec<PathBuf>), Vec<SettingError>> {
        let stem = format!("{}-{profile}", self.stem);
        let (document, hidden) = self.first(&stem, scope)?;
        let missing = || {
            let folders: Vec<String> = self.folders.iter().map(|folder| self.shown(folder)).collect();
            vec![SettingError::NoFile {
                origin: origin.clone(),
                what: format!("elasticjob.profiles.active: the profile '{profile}'"),
                looked_for: format!("{stem}.{{{}}} in {}", EXTENSIONS.join(","), folders.join(", ")),
            }]
        };
        Ok((document.ok_or_else(missing)?, hidden))
    }

    fn first(&self, stem: &str, scope: Scope<'_>) -> Result<(Option<Document>, Vec<PathBuf>), Vec<SettingError>> {
        let mut found = None;
        let mut hidden = Vec::new();
        for folder in &self.folders {
            let candidates = EXTENSIONS.iter().map(|extension| folder.join(format!("{stem}.{extension}")));
            let mut documents: Vec<Document> = Vec::new();
            let mut errors = Vec::new();
            for path in candidates {
                let is_there = is_there(&path);
                if found.is_some() {
                    hidden.extend(is_there.is_ok_and(|is_there| is_there).then_some(path));
                    continue;
                }
                let read = match is_there {
                    Ok(true) => self.read(&path, scope),
                    Ok(false) => continue,
                    Err(reason) => Err(self.unreadable(&path, reason)),
                };
                match read {
                    Ok(document) => documents.push(document),
                    Err(error) => errors.push(error),
                }
            }
            // Other programs may have a file of that name too. If a file has the section `elasticjob`, only such files
            // count.
            if documents.iter().any(|document| document.is_ours) {
                documents.retain(|document| document.is_ours);
            }
            if let [first, second, ..] = documents.as_slice()
                && first.is_ours
            {
                errors.push(SettingError::TwoFormats { first: first.path.clone(), second: second.path.clone() });
                errors.extend(documents.drain(1..).flat_map(|document| document.errors));
            }
            match documents.first_mut() {
                Some(document) => document.has_unread(errors),
                None if errors.is_empty() => {}
                None => return Err(errors),
            }
            found = found.or_else(|| documents.into_iter().next());
        }
        Ok((found, hidden))
    }

    fn read(&self, path: &Path, scope: Scope<'_>) -> Result<Document, SettingError> {
        let shown = self.shown(path);
        let bytes = fs::read(path).map_err(|error| self.unreadable(path, error.to_string()))?;
        let text = String::from_utf8(bytes).map_err(|error| self.unreadable(path, not_utf_8(&error)))?;
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
        let mut resolver = Resolver::new(scope);
        let mut scalars = Vec::new();
        let mut broken = Vec::new();
        let is_ours = match path.extension().and_then(|extension| extension.to_str()) {
            Some("properties") => {
                let mut is_ours = false;
                let (entries, errors) = properties::parse(&shown, text);
                broken = errors;
                for (key, node) in entries {
                    is_ours |= property(&mut resolver, &key, &node);
                    if let NodeValue::Text(text) = node.value {
                        scalars.push((key, text));
                    }
                }
                is_ours
            }
            extension => {
                let parse = if extension == Some("toml") { toml::parse } else { yaml::parse };
                let root = parse(&shown, text)?;
                root.scalars("", &mut |key, text| scalars.push((key.to_owned(), text.to_owned())));
                resolver.document(&root)
            }
        };
        let (layer, errors) = resolver.finish();
        let mut document = Document { path: PathBuf::from(shown), layer, errors, scalars, is_ours };
        document.has_unread(broken);
        Ok(document)
    }

    fn unreadable(&self, path: &Path, reason: String) -> SettingError {
        SettingError::Unreadable { path: PathBuf::from(self.shown(path)), reason }
    }

    /// A path in the form for messages.
    fn shown(&self, path: &Path) -> String {
        let below = path.strip_prefix(&self.working_folder).unwrap_or(path);
        let below = below.strip_prefix(".").unwrap_or(below);
        if below.as_os_str().is_empty() { "./".to_owned() } else { below.display().to_string() }
    }
}

/// Whether there is a file. What has its name and is no file is an error: a program that took the file for missing would
/// run its jobs with other settings, on the embedded registry.
fn is_there(path: &Path) -> Result<bool, String> {
    match fs::metadata(path) {
        Ok(found) if found.is_file() => Ok(true),
        Ok(found) if found.is_dir() => {
            Err("it is a folder. Container engines make a folder where the file that they mount \
             does not exist"
                .to_owned())
        }
        Ok(_) => Err("it is no regular file".to_owned()),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            match fs::symlink_metadata(path) {
                Ok(_) => Err("it is a link to a file that does not exist".to_owned()),
                Err(_) => Ok(false),
            }
        }
        Err(error) => Err(error.to_string()),
    }
}

/// Says in which line a file is not UTF-8 text, as editors count lines.
fn not_utf_8(error: &FromUtf8Error) -> String {
    let text = &error.as_bytes()[..error.utf8_error().valid_up_to()];
    let line = 1 + text.iter().filter(|byte| **byte == b'\n').count();
    format!("line {line} is not UTF-8 text; save the file in UTF-8")
}

fn property(resolver: &mut Resolver<'_>, key: &str, node: &Node) -> bool {
    match ours(key) {
        None => false,
        Some(Ok(tokens)) if !tokens.is_empty() => {
            resolver.dotted(&tokens, node);
            true
        }
        Some(Ok(_)) => {
            resolver.unknown(&node.origin, key, "a setting stands after a dot: elasticjob.enabled".to_owned());
            true
        }
        Some(Err(reason)) => {
            resolver.unknown(&node.origin, key, reason.to_owned());
            true
        }
    }
}
