//! What the customer's systems tell the agent about a chat (specification, C1 and the response of chat_accepted).

/// One line of data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CustomData {
    /// Shown above the content.
    pub title: Option<String>,
    /// The content, without tags.
    pub content: String,
    /// Opened on click; http or https.
    pub link: Option<String>,
    /// Shown in bold before a colon.
    pub key: Option<String>,
}

/// How far the binding to a CRM card is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Assignment {
    /// The CRM has been asked.
    Pending,
    /// It said OK.
    Done,
    /// It said something else, or nothing.
    Failed(String),
}

/// What the agent sees beside a chat.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Panel {
    /// In the order of the answer that brought it.
    pub custom_data: Vec<CustomData>,
    /// Whether the agent may bind the visitor to a CRM card.
    pub enable_assign: bool,
    /// The card; http or https.
    pub crm_link: Option<String>,
    /// A page about the visitor: address and title.
    pub page: Option<(String, Option<String>)>,
    /// How far the binding is.
    pub assignment: Option<Assignment>,
    /// `sender.invite`: the invitation that began this chat or came during it.
    pub invite: Option<String>,
}

/// What an answer says about the panel: none where it says nothing, so that a plain OK takes nothing away.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "the fields of Panel")]
pub struct PanelChange {
    pub custom_data: Option<Vec<CustomData>>,
    pub enable_assign: Option<bool>,
    pub crm_link: Option<Option<String>>,
    pub page: Option<Option<(String, Option<String>)>>,
}

impl PanelChange {
    /// Whether the answer says nothing at all.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// A text without tags. What stood around a tag makes no other one: a `<` that comes to stand where it would begin a tag
/// goes as well.
pub fn without_tags(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        if c == '<' && rest.clone().next().is_some_and(opens) {
            rest.by_ref().find(|c| *c == '>');
            continue;
        }
        if opens(c) {
            plain.truncate(plain.trim_end_matches('<').len());
        }
        plain.push(c);
    }
    plain
}

/// Whether a `<` before it begins a tag, a comment or an instruction.
fn opens(c: char) -> bool {
    c.is_ascii_alphabetic() || "/!?".contains(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_taken_out_and_comparisons_stay() {
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
            assert_eq!(without_tags(text), expected, "{text}");
        }
    }

    /// Every text of up to seven of these characters.
    #[test]
    fn no_tag_begins_in_what_is_left() {
        let mut texts = vec![String::new()];
        for _ in 0..7 {
            let longer = |text: &String| ['<', '>', 'i', '/', '!', '?', ' '].map(|next| format!("{text}{next}"));
            texts = texts.iter().flat_map(longer).collect();
            for text in &texts {
                let plain = without_tags(text);
                let begins = ["<i", "</", "<!", "<?"].iter().any(|beginning| plain.contains(beginning));
                assert!(!begins, "{text} becomes {plain}");
                assert_eq!(without_tags(&plain), plain, "{text}");
            }
        }
    }
}
