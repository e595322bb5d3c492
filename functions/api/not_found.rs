//! `$default`: every request that no other route takes. 404, or 405 with `Allow` where the path takes other methods. A
//! slash at the end makes another path. No reads.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::LazyLock;

use matchit::Router;
use serde::Deserialize;
use serde::de::IgnoredAny;
use shared::error::Error;
use shared::runtime::http::{self, Request, Response};

/// It has the template's routes and no other; a test compares them.
static DOCUMENT: &str = include_str!("../../docs/openapi.json");

/// The methods of each path, as `Allow` lists them.
static ALLOWED: LazyLock<Result<Router<String>, Error>> = LazyLock::new(allowed);

#[derive(Deserialize)]
struct Document {
    paths: BTreeMap<String, BTreeMap<String, IgnoredAny>>,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    http::run(handle).await
}

async fn handle((): (), request: Request) -> Result<Response, Error> {
    let allowed = ALLOWED.as_ref().map_err(Error::internal)?;
    let path = allowed.at(request.path()).map_err(|_| Error::NotFound)?;
    let is_route = path.params.iter().all(|(_, value)| !value.is_empty());
    Err(if is_route { Error::MethodNotAllowed(path.value) } else { Error::NotFound })
}

fn allowed() -> Result<Router<String>, Error> {
    let document: Document = serde_json::from_str(DOCUMENT).map_err(Error::internal)?;
    let mut router = Router::new();
    for (path, item) in document.paths {
        let methods = item.into_keys().filter(|key| key != "parameters");
        let methods: Vec<_> = methods.map(|method| method.to_uppercase()).collect();
        router.insert(path, methods.join(", ")).map_err(Error::internal)?;
    }
    Ok(router)
}
