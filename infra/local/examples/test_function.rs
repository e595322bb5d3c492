//! A function for the host's own tests, on the real Lambda runtime: it does what the event asks for.

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
        return Ok(batch(records.as_array().unwrap()));
    }
    let asked = payload.pointer("/queryStringParameters/do").or_else(|| payload.get("do"));
    let action = asked.and_then(Value::as_str).unwrap_or("echo");
    match action {
        "answer" => Ok(payload["answer"].clone()),
        "crash" => std::process::exit(3),
        "environment" => Ok(json!(std::env::vars().collect::<BTreeMap<_, _>>())),
        "fail" => Err("it went wrong".into()),
        "hang" => hang(),
        "panic" => panic!("it went very wrong"),
        "pid" => Ok(json!(std::process::id())),
        "print" => Ok(print(&payload)),
        "deadline" => Ok(json!({"deadline": context.deadline, "arn": context.invoked_function_arn})),
        "respond" => Ok(serde_json::from_str(payload["body"].as_str().unwrap()).unwrap()),
        "query" => query(payload["index"].as_str().unwrap()).await,
        "tables" => tables().await,
        "send" => send(payload["body"].as_str().unwrap()).await,
        "sleep" => sleep(&payload).await,
        _ => Ok(payload),
    }
}

/// Says what it got, and reports the messages that ask for it.
fn batch(records: &[Value]) -> Value {
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

fn print(payload: &Value) -> Value {
    for line in 0..payload["lines"].as_u64().unwrap() {
        println!("{} line {line}", payload["who"].as_str().unwrap());
    }
    eprintln!("{} says so on stderr", payload["who"].as_str().unwrap());
    Value::Null
}

/// Says so before it sleeps. `ms` comes from the query when the event is a request.
async fn sleep(payload: &Value) -> Result<Value, Error> {
    println!("sleeping");
    let asked = payload.pointer("/queryStringParameters/ms").and_then(Value::as_str);
    let ms = asked.map_or_else(|| payload["ms"].as_u64().unwrap(), |ms| ms.parse().unwrap());
    tokio::time::sleep(Duration::from_millis(ms)).await;
    Ok(json!(std::process::id()))
}

/// Blocks the thread: not even the runtime gets to do anything.
fn hang() -> ! {
    loop {
        std::thread::sleep(Duration::from_secs(60));
    }
}

/// Writes one item twice, the second time against its condition.
async fn tables() -> Result<Value, Error> {
    let client = aws_sdk_dynamodb::Client::new(&aws_config::load_defaults(BehaviorVersion::latest()).await);
    let put = client.put_item().table_name(std::env::var("TABLE")?);
    let text = |text: &str| aws_sdk_dynamodb::types::AttributeValue::S(text.to_owned());
    let put = put.item("pk", text("a")).item("sk", text("b")).item("listing", text("c"));
    let put = put.condition_expression("attribute_not_exists(pk)");
    let first = put.clone().send().await.is_ok();
    let second = put.send().await;
    let refused = second.is_err_and(|error| error.into_service_error().is_conditional_check_failed_exception());
    Ok(json!({"first": first, "refused": refused}))
}

/// Counts what `tables` wrote in an index.
async fn query(index: &str) -> Result<Value, Error> {
    let client = aws_sdk_dynamodb::Client::new(&aws_config::load_defaults(BehaviorVersion::latest()).await);
    let key = aws_sdk_dynamodb::types::AttributeValue::S("c".to_owned());
    let query = client.query().table_name(std::env::var("TABLE")?).index_name(index);
    let query = query.key_condition_expression("listing = :l").expression_attribute_values(":l", key);
    Ok(json!(query.send().await.map_err(explained)?.count()))
}

/// The whole of what an SDK has to say.
fn explained(error: impl std::error::Error) -> String {
    DisplayErrorContext(error).to_string()
}

async fn send(body: &str) -> Result<Value, Error> {
    let client = aws_sdk_sqs::Client::new(&aws_config::load_defaults(BehaviorVersion::latest()).await);
    let send = client.send_message().queue_url(std::env::var("QUEUE_URL")?).message_body(body);
    let sent = send.send().await.map_err(explained)?;
    Ok(json!(sent.message_id))
}

/// What `lambda_runtime` has no public call for.
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
