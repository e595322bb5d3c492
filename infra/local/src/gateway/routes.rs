//! Finds the route for a request. As on AWS, the most specific matching route wins.

use std::collections::BTreeMap;
use std::time::Duration;

use percent_encoding::percent_decode_str;

use crate::template::Function;

/// The routes of all functions, in order of precedence.
pub(super) struct Routes(Vec<CompiledRoute>);

pub(super) struct CompiledRoute {
    pub function: String,
    /// The route key, such as `GET /agent/chats/{chat_id}`.
    pub key: String,
    /// How long the gateway waits for the function.
    pub timeout: Duration,
    /// The method to match. `None` matches any method.
    method: Option<String>,
    segments: Vec<Segment>,
}

enum Segment {
    Literal(String),
    Parameter(String),
    /// `{name+}`, which matches the rest of the path.
    Greedy(String),
}

/// The route for a request, with the decoded values of its path parameters.
pub(super) struct RouteMatch<'r> {
    pub route: &'r CompiledRoute,
    pub parameters: BTreeMap<&'r str, String>,
}

impl Routes {
    pub fn new(functions: &[Function]) -> Self {
        let routes_of = |function: &Function| -> Vec<CompiledRoute> {
            let route = |route| CompiledRoute::new(&function.name, route);
            function.routes.iter().map(route).collect()
        };
        let mut routes: Vec<CompiledRoute> = functions.iter().flat_map(routes_of).collect();
        routes.sort_by_key(CompiledRoute::precedence);
        Self(routes)
    }

    /// Finds the route for a percent-encoded path. Returns `None` if no route matches.
    pub fn find(&self, method: &str, path: &str) -> Option<RouteMatch<'_>> {
        self.0.iter().find_map(|route| {
            let parameters = route.match_request(method, path)?;
            Some(RouteMatch { route, parameters })
        })
    }
}

impl CompiledRoute {
    fn new(function: &str, route: &crate::template::Route) -> Self {
        let segments = match route.path.strip_prefix('/') {
            Some(path) => path.split('/').map(Segment::new).collect(),
            // $default matches every path.
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

    /// Returns the route's sort key. `$default` comes last. The other routes are sorted by the kinds of their segments:
    /// literal, parameter, greedy. If the kinds are equal, a route with a method comes before a route for any method.
    fn precedence(&self) -> (bool, Vec<u8>, bool) {
        let segments = self.segments.iter().map(Segment::precedence).collect();
        (self.key == "$default", segments, self.method.is_none())
    }

    /// Returns the path parameters, or `None` if the route does not match.
    fn match_request(&self, method: &str, path: &str) -> Option<BTreeMap<&str, String>> {
        if self.method.as_deref().is_some_and(|expected| expected != method) {
            return None;
        }
        let mut rest = path.strip_prefix('/');
        let mut parameters = BTreeMap::new();
        for segment in &self.segments {
            let (first, after) = split_first_segment(rest?);
            match segment {
                Segment::Literal(text) => {
                    rest = (decode(first) == *text).then_some(after)?;
                }
                Segment::Parameter(name) => {
                    rest = (!first.is_empty()).then_some(after)?;
                    parameters.insert(name.as_str(), decode(first));
                }
                Segment::Greedy(name) => {
                    if !name.is_empty() {
                        parameters.insert(name.as_str(), decode(rest?));
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
            None => Self::Literal(text.to_owned()),
            Some((name, None)) => Self::Parameter(name.to_owned()),
            Some((_, Some(name))) => Self::Greedy(name.to_owned()),
        }
    }

    fn precedence(&self) -> u8 {
        match self {
            Self::Literal(_) => 0,
            Self::Parameter(_) => 1,
            Self::Greedy(_) => 2,
        }
    }
}

/// Returns the first segment and the rest of the path. The rest is `None` if the segment is the last one.
fn split_first_segment(path: &str) -> (&str, Option<&str>) {
    match path.split_once('/') {
        Some((first, rest)) => (first, Some(rest)),
        None => (path, None),
    }
}

fn decode(text: &str) -> String {
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
    fn most_specific_route_wins() {
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
            let found = routes.find(method, path).unwrap();
            assert_eq!(found.route.key, key, "{method} {path}");
            let parameters = parameters.into_iter().map(|(k, v)| (k, v.to_owned())).collect();
            assert_eq!(found.parameters, parameters, "{method} {path}");
        }
    }

    #[test]
    fn unmatched_request_has_no_route() {
        let routes = routes(&["GET /a/{b}"]);
        for (method, path) in [("POST", "/a/1"), ("GET", "/a"), ("GET", "/a/"), ("GET", "/a/1/2")] {
            assert!(routes.find(method, path).is_none(), "{method} {path}");
        }
    }

    #[test]
    fn default_route_matches_all_other_requests() {
        let routes = routes(&["GET /a", "$default"]);
        assert_eq!(routes.find("POST", "/a").unwrap().route.key, "$default");
    }
}
