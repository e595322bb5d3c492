//! `$default`, the route of all requests without a route: 404, or 405 with `Allow` if the path has other methods. A
//! trailing slash makes a different path. No table or queue requests.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::LazyLock;

use matchit::Router;
use serde::Deserialize;
use serde::de::IgnoredAny;
use shared::error::Error;
use shared::runtime::http::{self, Request, Response};

/// A test ensures that it has the same routes as the template.
static OPENAPI_DOCUMENT: &str = include_str!("../../docs/openapi.json");

/// The value of the `Allow` header for each path.
static ALLOWED_METHODS: LazyLock<Result<Router<String>, Error>> = LazyLock::new(allowed_methods);

#[derive(Deserialize)]
struct OpenApiDocument {
    paths: BTreeMap<String, BTreeMap<String, IgnoredAny>>,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    http::run(handle).await
}

async fn handle((): (), request: Request) -> Result<Response, Error> {
    let allowed_methods = ALLOWED_METHODS.as_ref().map_err(Error::internal)?;
    let route = allowed_methods.at(request.path()).map_err(|_| Error::NotFound)?;
    // For the gateway a path with an empty parameter matches no route.
    let is_complete = route.params.iter().all(|(_, value)| !value.is_empty());
    Err(if is_complete { Error::MethodNotAllowed(route.value) } else { Error::NotFound })
}

fn allowed_methods() -> Result<Router<String>, Error> {
    let document: OpenApiDocument = serde_json::from_str(OPENAPI_DOCUMENT).map_err(Error::internal)?;
    let mut router = Router::new();
    for (path, item) in document.paths {
        let methods = item.into_keys().filter(|key| key != "parameters");
        let methods: Vec<_> = methods.map(|method| method.to_uppercase()).collect();
        router.insert(path, methods.join(", ")).map_err(Error::internal)?;
    }
    Ok(router)
}
