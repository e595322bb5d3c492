//! A Lambda function for testing the local host. It uses the real Lambda runtime and performs the action named in the
//! event.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use aws_config::BehaviorVersion;
use aws_sdk_dynamodb::error::DisplayErrorContext;
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
    let LambdaEvent { payload, context } = event;
    if let Some(records) = payload.get("Records") {
        return Ok(process_batch(records.as_array().unwrap()));
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
        "send" => send_message(payload["body"].as_str().unwrap()).await,
        "sleep" => sleep(&payload).await,
        _ => Ok(payload),
    }
}

/// Prints the body of each message, and reports a message as failed if its body begins with `fail`.
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

fn print_lines(payload: &Value) -> Value {
    for line in 0..payload["lines"].as_u64().unwrap() {
        println!("{} line {line}", payload["label"].as_str().unwrap());
    }
    eprintln!("{} on stderr", payload["label"].as_str().unwrap());
    Value::Null
}

/// Prints a line, then sleeps for `ms` milliseconds. An HTTP request passes `ms` as a query parameter.
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

/// Writes the same item twice. The second write must fail, because its condition is false.
async fn put_item_twice() -> Result<Value, Error> {
    let client = aws_sdk_dynamodb::Client::new(&aws_config::load_defaults(BehaviorVersion::latest()).await);
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
    let client = aws_sdk_dynamodb::Client::new(&aws_config::load_defaults(BehaviorVersion::latest()).await);
    let key = aws_sdk_dynamodb::types::AttributeValue::S("c".to_owned());
    let query = client.query().table_name(std::env::var("TABLE")?).index_name(index);
    let query = query.key_condition_expression("listing = :l").expression_attribute_values(":l", key);
    Ok(json!(query.send().await.map_err(error_text)?.count()))
}

/// Formats an error together with its causes.
fn error_text(error: impl std::error::Error) -> String {
    DisplayErrorContext(error).to_string()
}

async fn send_message(body: &str) -> Result<Value, Error> {
    let client = aws_sdk_sqs::Client::new(&aws_config::load_defaults(BehaviorVersion::latest()).await);
    let send = client.send_message().queue_url(std::env::var("QUEUE_URL")?).message_body(body);
    let sent = send.send().await.map_err(error_text)?;
    Ok(json!(sent.message_id))
}

/// Reports an initialization error. Sends the HTTP request directly, because `lambda_runtime` has no public function
/// that reports an initialization error.
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
