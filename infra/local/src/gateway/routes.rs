//! Which route a request takes: the most specific one, as on AWS.

use std::collections::BTreeMap;
use std::time::Duration;

use percent_encoding::percent_decode_str;

use crate::template::Function;

/// All routes, the most specific first.
pub(super) struct Routes(Vec<Route>);

pub(super) struct Route {
    /// Name of the function.
    pub function: String,
    /// Such as `GET /agent/chats/{chat_id}`.
    pub key: String,
    /// How long the function has.
    pub timeout: Duration,
    method: Option<String>,
    segments: Vec<Segment>,
}

/// The order of the variants is the order of precedence.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Segment {
    Fixed(String),
    Parameter(String),
    /// `{name+}`: everything that is left.
    Greedy(String),
}

/// A route and the values of its parameters.
pub(super) struct Target<'r> {
    pub route: &'r Route,
    pub parameters: BTreeMap<&'r str, String>,
}

impl Routes {
    pub fn new(functions: &[Function]) -> Self {
        let of = |function: &Function| -> Vec<Route> {
            let route = |route| Route::new(&function.name, route);
            function.routes.iter().map(route).collect()
        };
        let mut routes: Vec<Route> = functions.iter().flat_map(of).collect();
        routes.sort_by_key(Route::rank);
        Self(routes)
    }

    /// `path` as it came, percent-encoded.
    pub fn find(&self, method: &str, path: &str) -> Option<Target<'_>> {
        self.0.iter().find_map(|route| {
            let parameters = route.parameters(method, path)?;
            Some(Target { route, parameters })
        })
    }
}

impl Route {
    fn new(function: &str, route: &crate::template::Route) -> Self {
        let segments = match route.path.strip_prefix('/') {
            Some(path) => path.split('/').map(Segment::new).collect(),
            // $default: whatever comes.
            None => vec![Segment::Greedy(String::new())],
        };
        Self {
            function: function.to_owned(),
            key: route.key(),
            timeout: route.timeout,
            method: route.method.clone(),
            segments,
        }
    }

    /// The path decides before the method; `$default` comes last.
    fn rank(&self) -> (bool, Vec<u8>, bool) {
        let segments = self.segments.iter().map(Segment::rank).collect();
        (self.key == "$default", segments, self.method.is_none())
    }

    fn parameters(&self, method: &str, path: &str) -> Option<BTreeMap<&str, String>> {
        if self.method.as_deref().is_some_and(|own| own != method) {
            return None;
        }
        let mut rest = path.strip_prefix('/');
        let mut parameters = BTreeMap::new();
        for segment in &self.segments {
            let (first, after) = split(rest?);
            match segment {
                Segment::Fixed(text) => {
                    rest = (decoded(first) == *text).then_some(after)?;
                }
                Segment::Parameter(name) => {
                    rest = (!first.is_empty()).then_some(after)?;
                    parameters.insert(name.as_str(), decoded(first));
                }
                Segment::Greedy(name) => {
                    if !name.is_empty() {
                        parameters.insert(name.as_str(), decoded(rest?));
                    }
                    return Some(parameters);
                }
            }
        }
        rest.is_none().then_some(parameters)
    }
}

impl Segment {
    fn new(text: &str) -> Self {
        let name = text.strip_prefix('{').and_then(|text| text.strip_suffix('}'));
        match name.map(|name| (name, name.strip_suffix('+'))) {
            None => Self::Fixed(text.to_owned()),
            Some((name, None)) => Self::Parameter(name.to_owned()),
            Some((_, Some(name))) => Self::Greedy(name.to_owned()),
        }
    }

    fn rank(&self) -> u8 {
        match self {
            Self::Fixed(_) => 0,
            Self::Parameter(_) => 1,
            Self::Greedy(_) => 2,
        }
    }
}

/// The first segment and, when there are more, the rest.
fn split(path: &str) -> (&str, Option<&str>) {
    match path.split_once('/') {
        Some((first, rest)) => (first, Some(rest)),
        None => (path, None),
    }
}

fn decoded(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn routes(keys: &[&str]) -> Routes {
        let events: String = keys
            .iter()
            .enumerate()
            .map(|(index, key)| match key.split_once(' ') {
                Some((method, path)) => {
                    format!("        E{index}: {{Type: HttpApi, Properties: {{Method: {method}, Path: '{path}'}}}}\n")
                }
                None => format!("        E{index}: {{Type: HttpApi}}\n"),
            })
            .collect();
        let text = format!(
            "Resources:\n  F:\n    Type: AWS::Serverless::Function\n    Properties:\n      CodeUri: f/\n      Events:\n{events}"
        );
        let addresses = crate::template::Addresses { gateway: String::new(), queues: String::new() };
        let template = crate::template::Template::read(&text, &BTreeMap::new(), addresses).unwrap();
        Routes::new(&template.functions)
    }

    #[test]
    fn the_most_specific_route_wins() {
        let routes = routes(&[
            "$default",
            "ANY /{proxy+}",
            "ANY /chats/{id}",
            "GET /chats/{id}",
            "GET /chats/{id}/messages",
            "ANY /chats/open",
            "GET /console/{file+}",
        ]);
        for (method, path, key, parameters) in [
            ("GET", "/chats/7", "GET /chats/{id}", vec![("id", "7")]),
            ("PUT", "/chats/7", "ANY /chats/{id}", vec![("id", "7")]),
            ("GET", "/chats/open", "ANY /chats/open", vec![]),
            ("GET", "/chats/a%20b%2Fc", "GET /chats/{id}", vec![("id", "a b/c")]),
            ("GET", "/chats/7/messages", "GET /chats/{id}/messages", vec![("id", "7")]),
            ("GET", "/chats//messages", "ANY /{proxy+}", vec![("proxy", "chats//messages")]),
            ("GET", "/chats/7/", "ANY /{proxy+}", vec![("proxy", "chats/7/")]),
            ("GET", "/console/a/b.js", "GET /console/{file+}", vec![("file", "a/b.js")]),
            ("GET", "/", "ANY /{proxy+}", vec![("proxy", "")]),
        ] {
            let target = routes.find(method, path).unwrap();
            assert_eq!(target.route.key, key, "{method} {path}");
            let parameters = parameters.into_iter().map(|(k, v)| (k, v.to_owned())).collect();
            assert_eq!(target.parameters, parameters, "{method} {path}");
        }
    }

    #[test]
    fn what_no_route_has_is_not_found() {
        let routes = routes(&["GET /a/{b}"]);
        for (method, path) in [("POST", "/a/1"), ("GET", "/a"), ("GET", "/a/"), ("GET", "/a/1/2")] {
            assert!(routes.find(method, path).is_none(), "{method} {path}");
        }
    }

    #[test]
    fn the_default_route_takes_the_rest() {
        let routes = routes(&["GET /a", "$default"]);
        assert_eq!(routes.find("POST", "/a").unwrap().route.key, "$default");
    }
}
