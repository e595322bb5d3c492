//! Handles `$default`, the route for requests that match no other route. The response is 404, or 405 with an `Allow`
//! header if the path exists with other methods. A path with a trailing slash is a different path.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::LazyLock;

use matchit::Router;
use serde::Deserialize;
use serde::de::IgnoredAny;
use shared::error::Error;
use shared::runtime::http::{self, Request, Response};

/// A test ensures that this document contains the same routes as `template.yaml`.
static OPENAPI_DOCUMENT: &str = include_str!("../../docs/openapi.json");

/// Maps each path to the value of its `Allow` header.
static ALLOWED_METHODS: LazyLock<Result<Router<String>, Error>> = LazyLock::new(allowed_methods);

#[derive(Deserialize)]
struct OpenApiDocument {
    paths: BTreeMap<String, BTreeMap<String, IgnoredAny>>,
}

fn main() -> ExitCode {
    http::run(handle)
}

async fn handle((): (), request: Request) -> Result<Response, Error> {
    let allowed_methods = ALLOWED_METHODS.as_ref().map_err(Error::internal)?;
    let route = allowed_methods.at(request.path()).map_err(|_| Error::NotFound)?;
    // API Gateway does not match a path to a route if a path parameter is empty, so such a path gets 404.
    let is_complete = route.params.iter().all(|(_, value)| !value.is_empty());
    Err(if is_complete { Error::MethodNotAllowed(route.value) } else { Error::NotFound })
}

fn allowed_methods() -> Result<Router<String>, Error> {
    let document: OpenApiDocument = serde_json::from_str(OPENAPI_DOCUMENT).map_err(Error::internal)?;
    let mut router = Router::new();
    for (path, item) in document.paths {
        let methods = item.into_keys().filter(|key| key != "parameters");
        let mut methods: Vec<_> = methods.map(|method| method.to_uppercase()).collect();
        // The document contains only GET, as is usual.
        if methods.iter().any(|method| method == "GET") {
            methods.push("HEAD".to_owned());
            methods.sort();
        }
        router.insert(path, methods.join(", ")).map_err(Error::internal)?;
    }
    Ok(router)
}
