//! The dependencies of a function: tables, queues, the HTTP client and keys. A handler lists its dependencies as the
//! types of its first argument. Each dependency is created from environment variables, so the signature shows which
//! variables and permissions the function needs in `template.yaml`.

use std::time::Duration;

use aws_config::SdkConfig;
use aws_sdk_dynamodb::types::AttributeValue;

use crate::runtime::config::{self, Environment, MissingVariables};

/// The longest that a starting process waits for the connection to DynamoDB.
const WARM_UP_TIMEOUT: Duration = Duration::from_millis(500);

/// The objects that are needed to open dependencies. Dependencies that are opened later share the clients stored here.
pub struct StartupContext {
    pub aws: SdkConfig,
    pub environment: Environment,
    /// The client that all tables share, and the name of the table that was opened first. `None` until the first table
    /// is opened.
    pub dynamodb: Option<(aws_sdk_dynamodb::Client, String)>,
    /// The client that all queues share. `None` until the first queue is opened.
    pub sqs: Option<aws_sdk_sqs::Client>,
}

/// An object that a handler uses, such as a table or a queue. It is opened once per process, and cloning it is cheap.
pub trait Dependency: Clone + Send + Sync + 'static {
    /// Opens the dependency. The names of missing environment variables are collected in `startup.environment`.
    fn open(startup: &mut StartupContext) -> Self;
}

/// Opens all dependencies of a handler. If one of them is a table, this also connects to DynamoDB.
pub async fn open<R: Dependency>() -> Result<R, MissingVariables> {
    let mut startup = StartupContext {
        aws: config::load_aws_config().await,
        environment: Environment::default(),
        dynamodb: None,
        sqs: None,
    };
    let dependencies = R::open(&mut startup);
    startup.environment.finish()?;
    if let Some((client, table)) = &startup.dynamodb {
        warm_up(client, table, WARM_UP_TIMEOUT).await;
    }
    Ok(dependencies)
}

/// Connects to DynamoDB by reading a key that does not exist. This is done while the process starts, because a process
/// gets more CPU at startup than during an invocation. Otherwise, name resolution, the TLS handshake and loading
/// credentials would slow down the first request. Errors are ignored, so that the function starts anyway.
async fn warm_up(client: &aws_sdk_dynamodb::Client, table: &str, timeout: Duration) {
    let key = |name: &str| (name.to_owned(), AttributeValue::S("WARM_UP".to_owned()));
    let read = client.get_item().table_name(table).consistent_read(true).set_key(Some([key("pk"), key("sk")].into()));
    let _ = tokio::time::timeout(timeout, read.send()).await;
}

/// For handlers without dependencies.
impl Dependency for () {
    fn open(_: &mut StartupContext) -> Self {}
}

macro_rules! impl_dependency_for_tuple {
    ($($name:ident),+) => {
        impl<$($name: Dependency),+> Dependency for ($($name,)+) {
            fn open(startup: &mut StartupContext) -> Self {
                ($($name::open(startup),)+)
            }
        }
    };
}

impl_dependency_for_tuple!(A, B);
impl_dependency_for_tuple!(A, B, C);
impl_dependency_for_tuple!(A, B, C, D);
impl_dependency_for_tuple!(A, B, C, D, E);
impl_dependency_for_tuple!(A, B, C, D, E, F);

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use aws_sdk_dynamodb::config::{BehaviorVersion, Credentials, Region};

    use super::*;

    #[tokio::test]
    async fn warm_up_ends_when_dynamodb_does_not_answer() {
        let silent_server = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let config = aws_sdk_dynamodb::Config::builder()
            .behavior_version(BehaviorVersion::latest())
            .region(Region::new("us-east-1"))
            .credentials_provider(Credentials::new("test", "test", None, None, "test"))
            .endpoint_url(format!("http://{}", silent_server.local_addr().unwrap()))
            .build();
        let client = aws_sdk_dynamodb::Client::from_conf(config);
        let timeout = Duration::from_millis(50);
        tokio::time::timeout(Duration::from_secs(2), warm_up(&client, "directory", timeout)).await.unwrap();
    }
}
