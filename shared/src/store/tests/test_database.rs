//! Creates tables with the keys and indexes of those in `template.yaml` in dynoxide, an in-memory database engine that
//! the official AWS SDK connects to. Unlike in `template.yaml`, every index contains all attributes of the items.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use aws_sdk_dynamodb::types::{
    AttributeDefinition, BillingMode, GlobalSecondaryIndex, KeySchemaElement, KeyType, Projection, ProjectionType,
    ScalarAttributeType,
};

use crate::runtime::aws_config;
use crate::store::tests::*;

/// The stores with their three tables in an in-memory engine. Each value has its own engine.
pub(crate) struct Stores {
    pub(crate) directory: Directory,
    pub(crate) chats: Chats,
    pub(crate) connections: Connections,
    /// The settings that visitors' messages and idle checks use. Tests may change them.
    pub(crate) settings: AccountSettings,
    pub(crate) client: Client,
}

impl Stores {
    pub(crate) async fn with_settings(settings: AccountSettings) -> Self {
        Self { settings, ..stores().await }
    }
}

/// Creates empty tables in a new engine on a free port.
pub(crate) async fn stores() -> Stores {
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    let database = dynoxide::Database::memory().unwrap();
    tokio::spawn(async move { dynoxide::server::serve_on(listener, database).await });
    let client = client(address);
    create_table(&client, "directory", &[("by_account", "account_id", ("pk", ScalarAttributeType::S))]).await;
    let listing = ("listing", "listing", ("chat_id", ScalarAttributeType::N));
    let due = ("due", "due", ("due_at", ScalarAttributeType::N));
    let by_email = ("by_email", "account_id", ("email_key", ScalarAttributeType::S));
    let by_phone = ("by_phone", "account_id", ("phone_key", ScalarAttributeType::S));
    create_table(&client, "chats", &[listing, due, by_email, by_phone]).await;
    create_table(&client, "connections", &[]).await;
    Stores {
        directory: Directory::new(Table::new(client.clone(), "directory")),
        chats: Chats::new(Table::new(client.clone(), "chats")),
        connections: Connections::new(Table::new(client.clone(), "connections")),
        settings: AccountSettings::default(),
        client,
    }
}

fn client(address: SocketAddr) -> Client {
    Client::new(&aws_config::of_local_server(format!("http://{address}")))
}

/// A secondary index: its name, its partition key, its sort key and the sort key's type.
type Index = (&'static str, &'static str, (&'static str, ScalarAttributeType));

async fn create_table(client: &Client, name: &str, indexes: &[Index]) {
    let attribute = |name: &str, kind: &ScalarAttributeType| {
        AttributeDefinition::builder().attribute_name(name).attribute_type(kind.clone()).build().unwrap()
    };
    let key =
        |name: &str, kind: KeyType| KeySchemaElement::builder().attribute_name(name).key_type(kind).build().unwrap();
    let strings = ["pk", "sk"].into_iter().chain(indexes.iter().map(|(_, hash, _)| *hash));
    let strings = strings.map(|name| (name, ScalarAttributeType::S));
    let attributes: BTreeMap<_, _> = strings.chain(indexes.iter().map(|(_, _, range)| range.clone())).collect();
    let mut request = client
        .create_table()
        .table_name(name)
        .billing_mode(BillingMode::PayPerRequest)
        .set_attribute_definitions(Some(attributes.iter().map(|(name, kind)| attribute(name, kind)).collect()))
        .key_schema(key("pk", KeyType::Hash))
        .key_schema(key("sk", KeyType::Range));
    for (index, hash, (range, _)) in indexes {
        let built = GlobalSecondaryIndex::builder()
            .index_name(*index)
            .key_schema(key(hash, KeyType::Hash))
            .key_schema(key(range, KeyType::Range))
            .projection(Projection::builder().projection_type(ProjectionType::All).build());
        request = request.global_secondary_indexes(built.build().unwrap());
    }
    request.send().await.unwrap();
}
