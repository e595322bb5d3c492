//! YAML as a tree that keeps lines and tags: CloudFormation's short forms (`!Ref Api`) are tags, and an
//! error is only useful with its line. Scalars stay text; what they mean depends on the property.

use granit_parser::{Event, Parser, ScalarStyle, ScanError, Span, StrInput, Tag};

use super::error::{Error, Place, Problem};

/// A value and where it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Node {
    pub line: usize,
    /// Without its exclamation mark.
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

    /// The child of a mapping; `None` also when this is no mapping.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entries().iter().find_map(|(name, node)| (name == key).then_some(node))
    }

    /// The text of a scalar; empty for anything else.
    pub fn as_text(&self) -> &str {
        match &self.value {
            Value::Scalar(text) => text,
            Value::List(_) | Value::Map(_) => "",
        }
    }

    /// The items of a list; none of anything else.
    pub fn items(&self) -> &[Node] {
        match &self.value {
            Value::List(items) => items,
            Value::Scalar(_) | Value::Map(_) => &[],
        }
    }

    /// The entries of a mapping; none of anything else.
    pub fn entries(&self) -> &[(String, Node)] {
        match &self.value {
            Value::Map(entries) => entries,
            Value::Scalar(_) | Value::List(_) => &[],
        }
    }

    /// The kind of value, in words.
    pub fn kind(&self) -> String {
        match &self.value {
            Value::Scalar(text) => format!("{text:?}"),
            Value::List(_) => "a list".to_owned(),
            Value::Map(_) => "a mapping".to_owned(),
        }
    }
}

impl Place {
    /// The error of a value that is not what this place takes.
    pub(super) fn expected(&self, what: &str, found: &Node) -> Error {
        let problem = Problem::Expected { expected: what.to_owned(), found: found.kind() };
        self.error(found.line, problem)
    }
}

/// The entries of a top-level section.
pub(super) fn entries<'t>(template: &'t Node, section: &str) -> impl Iterator<Item = &'t (String, Node)> {
    template.get(section).map(Node::entries).unwrap_or_default().iter()
}

/// Reads one document.
pub(super) fn parse(text: &str) -> Result<Node, Error> {
    let mut reader = Reader { events: Parser::new_from_str(text), line: 1 };
    let mut first = reader.next()?;
    while matches!(first, Event::StreamStart | Event::DocumentStart(..)) {
        first = reader.next()?;
    }
    reader.node(first)
}

struct Reader<'t> {
    events: Parser<'t, StrInput<'t>>,
    /// Of the event read last.
    line: usize,
}

impl<'t> Reader<'t> {
    fn next(&mut self) -> Result<Event<'t>, Error> {
        match self.events.next() {
            Some(Ok((event, span))) => {
                self.line = line(&span);
                Ok(event)
            }
            Some(Err(error)) => Err(not_yaml(&error)),
            None => Err(self.error(Problem::Null)),
        }
    }

    fn node(&mut self, event: Event<'t>) -> Result<Node, Error> {
        let line = self.line;
        let (tag, value) = match event {
            Event::Scalar(text, style, _, tag) => {
                if tag.is_none() && is_null(&text, style) {
                    return Err(self.error(Problem::Null));
                }
                (tag, Value::Scalar(text.into_owned()))
            }
            Event::SequenceStart(_, _, tag) => (tag, Value::List(self.list()?)),
            Event::MappingStart(_, _, tag) => (tag, Value::Map(self.map()?)),
            Event::Alias(_) | Event::UnresolvedAlias(_) | Event::Anchor(..) => {
                return Err(self.error(Problem::Alias));
            }
            // A place for a value that holds none, such as an empty document.
            Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(..)
            | Event::DocumentEnd
            | Event::SequenceEnd
            | Event::MappingEnd => return Err(self.error(Problem::Null)),
            // The parser may grow events.
            _ => return Err(self.error(Problem::Null)),
        };
        let tag = tag.as_deref().map(name);
        Ok(Node { line, tag, value })
    }

    fn list(&mut self) -> Result<Vec<Node>, Error> {
        let mut items = Vec::new();
        loop {
            let item = self.next()?;
            if matches!(item, Event::SequenceEnd) {
                return Ok(items);
            }
            items.push(self.node(item)?);
        }
    }

    fn map(&mut self) -> Result<Vec<(String, Node)>, Error> {
        let mut entries: Vec<(String, Node)> = Vec::new();
        loop {
            let key = self.next()?;
            if matches!(key, Event::MappingEnd) {
                return Ok(entries);
            }
            let key = self.key(key)?;
            if entries.iter().any(|(earlier, _)| *earlier == key) {
                return Err(self.error(Problem::Duplicate(key)));
            }
            let value = self.next()?;
            let value = self.node(value).map_err(|error| inside(&key, error))?;
            entries.push((key, value));
        }
    }

    fn key(&mut self, event: Event<'t>) -> Result<String, Error> {
        let node = self.node(event)?;
        match node.value {
            Value::Scalar(text) => Ok(text),
            Value::List(_) | Value::Map(_) => {
                Err(self.error(Problem::Expected { expected: "a plain key".to_owned(), found: node.kind() }))
            }
        }
    }

    fn error(&self, problem: Problem) -> Error {
        Error { line: self.line, place: Place::default(), problem }
    }
}

/// Names the innermost key of an error; its line finds the rest.
fn inside(key: &str, error: Error) -> Error {
    if error.place == Place::default() && error.problem == Problem::Null {
        let place = error.place.inner(key);
        return Error { place, ..error };
    }
    error
}

fn name(tag: &Tag) -> String {
    tag.suffix().to_owned()
}

fn is_null(text: &str, style: ScalarStyle) -> bool {
    style == ScalarStyle::Plain && matches!(text, "" | "~" | "null")
}

fn line(span: &Span) -> usize {
    span.start.line()
}

fn not_yaml(error: &ScanError) -> Error {
    Error { line: error.marker().line(), place: Place::default(), problem: Problem::Yaml(error.info()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_tags_are_kept() {
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
    fn mistakes_are_one_line_with_their_place() {
        for (text, expected) in [
            ("A: 1\nA: 2\n", "line 2: A is given twice"),
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
