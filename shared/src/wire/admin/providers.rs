//! Bot providers.

use serde_json::{Value, json};

use crate::domain::bot::Provider;
use crate::domain::target_guard::Guard;
use crate::error::Error;
use crate::wire::admin::{MAX_NAME_CHARS, required_target};
use crate::wire::fields::Fields;

/// Reads POST /operator/providers, or PATCH on one that is there: the provider as it becomes. A new one has no name yet.
pub fn changed_provider(body: &Value, mut provider: Provider, guard: &Guard) -> Result<Provider, Error> {
    let fields = Fields::of(body)?;
    if fields.has("name") || provider.name.is_empty() {
        provider.name = fields.required_text("name", MAX_NAME_CHARS)?;
    }
    if fields.has("endpoint") || provider.endpoint.is_empty() {
        provider.endpoint = required_target(fields, "endpoint", guard)?;
    }
    if fields.has("authorization") {
        let secret = fields.text("authorization", MAX_NAME_CHARS)?;
        if secret.as_ref().is_some_and(|secret| !is_header_value(secret)) {
            return Err(fields.refuse("authorization", "must be printable ASCII without spaces at its ends"));
        }
        provider.authorization_hash = secret.map(|secret| crate::runtime::secret::hex_hash(&secret));
    }
    Ok(provider)
}

/// Whether a provider could send this in a header and we would read the same.
fn is_header_value(text: &str) -> bool {
    text.trim() == text && text.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic())
}

/// A provider as the operator sees it.
pub fn provider(provider: &Provider) -> Value {
    let Provider { provider_id, name, endpoint, authorization_hash, created_at } = provider;
    json!({
        "provider_id": provider_id, "name": name, "endpoint": endpoint,
        "has_authorization": authorization_hash.is_some(), "created_at": created_at.seconds(),
    })
}
