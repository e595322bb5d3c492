//! The /operator/accounts endpoints: bodies and operations. The telephony of an account is in
//! [`crate::wire::admin::telephony_settings`].

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::contract::{Failure, Operation};
use crate::domain::accounts::account::{self, AccountState, DeletionPhase, DeletionProgress};
use crate::domain::accounts::agent;
use crate::error::Error;
use crate::wire::admin::MAX_NAME_CHARS;
use crate::wire::admin::agents::{Agent, AgentWithPassword, NewAgent};
use crate::wire::fields::values::{Name, NotNull, SequentialNumber, Text, UnixSeconds, Whole};

const MAX_LIMIT: u64 = 100;
const DEFAULT_LIMIT: u64 = 50;

pub(super) fn operations() -> Vec<Operation> {
    vec![
        Operation::post("/operator/accounts", "openAccount", "Creates an account with its first admin")
            .describe("Tell the admin the password; the admin adds everybody else.")
            .body::<NewAccount>()
            .answers::<CreatedAccount>(201, "The account.")
            .fails(&[Failure::Conflict]),
        Operation::get("/operator/accounts", "accounts", "Lists the accounts in the order of their ids")
            .describe(
                "The list is read from an index, so a change may take some seconds to appear. With email, the list \
                 contains at most the account of the agent with this address.",
            )
            .query::<AccountListQuery>()
            .answers::<Accounts>(200, "A page of accounts."),
        Operation::get(
            "/operator/accounts/{account_id}",
            "account",
            "Reads an account with its admins and the progress of its deletion",
        )
        .describe("After the deletion of the account, the response is 404.")
        .answers::<AccountDetails>(200, "The account."),
        Operation::patch(
            "/operator/accounts/{account_id}",
            "suspendAccount",
            "Suspends an account, or ends its suspension",
        )
        .describe(
            "In a suspended account, agents get 403 account_suspended at once, and channels, widgets and bots within \
             ten seconds. Nothing is deleted, pending deliveries are completed, and idle chats stay open. When the \
             suspension ends, the sessions of the agents are valid again. 409 if the account is being deleted.",
        )
        .body::<AccountSuspension>()
        .answers::<AccountDetails>(200, "The account.")
        .fails(&[Failure::Conflict]),
        Operation::delete(
            "/operator/accounts/{account_id}",
            "deleteAccount",
            "Orders the deletion of an account with everything that belongs to it",
        )
        .describe(
            "The account is suspended at once, and a scheduled function deletes its data. GET shows the progress and \
             responds with 404 when nothing is left. A deletion cannot be cancelled. The request can be repeated.",
        )
        .answers::<AccountDetails>(202, "The deletion is in progress."),
        Operation::post(
            "/operator/accounts/{account_id}/admins",
            "addAdmin",
            "Adds an admin to an account, or resets one",
        )
        .describe(
            "If the e-mail address belongs to an agent of the account, that agent gets the password and the role \
             admin, and their sessions end; name, phone and photo stay unchanged. A role in the body is ignored.",
        )
        .body::<NewAgent>()
        .answers::<Agent>(200, "The agent that was reset.")
        .answers::<Agent>(201, "The new admin.")
        .fails(&[Failure::Conflict]),
    ]
}

#[derive(Deserialize, JsonSchema)]
pub struct NewAccount {
    name: Text<MAX_NAME_CHARS>,
    admin: NewAgent,
}

impl NewAccount {
    /// Returns the name of the account and its first admin.
    pub fn checked(self) -> Result<(String, AgentWithPassword), Error> {
        let Self { name: Text(name), admin } = self;
        Ok((name, admin.checked_admin("admin.password")?))
    }
}

#[derive(Serialize, JsonSchema)]
pub struct CreatedAccount {
    pub account_id: String,
    pub admin_id: SequentialNumber,
}

#[derive(Deserialize, JsonSchema)]
pub struct AccountListQuery {
    /// The e-mail address of an agent.
    #[serde(default)]
    email: NotNull<String>,
    /// The page size.
    #[serde(default)]
    #[schemars(extend("default" = DEFAULT_LIMIT))]
    limit: NotNull<Whole<1, MAX_LIMIT>>,
    /// The value of next from the previous page.
    #[serde(default)]
    cursor: NotNull<AccountCursor>,
}

impl AccountListQuery {
    pub fn limit(&self) -> i32 {
        let limit = self.limit.0.map_or(DEFAULT_LIMIT, |Whole(limit)| limit);
        i32::try_from(limit).unwrap_or(i32::MAX)
    }

    /// Returns the id of the last account of the page before.
    pub fn after(&self) -> Option<&str> {
        self.cursor.0.as_ref().map(|AccountCursor(account_id)| account_id.as_str())
    }

    /// Returns the e-mail address, in lower case, of an agent whose account is wanted.
    pub fn email(&self) -> Option<String> {
        self.email.0.as_ref().map(|email| email.trim().to_lowercase())
    }
}

/// The id of an account.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(try_from = "String")]
#[schemars(with = "String", inline, extend("pattern" = "^[0-9A-Za-z]{1,64}$"))]
struct AccountCursor(String);

impl TryFrom<String> for AccountCursor {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let is_cursor = (1..=64).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if is_cursor { Ok(Self(text)) } else { Err("must be a value that this endpoint has returned") }
    }
}

#[derive(Serialize, JsonSchema)]
pub struct Accounts {
    #[schemars(length(max = MAX_LIMIT))]
    accounts: Vec<Account>,
    /// The cursor of the next page.
    next: Option<String>,
}

impl Accounts {
    pub fn new(accounts: &[account::Account], next: Option<String>) -> Self {
        Self { accounts: accounts.iter().map(Account::new).collect(), next }
    }
}

#[derive(Serialize, JsonSchema)]
pub struct Account {
    account_id: String,
    name: String,
    state: Name<AccountState>,
    created_at: UnixSeconds,
    suspended_at: Option<UnixSeconds>,
}

impl Account {
    fn new(account: &account::Account) -> Self {
        let state = account.state();
        let account::Account { account_id, name, created_at, suspended_at, deleting_since: _ } = account.clone();
        let (created_at, suspended_at) = (created_at.into(), suspended_at.map(UnixSeconds::from));
        Self { account_id, name, state: Name(state), created_at, suspended_at }
    }
}

#[derive(Serialize, JsonSchema)]
pub struct AccountDetails {
    #[serde(flatten)]
    account: Account,
    /// The number of agents.
    agents: usize,
    admins: Vec<AccountAdmin>,
    /// The progress of the deletion. Null if none is in progress.
    deletion: Option<AccountDeletion>,
}

#[derive(Serialize, JsonSchema)]
pub struct AccountAdmin {
    agent_id: SequentialNumber,
    name: String,
    email: String,
}

#[derive(Serialize, JsonSchema)]
pub struct AccountDeletion {
    started_at: UnixSeconds,
    /// The table that is being read, in this order. account: the last items of the Directory table.
    phase: Name<DeletionPhase>,
    deleted_items: u64,
}

impl AccountDetails {
    pub fn new(account: &account::Account, agents: &[agent::Agent], deletion: Option<DeletionProgress>) -> Self {
        let admins = agents.iter().filter(|agent| agent.role == agent::Role::Admin).map(|agent| AccountAdmin {
            agent_id: SequentialNumber(agent.agent_id),
            name: agent.name.clone(),
            email: agent.email.clone(),
        });
        let deletion = deletion.map(|DeletionProgress { started_at, phase, deleted_items }| AccountDeletion {
            started_at: started_at.into(),
            phase: Name(phase),
            deleted_items,
        });
        Self { account: Account::new(account), agents: agents.len(), admins: admins.collect(), deletion }
    }
}

#[derive(Deserialize, JsonSchema)]
pub struct AccountSuspension {
    pub suspended: bool,
}
