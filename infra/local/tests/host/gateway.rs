//! Tests of the gateway: HTTP requests that reach a real process, requests that the gateway rejects, and the usage over
//! HTTP.

use reqwest::{Client, Method, Response, StatusCode};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::probe_host::ProbeHost;

fn url(host: &ProbeHost, path: &str) -> String {
    format!("{}{path}", host.base_url())
}

/// Calls the probe function and makes it return this result.
async fn return_result(host: &ProbeHost, result: &Value) -> Response {
    let request = Client::new().post(url(host, "/probe/x?do=respond"));
    request.header("content-type", "application/json").body(result.to_string()).send().await.unwrap()
}

async fn status_and_body(response: Response) -> (StatusCode, Value) {
    (response.status(), response.json().await.unwrap())
}

#[tokio::test]
async fn event_has_payload_format_2() {
    let host = ProbeHost::start().await;
    let request = Client::new()
        .post(url(&host, "/probe/a%20b%2Fc?x=1&x=2&name=J%C3%BCrgen+K&empty="))
        .header("X-Twice", "one")
        .header("X-Twice", "two")
        .header("Cookie", "a=1; b=2")
        .header("User-Agent", "tests")
        .header("Content-Type", "application/json; charset=utf-8")
        .body(r#"{"text":"grüße"}"#);
    let event: Value = request.send().await.unwrap().json().await.unwrap();
    for (pointer, value) in [
        ("/version", json!("2.0")),
        ("/routeKey", json!("ANY /probe/{name}")),
        ("/rawPath", json!("/probe/a b/c")),
        ("/rawQueryString", json!("x=1&x=2&name=J%C3%BCrgen+K&empty=")),
        ("/cookies", json!(["a=1", "b=2"])),
        ("/headers/x-twice", json!("one,two")),
        ("/headers/host", json!(host.base_url().trim_start_matches("http://"))),
        ("/headers/x-forwarded-for", json!("127.0.0.1")),
        ("/headers/x-forwarded-proto", json!("http")),
        ("/headers/x-forwarded-port", json!(host.port().to_string())),
        ("/queryStringParameters", json!({"x": "1,2", "name": "Jürgen K", "empty": ""})),
        ("/pathParameters", json!({"name": "a b/c"})),
        ("/requestContext/http/method", json!("POST")),
        ("/requestContext/http/path", json!("/probe/a b/c")),
        ("/requestContext/http/protocol", json!("HTTP/1.1")),
        ("/requestContext/http/sourceIp", json!("127.0.0.1")),
        ("/requestContext/http/userAgent", json!("tests")),
        ("/requestContext/routeKey", json!("ANY /probe/{name}")),
        ("/requestContext/stage", json!("$default")),
        ("/body", json!(r#"{"text":"grüße"}"#)),
        ("/isBase64Encoded", json!(false)),
    ] {
        assert_eq!(event.pointer(pointer), Some(&value), "{pointer}");
    }
    assert_eq!(event.pointer("/headers/cookie"), None);
    assert!(event.pointer("/requestContext/timeEpoch").unwrap().is_u64());
}

#[tokio::test]
async fn missing_parts_of_a_request_are_omitted() {
    let host = ProbeHost::start().await;
    let event: Value = reqwest::get(url(&host, "/probe/x")).await.unwrap().json().await.unwrap();
    for name in ["cookies", "queryStringParameters", "body"] {
        assert_eq!(event.get(name), None, "{name}");
    }
    assert_eq!(event["isBase64Encoded"], json!(false));
}

#[tokio::test]
async fn binary_body_is_base64_whatever_its_content_type() {
    let host = ProbeHost::start().await;
    for content_type in ["image/png", "text/plain; charset=utf-8", "application/json"] {
        let request = Client::new().post(url(&host, "/probe/x")).header("content-type", content_type);
        let response = request.body(vec![0xff, 0x00, 0xfe]).send().await.unwrap();
        let event: Value = response.json().await.unwrap();
        assert_eq!((&event["body"], &event["isBase64Encoded"]), (&json!("/wD+"), &json!(true)), "{content_type}");
    }
}

#[tokio::test]
async fn form_body_is_base64() {
    let host = ProbeHost::start().await;
    let request = Client::new().post(url(&host, "/probe/x"));
    let request = request.header("content-type", "application/x-www-form-urlencoded").body("a=1");
    let event: Value = request.send().await.unwrap().json().await.unwrap();
    assert_eq!((&event["body"], &event["isBase64Encoded"]), (&json!("YT0x"), &json!(true)));
}

#[tokio::test]
async fn result_becomes_the_response() {
    let host = ProbeHost::start().await;
    let response = return_result(
        &host,
        &json!({
            "statusCode": 201,
            "headers": {"X-One": "1", "X-Number": 7, "Content-Length": "999"},
            "cookies": ["a=1; HttpOnly", "b=2"],
            "body": "aGk=",
            "isBase64Encoded": true,
        }),
    )
    .await;
    assert_eq!(response.status(), 201);
    let header_values = |name| {
        let values = response.headers().get_all(name).iter();
        values.map(|value| value.to_str().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(header_values("x-one"), ["1"]);
    assert_eq!(header_values("x-number"), ["7"]);
    assert_eq!(header_values("set-cookie"), ["a=1; HttpOnly", "b=2"]);
    assert_eq!(header_values("content-type"), ["text/plain;charset=UTF-8"]);
    assert_eq!(header_values("apigw-requestid").len(), 1);
    assert_eq!(response.text().await.unwrap(), "hi");
}

#[tokio::test]
async fn result_without_a_status_is_a_200_in_json() {
    let host = ProbeHost::start().await;
    let response = return_result(&host, &json!({"ok": true})).await;
    assert_eq!(response.headers()["content-type"], "application/json");
    assert_eq!(status_and_body(response).await, (StatusCode::OK, json!({"ok": true})));
}

#[tokio::test]
async fn invalid_result_is_an_internal_error() {
    let host = ProbeHost::start().await;
    for result in [
        json!({"statusCode": "many"}),
        json!({"statusCode": 99}),
        json!({"statusCode": 200, "headers": {"bad name": "x"}}),
        json!({"statusCode": 200, "body": "%", "isBase64Encoded": true}),
        json!({"statusCode": 200, "body": {"not": "text"}}),
    ] {
        let answer = status_and_body(return_result(&host, &result).await).await;
        let expected = (StatusCode::INTERNAL_SERVER_ERROR, json!({"message": "Internal Server Error"}));
        assert_eq!(answer, expected, "{result}");
    }
}

#[tokio::test]
async fn failed_invocation_is_an_internal_error() {
    let host = ProbeHost::start().await;
    for action in ["fail", "panic", "crash"] {
        let response = reqwest::get(url(&host, &format!("/probe/x?do={action}"))).await.unwrap();
        let expected = (StatusCode::INTERNAL_SERVER_ERROR, json!({"message": "Internal Server Error"}));
        assert_eq!(status_and_body(response).await, expected, "{action}");
    }
}

#[tokio::test]
async fn unrouted_request_is_not_found() {
    let host = ProbeHost::start().await;
    for (method, path) in [
        (Method::GET, "/"),
        (Method::GET, "/probe"),
        (Method::GET, "/probe/"),
        (Method::GET, "/probe/a/b"),
        (Method::POST, "/impatient"),
        (Method::GET, "/_local/nothing"),
    ] {
        let response = Client::new().request(method.clone(), url(&host, path)).send().await.unwrap();
        let expected = (StatusCode::NOT_FOUND, json!({"message": "Not Found"}));
        assert_eq!(status_and_body(response).await, expected, "{method} {path}");
    }
}

#[tokio::test]
async fn response_to_head_has_no_body() {
    let host = ProbeHost::start().await;
    let response = Client::new().head(url(&host, "/probe/x")).send().await.unwrap();
    assert_eq!(response.status(), 200);
    assert!(response.text().await.unwrap().is_empty());
}

#[tokio::test]
async fn gateway_uses_the_timeout_of_the_route() {
    let host = ProbeHost::start().await;
    let response = reqwest::get(url(&host, "/impatient?do=hang")).await.unwrap();
    let expected = (StatusCode::SERVICE_UNAVAILABLE, json!({"message": "Service Unavailable"}));
    assert_eq!(status_and_body(response).await, expected);
}

#[tokio::test]
async fn body_over_the_limit_is_refused() {
    let host = ProbeHost::start().await;
    for size in [10 * 1024 * 1024 + 1, 7_000_000] {
        let request = Client::new().post(url(&host, "/probe/x")).header("content-type", "text/plain");
        let response = request.body("x".repeat(size)).send().await.unwrap();
        let expected = (StatusCode::PAYLOAD_TOO_LARGE, json!({"message": "Request Entity Too Large"}));
        assert_eq!(status_and_body(response).await, expected, "{size}");
    }
}

#[tokio::test]
async fn headers_over_the_limit_are_refused() {
    let host = ProbeHost::start().await;
    let request = Client::new().get(url(&host, "/probe/x")).header("x-large", "x".repeat(10_240));
    assert_eq!(request.send().await.unwrap().status(), 431);
}

/// Sends a request head byte for byte, because an HTTP client would correct or reject it.
async fn send_head(host: &ProbeHost, head: &str) -> (u16, Value) {
    let mut stream = TcpStream::connect(("127.0.0.1", host.port())).await.unwrap();
    stream.write_all(format!("{head}\r\nConnection: close\r\n\r\n").as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head.split(' ').nth(1).unwrap().parse().unwrap(), serde_json::from_str(body).unwrap())
}

#[tokio::test]
async fn malformed_head_is_refused_with_the_name_of_the_field() {
    let host = ProbeHost::start().await;
    for (head, field) in [
        ("GET /probe/x HTTP/1.1\r\nHost: a\r\nHost: b", "Host"),
        ("GET /probe/x HTTP/1.1\r\nHost: a\r\nHost: a", "Host"),
        ("GET /probe/x HTTP/1.1", "Host"),
        ("GET /probe/x HTTP/1.1\r\nHost: a b", "Host"),
        ("GET /probe/x HTTP/1.1\r\nHost: a/b", "Host"),
        ("GET /probe/x HTTP/1.1\r\nHost: [", "Host"),
        ("GET /probe/x HTTP/1.1\r\nHost: a:99999", "Host"),
        ("GET /probe/x HTTP/1.1\r\nHost: user@host", "Host"),
        ("OPTIONS * HTTP/1.1\r\nHost: a", "path"),
    ] {
        let (status, body) = send_head(&host, head).await;
        assert_eq!((status, &body["error"]["field"]), (400, &json!(field)), "{head}: {body}");
        assert_eq!(body["error"]["code"], "invalid_request", "{head}");
    }
    let (status, _) = send_head(&host, "GET /probe/x HTTP/1.0").await;
    assert_eq!(status, 200);
}

#[tokio::test]
async fn usage_can_be_read_and_reset_over_http() {
    let host = ProbeHost::start().await;
    reqwest::get(url(&host, "/probe/x")).await.unwrap();
    let usage: Value = reqwest::get(url(&host, "/_local/usage")).await.unwrap().json().await.unwrap();
    assert_eq!(usage["probe"]["invocations"], 1);
    let reset = Client::new().post(url(&host, "/_local/usage/reset")).send().await.unwrap();
    assert_eq!(reset.status(), 200);
    assert_eq!(host.usage(), json!({}));
}
