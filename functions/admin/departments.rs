//! /admin/departments: POST makes a department, GET lists them; /admin/departments/{department_id}: GET, PATCH, DELETE.

use std::process::ExitCode;

use serde_json::{Value, json};
use shared::domain::department::Department;
use shared::error::Error;
use shared::runtime::http::{self, Request, Response};
use shared::service::auth;
use shared::store::connections::Connections;
use shared::store::directory::Directory;
use shared::wire::admin;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    http::run(handle).await
}

async fn handle((directory, connections): (Directory, Connections), request: Request) -> Result<Response, Error> {
    let account_id = auth::admin(&connections, &request).await?.account_id;
    if !request.has_segment("department_id") {
        return match request.method.as_str() {
            "POST" => create(&directory, &account_id, &request).await,
            _ => list(&directory, &account_id).await,
        };
    }
    let department_id = request.number("department_id")?;
    let department = directory.roster(&account_id).await?.department(department_id).cloned().ok_or(Error::NotFound)?;
    match request.method.as_str() {
        "PATCH" => {
            let after = admin::changed_department(&request.json()?, department.clone())?;
            directory.save_department(&account_id, &department, &after).await?;
            Ok(Response::ok(admin::department(&after)))
        }
        "DELETE" => {
            directory.delete_department(&account_id, department_id).await?;
            Ok(Response::ok(json!({ "department_id": department_id, "deleted": true })))
        }
        _ => Ok(Response::ok(admin::department(&department))),
    }
}

async fn create(directory: &Directory, account_id: &str, request: &Request) -> Result<Response, Error> {
    let Department { name, agent_ids, .. } = admin::changed_department(&request.json()?, Department::default())?;
    let department = directory.create_department(account_id, name, agent_ids).await?;
    Ok(Response::created(admin::department(&department)))
}

async fn list(directory: &Directory, account_id: &str) -> Result<Response, Error> {
    let roster = directory.roster(account_id).await?;
    let departments: Vec<Value> = roster.departments().iter().map(admin::department).collect();
    Ok(Response::ok(json!({ "departments": departments })))
}
