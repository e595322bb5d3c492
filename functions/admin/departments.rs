//! /admin/departments: POST creates a department, GET lists the departments.
//!
//! An agent without the admin role gets 403 after the session has been read.

use std::process::ExitCode;

use shared::error::Error;
use shared::runtime::clock;
use shared::runtime::http::{self, Request, Response};
use shared::service::{audit, auth};
use shared::store::connections::Connections;
use shared::store::directory::Directory;
use shared::wire::admin::{Department, Departments, NewDepartment};

fn main() -> ExitCode {
    http::run(handle)
}

async fn handle((directory, connections): (Directory, Connections), request: Request) -> Result<Response, Error> {
    request.require_method("GET, HEAD, POST")?;
    let caller = auth::admin(&connections, &request).await?;
    match request.method.as_str() {
        "POST" => create(&audit::by_agent(&directory, &caller, &request), &caller.account_id, &request).await,
        "GET" => list(&directory, &caller.account_id).await,
        _ => Err(request.unexpected_method()),
    }
}

async fn create(directory: &Directory, account_id: &str, request: &Request) -> Result<Response, Error> {
    let new = request.body_as::<NewDepartment>()?.into_department()?;
    let department = directory.create_department(account_id, new).await?;
    Ok(Response::created(Department::new(&department, clock::now())))
}

async fn list(directory: &Directory, account_id: &str) -> Result<Response, Error> {
    let roster = directory.roster(account_id).await?;
    Ok(Response::ok(Departments::new(roster.departments(), clock::now())))
}
