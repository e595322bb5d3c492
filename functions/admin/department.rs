//! /admin/departments/{department_id}: GET returns a department, PATCH changes it, DELETE deletes it.
//!
//! An agent without the admin role gets 403 after the session has been read.

use std::process::ExitCode;

use shared::error::Error;
use shared::runtime::clock;
use shared::runtime::http::{self, Request, Response};
use shared::service::{audit, auth};
use shared::store::connections::Connections;
use shared::store::directory::Directory;
use shared::wire::admin::{DeletedDepartment, Department, DepartmentChanges};
use shared::wire::fields::values::{SequentialNumber, True};

fn main() -> ExitCode {
    http::run(handle)
}

async fn handle((directory, connections): (Directory, Connections), request: Request) -> Result<Response, Error> {
    request.require_method("DELETE, GET, HEAD, PATCH")?;
    let caller = auth::admin(&connections, &request).await?;
    let (directory, account_id) = (audit::by_agent(&directory, &caller, &request), caller.account_id);
    let department_id = request.path_number("department_id")?;
    let department = directory.roster(&account_id).await?.department(department_id).cloned().ok_or(Error::NotFound)?;
    match request.method.as_str() {
        "GET" => Ok(Response::ok(Department::new(&department, clock::now()))),
        "PATCH" => {
            let after = request.body_as::<DepartmentChanges>()?.applied_to(&department)?;
            directory.save_department(&account_id, &department, &after).await?;
            Ok(Response::ok(Department::new(&after, clock::now())))
        }
        "DELETE" => {
            directory.delete_department(&account_id, &department).await?;
            Ok(Response::ok(DeletedDepartment { department_id: SequentialNumber(department_id), deleted: True }))
        }
        _ => Err(request.unexpected_method()),
    }
}
