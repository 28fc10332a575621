//! The style sheet and the scripts. Their addresses hold a hash of their content, so that browsers may keep them for ever.

use axum::extract::Path;
use axum::http::StatusCode;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use rust_embed::{EmbeddedFile, RustEmbed};

#[derive(RustEmbed)]
#[folder = "assets/"]
struct Files;

/// The address of a file, below the base path: `assets/<hash>/<name>`.
pub(crate) fn address(name: &str) -> String {
    match Files::get(name) {
        Some(file) => format!("assets/{}/{name}", version(&file)),
        // The page goes without it; a test looks for the files that templates name.
        None => format!("assets/missing/{name}"),
    }
}

/// The first characters of the hash of a file.
fn version(file: &EmbeddedFile) -> String {
    file.metadata.sha256_hash().iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

/// Gives a file. An address with the hash of another release gets the file of this one, and is not kept.
pub(crate) async fn asset(Path((asked, name)): Path<(String, String)>) -> Response {
    let Some(file) = Files::get(&name) else { return StatusCode::NOT_FOUND.into_response() };
    let kind = mime_guess::from_path(&name).first_or_octet_stream();
    let kind = if kind.type_() == "text" { format!("{kind}; charset=utf-8") } else { kind.to_string() };
    let keep = if asked == version(&file) { "public, max-age=31536000, immutable" } else { "no-cache" };
    ([(CONTENT_TYPE, kind), (CACHE_CONTROL, keep.to_owned())], file.data.into_owned()).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The files of others, with the SHA-256 sums that they have in the npm package `htmx.org` 4.0.1, below `dist`.
    const OF_OTHERS: [(&str, &str); 2] = [
        ("htmx.min.js", "a0abb04f2f45a1f89d1d4844023245537e5e6014c87b144553e0607b4cc32130"),
        ("hx-sse.min.js", "18ef2761356ec1fe0bb6d92612315b37517a7c1e9856b661c5ae81fef239d103"),
    ];

    #[test]
    fn scripts_of_others_are_as_they_published_them() {
        for (name, sum) in OF_OTHERS {
            let file = Files::get(name).expect("the file is there");
            let is: String = file.metadata.sha256_hash().iter().map(|byte| format!("{byte:02x}")).collect();
            assert_eq!(is, sum, "{name}");
        }
    }
}
