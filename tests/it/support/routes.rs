//! The routes of the HTTP interface, as the source has them.

use std::path::Path;

/// Every route, with its parameters in braces.
pub(crate) fn routes() -> Vec<String> {
    let all = [of_file("src/http/mod.rs", ""), of_file("src/http/admin/mod.rs", "/api/admin")].concat();
    assert!(all.len() > 10 && all.contains(&"/api/webhooks".to_owned()), "{all:?}");
    all
}

fn of_file(path: &str, prefix: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    let source = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let routes = source.split(".route(\"").skip(1).filter_map(|rest| rest.split('"').next());
    routes
        .map(|route| if route.starts_with(prefix) { route.to_owned() } else { format!("{prefix}{route}") })
        .filter(|route| route != "/api/admin/")
        .collect()
}
