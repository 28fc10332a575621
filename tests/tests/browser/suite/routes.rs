//! The table of the routes of the pages, as the source of the console declares it.

use std::fs;
use std::path::Path;

/// Routes that no page links to: they are for supervisors of processes, for Prometheus, for the script that keeps a page
/// up to date, and for the server of a company's accounts.
const WITHOUT_PAGE: [&str; 7] = [
    "/healthz",
    "/readyz",
    "/metrics",
    "/r/{registry}/events",
    "/r/{registry}/jobs/{job}/log/{run}/events",
    "/login/oidc",
    "/login/oidc/callback",
];

/// A route of a page.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Route {
    pub method: &'static str,
    pub path: String,
}

/// All routes but those of the API.
pub struct Routes {
    all: Vec<Route>,
    /// Those that a test has to walk: pages of carried jobs are there beside their scheduler alone.
    are_of_cloud: bool,
}

impl Routes {
    /// Those of a console.
    pub fn declared() -> Self {
        Self { all: read(&["router.rs", "pages/mod.rs"]), are_of_cloud: false }
    }

    /// Those of a console beside a scheduler of carried jobs; the pages of carried jobs have to be walked.
    pub fn of_cloud() -> Self {
        Self { all: read(&["router.rs", "pages/mod.rs", "pages/cloud/mod.rs"]), are_of_cloud: true }
    }

    /// Whether a test has to walk what this path names.
    pub fn are_meant(&self, path: &str) -> bool {
        !self.are_of_cloud || path.starts_with("/r/{registry}/cloud")
    }

    /// The route that answers a path, the most literal one first.
    pub fn of(&self, method: &str, path: &str) -> Option<&Route> {
        let fits = self.all.iter().filter(|route| route.method == method && fits(&route.path, path));
        fits.min_by_key(|route| route.path.matches('{').count())
    }

    /// Those with this method that have to be walked.
    pub fn with(&self, method: &str) -> impl Iterator<Item = &Route> {
        self.all.iter().filter(move |route| route.method == method && self.are_meant(&route.path))
    }
}

/// Reads the source.
fn read(files: &[&str]) -> Vec<Route> {
    let console = Path::new(env!("CARGO_MANIFEST_DIR")).join("../elasticjob-starter/console/src");
    let mut routes = Vec::new();
    for file in files {
        let text = fs::read_to_string(console.join(file)).expect("the source of the console");
        for (method, call) in [("GET", ".get("), ("POST", ".post(")] {
            let calls = text.split(call).skip(1).filter_map(|rest| rest.trim_start().strip_prefix("\"/"));
            let paths = calls.filter_map(|rest| Some(format!("/{}", rest.split_once('"')?.0)));
            routes.extend(paths.map(|path| Route { method, path }));
        }
    }
    routes.retain(|route| !WITHOUT_PAGE.contains(&route.path.as_str()));
    assert!(routes.len() > 20, "the table of routes is read: {routes:?}");
    routes
}

fn fits(pattern: &str, path: &str) -> bool {
    let (mut wanted, mut given) = (pattern.split('/'), path.split('/'));
    loop {
        match (wanted.next(), given.next()) {
            (None, None) => return true,
            (Some(wanted), Some(given)) if wanted.starts_with('{') && !given.is_empty() || wanted == given => {}
            _ => return false,
        }
    }
}
