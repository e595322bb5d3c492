//! A DNS resolver for outbound requests that rejects private and special addresses. Also creates the SSRF guard, whose
//! exceptions are configured by environment variables.

use std::net::SocketAddr;
use std::sync::Arc;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use crate::domain::deliveries::ssrf_guard::SsrfGuard;
use crate::runtime::config::Environment;
use crate::runtime::dependencies::{Dependency, StartupContext};

impl Dependency for SsrfGuard {
    fn open(startup: &mut StartupContext) -> Self {
        from_environment(&mut startup.environment)
    }
}

fn from_environment(environment: &mut Environment) -> SsrfGuard {
    let allows_http = environment.required_flag("ALLOW_HTTP_TARGETS");
    let networks = environment.required("ALLOWED_PRIVATE_TARGETS");
    // An invalid network is ignored, so it does not allow any address.
    let allowed = networks.split(',').map(str::trim).filter(|network| !network.is_empty()).filter_map(|network| {
        let parsed = network.parse().ok();
        if parsed.is_none() {
            tracing::warn!(network, "ALLOWED_PRIVATE_TARGETS has an entry that is not a network");
        }
        parsed
    });
    SsrfGuard::new(allowed.collect(), allows_http)
}

/// Resolves a name only if requests to all of its addresses are allowed. A name with both public and forbidden
/// addresses is rejected, because it can be an attack.
pub(crate) struct GuardedResolver(pub Arc<SsrfGuard>);

impl Resolve for GuardedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let guard = Arc::clone(&self.0);
        Box::pin(async move {
            let addresses: Vec<SocketAddr> = tokio::net::lookup_host((name.as_str(), 0)).await?.collect();
            for address in &addresses {
                guard.check_address(address.ip())?;
            }
            Ok(Box::new(addresses.into_iter()) as Addrs)
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::domain::deliveries::ssrf_guard::ForbiddenUrl;

    #[tokio::test]
    async fn name_with_a_special_address_is_refused() {
        let resolver = GuardedResolver(Arc::new(SsrfGuard::new(vec![], true)));
        let error = resolver.resolve("localhost".parse().unwrap()).await.err().unwrap();
        assert_eq!(error.downcast_ref::<ForbiddenUrl>(), Some(&ForbiddenUrl::NotPublic));
    }
}
