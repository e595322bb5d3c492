//! A function that only responds. Its cost is the minimum for any function that uses `lambda_http`.

use lambda_http::{Body, Error, Request, Response, run, service_fn};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    run(service_fn(respond)).await
}

async fn respond(_: Request) -> Result<Response<Body>, Error> {
    let response = Response::builder().header("content-type", "application/json; charset=utf-8");
    Ok(response.body(Body::from(r#"{"result":"ok"}"#))?)
}
