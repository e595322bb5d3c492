//! The dependencies of a function: tables, queues, the HTTP client and keys. A handler lists its dependencies as the
//! types of its first argument. Each dependency is created from environment variables, so the signature shows which
//! variables the function reads and, except for queues, which permissions it needs in `template.yaml`.

use std::time::Duration;

use aws_sdk_dynamodb::types::AttributeValue;
use aws_types::SdkConfig;
use futures_util::future::{BoxFuture, join_all};

use crate::runtime::aws_config;
use crate::runtime::config::{Environment, MissingVariables};

/// The maximum time that a starting process waits for its connections.
const WARM_UP_TIMEOUT: Duration = Duration::from_millis(500);

/// The objects that are needed to open dependencies. Dependencies that are opened later share the clients stored here.
pub struct StartupContext {
    pub aws: SdkConfig,
    pub environment: Environment,
    /// The client that all tables share, and the name of the table that was opened first. `None` until the first table
    /// is opened.
    pub dynamodb: Option<(aws_sdk_dynamodb::Client, String)>,
    /// Requests that open connections. They are sent while the process starts; see [`open`].
    pub warm_ups: Vec<BoxFuture<'static, ()>>,
}

/// An object that a handler uses, such as a table or a queue. It is opened once per process, and cloning it is cheap.
pub trait Dependency: Clone + Send + Sync + 'static {
    /// Opens the dependency. The names of missing environment variables are collected in `startup.environment`.
    fn open(startup: &mut StartupContext) -> Self;
}

/// Opens all dependencies of a handler. Connects to DynamoDB if one of the dependencies is a table, and sends the
/// requests in [`StartupContext::warm_ups`]. The connections are opened while the process starts, because a process
/// gets more CPU at startup than during an invocation. Otherwise, name resolution and the TLS handshake would slow down
/// the first request.
pub async fn open<R: Dependency>() -> Result<R, MissingVariables> {
    let mut startup = StartupContext {
        aws: aws_config::read(),
        environment: Environment::default(),
        dynamodb: None,
        warm_ups: Vec::new(),
    };
    let dependencies = R::open(&mut startup);
    startup.environment.finish()?;
    let connect_to_dynamodb = startup.dynamodb.map(|(client, table)| read_missing_item(&client, table));
    startup.warm_ups.extend(connect_to_dynamodb);
    warm_up(startup.warm_ups, WARM_UP_TIMEOUT).await;
    Ok(dependencies)
}

/// Sends the requests concurrently and waits until all have ended, but no longer than the timeout. The future is boxed,
/// like that of [`read_missing_item`], so that it is compiled only in this crate; see `startup::RuntimeLoop`.
fn warm_up(requests: Vec<BoxFuture<'static, ()>>, timeout: Duration) -> BoxFuture<'static, ()> {
    Box::pin(async move {
        let _ = tokio::time::timeout(timeout, join_all(requests)).await;
    })
}

/// Opens a connection to DynamoDB by reading a key that does not exist. Errors are ignored, so that the function starts
/// anyway.
fn read_missing_item(client: &aws_sdk_dynamodb::Client, table: String) -> BoxFuture<'static, ()> {
    let key = |name: &str| (name.to_owned(), AttributeValue::S("WARM_UP".to_owned()));
    let read = client.get_item().table_name(table).consistent_read(true).set_key(Some([key("pk"), key("sk")].into()));
    Box::pin(async move { drop(read.send().await) })
}

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
impl_dependency_for_tuple!(A, B, C, D, E, F, G);

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[tokio::test]
    async fn warm_up_ends_when_dynamodb_does_not_answer() {
        let silent_server = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let config = aws_config::of_local_server(format!("http://{}", silent_server.local_addr().unwrap()));
        let client = aws_sdk_dynamodb::Client::new(&config);
        let timeout = Duration::from_millis(50);
        let read = read_missing_item(&client, "directory".to_owned());
        tokio::time::timeout(Duration::from_secs(2), warm_up(vec![read], timeout)).await.unwrap();
    }
}
