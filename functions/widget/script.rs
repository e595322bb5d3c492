//! Returns the scripts that pages include. The files are built from `functions/www/widget` and compiled into this
//! binary.
//!
//! - GET /widget.js: the loader. The script element or its URL names the widget.
//! - GET /widget/{widget_id} and GET /script/widget/{widget_id}: the loader with the widget's configuration in front of
//!   it, so that the page knows the mode as soon as the script has run. Many pages and packages for another product end
//!   their script's URL with such a path.
//! - GET /widget/assets/{file}: the scripts and texts that the loader imports.

use std::process::ExitCode;

use serde_json::{Value, json};
use shared::domain::channels::channel::Channel;
use shared::domain::channels::widget::FormerService;
use shared::error::Error;
use shared::runtime::clock;
use shared::runtime::http::{self, EmbeddedFile, Request, Response};
use shared::store::connections::Connections;
use shared::store::directory::Directory;
use shared::wire::widget::WidgetMode;

include!("../www/dist/widget/files.rs");

/// The loader's URL never changes. Browsers reuse their copy of the loader for five minutes, so pages get a new loader
/// at most five minutes after a deployment.
const LOADER_CACHE_CONTROL: &str = "public, max-age=300";
/// The mode in the configuration is at most this old, and ten seconds more, when the loader runs. The widget reads it
/// again when it starts.
const CONFIGURED_LOADER_CACHE_CONTROL: &str = "public, max-age=60";
/// Assets never change, because an asset's file name contains a hash of its content.
const ASSET_CACHE_CONTROL: &str = "public, max-age=31536000, immutable";

fn main() -> ExitCode {
    http::run(handle)
}

type Dependencies = (Directory, Connections);

async fn handle(dependencies: Dependencies, request: Request) -> Result<Response, Error> {
    request.require_method("GET, HEAD")?;
    let response = if request.has_path_segment("widget_id") {
        let configuration = configuration(&dependencies, widget_id(&request.path_segment("widget_id"))).await?;
        let text = format!("self.switchboardWidget={configuration};");
        Response::text_and_file(&text, &LOADER, CONFIGURED_LOADER_CACHE_CONTROL, &request)
    } else if request.has_path_segment("file") {
        let name = request.path_segment("file");
        let (_, asset) = ASSETS.iter().find(|(asset_name, _)| *asset_name == name).ok_or(Error::NotFound)?;
        Response::file(asset, ASSET_CACHE_CONTROL, &request)
    } else {
        Response::file(&LOADER, LOADER_CACHE_CONTROL, &request)
    };
    // Let pages of any origin use the files, which are public. Browsers import scripts from another origin only with
    // `access-control-allow-origin`. Cross-origin isolated pages also require `cross-origin-resource-policy`.
    Ok(response.with_headers([
        ("access-control-allow-origin", "*".to_owned()),
        ("cross-origin-resource-policy", "cross-origin".to_owned()),
    ]))
}

/// Returns the id at the beginning of a path segment. A published package appends a brace to the id.
fn widget_id(segment: &str) -> &str {
    let end = segment.find(|character: char| !character.is_ascii_alphanumeric() && !"-_".contains(character));
    segment.split_at(end.unwrap_or(segment.len())).0
}

/// Returns the `Configuration` of `functions/www/widget/loader.ts`. An unknown widget has one too, because a browser
/// does not run a script with another status than 200: the loader then writes to the console what is wrong, and calls
/// of the page fail in the documented way instead of throwing.
async fn configuration((directory, connections): &Dependencies, id: &str) -> Result<Value, Error> {
    let channel = directory.cached_channel(id).await?.filter(|channel| channel.settings.enabled);
    let Some((channel, widget)) = channel.as_deref().and_then(|channel| Some((channel, channel.settings.widget()?)))
    else {
        return Ok(json!({ "id": id, "is_unknown": true }));
    };
    let mode = WidgetMode::new(is_online(directory, connections, channel).await?);
    // The service's name is also the prefix of the global names that its pages use.
    let prefix = widget.moved_from.map(FormerService::name);
    Ok(json!({ "id": id, "mode": mode, "color": widget.color, "prefix": prefix }))
}

async fn is_online(directory: &Directory, connections: &Connections, channel: &Channel) -> Result<bool, Error> {
    let audience = directory.audience(channel).await?;
    let presences = connections.cached_presences(&channel.account_id).await?;
    let now = clock::now();
    Ok(audience.has_online_agent(&presences, now) && directory.is_open(channel, None, now).await?)
}
