//! /admin/departments: POST creates a department, GET lists the departments.
//!
//! An agent without the admin role gets 403 after the session has been read.

use std::process::ExitCode;

use serde_json::{Value, json};
use shared::domain::department::Department;
use shared::error::Error;
use shared::runtime::http::{self, Request, Response};
use shared::service::{audit, auth};
use shared::store::connections::Connections;
use shared::store::directory::Directory;
use shared::wire::admin;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    http::run(handle).await
}

async fn handle((directory, connections): (Directory, Connections), request: Request) -> Result<Response, Error> {
    let caller = auth::admin(&connections, &request).await?;
    match request.method.as_str() {
        "POST" => create(&audit::by_agent(&directory, &caller, &request), &caller.account_id, &request).await,
        "GET" => list(&directory, &caller.account_id).await,
        _ => Err(request.unexpected_method()),
    }
}

async fn create(directory: &Directory, account_id: &str, request: &Request) -> Result<Response, Error> {
    let Department { name, agent_ids, .. } = admin::apply_department_patch(&request.json()?, Department::default())?;
    let department = directory.create_department(account_id, name, agent_ids).await?;
    Ok(Response::created(admin::department_json(&department)))
}

async fn list(directory: &Directory, account_id: &str) -> Result<Response, Error> {
    let roster = directory.roster(account_id).await?;
    let departments: Vec<Value> = roster.departments().iter().map(admin::department_json).collect();
    Ok(Response::ok(json!({ "departments": departments })))
}
