//! The /operator/providers and /admin/providers endpoints: bodies and operations.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::contract::{Failure, Operation};
use crate::domain::bots::bot::{self, TOKEN_PLACEHOLDER};
use crate::domain::deliveries::ssrf_guard::SsrfGuard;
use crate::domain::sha256;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::wire::admin::MAX_NAME_CHARS;
use crate::wire::fields::urls::{HTTP_PATTERN, MAX_URL_CHARS, ReceiverUrl, WebUrl};
use crate::wire::fields::values::{AnyText, Change, NotNull, OptionalText, Text, True, UnixSeconds};

pub(super) fn operations() -> Vec<Operation> {
    vec![
        Operation::get(
            "/admin/providers",
            "choosableProviders",
            "Lists the bot providers that the operator has registered",
        )
        .describe("Without their endpoints.")
        .answers::<ChoosableProviders>(200, "The providers, sorted by name."),
        Operation::post("/operator/providers", "registerProvider", "Registers a bot provider")
            .describe("The response contains the `provider_id`, which the provider and the admins need.")
            .body::<NewProvider>()
            .answers::<Provider>(201, "The provider."),
        Operation::get("/operator/providers", "listProviders", "Lists the bot providers")
            .describe("Includes the endpoints, which admins do not see.")
            .answers::<Providers>(
                200,
                "The providers. They are read from an index, so a change may take some seconds to appear.",
            ),
        Operation::get("/operator/providers/{provider_id}", "provider", "Reads a bot provider")
            .describe("Without the secret in `authorization`.")
            .answers::<Provider>(200, "The provider."),
        Operation::patch("/operator/providers/{provider_id}", "changeProvider", "Changes a bot provider")
            .describe("Absent fields stay unchanged. A changed endpoint applies within ten seconds.")
            .body::<ProviderChanges>()
            .answers::<Provider>(200, "The provider."),
        Operation::delete(
            "/operator/providers/{provider_id}",
            "deleteProvider",
            "Deletes a bot provider that no bot uses",
        )
        .describe("409 if bots use the provider.")
        .answers::<DeletedProvider>(200, "The provider is deleted.")
        .fails(&[Failure::Conflict]),
    ]
}

#[derive(Deserialize, JsonSchema)]
pub struct NewProvider {
    name: Text<MAX_NAME_CHARS>,
    endpoint: ProviderEndpoint,
    #[serde(default)]
    authorization: Authorization,
}

impl NewProvider {
    /// Returns the new provider. Fails if the SSRF guard does not allow the endpoint.
    pub fn into_provider(self, provider_id: String, now: Timestamp, guard: &SsrfGuard) -> Result<bot::Provider, Error> {
        let Self { name: Text(name), endpoint, authorization } = self;
        let endpoint = endpoint.checked(guard)?;
        Ok(bot::Provider { provider_id, name, endpoint, authorization_hash: authorization.hash(), created_at: now })
    }
}

#[derive(Deserialize, JsonSchema)]
pub struct ProviderChanges {
    #[serde(default)]
    name: NotNull<Text<MAX_NAME_CHARS>>,
    #[serde(default)]
    endpoint: NotNull<ProviderEndpoint>,
    #[serde(default)]
    authorization: Change<Authorization>,
}

impl ProviderChanges {
    /// Returns the changed provider. Fails if the SSRF guard does not allow the endpoint.
    pub fn applied_to(self, provider: &bot::Provider, guard: &SsrfGuard) -> Result<bot::Provider, Error> {
        let Self { name, endpoint, authorization } = self;
        let mut changed = provider.clone();
        changed.name = name.0.map_or(changed.name, |Text(name)| name);
        if let Some(endpoint) = endpoint.0 {
            changed.endpoint = endpoint.checked(guard)?;
        }
        let hash = authorization.map(Authorization::hash).flatten();
        changed.authorization_hash = hash.applied_to(changed.authorization_hash);
        Ok(changed)
    }
}

/// Like ReceiverUrl, but each {token} in its path or query is replaced with the bot's token. Without one, the token is
/// appended as the last path segment.
#[derive(Deserialize, JsonSchema)]
#[serde(try_from = "AnyText<MAX_URL_CHARS>")]
#[schemars(with = "AnyText<MAX_URL_CHARS>", inline, extend("pattern" = HTTP_PATTERN))]
struct ProviderEndpoint(ReceiverUrl);

impl ProviderEndpoint {
    fn checked(&self, guard: &SsrfGuard) -> Result<String, Error> {
        self.0.checked("endpoint", guard)
    }
}

impl TryFrom<AnyText<MAX_URL_CHARS>> for ProviderEndpoint {
    type Error = String;

    fn try_from(text: AnyText<MAX_URL_CHARS>) -> Result<Self, String> {
        if !text.0.contains(TOKEN_PLACEHOLDER) {
            return ReceiverUrl::try_from(WebUrl::try_from(text)?).map(Self);
        }
        let url = ReceiverUrl::with_placeholder(&text.0, TOKEN_PLACEHOLDER)?;
        // The token is a secret, and host names are visible in the network.
        if url.has_placeholder_in_host() {
            return Err("must contain {token} only in its path or query".to_owned());
        }
        Ok(Self(url))
    }
}

/// The secret that the provider's requests must carry; empty for none. Printable ASCII without leading or trailing
/// spaces.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(try_from = "OptionalText<MAX_NAME_CHARS>")]
#[schemars(with = "OptionalText<MAX_NAME_CHARS>", inline)]
struct Authorization(Option<String>);

impl Authorization {
    fn hash(self) -> Option<String> {
        self.0.map(|secret| sha256::hex_digest(&secret))
    }
}

impl TryFrom<OptionalText<MAX_NAME_CHARS>> for Authorization {
    type Error = &'static str;

    fn try_from(OptionalText(secret): OptionalText<MAX_NAME_CHARS>) -> Result<Self, Self::Error> {
        if secret.as_ref().is_some_and(|secret| !is_header_value(secret)) {
            return Err("must be printable ASCII without spaces at its ends");
        }
        Ok(Self(secret))
    }
}

fn is_header_value(text: &str) -> bool {
    text.trim() == text && text.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic())
}

#[derive(Serialize, JsonSchema)]
pub struct Providers {
    providers: Vec<Provider>,
}

impl Providers {
    pub fn new(providers: &[bot::Provider]) -> Self {
        Self { providers: providers.iter().map(Provider::new).collect() }
    }
}

#[derive(Serialize, JsonSchema)]
pub struct Provider {
    provider_id: String,
    name: String,
    #[schemars(length(max = MAX_URL_CHARS), regex(pattern = HTTP_PATTERN))]
    endpoint: String,
    has_authorization: bool,
    created_at: UnixSeconds,
}

impl Provider {
    pub fn new(provider: &bot::Provider) -> Self {
        let bot::Provider { provider_id, name, endpoint, authorization_hash, created_at } = provider.clone();
        let has_authorization = authorization_hash.is_some();
        Self { provider_id, name, endpoint, has_authorization, created_at: created_at.into() }
    }
}

/// The providers as admins see them, without their endpoints, which can contain secrets.
#[derive(Serialize, JsonSchema)]
pub struct ChoosableProviders {
    providers: Vec<ChoosableProvider>,
}

#[derive(Serialize, JsonSchema)]
pub struct ChoosableProvider {
    provider_id: String,
    name: String,
}

impl ChoosableProviders {
    pub fn new(mut providers: Vec<bot::Provider>) -> Self {
        providers.sort_by(|a, b| (&a.name, &a.provider_id).cmp(&(&b.name, &b.provider_id)));
        let choosable = |bot::Provider { provider_id, name, .. }| ChoosableProvider { provider_id, name };
        Self { providers: providers.into_iter().map(choosable).collect() }
    }
}

#[derive(Serialize, JsonSchema)]
pub struct DeletedProvider {
    pub provider_id: String,
    pub deleted: True,
}
