//! The guard in use: opened from the environment, and applied to every address that a name resolves to.

use std::net::SocketAddr;
use std::sync::Arc;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use crate::domain::target_guard::Guard;
use crate::runtime::config::Environment;
use crate::runtime::dependencies::{Dependency, Platform};

impl Dependency for Guard {
    fn open(platform: &mut Platform) -> Self {
        from_environment(&mut platform.environment)
    }
}

fn from_environment(environment: &mut Environment) -> Guard {
    let http = environment.flag("ALLOW_HTTP_TARGETS");
    let networks = environment.text("ALLOWED_PRIVATE_TARGETS");
    // What does not parse opens nothing, but should be noticed.
    let parsed = networks.split(',').map(str::trim).filter(|network| !network.is_empty()).filter_map(|network| {
        let parsed = network.parse().ok();
        if parsed.is_none() {
            tracing::warn!(network, "ALLOWED_PRIVATE_TARGETS holds something that is not a network");
        }
        parsed
    });
    Guard::new(parsed.collect(), http)
}

/// A resolver that returns only addresses that may be called. An answer with a forbidden address among others
/// is refused whole: it is an attempt.
pub struct GuardedResolver(pub Arc<Guard>);

impl Resolve for GuardedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let guard = Arc::clone(&self.0);
        Box::pin(async move {
            let found: Vec<SocketAddr> = tokio::net::lookup_host((name.as_str(), 0)).await?.collect();
            for address in &found {
                guard.check_address(address.ip())?;
            }
            Ok(Box::new(found.into_iter()) as Addrs)
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::domain::target_guard::Forbidden;

    #[tokio::test]
    async fn a_name_that_resolves_to_a_special_address_is_refused() {
        let resolver = GuardedResolver(Arc::new(Guard::new(vec![], true)));
        let refused = resolver.resolve("localhost".parse().unwrap()).await.err().unwrap();
        assert_eq!(refused.downcast_ref::<Forbidden>(), Some(&Forbidden::Address));
    }
}
