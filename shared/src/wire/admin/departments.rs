//! Departments.

use serde_json::{Value, json};

use crate::domain::department::Department;
use crate::error::Error;
use crate::wire::admin::{MAX_NAME_CHARS, ids};
use crate::wire::fields::Fields;

/// Reads POST /admin/departments, or PATCH on one that is there: the department as it becomes. A new one has no name
/// yet.
pub fn changed_department(body: &Value, mut department: Department) -> Result<Department, Error> {
    let fields = Fields::of(body)?;
    if fields.has("name") || department.name.is_empty() {
        department.name = fields.required_text("name", MAX_NAME_CHARS)?;
    }
    department.agent_ids = ids(fields, "agent_ids")?.unwrap_or(department.agent_ids);
    Ok(department)
}

/// A department as admins see it.
pub fn department(department: &Department) -> Value {
    let Department { department_id, name, agent_ids } = department;
    json!({ "department_id": department_id, "name": name, "agent_ids": agent_ids })
}
