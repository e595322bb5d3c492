//! GET /files/{account_id}/{file_id}/{until}/{signature}: opens a file of a message. Whoever has the link can open it
//! until it ends. The response leads to the bucket, which is another origin than the pages.

use std::process::ExitCode;

use shared::domain::files::file_link::FileLink;
use shared::error::Error;
use shared::runtime::clock;
use shared::runtime::file_bucket::FileBucket;
use shared::runtime::http::{self, Request, Response};
use shared::service::file_links;
use shared::store::directory::Directory;

fn main() -> ExitCode {
    http::run(handle)
}

async fn handle((directory, bucket): (Directory, FileBucket), request: Request) -> Result<Response, Error> {
    request.require_method("GET, HEAD")?;
    let link = FileLink {
        account_id: request.path_segment("account_id"),
        file_id: request.path_segment("file_id"),
        until: request.path_number("until")?,
    };
    let signature = request.path_segment("signature");
    let url = file_links::download_url((&directory, &bucket), &link, &signature, clock::now()).await?;
    Ok(Response::redirect(url))
}
