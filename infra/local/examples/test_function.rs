//! A Lambda function for testing the local host. It uses the real Lambda runtime and performs the action named in the
//! event. If the environment variable `INIT` is `exit` or `error`, the function fails before it handles an event.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use aws_sdk_dynamodb::config::{Credentials, Region, SharedCredentialsProvider};
use aws_sdk_dynamodb::error::DisplayErrorContext;
use aws_types::SdkConfig;
use lambda_runtime::{Error, LambdaEvent, service_fn};
use serde_json::{Value, json};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    match std::env::var("INIT").as_deref() {
        Ok("exit") => std::process::exit(7),
        Ok("error") => report_init_error(),
        _ => lambda_runtime::run(service_fn(handle)).await,
    }
}

async fn handle(event: LambdaEvent<Value>) -> Result<Value, Error> {
    let LambdaEvent { mut payload, context } = event;
    if let Some(records) = payload.get("Records") {
        let records = records.as_array().unwrap();
        let is_stream = records.first().is_some_and(|record| record["eventSource"] == "aws:dynamodb");
        return if is_stream { process_changes(records).await } else { Ok(process_batch(records)) };
    }
    if payload.pointer("/requestContext/eventType").is_some() {
        println!("{payload}");
        payload = command_of_socket_event(&payload);
    }
    let action = payload.pointer("/queryStringParameters/do").or_else(|| payload.get("do"));
    let action = action.and_then(Value::as_str).unwrap_or("echo");
    match action {
        "answer" => Ok(payload["answer"].clone()),
        "crash" => std::process::exit(3),
        "environment" => Ok(json!(std::env::vars().collect::<BTreeMap<_, _>>())),
        "fail" => Err("it went wrong".into()),
        "hang" => hang(),
        "panic" => panic!("it went very wrong"),
        "pid" => Ok(json!(std::process::id())),
        "print" => Ok(print_lines(&payload)),
        "deadline" => Ok(json!({"deadline": context.deadline, "arn": context.invoked_function_arn})),
        "respond" => Ok(serde_json::from_str(payload["body"].as_str().unwrap()).unwrap()),
        "query" => count_items(payload["index"].as_str().unwrap()).await,
        "tables" => put_item_twice().await,
        "post" => post_to_connection(&payload).await,
        "describe" => describe_connection(&payload).await,
        "close" => close_connection(&payload).await,
        "send" => send_message(payload["body"].as_str().unwrap()).await,
        "sleep" => sleep(&payload).await,
        _ => Ok(payload),
    }
}

/// Prints the body of each message, and reports a message as failed if its body begins with `fail`. If a body is
/// `nonsense`, returns an invalid response; if one is `crash`, exits; if one begins with `hang`, hangs.
fn process_batch(records: &[Value]) -> Value {
    for record in records {
        println!("got {}", record["body"].as_str().unwrap());
    }
    let bodies: Vec<_> = records.iter().map(|record| record["body"].as_str().unwrap()).collect();
    if bodies.contains(&"nonsense") {
        return json!({"batchItemFailures": [{"itemIdentifier": ""}]});
    }
    if bodies.contains(&"crash") {
        std::process::exit(3);
    }
    if bodies.iter().any(|body| body.starts_with("hang")) {
        hang();
    }
    let failed = records.iter().filter(|record| record["body"].as_str().unwrap().starts_with("fail"));
    let failed: Vec<_> = failed.map(|record| json!({"itemIdentifier": record["messageId"]})).collect();
    json!({"batchItemFailures": failed})
}

/// Prints each record of a stream and the number of records. Then performs the actions named by the sort keys: `fail`
/// fails the batch, `report` reports the record as failed, `pause` waits, and `hang` hangs.
async fn process_changes(records: &[Value]) -> Result<Value, Error> {
    for record in records {
        println!("change {record}");
    }
    println!("batch of {}", records.len());
    let has_action = |record: &Value, action| record["dynamodb"]["Keys"]["sk"]["S"].as_str() == Some(action);
    if records.iter().any(|record| has_action(record, "hang")) {
        hang();
    }
    if records.iter().any(|record| has_action(record, "pause")) {
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
    if records.iter().any(|record| has_action(record, "fail")) {
        return Err("it went wrong".into());
    }
    let reported = records.iter().find(|record| has_action(record, "report"));
    let failures = reported.map(|record| json!({"itemIdentifier": record["dynamodb"]["SequenceNumber"]}));
    Ok(json!({"batchItemFailures": Vec::from_iter(failures)}))
}

fn print_lines(payload: &Value) -> Value {
    for line in 0..payload["lines"].as_u64().unwrap() {
        println!("{} line {line}", payload["label"].as_str().unwrap());
    }
    eprintln!("{} on stderr", payload["label"].as_str().unwrap());
    Value::Null
}

/// Prints a line, sleeps for `ms` milliseconds and returns the process id. An HTTP request passes `ms` as a query
/// parameter.
async fn sleep(payload: &Value) -> Result<Value, Error> {
    println!("sleeping");
    let ms = payload.pointer("/queryStringParameters/ms").and_then(Value::as_str);
    let ms = ms.map_or_else(|| payload["ms"].as_u64().unwrap(), |ms| ms.parse().unwrap());
    tokio::time::sleep(Duration::from_millis(ms)).await;
    Ok(json!(std::process::id()))
}

/// Blocks the async runtime's thread forever, so that no other task can run.
fn hang() -> ! {
    loop {
        std::thread::sleep(Duration::from_secs(60));
    }
}

fn aws_config(url_variable: &str) -> SdkConfig {
    let variable = |name: &str| std::env::var(name).unwrap();
    let token = std::env::var("AWS_SESSION_TOKEN").ok();
    let credentials =
        Credentials::new(variable("AWS_ACCESS_KEY_ID"), variable("AWS_SECRET_ACCESS_KEY"), token, None, "environment");
    shared::runtime::aws_config::of_local_server(variable(url_variable).replacen("ws://", "http://", 1))
        .to_builder()
        .region(Region::new(variable("AWS_REGION")))
        .credentials_provider(SharedCredentialsProvider::new(credentials))
        .build()
}

/// Writes the same item twice, each time on condition that it does not exist. Returns whether the first write
/// succeeded, and whether the condition of the second one failed.
async fn put_item_twice() -> Result<Value, Error> {
    let client = aws_sdk_dynamodb::Client::new(&aws_config("AWS_ENDPOINT_URL_DYNAMODB"));
    let put = client.put_item().table_name(std::env::var("TABLE")?);
    let text = |text: &str| aws_sdk_dynamodb::types::AttributeValue::S(text.to_owned());
    let put = put.item("pk", text("a")).item("sk", text("b")).item("listing", text("c"));
    let put = put.condition_expression("attribute_not_exists(pk)");
    let first = put.clone().send().await.is_ok();
    let second = put.send().await;
    let is_rejected = second.is_err_and(|error| error.into_service_error().is_conditional_check_failed_exception());
    Ok(json!({"first": first, "refused": is_rejected}))
}

/// Queries an index and returns the number of items that [`put_item_twice`] wrote.
async fn count_items(index: &str) -> Result<Value, Error> {
    let client = aws_sdk_dynamodb::Client::new(&aws_config("AWS_ENDPOINT_URL_DYNAMODB"));
    let key = aws_sdk_dynamodb::types::AttributeValue::S("c".to_owned());
    let query = client.query().table_name(std::env::var("TABLE")?).index_name(index);
    let query = query.key_condition_expression("listing = :l").expression_attribute_values(":l", key);
    Ok(json!(query.send().await.map_err(error_text)?.count()))
}

fn error_text(error: impl std::error::Error) -> String {
    DisplayErrorContext(error).to_string()
}

async fn send_message(body: &str) -> Result<Value, Error> {
    let client = aws_sdk_sqs::Client::new(&aws_config("AWS_ENDPOINT_URL_SQS"));
    let send = client.send_message().queue_url(std::env::var("QUEUE_URL")?).message_body(body);
    let sent = send.send().await.map_err(error_text)?;
    Ok(json!(sent.message_id))
}

/// Converts a WebSocket event to a command. A message that is a JSON object is the command itself. For `$connect`, the
/// query parameter `do` selects the action. The default action returns the status in the query parameter `status`.
fn command_of_socket_event(event: &Value) -> Value {
    let body = event["body"].as_str().unwrap_or_default();
    if let Ok(Value::Object(mut command)) = serde_json::from_str(body) {
        command.entry("connection").or_insert_with(|| event["requestContext"]["connectionId"].clone());
        return Value::Object(command);
    }
    let parameter = |name: &str| event["queryStringParameters"][name].as_str();
    let status: u16 = parameter("status").map_or(200, |status| status.parse().unwrap());
    json!({"do": parameter("do").unwrap_or("answer"), "answer": {"statusCode": status}})
}

fn management_client() -> aws_sdk_apigatewaymanagement::Client {
    let config = aws_sdk_apigatewaymanagement::config::Builder::from(&aws_config("SOCKET_URL"));
    let retries = aws_sdk_apigatewaymanagement::config::retry::RetryConfig::disabled();
    aws_sdk_apigatewaymanagement::Client::from_conf(config.retry_config(retries).build())
}

/// Sends `text` (by default `x`), repeated `size` times (by default once), to a connection. Returns how the SDK
/// interprets the response.
async fn post_to_connection(payload: &Value) -> Result<Value, Error> {
    use aws_sdk_apigatewaymanagement::operation::post_to_connection::PostToConnectionError;
    let text = payload["text"].as_str().unwrap_or("x").repeat(payload["size"].as_u64().unwrap_or(1) as usize);
    let request = management_client().post_to_connection().connection_id(payload["connection"].as_str().unwrap());
    let sent = request.data(text.into_bytes().into()).send().await;
    Ok(json!(match sent.as_ref().map_err(|error| error.as_service_error()) {
        Ok(_) => "sent",
        Err(Some(PostToConnectionError::GoneException(_))) => "gone",
        Err(Some(PostToConnectionError::LimitExceededException(_))) => "limit exceeded",
        Err(Some(PostToConnectionError::PayloadTooLargeException(_))) => "payload too large",
        Err(_) => return Err(error_text(sent.unwrap_err()).into()),
    }))
}

async fn describe_connection(payload: &Value) -> Result<Value, Error> {
    let client = management_client();
    let request = client.get_connection().connection_id(payload["connection"].as_str().unwrap());
    match request.send().await {
        Ok(description) => {
            let identity = description.identity().unwrap();
            Ok(json!({
                "connected_at": description.connected_at().unwrap().secs(),
                "last_active_at": description.last_active_at().unwrap().secs(),
                "source_ip": identity.source_ip(),
                "user_agent": identity.user_agent(),
            }))
        }
        Err(error) if error.as_service_error().is_some_and(|error| error.is_gone_exception()) => Ok(json!("gone")),
        Err(error) => Err(error_text(error).into()),
    }
}

async fn close_connection(payload: &Value) -> Result<Value, Error> {
    let client = management_client();
    let request = client.delete_connection().connection_id(payload["connection"].as_str().unwrap());
    match request.send().await {
        Ok(_) => Ok(json!("closed")),
        Err(error) if error.as_service_error().is_some_and(|error| error.is_gone_exception()) => Ok(json!("gone")),
        Err(error) => Err(error_text(error).into()),
    }
}

/// Reports an initialization error and exits. Sends the HTTP request directly, because `lambda_runtime` has no public
/// function that reports an initialization error.
fn report_init_error() -> ! {
    let address = std::env::var("AWS_LAMBDA_RUNTIME_API").unwrap();
    let (host, path) = address.trim_start_matches("http://").split_once('/').unwrap();
    let body = r#"{"errorType":"Init.NoConfig","errorMessage":"TABLE is not set"}"#;
    let mut stream = TcpStream::connect(host).unwrap();
    write!(
        stream,
        "POST /{path}/2018-06-01/runtime/init/error HTTP/1.1\r\nHost: {host}\r\nContent-Length: {}\r\n\
         Connection: close\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    stream.read_to_end(&mut Vec::new()).unwrap();
    std::process::exit(1);
}
