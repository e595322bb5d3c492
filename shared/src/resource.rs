//! What a function may touch: the types of its handler's first argument. Each opens itself from the
//! environment, so a signature, the variables of `template.yaml` and the policy there say the same.

use aws_config::SdkConfig;

use crate::config::{self, Environment, Missing};

/// What resources are opened with.
pub struct Platform {
    /// Settings of the AWS clients.
    pub aws: SdkConfig,
    /// The function's variables.
    pub environment: Environment,
}

/// Something a handler uses; cheap to clone, opened once a process.
pub trait Resource: Clone + Send + Sync + 'static {
    /// Opens it. A missing variable is remembered by the environment, not reported here.
    fn open(platform: &mut Platform) -> Self;
}

/// Opens everything a handler uses.
pub async fn open<R: Resource>() -> Result<R, Missing> {
    let mut platform = Platform { aws: config::aws().await, environment: Environment::default() };
    let resources = R::open(&mut platform);
    platform.environment.finish()?;
    Ok(resources)
}

/// A function that touches nothing.
impl Resource for () {
    fn open(_: &mut Platform) -> Self {}
}

macro_rules! tuple {
    ($($name:ident),+) => {
        impl<$($name: Resource),+> Resource for ($($name,)+) {
            fn open(platform: &mut Platform) -> Self {
                ($($name::open(platform),)+)
            }
        }
    };
}

tuple!(A, B);
tuple!(A, B, C);
tuple!(A, B, C, D);
tuple!(A, B, C, D, E);
tuple!(A, B, C, D, E, F);
