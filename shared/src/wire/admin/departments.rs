//! Request and response bodies of the /admin/departments endpoints.

use serde_json::{Value, json};

use crate::domain::department::Department;
use crate::error::Error;
use crate::wire::admin::{MAX_NAME_CHARS, parse_ids};
use crate::wire::json_fields::Fields;

/// Parses the body of POST /admin/departments or PATCH /admin/departments/{department_id} and returns the changed
/// department. A `department` without a name is new; in that case the body must contain a name.
pub fn apply_department_patch(body: &Value, mut department: Department) -> Result<Department, Error> {
    let fields = Fields::of(body)?;
    if fields.has("name") || department.name.is_empty() {
        department.name = fields.required_text("name", MAX_NAME_CHARS)?;
    }
    department.agent_ids = parse_ids(fields, "agent_ids")?.unwrap_or(department.agent_ids);
    Ok(department)
}

pub fn department_json(department: &Department) -> Value {
    let Department { department_id, name, agent_ids } = department;
    json!({ "department_id": department_id, "name": name, "agent_ids": agent_ids })
}
