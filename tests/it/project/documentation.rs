//! Checks the pages in Markdown: their links, and the JSON samples that name a schema of `docs/openapi.json`. Also
//! checks the examples in this document.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use local::cargo_build::workspace_root;
use serde_json::Value;

use crate::project::openapi_contract::{DOCUMENT, schema_errors};

/// Folders that contain pages of this project.
const FOLDERS: [&str; 4] = [".", "docs", "docs/examples", "functions/www"];

fn pages() -> BTreeMap<PathBuf, String> {
    let files = FOLDERS.iter().flat_map(|folder| fs::read_dir(workspace_root().join(folder)).unwrap());
    let paths = files.map(|file| file.unwrap().path().canonicalize().unwrap());
    let pages = paths.filter(|path| path.extension().is_some_and(|extension| extension == "md"));
    pages.map(|path| (path.clone(), fs::read_to_string(path).unwrap())).collect()
}

/// Returns the lines that are not in a block of code, and without code in the text.
fn prose(page: &str) -> String {
    let blocks = page.split("\n```").enumerate();
    let outside = blocks.filter(|(index, _)| index % 2 == 0).map(|(_, block)| block);
    outside.collect::<Vec<_>>().join("\n").split('`').step_by(2).collect::<Vec<_>>().join("``")
}

/// Returns the anchors of a page's headings, as GitHub names them.
fn anchors(page: &str) -> BTreeSet<String> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let blocks = page.split("\n```").step_by(2).collect::<Vec<_>>().join("\n");
    let headings = blocks.lines().filter(|line| line.starts_with('#')).map(|line| line.trim_start_matches('#').trim());
    let anchor = |heading: &str| {
        let kept = heading.to_lowercase();
        let kept = kept.chars().filter(|char| char.is_alphanumeric() || matches!(char, ' ' | '-' | '_'));
        kept.collect::<String>().replace(' ', "-")
    };
    let unique = |anchor: String| {
        let count = counts.entry(anchor.clone()).or_default();
        *count += 1;
        if *count == 1 { anchor } else { format!("{anchor}-{}", *count - 1) }
    };
    headings.map(anchor).map(unique).collect()
}

fn links(prose: &str) -> impl Iterator<Item = &str> {
    prose.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(link, _)| link)
}

/// Returns why a link is broken, or `None`.
fn broken(link: &str, from: &Path, pages: &BTreeMap<PathBuf, String>) -> Option<String> {
    if link.contains("://") {
        return None;
    }
    let (path, anchor) = link.split_once('#').map_or((link, None), |(path, anchor)| (path, Some(anchor)));
    let target = if path.is_empty() { from.to_owned() } else { from.parent().unwrap().join(path) };
    let Ok(target) = target.canonicalize() else { return Some("there is no such file".into()) };
    let is_known = |anchor: &str| pages.get(&target).is_some_and(|page| anchors(page).contains(anchor));
    anchor.filter(|anchor| !is_known(anchor)).map(|anchor| format!("there is no heading {anchor}"))
}

#[test]
fn links_and_anchors_of_all_pages_exist() {
    let pages = pages();
    let mut checked = 0;
    let mut problems = Vec::new();
    for (path, text) in &pages {
        for link in links(&prose(text)) {
            checked += 1;
            problems.extend(broken(link, path, &pages).map(|reason| format!("{}: {link}: {reason}", path.display())));
        }
    }
    assert!(problems.is_empty() && checked > 100, "{checked} links: {problems:#?}");
}

#[test]
fn json_samples_of_the_pages_match_their_schemas() {
    let mut checked = 0;
    for (path, text) in pages() {
        for sample in text.split("<!-- schema: ").skip(1) {
            let (name, rest) =
                sample.split_once(" -->\n```json\n").unwrap_or_else(|| panic!("{}: {sample}", path.display()));
            let json = rest.split_once("\n```").unwrap().0;
            let value: Value = serde_json::from_str(json).unwrap_or_else(|error| panic!("{error}: {json}"));
            let errors = schema_errors("closed", &format!("/components/schemas/{name}"), &value);
            assert!(errors.is_empty(), "{}: {name}: {errors:?}: {json}", path.display());
            checked += 1;
        }
    }
    assert!(checked > 20, "{checked} samples");
}

/// Calls `check` with the pointer of each schema that has examples beside it, and the examples.
fn visit_examples(node: &Value, pointer: &str, check: &mut impl FnMut(&str, &Value)) {
    if let (Some(schema), Some(examples)) = (node.get("schema"), node.get("examples").and_then(Value::as_object)) {
        assert!(schema.is_object());
        examples.values().for_each(|example| check(&format!("{pointer}/schema"), &example["value"]));
    }
    match node {
        Value::Object(fields) => {
            for (name, value) in fields {
                visit_examples(value, &format!("{pointer}/{}", name.replace('~', "~0").replace('/', "~1")), check);
            }
        }
        Value::Array(items) => {
            for (index, value) in items.iter().enumerate() {
                visit_examples(value, &format!("{pointer}/{index}"), check);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[test]
fn examples_of_the_document_match_their_schemas() {
    let mut checked = 0;
    visit_examples(&DOCUMENT, "", &mut |pointer, example| {
        let errors = schema_errors("closed", pointer, example);
        assert!(errors.is_empty(), "{pointer}: {errors:?}: {example}");
        checked += 1;
    });
    assert!(checked > 50, "{checked} examples");
}

/// The interfaces that customers call or implement. Their bodies are easiest to understand by an example.
const TAGS_WITH_EXAMPLES: [&str; 4] = ["Channel API", "Bot API", "Webhooks", "Widget"];

#[test]
fn operations_of_customers_have_a_description_and_an_example_of_their_body() {
    let sections = ["paths", "webhooks"].map(|section| DOCUMENT[section].as_object().unwrap());
    for (path, item) in sections.into_iter().flatten() {
        for (method, operation) in item.as_object().unwrap().iter().filter(|(_, it)| it["operationId"].is_string()) {
            assert!(operation["description"].is_string(), "{method} {path} has no description");
            let content = &operation["requestBody"]["content"]["application/json"];
            let needs_example = TAGS_WITH_EXAMPLES.iter().any(|tag| operation["tags"][0] == *tag);
            if content.is_object() && needs_example {
                assert!(content["examples"].is_object(), "{method} {path} has no example");
            }
        }
    }
}
