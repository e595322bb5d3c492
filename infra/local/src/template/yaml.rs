//! Parses YAML into a tree that keeps tags and line numbers, which most parsers drop. Tags are the short forms of
//! intrinsic functions (`!Ref Api`), and error messages need line numbers. Scalars stay text, because their type
//! depends on the property.

use granit_parser::{Event, Parser, ScalarStyle, ScanError, StrInput};

use super::error::{Error, ErrorKind, ValuePath};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Node {
    /// The line number in the template, counted from 1.
    pub line: usize,
    /// The tag without the exclamation mark.
    pub tag: Option<String>,
    pub value: Value,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Value {
    Scalar(String),
    List(Vec<Node>),
    Map(Vec<(String, Node)>),
}

impl Node {
    pub fn scalar(line: usize, text: impl Into<String>) -> Self {
        Self { line, tag: None, value: Value::Scalar(text.into()) }
    }

    /// Returns `None` if the key is absent or the node is not a mapping.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entries().iter().find_map(|(name, node)| (name == key).then_some(node))
    }

    /// Returns an empty text unless the node is a scalar.
    pub fn as_text(&self) -> &str {
        match &self.value {
            Value::Scalar(text) => text,
            Value::List(_) | Value::Map(_) => "",
        }
    }

    /// Returns an empty slice unless the node is a list.
    pub fn items(&self) -> &[Node] {
        match &self.value {
            Value::List(items) => items,
            Value::Scalar(_) | Value::Map(_) => &[],
        }
    }

    /// Returns an empty slice unless the node is a mapping.
    pub fn entries(&self) -> &[(String, Node)] {
        match &self.value {
            Value::Map(entries) => entries,
            Value::Scalar(_) | Value::List(_) => &[],
        }
    }

    /// Returns the value as an error message shows it.
    pub fn describe(&self) -> String {
        match &self.value {
            Value::Scalar(text) => format!("{text:?}"),
            Value::List(_) => "a list".to_owned(),
            Value::Map(_) => "a mapping".to_owned(),
        }
    }
}

impl ValuePath {
    pub(super) fn unexpected_value(&self, expected: &str, found: &Node) -> Error {
        let kind = ErrorKind::UnexpectedValue { expected: expected.to_owned(), found: found.describe() };
        self.error(found.line, kind)
    }
}

/// Returns the entries in a top-level section, such as `Resources`.
pub(super) fn section_entries<'t>(template: &'t Node, section: &str) -> impl Iterator<Item = &'t (String, Node)> {
    template.get(section).map(Node::entries).unwrap_or_default().iter()
}

pub(super) fn parse(text: &str) -> Result<Node, Error> {
    let mut reader = NodeReader { events: Parser::new_from_str(text), line: 1 };
    let mut first = reader.next_event()?;
    while matches!(first, Event::StreamStart | Event::DocumentStart(..)) {
        first = reader.next_event()?;
    }
    reader.node(first)
}

struct NodeReader<'t> {
    events: Parser<'t, StrInput<'t>>,
    line: usize,
}

impl<'t> NodeReader<'t> {
    fn next_event(&mut self) -> Result<Event<'t>, Error> {
        match self.events.next() {
            Some(Ok((event, span))) => {
                self.line = span.start.line();
                Ok(event)
            }
            Some(Err(error)) => Err(syntax_error(&error)),
            None => Err(self.error(ErrorKind::MissingValue)),
        }
    }

    fn node(&mut self, event: Event<'t>) -> Result<Node, Error> {
        let line = self.line;
        let (tag, value) = match event {
            Event::Scalar(text, style, _, tag) => {
                if tag.is_none() && is_null(&text, style) {
                    return Err(self.error(ErrorKind::MissingValue));
                }
                (tag, Value::Scalar(text.into_owned()))
            }
            Event::SequenceStart(_, _, tag) => (tag, Value::List(self.list()?)),
            Event::MappingStart(_, _, tag) => (tag, Value::Map(self.map()?)),
            Event::Alias(_) | Event::UnresolvedAlias(_) | Event::Anchor(..) => {
                return Err(self.error(ErrorKind::UnsupportedAlias));
            }
            // The document is empty, or a key has no value.
            Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(..)
            | Event::DocumentEnd
            | Event::SequenceEnd
            | Event::MappingEnd => return Err(self.error(ErrorKind::MissingValue)),
            // The compiler requires this arm, because the enum is non-exhaustive.
            _ => return Err(self.error(ErrorKind::MissingValue)),
        };
        let tag = tag.as_deref().map(|tag| tag.suffix().to_owned());
        Ok(Node { line, tag, value })
    }

    fn list(&mut self) -> Result<Vec<Node>, Error> {
        let mut items = Vec::new();
        loop {
            let item = self.next_event()?;
            if matches!(item, Event::SequenceEnd) {
                return Ok(items);
            }
            items.push(self.node(item)?);
        }
    }

    fn map(&mut self) -> Result<Vec<(String, Node)>, Error> {
        let mut entries: Vec<(String, Node)> = Vec::new();
        loop {
            let key = self.next_event()?;
            if matches!(key, Event::MappingEnd) {
                return Ok(entries);
            }
            let key = self.key(key)?;
            if entries.iter().any(|(earlier, _)| *earlier == key) {
                return Err(self.error(ErrorKind::DuplicateKey(key)));
            }
            let value = self.next_event()?;
            let value = self.node(value).map_err(|error| with_key(&key, error))?;
            entries.push((key, value));
        }
    }

    fn key(&mut self, event: Event<'t>) -> Result<String, Error> {
        let node = self.node(event)?;
        match node.value {
            Value::Scalar(text) => Ok(text),
            Value::List(_) | Value::Map(_) => {
                Err(self
                    .error(ErrorKind::UnexpectedValue { expected: "a plain key".to_owned(), found: node.describe() }))
            }
        }
    }

    fn error(&self, kind: ErrorKind) -> Error {
        Error { line: self.line, path: ValuePath::default(), kind }
    }
}

/// Adds the key to an [`ErrorKind::MissingValue`] that has no path yet, because the line alone would not identify the
/// value.
fn with_key(key: &str, error: Error) -> Error {
    if error.path == ValuePath::default() && error.kind == ErrorKind::MissingValue {
        let path = error.path.child(key);
        return Error { path, ..error };
    }
    error
}

fn is_null(text: &str, style: ScalarStyle) -> bool {
    style == ScalarStyle::Plain && matches!(text, "" | "~" | "null")
}

fn syntax_error(error: &ScanError) -> Error {
    Error { line: error.marker().line(), path: ValuePath::default(), kind: ErrorKind::Yaml(error.info()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tree_keeps_lines_and_tags() {
        let tree = parse("# comment\nA: !Ref B\nC:\n  - 1.10\n  - !Sub '${D}'\n").unwrap();
        let a = tree.get("A").unwrap();
        assert_eq!((a.line, a.tag.as_deref()), (2, Some("Ref")));
        let Value::List(items) = &tree.get("C").unwrap().value else {
            panic!("not a list");
        };
        assert_eq!(items[0], Node::scalar(4, "1.10"));
        assert_eq!((items[1].line, items[1].tag.as_deref()), (5, Some("Sub")));
    }

    #[test]
    fn error_is_one_line_with_its_line_number() {
        for (text, expected) in [
            ("A: 1\nA: 2\n", "line 2: A is defined twice"),
            ("A:\n  B:\n", "line 2: B: has no value"),
            ("A: &x 1\nB: *x\n", "line 2: YAML aliases are not supported"),
            ("", "line 1: has no value"),
        ] {
            assert_eq!(parse(text).unwrap_err().to_string(), expected, "{text:?}");
        }
        let error = parse("A: [1, 2\nB: 3\n").unwrap_err();
        assert!(error.to_string().starts_with("line 2: "), "{error}");
        assert!(!error.to_string().contains('\n'), "{error}");
    }
}
