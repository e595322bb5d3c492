//! The channel API (specification, part A): its operations, and the schemas of the bodies that
//! [`visitor_message`](super::visitor_message) and [`integrator_response`](super::integrator_response) read leniently.

use schemars::{JsonSchema, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::contract::{Failure, Operation};
use crate::domain::channels::channel_availability::{AvailabilityReason, ChannelAvailability};
use crate::domain::chats::idempotency_key::MessageReceipt;
use crate::wire::channels::integrator_request::IntegratorMessage;
use crate::wire::channels::visitor_message::MAX_SENDER_ID_CHARS;
use crate::wire::fields::described::ResultOk;
use crate::wire::fields::urls::{WebUrl, WebUrlOrBlank};
use crate::wire::fields::values::{
    Name, NotNull, Optional, OptionalText, OptionalTextOrNumber, SequentialNumber, Text, UnixSeconds, Whole,
    inline_schema,
};

const MAX_INTEGER: u64 = (1 << 53) - 1;

pub(crate) fn operations() -> Vec<Operation> {
    vec![
Operation::get("/channel/{secret}/{channel_id}/status", "channelStatus", "A-1: is an agent of the channel online?")
    .describe(
            "Agents count who receive the channel's chats and have the status online. 0 is also returned for a \
             disabled channel. Ask before you show the chat, at most once a minute.")
    .query::<ChannelStatusQuery>()
    .answers::<ChannelStatus>(200,
            "1 when an agent who receives the channel's chats is online, otherwise 0. With `detail`, an object.")
    .answer_example("online", Some("An agent is online"), json!(1))
    .answer_example("offline", Some("Nobody is online"), json!(0))
    .answer_example("detail", Some("With `detail=true`: nobody is online"),
            json!({"online": false, "reason": "outside_hours", "opens_at": 1_795_420_800}))
    .cacheable()
    .fails(&[Failure::NotFound]),
Operation::post("/channel/{secret}/{channel_id}", "channelMessage", "A-2: a visitor sends a message, or starts or stops typing")
    .describe(
            "A text longer than 1000 characters is truncated. On a channel with lenient validation, an invalid \
             optional field is ignored, and a file may lack a name and a size. By default a visitor may send 30 \
             messages and a channel may open 300 chats in 10 seconds. With `message.edits`, the text replaces that of \
             an earlier message: 404 if the visitor has no such message, 409 if its chat is closed.")
    .body::<VisitorMessage>()
    .example("text", "A text", json!({"sender": {"id": "u-1", "name": "Ada Lovelace", "email": "ada@example.com", "phone": "+442079460102", "photo": "https://shop.example/people/ada.png", "url": "https://shop.example/cart"}, "message": {"type": "text", "id": "m-1", "text": "Where is my order?"}}))
    .example("edit", "A new text for an earlier message", json!({"sender": {"id": "u-1"}, "message": {"type": "text", "edits": SAMPLE_ID, "text": "Where is my order 4711?"}}))
    .example("typein", "The visitor starts typing", json!({"sender": {"id": "u-1"}, "message": {"type": "typein"}}))
    .example("typeout", "The visitor stops typing", json!({"sender": {"id": "u-1"}, "message": {"type": "typeout"}}))
    .example("photo", "A picture", json!({"sender": {"id": "u-1"}, "message": {"type": "photo", "file": "https://shop.example/files/box.jpg", "file_name": "box.jpg", "file_size": 182044, "thumb": "https://shop.example/files/box-320.jpg", "width": 1600, "height": 1200, "text": "The box arrived like this"}}))
    .example("video", "A film", json!({"sender": {"id": "u-1"}, "message": {"type": "video", "file": "https://shop.example/files/box.mp4", "file_name": "box.mp4", "file_size": 2182044, "duration": 12, "width": 1280, "height": 720}}))
    .example("audio", "Music", json!({"sender": {"id": "u-1"}, "message": {"type": "audio", "file": "https://shop.example/files/song.mp3", "file_name": "song.mp3", "file_size": 4182044, "duration": 180, "performer": "The Band", "title": "A song"}}))
    .example("voice", "A voice message", json!({"sender": {"id": "u-1"}, "message": {"type": "voice", "file": "https://shop.example/files/note.ogg", "file_name": "note.ogg", "file_size": 18204, "duration": 7}}))
    .example("sticker", "A sticker", json!({"sender": {"id": "u-1"}, "message": {"type": "sticker", "file": "https://shop.example/files/smile.webp", "file_name": "smile.webp", "file_size": 9204, "emoji": "😀"}}))
    .example("document", "Another file", json!({"sender": {"id": "u-1"}, "message": {"type": "document", "file": "https://shop.example/files/invoice.pdf", "file_name": "invoice.pdf", "file_size": 58204, "text": "The invoice"}}))
    .example("location", "A place", json!({"sender": {"id": "u-1"}, "message": {"type": "location", "latitude": 51.5033, "longitude": -0.1196}}))
    .idempotent()
    .answers::<AcceptedVisitorMessage>(200, "Accepted.")
    .answer_example("stored", None, json!({"result": "ok", "chat_id": 17, "seq": 3, "id": SAMPLE_ID}))
    .answer_example("ok", Some("A typing notice"), json!({"result": "ok"}))
    .fails(&[Failure::ChannelDisabled, Failure::NotFound, Failure::Conflict, Failure::VisitorPayloadTooLarge, Failure::TooManyRequests])
    .never_fails(Failure::PayloadTooLarge),


    ]
}

/// Returns the request that the service sends to an integrator.
pub(crate) fn outgoing_operations() -> Vec<Operation> {
    vec![
Operation::outgoing("integratorMessage", "integratorMessage",
        "A-3: an agent or a bot sends a message, or an agent starts or stops typing; POST \
         <integrator_url>/<CHANNEL_PUBLIC_ID>")
    .describe(
            "On a channel with lenient validation, every 2xx without an error counts as delivered, and a 4xx is a \
             final rejection. A typing notice is sent only once.")
    .body::<IntegratorMessage>()
    .example("text", "A text from an agent", from_agent(&json!("u-1"), &json!({"type": "text", "id": SAMPLE_ID, "text": "It left our warehouse this morning."})))
    .example("number", "A text to a visitor whose sender.id is a number", from_agent(&json!(4711), &json!({"type": "text", "id": SAMPLE_ID, "text": "It left our warehouse this morning."})))
    .example("typein", "The agent starts typing", from_agent(&json!("u-1"), &json!({"type": "typein"})))
    .example("typeout", "The agent stops typing", from_agent(&json!("u-1"), &json!({"type": "typeout"})))
    .example("photo", "A picture with a text", from_agent(&json!("u-1"), &json!({"type": "photo", "id": SAMPLE_ID, "file": "https://shop.example/files/box.jpg", "file_name": "box.jpg", "file_size": 182044, "thumb": "https://shop.example/files/box-320.jpg", "width": 1600, "height": 1200, "text": "Does your box look like this?"})))
    .example("video", "A film", from_agent(&json!("u-1"), &json!({"type": "video", "id": SAMPLE_ID, "file": "https://shop.example/files/box.mp4", "file_name": "box.mp4", "file_size": 2182044, "duration": 12, "width": 1280, "height": 720})))
    .example("audio", "Music", from_agent(&json!("u-1"), &json!({"type": "audio", "id": SAMPLE_ID, "file": "https://shop.example/files/song.mp3", "file_name": "song.mp3", "file_size": 4182044, "duration": 180, "performer": "The Band", "title": "A song"})))
    .example("voice", "A voice message", from_agent(&json!("u-1"), &json!({"type": "voice", "id": SAMPLE_ID, "file": "https://shop.example/files/note.ogg", "file_name": "note.ogg", "file_size": 18204, "duration": 7})))
    .example("sticker", "A sticker", from_agent(&json!("u-1"), &json!({"type": "sticker", "id": SAMPLE_ID, "file": "https://shop.example/files/smile.webp", "file_name": "smile.webp", "file_size": 9204, "emoji": "😀"})))
    .example("document", "Another file", from_agent(&json!("u-1"), &json!({"type": "document", "id": SAMPLE_ID, "file": "https://shop.example/files/invoice.pdf", "file_name": "invoice.pdf", "file_size": 58204})))
    .example("location", "A place", from_agent(&json!("u-1"), &json!({"type": "location", "id": SAMPLE_ID, "latitude": 51.5033, "longitude": -0.1196})))
    .example("markdown", "A bot's Markdown, if the channel shows it", from_bot(&json!({"type": "markdown", "id": SAMPLE_ID, "content": "From **9** to **5**.", "text": "From 9 to 5."})))
    .example("buttons", "A bot's buttons, if the channel shows them", from_bot(&json!({"type": "buttons", "id": SAMPLE_ID, "title": "Which day?", "text": "Which day? Today or at the weekend?", "buttons": [{"text": "Today", "id": 1}, {"text": "At the weekend", "id": 2}]})))
    .answers::<IntegratorResponse>(200,
            "Delivered, or finally rejected with an error text for the agent. The body may also be a JSON string \
             that contains this JSON. After any other response, the request is retried.")
    .answer_example("delivered", None, json!({"result": "ok"}))
    .answer_example("rejected", Some("The agent reads the text, unless the channel hides the code"), json!({"error": {"code": 7, "message": "The visitor has left."}})),

    ]
}

/// The id of the messages in the examples.
const SAMPLE_ID: &str = "01a214d2-d7b1-7000-8000-04000000ab59";

fn from_agent(visitor: &Value, message: &Value) -> Value {
    let sender = json!({"type": "agent", "name": "Grace Hopper", "photo": "https://shop.example/people/grace.png"});
    json!({"sender": sender, "recipient": {"id": visitor}, "message": message})
}

fn from_bot(message: &Value) -> Value {
    let sender = json!({"type": "bot", "name": "Shop bot"});
    json!({"sender": sender, "recipient": {"id": "u-1"}, "message": message})
}

/// chat_id and seq say where the message is stored, and id is its id. They are absent for a typing notice, and for a
/// visitor whom the account has blacklisted.
#[derive(Serialize, JsonSchema)]
pub struct AcceptedVisitorMessage {
    result: ResultOk,
    #[serde(skip_serializing_if = "Optional::is_absent")]
    chat_id: Optional<SequentialNumber>,
    #[serde(skip_serializing_if = "Optional::is_absent")]
    seq: Optional<SequentialNumber>,
    #[serde(skip_serializing_if = "Optional::is_absent")]
    #[schemars(extend("format" = "uuid"))]
    id: Optional<String>,
}

impl Default for AcceptedVisitorMessage {
    fn default() -> Self {
        Self { result: ResultOk::Ok, chat_id: Optional(None), seq: Optional(None), id: Optional(None) }
    }
}

impl AcceptedVisitorMessage {
    pub fn stored(MessageReceipt { chat_id, seq, id, .. }: &MessageReceipt) -> Self {
        let number = |number| Optional(Some(SequentialNumber(number)));
        let id = Optional(Some(id.clone()));
        Self { chat_id: number(*chat_id), seq: number(*seq), id, ..Self::default() }
    }
}

#[derive(Deserialize, JsonSchema)]
pub struct ChannelStatusQuery {
    /// true: the response says why, and when the hours begin.
    #[serde(default)]
    detail: NotNull<bool>,
    /// The `sender.id` of a visitor, whose position in the queue the response with `detail` contains.
    visitor: Option<Text<MAX_SENDER_ID_CHARS>>,
}

impl ChannelStatusQuery {
    /// Returns the visitor whose position is asked for.
    pub fn visitor(&self) -> Option<&str> {
        self.visitor.as_ref().filter(|_| self.has_detail()).map(|Text(id)| id.as_str())
    }

    fn has_detail(&self) -> bool {
        self.detail.0 == Some(true)
    }
}

#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub enum ChannelStatus {
    Number(OnlineNumber),
    Detail(ChannelStatusDetail),
}

/// 1 when an agent who receives the channel's chats is online within the business hours, otherwise 0.
#[derive(Serialize)]
pub struct OnlineNumber(u8);

inline_schema!(OnlineNumber, "OnlineNumber", json_schema!({ "type": "integer", "enum": [0, 1] }));

#[derive(Serialize, JsonSchema)]
pub struct ChannelStatusDetail {
    online: bool,
    reason: Name<AvailabilityReason>,
    /// When the hours begin again (Unix seconds), if the reason is outside_hours: the business hours, or, without them,
    /// those of the account's setting `callback`.
    opens_at: Option<UnixSeconds>,
    /// The position of the visitor's waiting chat among those that wait for the same agents. Absent if no chat of the
    /// visitor waits, or if the account has no assignment.
    #[serde(skip_serializing_if = "Optional::is_absent")]
    queue_position: Optional<SequentialNumber>,
}

impl ChannelStatus {
    pub fn new(availability: ChannelAvailability, queue_position: Option<u64>, query: &ChannelStatusQuery) -> Self {
        let online = availability.is_online();
        if !query.has_detail() {
            return Self::Number(OnlineNumber(online.into()));
        }
        let ChannelAvailability { reason, opens_at } = availability;
        let queue_position = Optional(queue_position.map(SequentialNumber));
        let opens_at = opens_at.map(UnixSeconds::from);
        Self::Detail(ChannelStatusDetail { online, reason: Name(reason), opens_at, queue_position })
    }
}

/// Table A1.
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(clippy::large_enum_variant, reason = "no value of this type exists, it only describes")]
pub enum VisitorMessage {
    Message {
        sender: VisitorSender,
        message: ChannelMessage,
    },
    /// For a typing notice, only sender.id is read.
    Typing {
        sender: TypingSender,
        message: TypingNotice,
    },
}

#[derive(JsonSchema)]
pub struct VisitorSender {
    pub id: SenderId,
    #[serde(default)]
    pub name: OptionalText<1000>,
    #[serde(default)]
    pub phone: OptionalText<1000>,
    #[serde(default)]
    pub email: OptionalText<1000>,
    #[serde(default)]
    pub photo: WebUrlOrBlank,
    /// The visitor's location, any text. It is shown and sent as a link if it is an http or https address.
    #[serde(default)]
    pub url: OptionalText<4096>,
    #[serde(default)]
    pub invite: OptionalText<1000>,
}

#[derive(JsonSchema)]
pub struct TypingSender {
    pub id: SenderId,
}

/// The visitor's id in the integrator's system. An integer identifies the same visitor as the string of its digits.
#[derive(JsonSchema)]
#[serde(untagged)]
pub enum SenderId {
    Text(Text<255>),
    Number(i64),
}

#[derive(JsonSchema)]
pub struct TypingNotice {
    pub r#type: TypingNoticeType,
}

#[derive(JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TypingNoticeType {
    Typein,
    Typeout,
}

/// Tables A1 and A3.
#[derive(JsonSchema)]
#[serde(untagged)]
pub enum ChannelMessage {
    Text(TextMessage),
    File(FileMessage),
    Location(LocationMessage),
}

/// Tables A1 and A3, or a file that the sender has uploaded.
#[derive(JsonSchema)]
#[serde(untagged)]
pub enum UploadableMessage {
    Text(TextMessage),
    File(FileMessage),
    Upload(UploadMessage),
    Location(LocationMessage),
}

/// A file that the sender has uploaded before. Its address, name and size are those of the upload.
#[derive(JsonSchema)]
pub struct UploadMessage {
    pub r#type: FileType,
    pub text: Option<String>,
    pub file_id: Text<1000>,
    /// The preview, if the sender has uploaded one.
    #[serde(default)]
    pub thumb_id: OptionalText<1000>,
    /// Seconds.
    pub duration: Option<Whole<1, MAX_INTEGER>>,
    /// Pixels. Absent: as in the file.
    pub width: Option<Whole<1, MAX_INTEGER>>,
    /// Pixels. Absent: as in the file.
    pub height: Option<Whole<1, MAX_INTEGER>>,
}

#[derive(JsonSchema)]
pub struct TextMessage {
    pub r#type: TextType,
    /// The caller's own id, which is only logged.
    #[serde(default)]
    pub id: OptionalTextOrNumber<1000>,
    #[schemars(length(min = 1))]
    pub text: String,
    /// The id of the bot's button that the visitor has pressed. The text is its label.
    #[serde(default)]
    pub button_id: OptionalTextOrNumber<1000>,
    /// The id of the visitor's message whose text this one replaces: the id in the response to the message. The message
    /// must be a text in the visitor's open chat. The other fields of sender have no effect.
    #[serde(default)]
    pub edits: OptionalText<1000>,
}

#[derive(JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TextType {
    Text,
}

#[derive(JsonSchema)]
pub struct FileMessage {
    pub r#type: FileType,
    /// The caller's own id, which is only logged.
    #[serde(default)]
    pub id: OptionalTextOrNumber<1000>,
    pub text: Option<String>,
    #[serde(flatten)]
    pub file: FileFields,
    #[schemars(range(min = -90, max = 90))]
    pub latitude: Option<f64>,
    #[schemars(range(min = -180, max = 180))]
    pub longitude: Option<f64>,
}

#[derive(JsonSchema)]
pub struct FileFields {
    pub file: WebUrl,
    pub file_name: Text<1000>,
    /// Bytes.
    pub file_size: Whole<1, MAX_INTEGER>,
    #[serde(default)]
    pub thumb: WebUrlOrBlank,
    #[serde(default)]
    pub emoji: OptionalText<1000>,
    /// Seconds.
    pub duration: Option<Whole<1, MAX_INTEGER>>,
    /// Pixels.
    pub width: Option<Whole<1, MAX_INTEGER>>,
    /// Pixels.
    pub height: Option<Whole<1, MAX_INTEGER>>,
    #[serde(default)]
    pub performer: OptionalText<1000>,
    #[serde(default)]
    pub title: OptionalText<1000>,
}

#[derive(JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FileType {
    Video,
    Audio,
    Voice,
    Photo,
    Sticker,
    Document,
}

#[derive(JsonSchema)]
pub struct LocationMessage {
    pub r#type: LocationType,
    /// The caller's own id, which is only logged.
    #[serde(default)]
    pub id: OptionalTextOrNumber<1000>,
    pub text: Option<String>,
    #[schemars(range(min = -90, max = 90))]
    pub latitude: f64,
    #[schemars(range(min = -180, max = 180))]
    pub longitude: f64,
    #[serde(default)]
    pub title: OptionalText<1000>,
    #[serde(default)]
    pub file: WebUrlOrBlank,
    #[serde(default)]
    pub thumb: WebUrlOrBlank,
    #[serde(default)]
    pub emoji: OptionalText<1000>,
}

#[derive(JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LocationType {
    Location,
}

#[derive(JsonSchema)]
#[serde(untagged)]
pub enum IntegratorResponse {
    Delivered {
        #[schemars(regex(pattern = "^[Oo][Kk]$"))]
        result: String,
    },
    Rejected {
        error: IntegratorError,
    },
}

#[derive(JsonSchema)]
pub struct IntegratorError {
    #[serde(default)]
    pub code: NotNull<i64>,
    #[serde(default)]
    pub message: NotNull<String>,
}
