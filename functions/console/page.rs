//! GET /console and GET /console/: returns the page of the agents' console. GET /console/assets/{file}: returns the
//! scripts, styles and icons of the page. The files are built from `functions/www` and compiled into this binary.

use std::process::ExitCode;

use shared::error::Error;
use shared::runtime::file_bucket::FileOrigin;
use shared::runtime::http::{self, EmbeddedFile, Request, Response};
use shared::runtime::socket_url::SocketUrl;

include!("../www/dist/console/files.rs");

/// The browser revalidates its copy of the page before each use.
const PAGE_CACHE_CONTROL: &str = "no-cache";
/// Assets never change, because an asset's file name contains a hash of its content.
const ASSET_CACHE_CONTROL: &str = "public, max-age=31536000, immutable";
const PERMISSIONS_POLICY: &str = "camera=(), geolocation=(), microphone=(), payment=(), usb=()";

fn main() -> ExitCode {
    http::run(handle)
}

async fn handle((socket_url, files): (SocketUrl, FileOrigin), request: Request) -> Result<Response, Error> {
    request.require_method("GET, HEAD")?;
    let (file, cache_control) = if request.has_path_segment("file") {
        let name = request.path_segment("file");
        let (_, asset) = ASSETS.iter().find(|(asset_name, _)| *asset_name == name).ok_or(Error::NotFound)?;
        (asset, ASSET_CACHE_CONTROL)
    } else {
        (&PAGE, PAGE_CACHE_CONTROL)
    };
    let policy = CONTENT_SECURITY_POLICY.replace("{socket}", &socket_url.origin()).replace("{files}", files.as_str());
    Ok(Response::file(file, cache_control, &request).with_headers([
        ("content-security-policy", policy),
        ("cross-origin-opener-policy", "same-origin".to_owned()),
        ("permissions-policy", PERMISSIONS_POLICY.to_owned()),
        ("referrer-policy", "no-referrer".to_owned()),
        // The service worker is an asset, but may control the page.
        ("service-worker-allowed", "/console".to_owned()),
    ]))
}
