//! Finds links in words. For each word, this module determines where a link starts and which host it leads to. A word
//! counts as a link if a browser, a Markdown renderer or a link detection library would make it clickable. When in
//! doubt, the module treats the word as a link.

use percent_encoding::percent_decode_str;
use url::Url;

/// Extensions that mark a word such as `report.pdf` as a file name, not a host name.
const FILE_EXTENSIONS: [&str; 16] = [
    "csv", "doc", "docx", "gif", "jpeg", "jpg", "json", "mp3", "mp4", "pdf", "png", "ppt", "txt", "wav", "xls", "xlsx",
];

/// The schemes of URLs that need no host but are dangerous to open.
const HOSTLESS_SCHEMES: [&str; 6] = ["javascript:", "vbscript:", "data:", "file:", "blob:", "filesystem:"];

/// Whether a text is a well-formed http or https URL.
pub fn is_web_url(text: &str) -> bool {
    let scheme = text.split_once("://").map(|(scheme, _)| scheme);
    let is_http = scheme.is_some_and(|it| it.eq_ignore_ascii_case("http") || it.eq_ignore_ascii_case("https"));
    is_http && Url::parse(text).is_ok()
}

/// Returns the byte offset of the first link in a word. A link is a URL whose scheme is `http:`, `https:` or one of
/// [`HOSTLESS_SCHEMES`] or is followed by `//`, or it is `//host.name` or a bare host name. The search does not use a
/// link detection library, because the existing libraries miss hosts with non-ASCII top-level domains, numeric hosts
/// and names that cannot be registered.
pub(crate) fn find_link(word: &str) -> Option<usize> {
    [find_web_scheme(word), find_hostless_scheme(word), find_double_slash(word), find_host_name(word)]
        .into_iter()
        .flatten()
        .min()
}

/// Returns the byte offset of the first `http:` or `https:` if more text follows. Browsers accept any number of slashes
/// after these schemes, including none.
fn find_web_scheme(word: &str) -> Option<usize> {
    let lower = word.to_ascii_lowercase();
    let found = ["http:", "https:"].map(|scheme| lower.find(scheme).filter(|at| at + scheme.len() < lower.len()));
    found.into_iter().flatten().min()
}

fn find_hostless_scheme(word: &str) -> Option<usize> {
    let lower = word.to_ascii_lowercase();
    let find_scheme = |scheme: &str| {
        let at = lower.find(scheme)?;
        let rest = lower.get(at + scheme.len()..)?;
        // If no comma or slash follows, `data:` is an ordinary word with a colon.
        let is_link = if scheme == "data:" { rest.contains([',', '/']) } else { !rest.is_empty() };
        is_link.then_some(at)
    };
    HOSTLESS_SCHEMES.into_iter().filter_map(find_scheme).min()
}

fn find_double_slash(word: &str) -> Option<usize> {
    let slashes = word.find("//")?;
    let (before, rest) = word.split_at(slashes);
    let scheme_start = before.strip_suffix(':').map(|before| before.trim_end_matches(is_scheme_char).len());
    scheme_start.or(rest.contains(['.', '[', '%']).then_some(slashes))
}

fn is_scheme_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || "+.-".contains(c)
}

/// Returns the byte offset of the first host name in a word, or of the user name before that host name. The domain of
/// an e-mail address does not count as a host name.
fn find_host_name(word: &str) -> Option<usize> {
    let mut email_end = 0;
    for (at, name) in name_candidates(word) {
        let (before, after) = (word.get(..at)?, word.get(at + name.len()..)?);
        if let Some((_, domain)) = after.strip_prefix('@').and_then(|domain| name_candidates(domain).next())
            && has_letter_or_digit(name)
        {
            let after_domain = after.get(1 + domain.len()..)?;
            // The word is an e-mail address only if no path, query, fragment or port follows the domain. Otherwise, it
            // is a URL with a user name.
            if is_host_name(domain, after_domain)
                && !starts_url_suffix(after_domain)
                && !after_domain.starts_with(['/', '?', '#', '@'])
            {
                email_end = word.len() - after_domain.len();
            }
        }
        if at >= email_end && is_host_name(name, after) {
            // If the link contains a user name, the link begins at the user name.
            let user = before.strip_suffix('@').and_then(|before| name_candidates(before).last());
            return Some(user.map_or(at, |(at, _)| at));
        }
    }
    None
}

/// Returns the parts of a word that could be a host name or a user name, with their byte offsets. In `a+b@c`, the text
/// `a+b` is one part.
fn name_candidates(word: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    word.split_inclusive(|c| !is_name_char(c)).filter_map(move |piece| {
        let name = piece.trim_end_matches(|c| !is_name_char(c));
        let trimmed = name.trim_start_matches(|c: char| !c.is_alphanumeric());
        let start = at + name.len() - trimmed.len();
        at += piece.len();
        (!trimmed.is_empty()).then_some((start, trimmed))
    })
}

/// Whether a character can occur in a host name or a user name. This includes non-ASCII characters such as the
/// combining marks of non-Latin scripts, but not those in the blocks of general, CJK and full-width punctuation.
fn is_name_char(c: char) -> bool {
    let is_punctuation = matches!(c, '\u{2000}'..='\u{206f}' | '\u{3000}'..='\u{303f}' | '\u{ff00}'..='\u{ff20}');
    c.is_alphanumeric() || "-._%+".contains(c) || (!c.is_ascii() && !is_punctuation)
}

fn has_letter_or_digit(text: &str) -> bool {
    text.contains(char::is_alphanumeric)
}

/// Whether the text after a host name starts with a path, a query, a fragment or a port, and contains a letter or a
/// digit.
fn starts_url_suffix(text: &str) -> bool {
    text.starts_with(['/', '?', '#', ':']) && has_letter_or_digit(text)
}

/// Whether `name`, which is followed by `after`, is a host name. For example, `shop.example` is a host name, but `e.g.`
/// and `1.5` are not.
fn is_host_name(name: &str, after: &str) -> bool {
    let name = name.trim_end_matches(|c: char| !c.is_alphanumeric());
    let Some((_, ending)) = name.rsplit_once(['.', '+']).filter(|_| name.contains('.')) else { return false };
    let is_file = !starts_url_suffix(after) && FILE_EXTENSIONS.contains(&ending.to_ascii_lowercase().as_str());
    let is_ip_address = starts_url_suffix(after) && name.parse::<std::net::Ipv4Addr>().is_ok();
    let is_domain = ending.chars().count() > 1 && ending.chars().any(char::is_alphabetic);
    (is_domain && !is_file) || is_ip_address
}

/// Returns the host of a link, with or without a scheme. Returns `None` if the link has no host, or if clients could
/// disagree about the host.
pub(crate) fn link_host(link: &str) -> Option<String> {
    let lower = link.to_ascii_lowercase();
    let is_web = lower.starts_with("http:") || lower.starts_with("https:");
    let url = match link {
        _ if is_web => Url::parse(link),
        _ if link.starts_with("//") => Url::parse(&format!("http:{link}")),
        _ => Url::parse(&format!("http://{link}")),
    };
    // Link detection libraries read `evil.example@good.example` as a link to `evil.example`, so the host of such a link
    // is unclear.
    let url = url.ok().filter(|url| is_web || (url.username().is_empty() && url.password().is_none()))?;
    let host = url.host_str()?.trim_end_matches('.');
    // Link detection libraries read `evil.example,good.example` as two links, so a host with such characters is
    // unclear.
    host.chars().all(|c| c.is_ascii_alphanumeric() || "-._".contains(c)).then(|| host.to_owned())
}

/// Whether a link contains an `@` before its path. If so, everything before the `@` is a user name or a password, not
/// the host.
pub(crate) fn has_user_name(link: &str) -> bool {
    let rest = link.split_once(':').map_or(link, |(scheme, rest)| if rest.starts_with('/') { rest } else { scheme });
    let authority = rest.trim_start_matches('/').split(['/', '?', '#', '\\']).next();
    authority.is_some_and(|authority| authority.contains('@'))
}

/// Returns alternative readings of a word: the ways in which a client could interpret it. In all of them, invisible
/// characters are removed, full-width characters are converted to ASCII, and percent encoding and character references
/// are decoded. Backslashes are removed as in Markdown, replaced by slashes as in browsers, or kept.
pub(crate) fn alternative_readings(word: &str) -> Vec<String> {
    let decoded = decode_character_references(word);
    let plain = normalize_characters(&percent_decode_str(&decoded).decode_utf8_lossy());
    let readings = [plain.replace('\\', ""), plain.replace('\\', "/"), plain];
    readings.into_iter().filter(|reading| reading != word).collect()
}

/// Converts full-width and similar characters to ASCII and removes invisible characters. An ideographic full stop is
/// converted to a dot if a letter or digit below U+2E80, where the CJK blocks begin, follows it; elsewhere it ends a
/// sentence and is kept.
fn normalize_characters(text: &str) -> String {
    let visible: Vec<char> = text.chars().filter(|c| !is_invisible(*c)).map(to_ascii_equivalent).collect();
    let following = visible.iter().skip(1).map(Some).chain([None]);
    let normalized = visible.iter().zip(following).map(|(c, next)| {
        let is_dot = matches!(c, '\u{3002}' | '\u{ff61}')
            && next.is_some_and(|next| next.is_alphanumeric() && *next < '\u{2e80}');
        if is_dot { '.' } else { *c }
    });
    normalized.collect()
}

fn to_ascii_equivalent(c: char) -> char {
    match c {
        '\u{ff01}'..='\u{ff5e}' => u32::from(c).checked_sub(0xfee0).and_then(char::from_u32).unwrap_or(c),
        '\u{2024}' | '\u{fe52}' => '.',
        '\u{2044}' | '\u{2215}' | '\u{29f8}' => '/',
        '\u{fe55}' => ':',
        '\u{fe6b}' => '@',
        _ => c,
    }
}

fn is_invisible(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}')
        || matches!(c, '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}')
        || matches!(c, '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}')
        || matches!(c, '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Decodes the HTML and Markdown character references that can occur in a URL.
fn decode_character_references(text: &str) -> String {
    let mut pieces = text.split('&');
    let mut decoded = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        match piece.split_once(';').and_then(|(name, rest)| Some((referenced_character(name)?, rest))) {
            Some((c, rest)) => {
                decoded.extend(c);
                decoded.push_str(rest);
            }
            None => {
                decoded.push('&');
                decoded.push_str(piece);
            }
        }
    }
    decoded
}

/// Returns the character that a character reference stands for. `Some(None)` means that the reference is removed,
/// because URL parsers ignore the character or its number is not a valid code point. `None` means that the reference is
/// unknown.
fn referenced_character(name: &str) -> Option<Option<char>> {
    if let Some(number) = name.strip_prefix('#') {
        let hexadecimal = number.strip_prefix(['x', 'X']).map(|digits| u32::from_str_radix(digits, 16));
        return hexadecimal.unwrap_or_else(|| number.parse()).ok().map(char::from_u32);
    }
    match name {
        "colon" => Some(Some(':')),
        "sol" => Some(Some('/')),
        "bsol" => Some(Some('\\')),
        "period" => Some(Some('.')),
        "commat" => Some(Some('@')),
        "num" => Some(Some('#')),
        "quest" => Some(Some('?')),
        "percnt" => Some(Some('%')),
        "hyphen" | "dash" => Some(Some('-')),
        "lowbar" => Some(Some('_')),
        "comma" => Some(Some(',')),
        "Tab" | "NewLine" | "shy" | "zwj" | "zwnj" | "ZeroWidthSpace" | "NoBreak" => Some(None),
        _ => None,
    }
}
