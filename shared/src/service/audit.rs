//! Records in the audit log what the requests of admins, agents and the operator do.

use crate::domain::accounts::agent::AgentSnapshot;
use crate::domain::accounts::audit::AuditedRequest;
use crate::domain::bots::bot::Provider;
use crate::runtime::clock;
use crate::runtime::http::Request;
use crate::store::connections::sessions::Session;
use crate::store::directory::Directory;

/// Returns a directory that records in the audit log what the request of a signed-in agent does.
pub fn by_agent(directory: &Directory, caller: &Session, request: &Request) -> Directory {
    by(directory, Some(caller.agent.without_photo()), request)
}

pub fn by_operator(directory: &Directory, request: &Request) -> Directory {
    by(directory, None, request)
}

/// `agent` is the agent who sent the request or, for a refused sign-in, whose e-mail address it contains.
pub fn by(directory: &Directory, agent: Option<AgentSnapshot>, request: &Request) -> Directory {
    directory.audited(AuditedRequest { agent, source_address: request.source_address(), at: clock::now() })
}

/// Logs what the operator does with a bot provider, which belongs to no account and therefore to no audit log.
pub fn log_provider_change(request: &Request, provider: &Provider, change: &'static str) {
    let (provider_id, source_address) = (&provider.provider_id, request.source_address());
    tracing::info!(provider_id, source_address, change, "bot provider changed by the operator");
}
