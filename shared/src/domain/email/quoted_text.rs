//! What a person has written in a reply, without the e-mail that it quotes and without a signature. Mail programs quote
//! in many ways, and none of them is a standard:
//!
//! - lines that begin with `>`, after a line such as "On Sat, Nov 22, 2025 at 9:35 AM Shop wrote:" in the language of
//!   the program (Gmail, Apple Mail, Thunderbird, Yahoo), above or below the answer
//! - a block of headers, "From: ...", "Sent: ...", often after a line (Outlook)
//! - the containers of HTML, for e-mails that have no plain text
//!
//! The service's own e-mails also begin with a line that asks for answers above it.

/// The first line of an e-mail to which people reply.
pub const REPLY_MARKER: &str = "--- Please write your reply above this line ---";

/// The number of lines over which a program wraps the line that introduces a quotation.
const MAX_INTRODUCTION_LINES: usize = 4;
/// The length in bytes of a wrapped line that introduces a quotation. A longer one is what somebody has written.
const MAX_INTRODUCTION_BYTES: usize = 400;
/// The number of lines in which the other headers follow the first one.
const MAX_HEADER_LINES: usize = 6;
/// The most lines between a rule and the block of headers below it.
const MAX_RULE_LINES: usize = 6;
/// The shortest line of underscores or hyphens above a quotation.
const MIN_RULE_CHARS: usize = 5;

/// How the line that introduces a quotation begins and what it contains, by language: German, English, Spanish and
/// Portuguese, French, Italian, Dutch, Polish, Turkish, Russian and Ukrainian, Japanese, Chinese, Hebrew, Arabic.
const INTRODUCTIONS: [(&str, &str); 17] = [
    ("Am ", "schrieb"),
    ("On ", "wrote"),
    ("El ", "escribió"),
    ("Em ", "escreveu"),
    ("A ", "escreveu"),
    ("Le ", "a écrit"),
    ("Il ", "ha scritto"),
    ("Op ", "schreef"),
    ("W dniu ", "pisze"),
    ("W dniu ", "napisał"),
    ("", "yazdı"),
    ("", "написал"),
    ("", "пише"),
    ("", "のメール"),
    ("", "写道"),
    ("", "כתב"),
    ("", "كتب"),
];

/// The names of the header `From` in programs of the same languages.
const FROM_HEADERS: [&str; 13] =
    ["From", "Von", "De", "Da", "Van", "Od", "Kimden", "От", "Від", "差出人", "发件人", "מאת", "من"];

/// The names of the headers `Sent`, `Date`, `To` and `Subject`.
const OTHER_HEADERS: [&str; 30] = [
    "Sent",
    "Date",
    "To",
    "Subject",
    "Gesendet",
    "Datum",
    "An",
    "Betreff",
    "Enviado",
    "Fecha",
    "Para",
    "Asunto",
    "Assunto",
    "Envoyé",
    "À",
    "Objet",
    "Inviato",
    "Oggetto",
    "Verzonden",
    "Aan",
    "Onderwerp",
    "Wysłano",
    "Temat",
    "Gönderilen",
    "Отправлено",
    "Тема",
    "Надіслано",
    "送信日時",
    "发送时间",
    "נשלח",
];

/// What programs of phones add at the end.
const PHONE_SIGNATURES: [&str; 10] = [
    "Sent from my ",
    "Sent from Outlook",
    "Sent from Yahoo Mail",
    "Get Outlook for ",
    "Von meinem ",
    "Gesendet von ",
    "Envoyé de mon ",
    "Enviado desde mi ",
    "Inviato da ",
    "Verstuurd vanaf ",
];

/// Where quotations begin in HTML, in lower case. The tag that contains the text is left out, too.
const HTML_QUOTATIONS: [&str; 8] = [
    "<blockquote",
    "gmail_quote",
    "yahoo_quoted",
    "id=\"appendonsend",
    "id=\"divrplyfwdmsg",
    "moz-cite-prefix",
    "protonmail_quote",
    "--- please write your reply above this line",
];

/// Returns the part of an HTML document before its first quotation.
pub fn html_before_quotation(html: &str) -> &str {
    let lower = html.to_ascii_lowercase();
    let first = HTML_QUOTATIONS.iter().filter_map(|marker| lower.find(marker)).min().unwrap_or(html.len());
    let before = html.get(..first).unwrap_or(html);
    let is_in_tag = before.rfind('<') > before.rfind('>');
    let end = before.rfind('<').filter(|_| is_in_tag).unwrap_or(first);
    html.get(..end).unwrap_or(html)
}

/// Returns the lines that are neither quoted nor a signature. The result contains no line that the text does not.
pub fn without_quoted_text(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let mut written = Vec::new();
    let mut index = 0;
    while let Some(line) = lines.get(index) {
        let rest = lines.get(index..).unwrap_or_default();
        if is_end_of_answer(rest) {
            break;
        }
        index += match introduction_length(rest) {
            Some(length) if is_quoted_next(lines.get(index + length..).unwrap_or_default()) => length,
            // The program does not mark what it quotes, so everything that follows is quoted.
            Some(_) => break,
            None => {
                if !is_quoted(line) {
                    written.push(line.trim_end());
                }
                1
            }
        };
    }
    without_phone_signature(written).join("\n").trim_matches('\n').to_owned()
}

/// Whether nothing that the person has written follows.
fn is_end_of_answer(rest: &[&str]) -> bool {
    let Some((line, after)) = rest.split_first() else { return true };
    let line = line.trim();
    line == "--"
        || line.trim_start_matches(['>', ' ', '*']).starts_with(REPLY_MARKER)
        || is_original_message_rule(line)
        || is_header_block(line, after)
}

/// Whether the line is like `-----Original Message-----`, or a rule above a block of headers.
fn is_original_message_rule(line: &str) -> bool {
    let inner = line.trim_matches('-');
    let rule = (line.len() - inner.len()) / 2;
    rule >= MIN_RULE_CHARS && !inner.trim().is_empty() && line.starts_with('-') && line.ends_with('-')
}

/// Whether the line is the header `From` of a quoted e-mail, or a rule above it. Programs write headers in bold letters
/// as `*From:*`.
fn is_header_block(line: &str, after: &[&str]) -> bool {
    if !is_rule(line) {
        return begins_with_headers(line, after);
    }
    let is_between = |line: &str| line.trim().is_empty() || is_rule(line.trim());
    let next = after.iter().take(MAX_RULE_LINES).position(|line| !is_between(line));
    let below = next.and_then(|index| after.get(index..)).and_then(<[&str]>::split_first);
    below.is_some_and(|(line, after)| begins_with_headers(line, after))
}

fn is_rule(line: &str) -> bool {
    line.len() >= MIN_RULE_CHARS && line.bytes().all(|byte| byte == b'_')
}

fn begins_with_headers(line: &str, after: &[&str]) -> bool {
    let others = after.iter().take(MAX_HEADER_LINES).filter(|line| has_header_name(line, &OTHER_HEADERS));
    has_header_name(line, &FROM_HEADERS) && others.count() >= 2
}

fn has_header_name(line: &str, names: &[&str]) -> bool {
    let line = line.trim().trim_start_matches('*');
    let name = line.split([':', '：']).next().filter(|name| name.len() < line.len());
    name.is_some_and(|name| names.contains(&name.trim().trim_end_matches('*')))
}

fn is_quoted(line: &str) -> bool {
    line.trim_start().starts_with('>')
}

fn is_quoted_next(lines: &[&str]) -> bool {
    lines.iter().find(|line| !line.trim().is_empty()).is_some_and(|line| is_quoted(line))
}

/// Returns how many lines the introduction of a quotation takes, if one begins with the first line.
fn introduction_length(lines: &[&str]) -> Option<usize> {
    let wrapped = lines.iter().take(MAX_INTRODUCTION_LINES).take_while(|line| !line.trim().is_empty()).count();
    // The date or the address is at the beginning, so that no line before it is taken for a part of the introduction.
    let is_beginning = lines.first().is_some_and(|line| has_digit_or_address(line));
    (1..=wrapped).filter(|_| is_beginning).find(|length| {
        let joined = lines.get(..*length).unwrap_or_default().join(" ");
        is_introduction(joined.trim())
    })
}

fn has_digit_or_address(line: &str) -> bool {
    line.chars().any(|letter| letter.is_ascii_digit()) || line.contains('@')
}

fn is_introduction(line: &str) -> bool {
    let has_verb = INTRODUCTIONS.iter().any(|(beginning, verb)| line.starts_with(beginning) && line.contains(verb));
    // Gmail uses no verb in some languages: "2025年11月22日(土) 9:35 Shop <chat@mail.shop.example>:".
    let ends_with_address = line.ends_with(">:") && line.contains('<') && line.contains('@');
    line.len() <= MAX_INTRODUCTION_BYTES && line.ends_with([':', '：']) && (has_verb || ends_with_address)
}

/// Leaves out the signature that a phone adds, and the empty lines before it.
fn without_phone_signature(mut lines: Vec<&str>) -> Vec<&str> {
    let drop_empty = |lines: &mut Vec<&str>| while lines.pop_if(|line| line.trim().is_empty()).is_some() {};
    drop_empty(&mut lines);
    let is_signature = |line: &str| PHONE_SIGNATURES.iter().any(|signature| line.trim().starts_with(signature));
    // Somebody who writes nothing else may mean it.
    while lines.len() > 1 && lines.pop_if(|line| is_signature(line)).is_some() {
        drop_empty(&mut lines);
    }
    lines
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The plain text of replies as mail programs write them, and what the person has written.
    const REPLIES: [(&str, &str, &str); 16] = [
        (
            "Gmail",
            "Yes, please.\n\nAda\n\nOn Sat, Nov 22, 2025 at 9:35 AM Shop <chat@mail.shop.example> wrote:\n\n\
             > --- Please write your reply above this line ---\n>\n> Bob, 2025-11-22 09:35:\n> Shall I order it?\n",
            "Yes, please.\n\nAda",
        ),
        (
            "Gmail with a wrapped introduction",
            "Yes\r\n\r\nOn Sat, Nov 22, 2025 at 9:35 AM Shop with a very long name <\r\n\
             reply+mzxw6@mail.shop.example> wrote:\r\n\r\n> Shall I order it?\r\n",
            "Yes",
        ),
        (
            "Gmail in German",
            "Ja, bitte.\n\nAm Sa., 22. Nov. 2025 um 09:35 Uhr schrieb Shop <\nchat@mail.shop.example>:\n\n> Bestellen?\n",
            "Ja, bitte.",
        ),
        (
            "Apple Mail",
            "Two of them.\n\nSent from my iPhone\n\n\
             > On 22 Nov 2025, at 09:35, Shop <chat@mail.shop.example> wrote:\n> \n> \u{feff}How many?\n",
            "Two of them.",
        ),
        (
            "Apple Mail in French",
            "Deux.\n\n> Le 22 nov. 2025 à 09:35, Shop <chat@mail.shop.example> a écrit :\n> \n> Combien ?\n",
            "Deux.",
        ),
        (
            "Gmail in French, with a space before the colon",
            "Deux.\n\nLe sam. 22 nov. 2025 à 09:35, Shop <chat@mail.shop.example> a écrit :\n\n> Combien ?\n",
            "Deux.",
        ),
        (
            "Outlook",
            "Fine with me.\n\n________________________________\nFrom: Shop <chat@mail.shop.example>\n\
             Sent: Saturday, November 22, 2025 9:35 AM\nTo: Ada <ada@example.com>\nSubject: New message from Shop\n\n\
             --- Please write your reply above this line ---\n\nBob, 2025-11-22 09:35:\nShall I order it?\n",
            "Fine with me.",
        ),
        (
            "Outlook in German without a rule",
            "Passt.\n\nVon: Shop <chat@mail.shop.example>\nGesendet: Samstag, 22. November 2025 09:35\n\
             An: Ada <ada@example.com>\nBetreff: New message from Shop\n\nSoll ich?\n",
            "Passt.",
        ),
        (
            "Outlook for Mac, with bold headers",
            "OK\n\n*From: *Shop <chat@mail.shop.example>\n*Date: *Saturday, 22 November 2025 at 09:35\n\
             *To: *Ada <ada@example.com>\n*Subject: *New message\n\nShall I?\n",
            "OK",
        ),
        ("an old Outlook", "OK\n\n-----Original Message-----\nFrom: Shop\nShall I?\n", "OK"),
        (
            "Yahoo, which does not mark what it quotes",
            "Sure thing\n\nSent from Yahoo Mail for iPhone\n\n\
             On Saturday, November 22, 2025, 9:35 AM, Shop <chat@mail.shop.example> wrote:\n\n\
             --- Please write your reply above this line ---\nShall I order it?\n",
            "Sure thing",
        ),
        (
            "Thunderbird, with the answer below",
            "On 11/22/25 09:35, Shop wrote:\n> Shall I order it?\n> Or do you want to wait?\n\nI will wait.\n\n-- \nAda\nLondon\n",
            "I will wait.",
        ),
        (
            "Gmail in Japanese, without a verb",
            "はい\n\n2025年11月22日(土) 9:35 Shop <chat@mail.shop.example>:\n\n> 注文しますか\n",
            "はい",
        ),
        ("Mail.ru in Russian", "Да\n\n22 ноября 2025, 09:35 от Shop написал(а):\n> Заказать?\n", "Да"),
        (
            "an answer between quoted lines",
            "> First question?\nYes.\n> Second question?\nNo: not before 5 pm.\n",
            "Yes.\nNo: not before 5 pm.",
        ),
        (
            "a marker without a quotation",
            "Hello there\n--- Please write your reply above this line ---\nBob, 2025-11-22: Hi\n",
            "Hello there",
        ),
    ];

    #[test]
    fn reply_of_each_mail_program_is_what_was_written() {
        for (program, text, expected) in REPLIES {
            assert_eq!(without_quoted_text(text), expected, "{program}");
        }
    }

    #[test]
    fn text_that_looks_like_a_quotation_is_kept() {
        for text in [
            "He wrote: call me at 5",
            "On Monday I will be there.\nSee you",
            "From: Berlin to Rome please",
            "My options:\n1. red\n2. blue",
            "--dry-run does not work",
            "Sent from my heart",
        ] {
            assert_eq!(without_quoted_text(text), text);
        }
    }

    #[test]
    fn each_line_is_examined_a_limited_number_of_times() {
        let numbers = ["1 of them"; 30_000].join("\n");
        assert_eq!(without_quoted_text(&numbers), numbers);
        let rules = ["_____"; 100_000].join("\n");
        assert_eq!(without_quoted_text(&rules), rules);
    }

    #[test]
    fn html_ends_before_its_quotation() {
        for (html, expected) in [
            ("<div>Yes</div><div class=\"gmail_quote\"><blockquote>Hi</blockquote></div>", "<div>Yes</div>"),
            ("<p>Yes</p><BLOCKQUOTE type=cite>Hi", "<p>Yes</p>"),
            ("<p>Yes</p><hr><div id=\"divRplyFwdMsg\" dir=\"ltr\">From", "<p>Yes</p><hr>"),
            ("<p>Yes</p>", "<p>Yes</p>"),
            ("", ""),
        ] {
            assert_eq!(html_before_quotation(html), expected, "{html}");
        }
    }

    proptest! {
        #[test]
        fn no_line_is_invented(text in "(?s)[>\\-_:@ 0-9a-zäOnwroteFmSTbjcA\n\r]{0,200}") {
            let written = without_quoted_text(&text);
            let mut rest = text.lines().map(str::trim_end);
            for line in written.lines() {
                prop_assert!(rest.any(|original| original == line), "{:?} in {:?}", line, text);
            }
        }

        #[test]
        fn any_text_is_handled(text in any::<String>()) {
            without_quoted_text(&text);
            prop_assert!(text.starts_with(html_before_quotation(&text)));
        }

        #[test]
        fn quoted_lines_are_left_out(lines in proptest::collection::vec("[a-z]{0,10}", 0..20)) {
            let quoted: String = lines.iter().map(|line| format!("> {line}\n")).collect();
            prop_assert_eq!(without_quoted_text(&format!("Yes\n{quoted}")), "Yes");
        }
    }
}
