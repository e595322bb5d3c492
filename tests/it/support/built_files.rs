//! The built files of the pages, and a comparison of the served files with them.

use std::collections::BTreeSet;
use std::path::PathBuf;

use local::cargo_build::workspace_root;
use reqwest::Method;
use reqwest::header::HeaderMap;

use crate::support::test_host::TestHost;

/// For each request: the value of the `Accept-Encoding` header, the expected `Content-Encoding` (`None` if the response
/// has no such header), and the extension of the built file.
const CODINGS: [(&str, Option<&str>, &str); 4] = [
    ("identity", None, ""),
    ("gzip", Some("gzip"), ".gz"),
    ("gzip, deflate, br", Some("br"), ".br"),
    ("br;q=0, gzip;q=0.5", Some("gzip"), ".gz"),
];

/// The built files of a page. The field is the name of the page's folder in `functions/www/dist`.
pub struct BuiltFiles(pub &'static str);

impl BuiltFiles {
    fn path(&self, path: &str) -> PathBuf {
        workspace_root().join("functions/www/dist").join(self.0).join(path)
    }

    /// Returns the file names of the built assets, excluding their compressed copies.
    pub fn assets(&self) -> BTreeSet<String> {
        let entries = std::fs::read_dir(self.path("assets")).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| !name.ends_with(".br") && !name.ends_with(".gz")).collect()
    }

    /// Requests a path with each content coding and compares each response body with the built file. Returns the
    /// headers of the last response.
    pub async fn fetch_and_compare(&self, host: &TestHost, path: &str, built: &str) -> HeaderMap {
        let mut last = HeaderMap::new();
        for (accepted, coding, extension) in CODINGS {
            let request = host.anonymous.request(Method::GET, path).header("accept-encoding", accepted);
            let response = request.send().await.unwrap();
            assert_eq!(response.status(), 200, "{path}");
            last = response.headers().clone();
            assert_eq!(header(&last, "content-encoding"), coding, "{path}, {accepted}");
            assert_eq!(header(&last, "vary"), Some("accept-encoding"), "{path}");
            let expected = std::fs::read(self.path(&format!("{built}{extension}"))).unwrap();
            assert!(response.bytes().await.unwrap() == expected, "{path} is not {built}{extension}");
        }
        last
    }
}

pub fn header<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name).map(|value| value.to_str().unwrap())
}
