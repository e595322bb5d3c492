//! GET /widget.js: returns the loader that pages include. GET /widget/assets/{file}: returns the scripts and texts that
//! the loader imports. The files are built from `functions/www/widget` and compiled into this binary.

use std::process::ExitCode;

use shared::error::Error;
use shared::runtime::http::{self, EmbeddedFile, Request, Response};

include!("../www/dist/widget/files.rs");

/// The loader's URL never changes. Browsers reuse their copy of the loader for five minutes, so pages get a new loader
/// at most five minutes after a deployment.
const LOADER_CACHE_CONTROL: &str = "public, max-age=300";
/// Assets never change, because an asset's file name contains a hash of its content.
const ASSET_CACHE_CONTROL: &str = "public, max-age=31536000, immutable";

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    http::run(handle).await
}

async fn handle((): (), request: Request) -> Result<Response, Error> {
    let (file, cache_control) = if request.has_path_segment("file") {
        let name = request.path_segment("file");
        let (_, asset) = ASSETS.iter().find(|(asset_name, _)| *asset_name == name).ok_or(Error::NotFound)?;
        (asset, ASSET_CACHE_CONTROL)
    } else {
        (&LOADER, LOADER_CACHE_CONTROL)
    };
    // Let pages of any origin use the files, which are public. Browsers import scripts from another origin only with
    // `access-control-allow-origin`. Cross-origin isolated pages also require `cross-origin-resource-policy`.
    Ok(Response::file(file, cache_control, &request).with_headers([
        ("access-control-allow-origin", "*".to_owned()),
        ("cross-origin-resource-policy", "cross-origin".to_owned()),
    ]))
}
