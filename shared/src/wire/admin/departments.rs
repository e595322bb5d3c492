//! The /admin/departments endpoints: bodies and operations.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::contract::{Failure, Operation};
use crate::domain::accounts::answer_times::AnswerTimes;
use crate::domain::accounts::assignment::AssignmentRule;
use crate::domain::accounts::department;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::wire::admin::answer_times::{self, AnswerTimesChange};
use crate::wire::admin::assignment::{DepartmentAssignment, DepartmentAssignmentChange};
use crate::wire::admin::business_hours::{BusinessHours, BusinessHoursChange, checked_change};
use crate::wire::admin::{Ids, MAX_NAME_CHARS};
use crate::wire::fields::values::{Change, NotNull, OptionalText, SequentialNumber, Text, True};

pub(super) fn operations() -> Vec<Operation> {
    vec![
        Operation::get("/admin/departments", "departments", "Lists the departments of the account")
            .describe("With the ids of their members.")
            .answers::<Departments>(200, "The departments."),
        Operation::post(
            "/admin/departments",
            "createDepartment",
            "Creates a department; an account can have at most 100",
        )
        .describe("Chats can be transferred to a department, and a channel can offer its chats to one.")
        .body::<NewDepartment>()
        .answers::<Department>(201, "The department.")
        .fails(&[Failure::Conflict]),
        Operation::get("/admin/departments/{department_id}", "department", "Reads a department")
            .describe("With the ids of its members.")
            .answers::<Department>(200, "The department."),
        Operation::patch("/admin/departments/{department_id}", "changeDepartment", "Changes a department")
            .describe("`agent_ids` replaces the members. Absent fields stay unchanged.")
            .body::<DepartmentChanges>()
            .answers::<Department>(200, "The department."),
        Operation::delete("/admin/departments/{department_id}", "deleteDepartment", "Deletes a department")
            .describe("Chats that wait for the department are offered to the agents of their channel.")
            .answers::<DeletedDepartment>(200, "Deleted."),
    ]
}

#[derive(Deserialize, JsonSchema)]
pub struct NewDepartment {
    name: Text<MAX_NAME_CHARS>,
    agent_ids: Option<Ids>,
    /// The bot that answers first in chats that are opened in the department. Null or absent: the channel's bot.
    #[serde(default)]
    bot_id: OptionalText<MAX_NAME_CHARS>,
    business_hours: Option<BusinessHoursChange>,
    assignment: Option<DepartmentAssignmentChange>,
    answer_times: Option<AnswerTimesChange>,
}

impl NewDepartment {
    /// Returns the department without its id.
    pub fn into_department(self) -> Result<department::Department, Error> {
        let Self {
            name: Text(name),
            agent_ids,
            bot_id: OptionalText(bot_id),
            business_hours,
            assignment,
            answer_times,
        } = self;
        Ok(department::Department {
            department_id: 0,
            name,
            agent_ids: agent_ids.map(Ids::into_unique).unwrap_or_default(),
            bot_id,
            business_hours: business_hours.map(|hours| hours.checked()).transpose()?,
            assignment: assignment.map(AssignmentRule::from),
            answer_times: answer_times.map(AnswerTimes::from),
        })
    }
}

#[derive(Deserialize, JsonSchema)]
pub struct DepartmentChanges {
    #[serde(default)]
    name: NotNull<Text<MAX_NAME_CHARS>>,
    agent_ids: Option<Ids>,
    /// Null: the channel's bot.
    #[serde(default)]
    bot_id: Change<OptionalText<MAX_NAME_CHARS>>,
    #[serde(default)]
    business_hours: Change<BusinessHoursChange>,
    /// Null: that of the account.
    #[serde(default)]
    assignment: Change<DepartmentAssignmentChange>,
    /// Null: those of the account.
    #[serde(default)]
    answer_times: Change<AnswerTimesChange>,
}

impl DepartmentChanges {
    /// Returns the changed department.
    pub fn applied_to(self, department: &department::Department) -> Result<department::Department, Error> {
        let Self { name, agent_ids, bot_id, business_hours, assignment, answer_times } = self;
        let mut changed = department.clone();
        changed.name = name.0.map_or(changed.name, |Text(name)| name);
        changed.agent_ids = agent_ids.map_or(changed.agent_ids, Ids::into_unique);
        changed.bot_id = bot_id.map(|OptionalText(id)| id).flatten().applied_to(changed.bot_id);
        changed.business_hours = checked_change(business_hours)?.applied_to(changed.business_hours);
        changed.assignment = assignment.map(AssignmentRule::from).applied_to(changed.assignment);
        changed.answer_times = answer_times.map(AnswerTimes::from).applied_to(changed.answer_times);
        Ok(changed)
    }
}

#[derive(Serialize, JsonSchema)]
pub struct Departments {
    departments: Vec<Department>,
}

impl Departments {
    pub fn new(departments: &[department::Department], now: Timestamp) -> Self {
        Self { departments: departments.iter().map(|department| Department::new(department, now)).collect() }
    }
}

#[derive(Serialize, JsonSchema)]
pub struct Department {
    department_id: SequentialNumber,
    name: String,
    agent_ids: Vec<SequentialNumber>,
    /// The bot that answers first in chats that are opened in the department. Null: the channel's bot.
    bot_id: Option<String>,
    /// Null: those of the account.
    business_hours: Option<BusinessHours>,
    /// How waiting chats get their agents. Null: as in the account. Without effect in an account without an assignment.
    assignment: Option<DepartmentAssignment>,
    /// The time limits of answers. Null: those of the account. Without effect in an account without time limits.
    answer_times: Option<answer_times::AnswerTimes>,
}

impl Department {
    pub fn new(department: &department::Department, now: Timestamp) -> Self {
        let department::Department { department_id, name, agent_ids, bot_id, business_hours, assignment, answer_times } =
            department;
        Self {
            department_id: SequentialNumber(*department_id),
            name: name.clone(),
            agent_ids: agent_ids.iter().copied().map(SequentialNumber).collect(),
            bot_id: bot_id.clone(),
            business_hours: business_hours.as_ref().map(|hours| BusinessHours::new(hours, now)),
            assignment: assignment.map(DepartmentAssignment::from),
            answer_times: answer_times.map(answer_times::AnswerTimes::from),
        }
    }
}

#[derive(Serialize, JsonSchema)]
pub struct DeletedDepartment {
    pub department_id: SequentialNumber,
    pub deleted: True,
}
