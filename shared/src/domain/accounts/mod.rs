//! An account, its agents and what an admin sets for all of it.

pub mod account;
pub mod account_settings;
pub mod agent;
pub mod agent_presence;
pub mod answer_times;
pub mod assignment;
pub mod audit;
pub mod canned_reply;
pub mod department;
pub mod inbox_settings;
pub mod login_limit;
pub mod password_policy;
pub mod status_watch;
pub mod web_push;
