//! Interprets the responses of webhooks (specification, part C), and describes them.

use schemars::JsonSchema;
use serde_json::{Map, Value};

use crate::domain::chats::chat_side_panel::{CustomData, PanelUpdate, strip_tags};
use crate::domain::chats::message_content::truncate_chars;
use crate::domain::deliveries::webhook_event::WebhookEvent;
use crate::domain::visitors::visitor::VisitorProfile;
use crate::wire::channels::integrator_response;
use crate::wire::fields::urls::WebUrl;
use crate::wire::fields::values::{NotNull, OptionalTextOrNumber, TextOrNumber};

/// The maximum number of custom data items in a response. Further items are ignored.
const MAX_CUSTOM_DATA_ITEMS: usize = 50;
/// The maximum length of a custom data item's content (specification, part D) and of a visitor's description.
const MAX_CUSTOM_DATA_CHARS: usize = 1_000;
/// The maximum length of the excerpt that is stored if a response does not confirm the event.
const MAX_EXCERPT_CHARS: usize = 200;
/// The maximum length of a title, a key, a name, a phone number or an e-mail address.
const MAX_WEBHOOK_FIELD_CHARS: usize = 255;
const MAX_URL_BYTES: usize = 4_096;

/// The response to an event that accepts no data.
#[derive(JsonSchema)]
pub struct WebhookResult {
    /// OK (case-insensitive) means success. FAILURE or an error message is a final failure with that text. If there is
    /// no result, the event counts as delivered.
    pub result: String,
}

/// An absent field stays unchanged, an empty field is removed, an invalid field is ignored, and a long text is
/// truncated. The body may also be a JSON string that contains this JSON, and numbers are accepted as text.
#[derive(JsonSchema)]
pub struct WebhookPanelResponse {
    /// OK (case-insensitive) means success. Otherwise, no data is used: FAILURE or an error message is a final failure,
    /// and if there is no result, the event counts as delivered.
    pub result: String,
    #[schemars(length(max = MAX_CUSTOM_DATA_ITEMS))]
    pub custom_data: Option<Vec<WebhookCustomData>>,
    /// Used as the visitor's contact data.
    pub contact_info: Option<WebhookContactInfo>,
    #[serde(default)]
    pub enable_assign: NotNull<bool>,
    /// An http or https address.
    pub crm_link: Option<String>,
    pub page: Option<WebhookResponsePage>,
}

#[derive(JsonSchema)]
pub struct WebhookCustomData {
    #[serde(default)]
    pub title: OptionalTextOrNumber<MAX_WEBHOOK_FIELD_CHARS>,
    pub content: TextOrNumber<MAX_CUSTOM_DATA_CHARS>,
    #[serde(default)]
    pub link: NotNull<WebUrl>,
    #[serde(default)]
    pub key: OptionalTextOrNumber<MAX_WEBHOOK_FIELD_CHARS>,
}

#[derive(JsonSchema)]
pub struct WebhookContactInfo {
    #[serde(default)]
    pub name: OptionalTextOrNumber<MAX_WEBHOOK_FIELD_CHARS>,
    #[serde(default)]
    pub phone: OptionalTextOrNumber<MAX_WEBHOOK_FIELD_CHARS>,
    #[serde(default)]
    pub email: OptionalTextOrNumber<MAX_WEBHOOK_FIELD_CHARS>,
    #[serde(default)]
    pub description: OptionalTextOrNumber<MAX_CUSTOM_DATA_CHARS>,
}

#[derive(JsonSchema)]
pub struct WebhookResponsePage {
    #[serde(default)]
    pub url: NotNull<WebUrl>,
    #[serde(default)]
    pub title: OptionalTextOrNumber<MAX_WEBHOOK_FIELD_CHARS>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum WebhookResponse {
    /// The webhook confirmed the event: `result` is OK, or the event is call_event, for which every 2xx response counts
    /// as a confirmation. The data is empty for events whose response does not contain data.
    Confirmed(Box<WebhookResponseData>),
    /// The response has a 2xx status but no text in `result`. The event counts as delivered, but the data in the
    /// response is ignored. The field contains the beginning of the body.
    Unconfirmed(String),
    /// The webhook rejected the event: `result` is FAILURE or an error message. The event is not sent again. The field
    /// contains the error text.
    Rejected(String),
    /// The status is not 2xx, so the event is sent again if an attempt is left. The field contains the error text.
    Retry(String),
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct WebhookResponseData {
    pub panel: PanelUpdate,
    pub contact_info: VisitorProfile,
}

/// Interprets the HTTP response to an event. Invalid fields are ignored and long texts are truncated, but the rest of
/// the response is still used.
pub fn interpret_response(event: WebhookEvent, status: u16, body: &[u8]) -> WebhookResponse {
    if !(200..=299).contains(&status) {
        return WebhookResponse::Retry(format!("HTTP {status}"));
    }
    if event == WebhookEvent::CallEvent || event.must_be_named() {
        return WebhookResponse::Confirmed(Box::default());
    }
    let value = integrator_response::parse_json(body);
    let object = value.as_ref().and_then(Value::as_object);
    let result = object.and_then(|object| object.get("result")?.as_str()).map(str::trim);
    match (object, result) {
        (Some(object), Some(result)) if result.eq_ignore_ascii_case("ok") => {
            WebhookResponse::Confirmed(Box::new(if event.accepts_panel_data() {
                response_data(object)
            } else {
                WebhookResponseData::default()
            }))
        }
        (Some(_), Some(result)) if !result.is_empty() => WebhookResponse::Rejected(format!(
            "the response is: {}",
            truncate_chars(&strip_tags(result), MAX_WEBHOOK_FIELD_CHARS)
        )),
        _ => WebhookResponse::Unconfirmed(excerpt(body)),
    }
}

/// Returns the beginning of a body as one line without HTML tags, or `(nothing)` if there is no text.
fn excerpt(body: &[u8]) -> String {
    let text = strip_tags(&String::from_utf8_lossy(body));
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.is_empty() { "(nothing)".to_owned() } else { truncate_chars(&line, MAX_EXCERPT_CHARS) }
}

fn response_data(object: &Map<String, Value>) -> WebhookResponseData {
    let contact_field = |name: &str, max_chars: usize| non_blank_text(object.get("contact_info")?.get(name), max_chars);
    let panel = PanelUpdate {
        custom_data: object.get("custom_data").and_then(parse_custom_data),
        enable_assign: object.get("enable_assign").and_then(Value::as_bool),
        crm_link: object.get("crm_link").and_then(|link| field_update(link, web_link)),
        page: object.get("page").and_then(|value| field_update(value, parse_page)),
        draft: None,
    };
    let contact_info = VisitorProfile {
        name: contact_field("name", MAX_WEBHOOK_FIELD_CHARS),
        phone: contact_field("phone", MAX_WEBHOOK_FIELD_CHARS),
        email: contact_field("email", MAX_WEBHOOK_FIELD_CHARS),
        description: contact_field("description", MAX_CUSTOM_DATA_CHARS),
        ..VisitorProfile::default()
    };
    WebhookResponseData { panel, contact_info }
}

/// Returns the update to an optional panel field. If the value is null or empty, returns `Some(None)`, which clears the
/// field. If the value is invalid, returns `None`, which leaves the field unchanged.
fn field_update<T>(value: &Value, parse: fn(Option<&Value>) -> Option<T>) -> Option<Option<T>> {
    let is_empty = match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    };
    if is_empty { Some(None) } else { parse(Some(value)).map(Some) }
}

fn parse_page(value: Option<&Value>) -> Option<(String, Option<String>)> {
    let page = value?;
    Some((web_link(page.get("url"))?, non_blank_text(page.get("title"), MAX_WEBHOOK_FIELD_CHARS)))
}

fn parse_custom_data(value: &Value) -> Option<Vec<CustomData>> {
    let items = if value.is_null() { &[] } else { value.as_array()?.as_slice() };
    let parse_item = |item: &Value| {
        Some(CustomData {
            title: non_blank_text(item.get("title"), MAX_WEBHOOK_FIELD_CHARS),
            content: truncate_chars(&plain_text(item.get("content")?)?, MAX_CUSTOM_DATA_CHARS),
            link: web_link(item.get("link")),
            key: non_blank_text(item.get("key"), MAX_WEBHOOK_FIELD_CHARS),
        })
    };
    Some(items.iter().filter_map(parse_item).take(MAX_CUSTOM_DATA_ITEMS).collect())
}

/// Returns a text, truncated to `max_chars` characters, or `None` if the value is blank or is neither a string nor a
/// number.
fn non_blank_text(value: Option<&Value>, max_chars: usize) -> Option<String> {
    plain_text(value?).filter(|text| !text.trim().is_empty()).map(|text| truncate_chars(&text, max_chars))
}

/// Returns a string without its HTML tags, or a number as text. Returns `None` for other JSON types.
fn plain_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(strip_tags(text)),
        Value::Number(number) => Some(number.to_string()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

fn web_link(value: Option<&Value>) -> Option<String> {
    let link = value?.as_str().filter(|link| link.len() <= MAX_URL_BYTES)?;
    let is_web = url::Url::parse(link).is_ok_and(|url| matches!(url.scheme(), "http" | "https"));
    is_web.then(|| link.to_owned())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic)]
    use serde_json::json;

    use super::*;

    fn accepted(body: &Value) -> WebhookResponseData {
        let answer = interpret_response(WebhookEvent::ChatAccepted, 200, body.to_string().as_bytes());
        let WebhookResponse::Confirmed(data) = answer else { panic!("{answer:?}") };
        *data
    }

    #[test]
    fn confirmed_response_is_read_completely() {
        let data = accepted(&json!({
            "result": "ok",
            "custom_data": [{ "title": "Plan", "content": "<b>Gold</b>", "key": "plan", "link": "https://crm.example/1" }, { "content": "two" }],
            "contact_info": { "name": "Ann", "phone": "", "email": "a@b.c" },
            "enable_assign": true, "crm_link": "https://crm.example/card", "page": { "url": "https://x.example", "title": "Home" }
        }));
        let PanelUpdate { custom_data, enable_assign, crm_link, page, draft: _ } = data.panel;
        let custom_data = custom_data.unwrap();
        let contents: Vec<&str> = custom_data.iter().map(|item| item.content.as_str()).collect();
        assert_eq!(contents, ["Gold", "two"]);
        assert_eq!(custom_data.first().unwrap().link.as_deref(), Some("https://crm.example/1"));
        assert_eq!(enable_assign, Some(true));
        assert_eq!(crm_link, Some(Some("https://crm.example/card".into())));
        assert_eq!(page, Some(Some(("https://x.example".into(), Some("Home".into())))));
        assert_eq!((data.contact_info.name.as_deref(), data.contact_info.phone.as_deref()), (Some("Ann"), None));
    }

    #[test]
    fn invalid_fields_of_a_response_are_ignored() {
        let data = accepted(&json!({
            "result": "OK", "contact_info": [], "crm_link": "javascript:alert(1)", "enable_assign": "yes",
            "custom_data": [{ "content": true }, "x", { "content": "ok", "link": "javascript:alert(1)", "title": [3] }],
            "page": { "url": 7 }
        }));
        let only = CustomData { title: None, content: "ok".into(), link: None, key: None };
        let panel = PanelUpdate { custom_data: Some(vec![only]), ..PanelUpdate::default() };
        assert_eq!(data, WebhookResponseData { panel, ..WebhookResponseData::default() });
    }

    #[test]
    fn absent_fields_are_preserved_and_empty_ones_cleared() {
        assert_eq!(accepted(&json!({ "result": "OK" })), WebhookResponseData::default());
        let cleared = accepted(&json!({ "result": "OK", "custom_data": [], "crm_link": "", "page": null })).panel;
        let expected = PanelUpdate {
            custom_data: Some(Vec::new()),
            enable_assign: None,
            crm_link: Some(None),
            page: Some(None),
            draft: None,
        };
        assert_eq!(cleared, expected);
    }

    #[test]
    fn numbers_are_read_as_text() {
        let data = accepted(&json!({
            "result": "OK",
            "custom_data": [{ "content": 7, "title": 1.5, "key": -3 }],
            "contact_info": { "name": 42, "phone": 31_612_345_678_u64, "email": null, "description": 0 },
        }));
        let line = CustomData { title: Some("1.5".into()), content: "7".into(), link: None, key: Some("-3".into()) };
        assert_eq!(data.panel.custom_data, Some(vec![line]));
        let VisitorProfile { name, phone, email, description, .. } = data.contact_info;
        let expected = [Some("42"), Some("31612345678"), None, Some("0")];
        assert_eq!([&name, &phone, &email, &description].map(|text| text.as_deref()), expected);
    }

    #[test]
    fn data_of_a_response_is_limited() {
        let long = "é<b>".repeat(5_000);
        let line = json!({ "content": long, "title": long, "key": long, "link": format!("https://x.example/{long}") });
        let contact_info = json!({ "name": long, "phone": long, "email": long, "description": long });
        let data = accepted(&json!({ "result": "OK", "custom_data": vec![line; 60], "contact_info": contact_info }));
        let short = "é".repeat(MAX_WEBHOOK_FIELD_CHARS);
        let line = CustomData {
            title: Some(short.clone()),
            content: "é".repeat(MAX_CUSTOM_DATA_CHARS),
            link: None,
            key: Some(short.clone()),
        };
        assert_eq!(data.panel.custom_data, Some(vec![line; MAX_CUSTOM_DATA_ITEMS]));
        let VisitorProfile { name, phone, email, description, .. } = data.contact_info;
        assert_eq!([name, phone, email], [(); 3].map(|()| Some(short.clone())));
        assert_eq!(description, Some("é".repeat(MAX_CUSTOM_DATA_CHARS)));
    }

    #[test]
    fn only_2xx_with_result_ok_is_confirmed() {
        let unconfirmed = |answer: &str| WebhookResponse::Unconfirmed(answer.to_owned());
        let rejected = |text: &str| WebhookResponse::Rejected(format!("the response is: {text}"));
        let retry = |status: u16| WebhookResponse::Retry(format!("HTTP {status}"));
        let confirmed = || WebhookResponse::Confirmed(Box::default());
        let table = [
            (200, r#"{"result":"OK"}"#, confirmed()),
            (201, r#"{"result":"ok"}"#, confirmed()),
            (299, r#""{\"result\":\"OK\"}""#, confirmed()),
            (200, "<html>\n<h1>It  works!</h1></html>", unconfirmed("It works!")),
            (204, "", unconfirmed("(nothing)")),
            (200, "{}", unconfirmed("{}")),
            (200, r#"{"result":7}"#, unconfirmed(r#"{"result":7}"#)),
            (200, r#"{"result":null}"#, unconfirmed(r#"{"result":null}"#)),
            (200, r#"{"result":" "}"#, unconfirmed(r#"{"result":" "}"#)),
            (200, r#"[{"result":"OK"}]"#, unconfirmed(r#"[{"result":"OK"}]"#)),
            (200, r#"{"result":"OK","custom_da"#, unconfirmed(r#"{"result":"OK","custom_da"#)),
            (200, r#""\"{\\\"result\\\":\\\"OK\\\"}\"""#, unconfirmed(r#""\"{\\\"result\\\":\\\"OK\\\"}\"""#)),
            (200, r#"{"result":"FAILURE"}"#, rejected("FAILURE")),
            (202, r#"{"result":"failure"}"#, rejected("failure")),
            (200, r#"{"result":"<<i>img src=x> no card"}"#, rejected("img src=x> no card")),
            (199, r#"{"result":"OK"}"#, retry(199)),
            (302, r#"{"result":"OK"}"#, retry(302)),
            (404, r#"{"result":"FAILURE"}"#, retry(404)),
            (500, r#"{"result":"OK"}"#, retry(500)),
        ];
        for (status, body, expected) in table {
            for event in [WebhookEvent::ChatAccepted, WebhookEvent::ChatFinished] {
                assert_eq!(interpret_response(event, status, body.as_bytes()), expected, "{status} {body}");
            }
        }
        for (status, expected) in [(200, confirmed()), (204, confirmed()), (302, retry(302)), (503, retry(503))] {
            assert_eq!(interpret_response(WebhookEvent::CallEvent, status, b"whatever"), expected, "{status}");
        }
    }

    #[test]
    fn unconfirmed_response_is_truncated_to_an_excerpt() {
        let WebhookResponse::Unconfirmed(answer) =
            interpret_response(WebhookEvent::ChatFinished, 200, "é ".repeat(50_000).as_bytes())
        else {
            panic!("not unconfirmed")
        };
        assert_eq!(answer.chars().count(), MAX_EXCERPT_CHARS);
        let bytes = [b'a', 0xff, b'b'];
        assert_eq!(
            interpret_response(WebhookEvent::ChatFinished, 200, &bytes),
            WebhookResponse::Unconfirmed("a\u{fffd}b".into())
        );
    }
}
