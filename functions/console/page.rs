//! GET /console, GET /console/: the agents' console, a page. GET /console/assets/{file}: its scripts, styles and icons.
//! `functions/www` builds them; they are part of this program. Touches nothing.

use std::process::ExitCode;

use shared::error::Error;
use shared::runtime::http::{self, File, Request, Response};

include!("../www/dist/console/files.rs");

/// The browser asks each time whether its copy of the page is current.
const PAGE_CACHE: &str = "no-cache";
/// An asset's name changes with its content.
const ASSET_CACHE: &str = "public, max-age=31536000, immutable";
const PERMISSIONS_POLICY: &str = "camera=(), geolocation=(), microphone=(), payment=(), usb=()";

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    http::run(handle).await
}

async fn handle((): (), request: Request) -> Result<Response, Error> {
    let (file, cache) = if request.has_segment("file") {
        let name = request.segment("file");
        let (_, asset) = ASSETS.iter().find(|(known, _)| *known == name).ok_or(Error::NotFound)?;
        (asset, ASSET_CACHE)
    } else {
        (&PAGE, PAGE_CACHE)
    };
    Ok(Response::file(file, cache, &request).with_headers([
        // There is no socket to allow yet.
        ("content-security-policy", CONTENT_SECURITY_POLICY.replace(" {socket}", "")),
        ("permissions-policy", PERMISSIONS_POLICY.to_owned()),
        ("referrer-policy", "no-referrer".to_owned()),
        ("x-content-type-options", "nosniff".to_owned()),
    ]))
}
