//! The table of the routes of the pages, as the source of the console declares it.

use std::fs;
use std::path::Path;

/// Routes that no page links to: they are for supervisors of processes, for Prometheus, and for the script that keeps a page
/// up to date.
const WITHOUT_PAGE: [&str; 5] =
    ["/healthz", "/readyz", "/metrics", "/r/{registry}/events", "/r/{registry}/jobs/{job}/log/{run}/events"];

/// A route of a page.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Route {
    pub method: &'static str,
    pub path: String,
}

/// All routes but those of the API.
pub struct Routes(Vec<Route>);

impl Routes {
    /// Reads the source.
    pub fn declared() -> Self {
        let console = Path::new(env!("CARGO_MANIFEST_DIR")).join("../elasticjob-starter/console/src");
        let mut routes = Vec::new();
        for file in ["routes.rs", "pages/mod.rs"] {
            let text = fs::read_to_string(console.join(file)).expect("the source of the console");
            for (method, call) in [("GET", ".get("), ("POST", ".post(")] {
                let calls = text.split(call).skip(1).filter_map(|rest| rest.trim_start().strip_prefix("\"/"));
                let paths = calls.filter_map(|rest| Some(format!("/{}", rest.split_once('"')?.0)));
                routes.extend(paths.map(|path| Route { method, path }));
            }
        }
        routes.retain(|route| !WITHOUT_PAGE.contains(&route.path.as_str()));
        assert!(routes.len() > 20, "the table of routes is read: {routes:?}");
        Self(routes)
    }

    /// The route that answers a path, the most literal one first.
    pub fn of(&self, method: &str, path: &str) -> Option<&Route> {
        let fits = self.0.iter().filter(|route| route.method == method && fits(&route.path, path));
        fits.min_by_key(|route| route.path.matches('{').count())
    }

    /// Those with this method.
    pub fn with(&self, method: &str) -> impl Iterator<Item = &Route> {
        self.0.iter().filter(move |route| route.method == method)
    }
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
