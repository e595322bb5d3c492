//! Tests of WebSockets: the handshake, the events for the functions, messages from functions to connections, and why
//! connections are closed.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use futures_util::{SinkExt, StreamExt, TryStreamExt, stream};
use local::command::open_file_limit;
use local::{Host, SocketTimeouts};
use reqwest::{Client, StatusCode};
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::tungstenite::{Error, Message};

use crate::probe_host::{ProbeHost, wait_for};
use crate::web_socket_client::WebSocketClient;

const FUNCTION: &str = "socket-probe";

/// Returns the WebSocket events that the function has received so far, oldest first.
fn events(host: &ProbeHost, function: &str) -> Vec<Value> {
    let lines = host.lines(function).into_iter().filter(|line| line.starts_with('{'));
    lines.map(|line| serde_json::from_str(&line).unwrap()).collect()
}

fn events_of_type(host: &ProbeHost, event_type: &str) -> Vec<Value> {
    let mut events = events(host, FUNCTION);
    events.retain(|event| event["requestContext"]["eventType"] == event_type);
    events
}

/// Waits for the `$disconnect` event of the only connection.
async fn disconnect_event(host: &ProbeHost) -> Value {
    wait_for(|| events_of_type(host, "DISCONNECT"), |events| !events.is_empty()).await.remove(0)
}

async fn connect(host: &ProbeHost) -> (WebSocketClient, String) {
    let earlier = events_of_type(host, "CONNECT").len();
    let client = WebSocketClient::connect(host).await;
    // The event was logged before the handshake completed, but the host may still be reading the log.
    let events = wait_for(|| events_of_type(host, "CONNECT"), |events| events.len() > earlier).await;
    let id = events[earlier]["requestContext"]["connectionId"].as_str().unwrap().to_owned();
    (client, id)
}

async fn command(host: &Host, action: &str, connection: &str) -> Value {
    host.invoke(FUNCTION, json!({"do": action, "connection": connection})).await.unwrap()
}

#[tokio::test]
async fn connect_event_has_the_format_of_api_gateway() {
    let host = ProbeHost::start().await;
    let _client = WebSocketClient::try_connect(&host, "ticket=a%20b&n=1&n=2").await.unwrap();
    let event = wait_for(|| events_of_type(&host, "CONNECT"), |events| !events.is_empty()).await.remove(0);
    let domain_name = json!(host.base_url().trim_start_matches("http://"));
    for (pointer, value) in [
        ("/headers/Host", &domain_name),
        ("/headers/Sec-WebSocket-Version", &json!("13")),
        ("/headers/User-Agent", &json!("tests")),
        ("/headers/X-Forwarded-For", &json!("127.0.0.1")),
        ("/headers/X-Forwarded-Port", &json!(host.port().to_string())),
        ("/multiValueHeaders/User-Agent", &json!(["tests"])),
        ("/queryStringParameters", &json!({"ticket": "a b", "n": "2"})),
        ("/multiValueQueryStringParameters", &json!({"ticket": ["a b"], "n": ["1", "2"]})),
        ("/requestContext/routeKey", &json!("$connect")),
        ("/requestContext/eventType", &json!("CONNECT")),
        ("/requestContext/messageDirection", &json!("IN")),
        ("/requestContext/stage", &json!("socket")),
        ("/requestContext/apiId", &json!("SocketApi")),
        ("/requestContext/domainName", &domain_name),
        ("/requestContext/identity", &json!({"sourceIp": "127.0.0.1", "userAgent": "tests"})),
        ("/isBase64Encoded", &json!(false)),
    ] {
        assert_eq!(event.pointer(pointer), Some(value), "{pointer}");
    }
    let context = &event["requestContext"];
    let id = context["connectionId"].as_str().unwrap();
    assert!(id.len() == 16 && id.ends_with('='), "{id}");
    assert!(context["connectedAt"].as_u64() <= context["requestTimeEpoch"].as_u64());
    assert_eq!(event.get("body"), None);
}

#[tokio::test]
async fn function_refuses_a_connection_with_its_status() {
    let host = ProbeHost::start().await;
    for (query, status) in
        [("status=401", 401), ("status=403", 403), ("status=302", 302), ("do=fail", 502), ("do=pid", 502)]
    {
        let error = WebSocketClient::try_connect(&host, query).await.err().unwrap();
        let Error::Http(response) = error else { panic!("{query}: {error}") };
        assert_eq!(response.status(), status, "{query}");
    }
    let connections = wait_for(|| events_of_type(&host, "CONNECT"), |events| events.len() == 5).await;
    for event in connections {
        let id = event["requestContext"]["connectionId"].as_str().unwrap();
        assert_eq!(command(&host, "post", id).await, "gone");
    }
    assert_eq!(events_of_type(&host, "DISCONNECT"), [] as [Value; 0]);
}

#[tokio::test]
async fn request_without_a_handshake_is_rejected() {
    let host = ProbeHost::start().await;
    let url = format!("{}/socket", host.base_url());
    let status = async |headers: &[(&str, &str)]| {
        let request =
            headers.iter().fold(Client::new().get(&url), |request, (name, value)| request.header(*name, *value));
        request.send().await.unwrap().status()
    };
    assert_eq!(status(&[]).await, StatusCode::UPGRADE_REQUIRED);
    let upgrade = [("connection", "Upgrade"), ("upgrade", "websocket")];
    assert_eq!(status(&upgrade).await, StatusCode::BAD_REQUEST);
    let old_version = [upgrade[0], upgrade[1], ("sec-websocket-version", "8"), ("sec-websocket-key", "a")];
    assert_eq!(status(&old_version).await, StatusCode::BAD_REQUEST);
    assert_eq!(events(&host, FUNCTION), [] as [Value; 0]);
}

#[tokio::test]
async fn message_selects_its_route() {
    let host = ProbeHost::start().await;
    let (mut client, id) = connect(&host).await;
    for (body, function, route) in [
        (r#"{"type":"special"}"#, "probe", "special"),
        (r#"{"type":"other"}"#, FUNCTION, "$default"),
        (r#"{"type":"$connect"}"#, FUNCTION, "$default"),
        (r#"{"type":7}"#, FUNCTION, "$default"),
        ("grüße", FUNCTION, "$default"),
    ] {
        client.send(body).await;
        let event = || events(&host, function).pop().unwrap_or_default();
        let event = wait_for(event, |event| event["body"] == body).await;
        let context = &event["requestContext"];
        assert_eq!((&context["routeKey"], &context["eventType"]), (&json!(route), &json!("MESSAGE")), "{body}");
        assert_eq!(context["connectionId"], id);
        assert!(context["messageId"].is_string());
        assert_eq!(event.get("queryStringParameters"), None);
    }
    assert_eq!(host.usage()["probe"]["socket_messages"], 1);
}

#[tokio::test]
async fn events_of_a_connection_arrive_in_order() {
    let host = ProbeHost::start().await;
    let (mut client, _) = connect(&host).await;
    for n in 0..30 {
        // The first message takes longer than the others.
        client.send(&json!({"do": "sleep", "ms": if n == 0 { 200 } else { 0 }, "n": n}).to_string()).await;
    }
    client.0.close(None).await.unwrap();
    disconnect_event(&host).await;
    let describe = |event: Value| match event["requestContext"]["eventType"].as_str().unwrap() {
        "MESSAGE" => serde_json::from_str::<Value>(event["body"].as_str().unwrap()).unwrap()["n"].to_string(),
        event_type => event_type.to_owned(),
    };
    let order: Vec<_> = events(&host, FUNCTION).into_iter().map(describe).collect();
    let mut expected = vec!["CONNECT".to_owned()];
    expected.extend((0..30).map(|n| n.to_string()));
    expected.push("DISCONNECT".to_owned());
    assert_eq!(order, expected);
}

#[tokio::test]
async fn failed_message_is_reported_to_the_client() {
    let host = ProbeHost::start().await;
    let (mut client, id) = connect(&host).await;
    client.send(r#"{"do":"fail"}"#).await;
    let error = client.json().await;
    assert_eq!((&error["message"], &error["connectionId"]), (&json!("Internal server error"), &json!(id)));
}

#[tokio::test]
async fn client_closes_with_its_own_reason() {
    for (frame, code, reason) in [
        (None, 1005, "Client-side close frame status not set"),
        (Some(CloseFrame { code: 4000.into(), reason: "done".into() }), 4000, "done"),
    ] {
        let host = ProbeHost::start().await;
        let (mut client, id) = connect(&host).await;
        client.0.close(frame).await.unwrap();
        let context = disconnect_event(&host).await["requestContext"].clone();
        assert_eq!((&context["disconnectStatusCode"], &context["disconnectReason"]), (&json!(code), &json!(reason)));
        assert_eq!((&context["routeKey"], &context["connectionId"]), (&json!("$disconnect"), &json!(id)));
        assert_eq!(command(&host, "post", &id).await, "gone");
        assert!(host.usage()[FUNCTION]["connection_minutes"].as_f64().unwrap() > 0.0);
    }
}

#[tokio::test]
async fn lost_connection_is_reported() {
    let host = ProbeHost::start().await;
    drop(connect(&host).await);
    assert_eq!(disconnect_event(&host).await["requestContext"]["disconnectStatusCode"], 1006);
}

#[tokio::test]
async fn invalid_message_closes_the_connection() {
    let kilobytes = |count: usize| Message::text("x".repeat(count * 1024));
    for (message, code) in [(Message::binary("x"), 1003), (kilobytes(33), 1009), (kilobytes(1024), 1009)] {
        let host = ProbeHost::start().await;
        let (mut client, _) = connect(&host).await;
        client.0.feed(message).await.unwrap();
        // Flushing fails if the host closes the connection first.
        let _ = client.0.flush().await;
        assert_eq!(client.close_code().await, code);
        assert_eq!(disconnect_event(&host).await["requestContext"]["disconnectStatusCode"], code);
    }
}

#[tokio::test]
async fn message_in_several_frames_is_limited_to_128_kb() {
    use tokio_tungstenite::tungstenite::protocol::frame::Frame;
    use tokio_tungstenite::tungstenite::protocol::frame::coding::{Data, OpCode};
    for (frames, is_accepted) in [(4, true), (5, false)] {
        let host = ProbeHost::start().await;
        let (mut client, _) = connect(&host).await;
        for n in 0..frames {
            let opcode = OpCode::Data(if n == 0 { Data::Text } else { Data::Continue });
            let frame = Frame::message("x".repeat(32 * 1024), opcode, n == frames - 1);
            client.0.send(Message::Frame(frame)).await.unwrap();
        }
        if is_accepted {
            let events = wait_for(|| events_of_type(&host, "MESSAGE"), |events| !events.is_empty()).await;
            assert_eq!(events[0]["body"].as_str().unwrap().len(), 128 * 1024);
            assert_eq!(host.usage()[FUNCTION]["socket_messages"], 4);
        } else {
            assert_eq!(client.close_code().await, 1009);
        }
    }
}

#[tokio::test]
async fn function_sends_to_a_connection_with_the_official_sdk() {
    let host = ProbeHost::start().await;
    let ((mut first, first_id), (mut second, second_id)) = (connect(&host).await, connect(&host).await);
    for (id, text) in [(&first_id, "grüße"), (&second_id, "to the second"), (&first_id, "again")] {
        let sent = host.invoke(FUNCTION, json!({"do": "post", "connection": id, "text": text})).await;
        assert_eq!(sent.unwrap(), "sent");
    }
    assert_eq!([first.text().await, first.text().await], ["grüße", "again"]);
    assert_eq!(second.text().await, "to the second");
    // A function can respond to a message while it handles the message.
    second.send(r#"{"do":"post","text":"reply"}"#).await;
    assert_eq!(second.text().await, "reply");
    assert_eq!(host.usage()[FUNCTION]["socket_messages"], 5);
}

#[tokio::test]
async fn function_describes_and_closes_a_connection() {
    let host = ProbeHost::start().await;
    let (mut client, id) = connect(&host).await;
    let description = command(&host, "describe", &id).await;
    assert_eq!((&description["source_ip"], &description["user_agent"]), (&json!("127.0.0.1"), &json!("tests")));
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    for field in ["connected_at", "last_active_at"] {
        let at = description[field].as_u64().unwrap();
        assert!((now - 10..=now).contains(&at), "{field}: {at}");
    }
    // Queued messages are sent before the connection is closed.
    assert_eq!(command(&host, "post", &id).await, "sent");
    assert_eq!(command(&host, "close", &id).await, "closed");
    assert_eq!(client.text().await, "x");
    assert_eq!(client.close_code().await, 1000);
    assert_eq!(disconnect_event(&host).await["requestContext"]["disconnectReason"], "Connection Closed Normally");
    for action in ["post", "describe", "close"] {
        assert_eq!(command(&host, action, &id).await, "gone", "{action}");
    }
}

#[tokio::test]
async fn message_to_a_client_is_limited_to_128_kb() {
    let host = ProbeHost::start().await;
    let (mut client, id) = connect(&host).await;
    for (size, expected) in
        [(128 * 1024, "sent"), (128 * 1024 + 1, "payload too large"), (1024 * 1024, "payload too large")]
    {
        let sent = host.invoke(FUNCTION, json!({"do": "post", "connection": id, "size": size})).await;
        assert_eq!(sent.unwrap(), expected, "{size}");
    }
    assert_eq!(client.text().await.len(), 128 * 1024);
}

#[tokio::test]
async fn slow_client_delays_neither_posts_nor_other_clients() {
    const SIZE: usize = 100 * 1024;
    let host = ProbeHost::start().await;
    let ((mut slow, slow_id), (mut other, other_id)) = (connect(&host).await, connect(&host).await);
    let post = async |id: &str| {
        let start = Instant::now();
        let sent = host.invoke(FUNCTION, json!({"do": "post", "connection": id, "size": SIZE})).await.unwrap();
        // If a post waited for its client, it would not end until the function timed out after ten seconds.
        assert!(start.elapsed() < Duration::from_secs(5));
        sent
    };
    let mut sent = 0;
    // The operating system buffers several megabytes before the queue fills up.
    while post(&slow_id).await == "sent" {
        sent += 1;
        assert!(sent < 1000, "the queue is unlimited");
    }
    assert_eq!(post(&slow_id).await, "limit exceeded");
    assert_eq!(post(&other_id).await, "sent");
    assert_eq!(other.text().await.len(), SIZE);
    for _ in 0..sent {
        assert_eq!(slow.text().await.len(), SIZE);
    }
    assert_eq!(post(&slow_id).await, "sent");
    assert_eq!(slow.text().await.len(), SIZE);
}

#[tokio::test]
async fn function_needs_a_permission_for_each_method() {
    let host = ProbeHost::start().await;
    let (_client, id) = connect(&host).await;
    for (action, method) in [("post", "POST"), ("describe", "GET"), ("close", "DELETE")] {
        let error = host.invoke("probe", json!({"do": action, "connection": id})).await.unwrap_err().to_string();
        let expected = format!(
            "User: arn:aws:sts::000000000000:assumed-role/probe/probe is not authorized to perform: \
             execute-api:ManageConnections on resource: \
             arn:aws:execute-api:us-east-1:000000000000:SocketApi/socket/{method}/@connections/*"
        );
        assert!(error.contains("AccessDeniedException") && error.contains(&expected), "{error}");
    }
    assert_eq!(command(&host, "post", &id).await, "sent");
}

#[tokio::test]
async fn caller_without_access_key_is_forbidden() {
    let host = ProbeHost::start().await;
    let (_client, id) = connect(&host).await;
    for (authorization, error_type) in [
        ("Bearer x", "MissingAuthenticationTokenException"),
        (
            "AWS4-HMAC-SHA256 Credential=local/20260312/us-east-1/execute-api/aws4_request",
            "UnrecognizedClientException",
        ),
    ] {
        let request = Client::new().post(format!("{}/socket/@connections/{id}", host.base_url())).body("x");
        let response = request.header("authorization", authorization).send().await.unwrap();
        assert_eq!(response.status(), StatusCode::FORBIDDEN);
        assert_eq!(response.headers()["x-amzn-errortype"], error_type);
    }
}

#[tokio::test]
async fn idle_or_old_connection_is_closed() {
    let (short, long) = (Duration::from_millis(300), Duration::from_secs(60));
    for timeouts in [SocketTimeouts { idle: short, lifetime: long }, SocketTimeouts { idle: long, lifetime: short }] {
        let host = ProbeHost::start().await;
        host.set_socket_timeouts(timeouts);
        let (mut client, _) = connect(&host).await;
        assert_eq!(client.close_code().await, 1001, "{timeouts:?}");
        assert_eq!(disconnect_event(&host).await["requestContext"]["disconnectReason"], "Going away");
    }
}

#[tokio::test]
async fn messages_keep_a_connection_open() {
    let host = ProbeHost::start().await;
    let idle = Duration::from_secs(2);
    host.set_socket_timeouts(SocketTimeouts { idle, ..SocketTimeouts::default() });
    let (mut client, _) = connect(&host).await;
    let start = Instant::now();
    while start.elapsed() < idle * 2 {
        client.send(r#"{"do":"sleep","ms":300}"#).await;
        client.send(r#"{"do":"post","text":"pong"}"#).await;
        assert_eq!(client.text().await, "pong");
    }
}

#[tokio::test]
async fn stopping_host_disconnects_all_clients() {
    const COUNT: usize = 20;
    let host = ProbeHost::start().await;
    let mut clients = Vec::new();
    for _ in 0..COUNT {
        clients.push(WebSocketClient::connect(&host).await);
    }
    let lines = std::sync::Arc::clone(&host.lines);
    host.host.stop().await;
    for client in &mut clients {
        assert_eq!(client.close_code().await, 1001);
    }
    let lines = lines.lock().unwrap();
    assert_eq!(lines.iter().filter(|line| line.line.contains(r#""eventType":"DISCONNECT""#)).count(), COUNT);
}

#[tokio::test]
async fn message_reaches_one_of_a_thousand_connections() {
    open_file_limit::raise_limit();
    let host = ProbeHost::start().await;
    let connects = stream::iter(0..1000).map(|_| WebSocketClient::try_connect(&host, ""));
    // Only a few handshakes run concurrently, because each of them can start a process.
    let mut clients: Vec<_> = connects.buffered(4).try_collect().await.unwrap();
    let connections = wait_for(|| events_of_type(&host, "CONNECT").len(), |count| *count == clients.len()).await;
    assert_eq!(connections, 1000);
    clients[700].send(r#"{"do":"post","text":"only for you"}"#).await;
    assert_eq!(clients[700].text().await, "only for you");
    for (n, client) in clients.iter_mut().enumerate() {
        let unexpected = futures_util::FutureExt::now_or_never(client.0.next());
        assert!(unexpected.is_none(), "{n}: {unexpected:?}");
    }
}
