//! The panel beside a chat. It shows the agent the data that the account's webhooks have returned (specification, table
//! C1 and the response to chat_accepted) and, in a chat of a widget, the data that the page has set for the visitor.

use crate::domain::chats::bot_draft::BotDraft;

/// One line of the panel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CustomData {
    /// A title displayed above the content.
    pub title: Option<String>,
    /// The text of the line, without HTML tags.
    pub content: String,
    /// An http or https URL that opens when the agent clicks the line.
    pub link: Option<String>,
    /// A label displayed in bold before the content.
    pub key: Option<String>,
}

/// The progress of linking the chat to a card in the account's CRM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CrmCardAssignment {
    /// No webhook has confirmed the assignment or failed to confirm it yet.
    Pending,
    Done,
    Failed(String),
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Panel {
    /// The lines, in the order returned by the webhook.
    pub custom_data: Vec<CustomData>,
    /// Whether the agent can assign the chat to a CRM card.
    pub enable_assign: bool,
    /// The http or https URL of the CRM card.
    pub crm_link: Option<String>,
    /// The URL and the optional title of a page about the visitor.
    pub page: Option<(String, Option<String>)>,
    pub assignment: Option<CrmCardAssignment>,
    /// The text of the most recent invitation that the visitor accepted before or during the chat (`sender.invite`).
    pub invite: Option<String>,
    /// The answer that the bot suggests to the agent.
    pub draft: Option<BotDraft>,
}

/// The panel changes that a webhook's response requests, or the draft of a bot. `None` (for nested options, the outer
/// `None`) means that the response does not contain the field, so the panel keeps its value. An empty field clears the
/// value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PanelUpdate {
    pub custom_data: Option<Vec<CustomData>>,
    pub enable_assign: Option<bool>,
    pub crm_link: Option<Option<String>>,
    pub page: Option<Option<(String, Option<String>)>>,
    pub draft: Option<BotDraft>,
}

impl PanelUpdate {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Removes HTML tags from a text. The result contains no tags at all: the characters around a removed tag cannot form a
/// new tag, because a `<` that would start one is also removed.
pub fn strip_tags(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        if c == '<' && rest.clone().next().is_some_and(starts_tag) {
            rest.by_ref().find(|c| *c == '>');
            continue;
        }
        if starts_tag(c) {
            plain.truncate(plain.trim_end_matches('<').len());
        }
        plain.push(c);
    }
    plain
}

/// Whether a `<` followed by this character starts a tag, a comment or a processing instruction.
fn starts_tag(c: char) -> bool {
    c.is_ascii_alphabetic() || "/!?".contains(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_removed_and_comparisons_stay() {
        let table = [
            ("plain", "plain"),
            ("<b>bold</b> text", "bold text"),
            ("a < b > c", "a < b > c"),
            ("x<script>alert(1)</script>y", "xalert(1)y"),
            ("open <img src=x", "open "),
            ("<<b>b", "b"),
            ("<<i>img src=x onerror=alert(1)>", "img src=x onerror=alert(1)>"),
            ("a <<<i></i>/b>", "a /b>"),
            ("a << b <= c <3", "a << b <= c <3"),
            ("<?xml?>x<!-- y -->", "x"),
            ("ü<", "ü<"),
        ];
        for (text, expected) in table {
            assert_eq!(strip_tags(text), expected, "{text}");
        }
    }

    /// Checks every possible text of up to seven characters that contains only `<`, `>`, `i`, `/`, `!`, `?` and spaces.
    #[test]
    fn result_contains_no_start_of_a_tag() {
        let mut texts = vec![String::new()];
        for _ in 0..7 {
            let longer = |text: &String| ['<', '>', 'i', '/', '!', '?', ' '].map(|next| format!("{text}{next}"));
            texts = texts.iter().flat_map(longer).collect();
            for text in &texts {
                let plain = strip_tags(text);
                let has_tag = ["<i", "</", "<!", "<?"].iter().any(|start| plain.contains(start));
                assert!(!has_tag, "{text} becomes {plain}");
                assert_eq!(strip_tags(&plain), plain, "{text}");
            }
        }
    }
}
