//! What a function may touch: the types of its handler's first argument. Each opens itself from the
//! environment, so a signature, the variables of `template.yaml` and the policy there say the same.

use std::time::Duration;

use aws_config::SdkConfig;
use aws_sdk_dynamodb::types::AttributeValue;

use crate::runtime::config::{self, Environment, Missing};

/// How long a start waits for DynamoDB.
const WARM_UP_TIMEOUT: Duration = Duration::from_millis(500);

/// What resources are opened with.
pub struct Platform {
    /// Settings of the AWS clients.
    pub aws: SdkConfig,
    /// The function's variables.
    pub environment: Environment,
    /// The client that the tables share, and the name of the table that was opened first.
    pub dynamodb: Option<(aws_sdk_dynamodb::Client, String)>,
    /// The client that the queues share.
    pub sqs: Option<aws_sdk_sqs::Client>,
}

/// Something a handler uses; cheap to clone, opened once a process.
pub trait Dependency: Clone + Send + Sync + 'static {
    /// Opens it. A missing variable is remembered by the environment, not reported here.
    fn open(platform: &mut Platform) -> Self;
}

/// Opens everything a handler uses, and the connection to DynamoDB with it.
pub async fn open<R: Dependency>() -> Result<R, Missing> {
    let mut platform =
        Platform { aws: config::aws().await, environment: Environment::default(), dynamodb: None, sqs: None };
    let resources = R::open(&mut platform);
    platform.environment.finish()?;
    if let Some((client, table)) = &platform.dynamodb {
        warm_up(client, table, WARM_UP_TIMEOUT).await;
    }
    Ok(resources)
}

/// Opens the connection to DynamoDB during the start of the process, which has more CPU than an invocation: name
/// resolution, TLS and credentials cost a first request much more. One read of a key that does not exist. Its result is
/// ignored, a refusal too: the function starts in any case.
async fn warm_up(client: &aws_sdk_dynamodb::Client, table: &str, timeout: Duration) {
    let key = |name: &str| (name.to_owned(), AttributeValue::S("WARM_UP".to_owned()));
    let read = client.get_item().table_name(table).consistent_read(true).set_key(Some([key("pk"), key("sk")].into()));
    let _ = tokio::time::timeout(timeout, read.send()).await;
}

/// A function that touches nothing.
impl Dependency for () {
    fn open(_: &mut Platform) -> Self {}
}

macro_rules! tuple {
    ($($name:ident),+) => {
        impl<$($name: Dependency),+> Dependency for ($($name,)+) {
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use aws_sdk_dynamodb::config::{BehaviorVersion, Credentials, Region};

    use super::*;

    #[tokio::test]
    async fn warm_up_gives_up_when_dynamodb_does_not_answer() {
        let silent = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let config = aws_sdk_dynamodb::Config::builder()
            .behavior_version(BehaviorVersion::latest())
            .region(Region::new("us-east-1"))
            .credentials_provider(Credentials::new("test", "test", None, None, "test"))
            .endpoint_url(format!("http://{}", silent.local_addr().unwrap()))
            .build();
        let client = aws_sdk_dynamodb::Client::from_conf(config);
        let timeout = Duration::from_millis(50);
        tokio::time::timeout(Duration::from_secs(2), warm_up(&client, "directory", timeout)).await.unwrap();
    }
}
