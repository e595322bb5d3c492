//! Request and response bodies of the /operator/providers and /admin/providers endpoints.

use serde_json::{Value, json};

use crate::domain::bot::{Provider, TOKEN_PLACEHOLDER};
use crate::domain::ssrf_guard::SsrfGuard;
use crate::error::Error;
use crate::wire::admin::{MAX_NAME_CHARS, required_outbound_url};
use crate::wire::json_fields::{Fields, MAX_URL_CHARS};

/// Replaces the placeholder while a URL is parsed, because a parser changes braces.
const PLACEHOLDER_SUBSTITUTE: &str = "token-stands-here";

/// Parses the body of POST /operator/providers or PATCH /operator/providers/{provider_id} and returns the changed
/// provider. A new `provider` has neither a name nor an endpoint yet, so the body must contain both.
pub fn apply_provider_patch(body: &Value, mut provider: Provider, guard: &SsrfGuard) -> Result<Provider, Error> {
    let fields = Fields::of(body)?;
    if fields.has("name") || provider.name.is_empty() {
        provider.name = fields.required_text("name", MAX_NAME_CHARS)?;
    }
    if fields.has("endpoint") || provider.endpoint.is_empty() {
        provider.endpoint = parse_endpoint(fields, guard)?;
    }
    if fields.has("authorization") {
        let secret = fields.text("authorization", MAX_NAME_CHARS)?;
        if secret.as_ref().is_some_and(|secret| !is_header_value(secret)) {
            return Err(fields.invalid("authorization", "must be printable ASCII without spaces at its ends"));
        }
        provider.authorization_hash = secret.map(|secret| crate::domain::sha256::hex_digest(&secret));
    }
    Ok(provider)
}

/// Parses and normalizes the endpoint. A placeholder for the token is preserved. It must be in the path or in the
/// query, because the token is a secret, and host names are visible in the network.
fn parse_endpoint(fields: Fields<'_>, guard: &SsrfGuard) -> Result<String, Error> {
    let text = fields.required_text("endpoint", MAX_URL_CHARS)?;
    if !text.contains(TOKEN_PLACEHOLDER) {
        return required_outbound_url(fields, "endpoint", guard);
    }
    let url = fields.normalize_url("endpoint", &text.replace(TOKEN_PLACEHOLDER, PLACEHOLDER_SUBSTITUTE))?;
    guard.check(&url).map_err(|forbidden| fields.invalid("endpoint", forbidden))?;
    if url.host_str().is_some_and(|host| host.contains(PLACEHOLDER_SUBSTITUTE)) {
        return Err(fields.invalid("endpoint", "must contain {token} only in its path or query"));
    }
    Ok(url.as_str().replace(PLACEHOLDER_SUBSTITUTE, TOKEN_PLACEHOLDER))
}

fn is_header_value(text: &str) -> bool {
    text.trim() == text && text.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic())
}

/// Returns a provider without the hash of its `Authorization` header.
pub fn provider_json(provider: &Provider) -> Value {
    let Provider { provider_id, name, endpoint, authorization_hash, created_at } = provider;
    json!({
        "provider_id": provider_id, "name": name, "endpoint": endpoint,
        "has_authorization": authorization_hash.is_some(), "created_at": created_at.seconds(),
    })
}

pub fn providers_json(providers: &[Provider]) -> Value {
    json!({ "providers": providers.iter().map(provider_json).collect::<Vec<_>>() })
}

/// Returns the providers as admins see them, without their endpoints, which can contain secrets.
pub fn choosable_providers_json(providers: &[Provider]) -> Value {
    let mut providers: Vec<&Provider> = providers.iter().collect();
    providers.sort_by(|a, b| (&a.name, &a.provider_id).cmp(&(&b.name, &b.provider_id)));
    let provider = |it: &&Provider| json!({ "provider_id": it.provider_id, "name": it.name });
    json!({ "providers": providers.iter().map(provider).collect::<Vec<_>>() })
}
