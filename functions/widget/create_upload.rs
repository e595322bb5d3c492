//! POST /widget/{widget_id}/upload: returns the form with which a visitor's browser sends a file to the bucket.

use std::process::ExitCode;

use shared::domain::files::upload::Uploader;
use shared::error::Error;
use shared::runtime::file_bucket::FileBucket;
use shared::runtime::http::{self, Request, Response};
use shared::service::uploads::create_upload;
use shared::service::widget::WidgetRequest;
use shared::store::chats::Chats;
use shared::store::connections::Connections;
use shared::store::directory::Directory;
use shared::wire::uploads::UploadingVisitor;

fn main() -> ExitCode {
    http::run_cross_origin(handle)
}

type Dependencies = (Directory, Chats, Connections, FileBucket);

async fn handle((directory, chats, connections, bucket): Dependencies, request: Request) -> Result<Response, Error> {
    let accepted = WidgetRequest::accept(&directory, &connections, &request).await?;
    let UploadingVisitor { token } = accepted.body_as()?;
    let upload = accepted.body_as()?;
    let visitor = accepted.visitor(&chats, &token).await?;
    let uploader = Uploader::visitor(&visitor.account_id, &visitor.channel_id, &visitor.external_id);
    connections.count_widget_upload(&visitor.channel_id, &request.source_address(), accepted.now).await?;
    let settings = &directory.cached_settings(&visitor.account_id).await?.files;
    Ok(Response::created(create_upload(&bucket, &uploader, (upload, settings), accepted.now)?))
}
