//! Accounts, agents, departments, and who may do what.

mod account_admins;
mod account_isolation;
mod account_settings;
mod agent_management;
mod audit_log;
mod authentication;
mod business_hours;
mod departments;
mod login_and_logout;
mod operator_accounts;
mod passwords_and_sessions;
