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

/// What a webhook's answer brings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Panel {
    /// In the order of the answer.
    pub custom_data: Vec<CustomData>,
    /// Whether the agent may bind the visitor to a CRM card.
    pub enable_assign: bool,
    /// The card; http or https.
    pub crm_link: Option<String>,
    /// A page about the visitor: address and title.
    pub page: Option<(String, Option<String>)>,
    /// How far the binding is.
    pub assignment: Option<Assignment>,
}

/// A text without tags: `<` before a letter, a slash or an exclamation mark begins one.
pub fn without_tags(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        let (before, tag) = rest.split_at(at);
        plain.push_str(before);
        let opens = tag.chars().nth(1).is_some_and(|next| next.is_ascii_alphabetic() || next == '/' || next == '!');
        rest = match tag.find('>') {
            Some(end) if opens => tag.get(end + 1..).unwrap_or_default(),
            None if opens => "",
            _ => {
                plain.push('<');
                tag.get(1..).unwrap_or_default()
            }
        };
    }
    plain.push_str(rest);
    plain
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
            ("<<b>b", "<b"),
            ("ü<", "ü<"),
        ];
        for (text, expected) in table {
            assert_eq!(without_tags(text), expected, "{text}");
        }
    }
}
