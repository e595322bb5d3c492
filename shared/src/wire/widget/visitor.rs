//! The visitor's data: what the visitor enters into the contacts form, and what the page sets through the widget's
//! JavaScript API (specification, part D).

use std::collections::BTreeMap;

use schemars::{JsonSchema, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::contract::Operation;
use crate::domain::channels::contacts_form::Answer;
use crate::domain::chats::chat_side_panel::CustomData;
use crate::domain::visitors::visitor::{ProfileSource, Visitor, VisitorProfile};
use crate::domain::visitors::widget_visitor::{Analytics, Page, Utm};
use crate::wire::fields::urls::{WebUrl, WebUrlOrBlank};
use crate::wire::fields::values::{
    Change, List, OptionalText, OptionalTextOrNumber, SequentialNumber, TextOrNumber, Truncated, inline_schema,
};
use crate::wire::widget::answers::CustomFieldAnswers;
use crate::wire::widget::fields::{MAX_CONTACT_CHARS, MAX_TRACKING_CHARS, MAX_USER_TOKEN_CHARS};
use crate::wire::widget::{BrowserPage, SAMPLE_TOKEN, VisitorToken};

/// The maximum number of fields that a page can set with setCustomData (specification, part D).
const MAX_CUSTOM_DATA_FIELDS: usize = 10;
const MAX_CUSTOM_DATA_CHARS: usize = 1_000;
/// The maximum length of a link in custom data. It limits the size of the visitor's item.
const MAX_LINK_CHARS: usize = 1_000;
pub(super) const MAX_DESCRIPTION_CHARS: usize = 1_000;

pub(super) fn operations() -> Vec<Operation> {
    vec![
        Operation::post("/widget/{widget_id}/visitor", "updateWidgetVisitor", "Stores data about the visitor")
            .describe(
                "Contact data, custom data, the id of setUserToken, the page, UTM parameters and the client ids of \
                 web analytics. Absent fields stay unchanged.",
            )
            .body::<WidgetVisitorUpdate>()
            .example(
                "form",
                "The contacts form",
                json!({
                    "token": SAMPLE_TOKEN, "source": "visitor",
                    "contact_info": { "name": "Ada Lovelace", "email": "ada@example.com" },
                }),
            )
            .example(
                "script",
                "A page sets data",
                json!({
                    "token": SAMPLE_TOKEN, "source": "script", "user_token": "3f7a9c51e0",
                    "custom_data": [
                        { "title": "Cart", "content": "3 items", "link": "https://shop.example/admin/carts/17" },
                    ],
                    "utm": { "source": "newsletter" },
                }),
            )
            .answers::<UpdatedWidgetVisitor>(200, "The visitor.")
            .answer_example("visitor", None, sample_visitor()),
    ]
}

fn sample_visitor() -> Value {
    json!({
        "visitor": {
            "number": 4,
            "contact_info": {
                "client_name": "Ada Lovelace", "email": "ada@example.com", "phone": null, "description": null,
            },
            "custom_data": [{ "title": "Cart", "content": "3 items", "link": null, "key": null }],
        },
    })
}

/// Absent fields stay unchanged.
#[derive(Deserialize, JsonSchema)]
pub struct WidgetVisitorUpdate {
    pub token: VisitorToken,
    /// Null or an empty text clears the value.
    contact_info: Option<ContactInfoChanges>,
    /// Who has set contact_info: the visitor in a form, or a script on the page.
    #[schemars(extend("default" = "visitor"))]
    source: Option<ContactInfoSource>,
    answers: Option<CustomFieldAnswers>,
    /// Shown to the agents in this order. Tags are shown as text.
    custom_data: Option<List<NewCustomData, MAX_CUSTOM_DATA_FIELDS>>,
    /// The user of the customer's site, who is sent to webhooks. If the visitor belongs to another user already, or the
    /// value is null, the data is stored for a new visitor, who has no history; the response then contains the new
    /// visitor's token.
    #[serde(default)]
    user_token: Change<OptionalText<MAX_USER_TOKEN_CHARS>>,
    page: Option<BrowserPage>,
    utm: Option<UtmParameters>,
    analytics: Option<AnalyticsIds>,
    /// Hides all earlier messages from the visitor.
    clear_history: Option<bool>,
}

#[derive(Deserialize, JsonSchema)]
struct ContactInfoChanges {
    #[serde(default)]
    name: Change<OptionalText<MAX_CONTACT_CHARS>>,
    #[serde(default)]
    email: Change<OptionalText<MAX_CONTACT_CHARS>>,
    #[serde(default)]
    phone: Change<OptionalText<MAX_CONTACT_CHARS>>,
    #[serde(default)]
    description: Change<OptionalText<MAX_DESCRIPTION_CHARS>>,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
enum ContactInfoSource {
    Visitor,
    Script,
}

#[derive(Deserialize, JsonSchema)]
struct NewCustomData {
    #[serde(default)]
    title: OptionalTextOrNumber<MAX_CONTACT_CHARS>,
    content: TextOrNumber<MAX_CUSTOM_DATA_CHARS>,
    #[serde(default)]
    link: CustomDataLink,
    #[serde(default)]
    key: OptionalTextOrNumber<MAX_CONTACT_CHARS>,
}

#[derive(Deserialize, JsonSchema)]
struct UtmParameters {
    #[serde(default)]
    source: Truncated<MAX_TRACKING_CHARS>,
    #[serde(default)]
    campaign: Truncated<MAX_TRACKING_CHARS>,
    #[serde(default)]
    content: Truncated<MAX_TRACKING_CHARS>,
    #[serde(default)]
    medium: Truncated<MAX_TRACKING_CHARS>,
    #[serde(default)]
    term: Truncated<MAX_TRACKING_CHARS>,
}

/// The client ids of Google Analytics and Yandex Metrica.
#[derive(Deserialize, JsonSchema)]
struct AnalyticsIds {
    #[serde(default)]
    ga: Truncated<MAX_TRACKING_CHARS>,
    #[serde(default)]
    ym: Truncated<MAX_TRACKING_CHARS>,
}

/// A change of a visitor's data.
pub struct VisitorUpdate {
    /// Empty texts clear the values.
    pub contact_info: VisitorProfile,
    pub source: ProfileSource,
    /// The answers to the custom fields of the contacts form, by key. They replace the earlier ones.
    pub answers: Option<BTreeMap<String, Answer>>,
    pub custom_data: Option<Vec<CustomData>>,
    /// The user whom the page names. `None` leaves the user unchanged; `Some(None)` means that the page names no user
    /// any more.
    pub user_token: Option<Option<String>>,
    pub page: Option<Page>,
    pub utm: Option<Utm>,
    pub analytics: Option<Analytics>,
    pub clear_history: bool,
}

impl WidgetVisitorUpdate {
    pub fn into_update(self) -> VisitorUpdate {
        VisitorUpdate {
            contact_info: self.contact_info.map(VisitorProfile::from).unwrap_or_default(),
            source: match self.source.unwrap_or(ContactInfoSource::Visitor) {
                ContactInfoSource::Visitor => ProfileSource::Visitor,
                ContactInfoSource::Script => ProfileSource::Script,
            },
            answers: self.answers.map(|CustomFieldAnswers(answers)| answers),
            custom_data: self.custom_data.map(|List(lines)| lines.into_iter().map(CustomData::from).collect()),
            user_token: self.user_token.map(|OptionalText(token)| token).flatten().into_option(),
            page: self.page.and_then(BrowserPage::into_page),
            utm: self.utm.map(Utm::from),
            analytics: self.analytics.map(|AnalyticsIds { ga, ym }| Analytics { ga: ga.0, ym: ym.0 }),
            clear_history: self.clear_history.unwrap_or(false),
        }
    }
}

impl From<ContactInfoChanges> for VisitorProfile {
    /// A cleared value is an empty text.
    fn from(changes: ContactInfoChanges) -> Self {
        Self {
            name: new_text(changes.name),
            email: new_text(changes.email),
            phone: new_text(changes.phone),
            description: new_text(changes.description),
            ..Self::default()
        }
    }
}

fn new_text<const MAX: usize>(change: Change<OptionalText<MAX>>) -> Option<String> {
    change.map(|OptionalText(text)| text).flatten().into_option().map(Option::unwrap_or_default)
}

impl From<NewCustomData> for CustomData {
    fn from(NewCustomData { title, content, link, key }: NewCustomData) -> Self {
        Self { title: title.0, content: content.0, link: link.0, key: key.0 }
    }
}

impl From<UtmParameters> for Utm {
    fn from(UtmParameters { source, campaign, content, medium, term }: UtmParameters) -> Self {
        Self { source: source.0, campaign: campaign.0, content: content.0, medium: medium.0, term: term.0 }
    }
}

/// An optional http or https URL. A blank text counts as absent.
#[derive(Default, Deserialize)]
#[serde(try_from = "WebUrlOrBlank")]
struct CustomDataLink(Option<String>);

impl TryFrom<WebUrlOrBlank> for CustomDataLink {
    type Error = String;

    fn try_from(WebUrlOrBlank(url): WebUrlOrBlank) -> Result<Self, String> {
        if url.as_ref().is_some_and(|url| url.chars().count() > MAX_LINK_CHARS) {
            return Err(format!("must have at most {MAX_LINK_CHARS} characters"));
        }
        Ok(Self(url))
    }
}

inline_schema!(
    CustomDataLink,
    "CustomDataLink",
    json_schema!({
        "type": ["string", "null"], "maxLength": MAX_LINK_CHARS, "pattern": "^(\\s*$|[Hh][Tt][Tt][Pp][Ss]?://)",
    })
);

#[derive(Serialize, JsonSchema)]
pub struct UpdatedWidgetVisitor {
    visitor: WidgetVisitor,
}

impl UpdatedWidgetVisitor {
    pub fn new(visitor: &Visitor, token: Option<String>) -> Self {
        Self { visitor: WidgetVisitor::new(visitor, token) }
    }
}

#[derive(Serialize, JsonSchema)]
pub struct WidgetVisitor {
    number: SequentialNumber,
    contact_info: WidgetContactInfo,
    custom_data: Vec<WidgetCustomData>,
    /// Present only if the request created the visitor. The browser keeps the token.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(equal = 43))]
    token: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct WidgetContactInfo {
    client_name: Option<String>,
    email: Option<String>,
    phone: Option<String>,
    description: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct WidgetCustomData {
    title: Option<String>,
    content: String,
    link: Option<WebUrl>,
    key: Option<String>,
}

impl WidgetVisitor {
    /// `token` is the token of a visitor that was just created.
    pub fn new(visitor: &Visitor, token: Option<String>) -> Self {
        let VisitorProfile { name, email, phone, description, .. } = visitor.profile.clone();
        // A value that was cleared is stored as an empty text.
        let known = |value: Option<String>| value.filter(|value| !value.is_empty());
        let custom_data = visitor.widget.as_deref().map(|widget| widget.custom_data.clone()).unwrap_or_default();
        Self {
            number: SequentialNumber(visitor.number),
            contact_info: WidgetContactInfo {
                client_name: known(name),
                email: known(email),
                phone: known(phone),
                description: known(description),
            },
            custom_data: custom_data.into_iter().map(WidgetCustomData::from).collect(),
            token,
        }
    }
}

impl From<CustomData> for WidgetCustomData {
    fn from(CustomData { title, content, link, key }: CustomData) -> Self {
        Self { title, content, link: link.map(WebUrl), key }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::error::Error;
    use crate::wire::fields::reader::read;

    fn parse(mut body: Value) -> Result<VisitorUpdate, Error> {
        body["token"] = json!("t");
        read::<WidgetVisitorUpdate>(&body).map(WidgetVisitorUpdate::into_update)
    }

    fn invalid_field(body: Value) -> Option<String> {
        parse(body).err().and_then(|error| error.invalid_field().map(str::to_owned))
    }

    #[test]
    fn custom_data_is_limited_and_its_tags_stay_text() {
        let line = json!({ "content": "<b>x</b>", "title": "T", "key": 7, "link": "https://a.example/" });
        let parsed = parse(json!({ "custom_data": vec![line.clone(); 10] })).unwrap().custom_data;
        let first = parsed.unwrap().swap_remove(0);
        assert_eq!((&*first.content, first.key.as_deref()), ("<b>x</b>", Some("7")));
        for (field, custom_data) in [
            ("custom_data", json!("x")),
            ("custom_data", json!({})),
            ("custom_data", json!(vec![line; 11])),
            ("custom_data[0]", json!(["x"])),
            ("custom_data[1].content", json!([{ "content": "x" }, { "title": "x" }])),
            ("custom_data[0].content", json!([{ "content": " " }])),
            ("custom_data[0].content", json!([{ "content": null }])),
            ("custom_data[0].content", json!([{ "content": "x".repeat(1_001) }])),
            ("custom_data[0].content", json!([{ "content": [] }])),
            ("custom_data[0].link", json!([{ "content": "x", "link": "javascript:alert(1)" }])),
            (
                "custom_data[0].link",
                json!([{ "content": "x", "link": format!("https://a.example/{}", "x".repeat(1_000)) }]),
            ),
            ("custom_data[0].title", json!([{ "content": "x", "title": "x".repeat(256) }])),
        ] {
            let parsed = invalid_field(json!({ "custom_data": custom_data }));
            assert_eq!(parsed.as_deref(), Some(field), "{custom_data}");
        }
    }

    #[test]
    fn error_never_contains_the_value() {
        for content in [json!(["secret"]), json!({ "secret": 1 })] {
            let error = parse(json!({ "custom_data": [{ "content": content }] })).err().unwrap();
            assert_eq!(error.to_string(), "custom_data[0].content must be a string", "{content}");
        }
    }

    #[test]
    fn error_names_the_invalid_field_of_a_visitor() {
        for (field, body) in [
            ("contact_info", json!({ "contact_info": [] })),
            ("contact_info.name", json!({ "contact_info": { "name": 7 } })),
            ("contact_info.email", json!({ "contact_info": { "email": "x".repeat(256) } })),
            ("source", json!({ "source": "agent" })),
            ("user_token", json!({ "user_token": 7 })),
            ("user_token", json!({ "user_token": "x".repeat(2_049) })),
            ("page", json!({ "page": "https://a.example" })),
            ("page.url", json!({ "page": { "url": 7 } })),
            ("page.url", json!({ "page": { "url": format!("https://a.example/{}", "x".repeat(4_079)) } })),
            ("answers", json!({ "answers": [] })),
            ("answers", json!({ "answers": { "a": 7 } })),
            ("answers", json!({ "answers": { "a": "x".repeat(1_001) } })),
            ("answers", json!({ "answers": { "a": "", "b": "", "c": "", "d": "", "e": "", "f": "" } })),
            ("utm.source", json!({ "utm": { "source": {} } })),
            ("analytics.ga", json!({ "analytics": { "ga": 7 } })),
            ("clear_history", json!({ "clear_history": 1 })),
        ] {
            assert_eq!(invalid_field(body.clone()).as_deref(), Some(field), "{body}");
        }
        let tracking = json!({ "page": { "url": "https://a.example", "title": "x".repeat(300) } });
        let page = parse(tracking).unwrap().page.unwrap();
        assert_eq!(page.title.unwrap().len(), MAX_TRACKING_CHARS, "a long title is truncated");
    }

    #[test]
    fn empty_contact_field_clears_the_value() {
        let contact_info = json!({ "name": "", "email": null, "phone": " +31 20 " });
        let parsed = parse(json!({ "contact_info": contact_info })).unwrap().contact_info;
        let cleared = Some(String::new());
        assert_eq!((parsed.name, parsed.email), (cleared.clone(), cleared));
        assert_eq!((parsed.phone.as_deref(), parsed.description), (Some(" +31 20 "), None));
    }

    #[test]
    fn user_is_named_cleared_or_unchanged() {
        let user = |body: Value| parse(body).unwrap().user_token;
        assert_eq!(user(json!({})), None);
        assert_eq!(user(json!({ "user_token": null })), Some(None));
        assert_eq!(user(json!({ "user_token": " " })), Some(None));
        assert_eq!(user(json!({ "user_token": "u" })), Some(Some("u".into())));
    }

    #[test]
    fn answers_are_texts_or_ticked_boxes() {
        let answers = json!({ "order": "7", "terms": true, "topic": null, "note": " ", "more": false });
        let parsed = parse(json!({ "answers": answers })).unwrap().answers.unwrap();
        let expected = [("order", Answer::Text("7".into())), ("terms", Answer::Agreed)];
        assert_eq!(parsed, expected.map(|(key, answer)| (key.to_owned(), answer)).into());
        assert_eq!(parse(json!({ "answers": null })).unwrap().answers, None);
    }
}
