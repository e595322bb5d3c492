//! The operations that return files: the console, the widget's scripts and the OpenAPI document.

use schemars::JsonSchema;
use serde::Serialize;

use crate::contract::{Failure, Operation, Security};
use crate::wire::fields::values::AnyObject;

const CACHED_ASSET: &str = "The file, compressed as Accept-Encoding allows. Its name changes with its content, so a \
                            client may cache it without limit.";
const LOADER_OF_WIDGET: &str = "The loader, compressed with gzip if Accept-Encoding allows it. An unknown or disabled \
                                widget has this response too: its script explains the mistake in the browser's console.";

pub(super) fn operations() -> Vec<Operation> {
    let file = |path, id, summary, tag| Operation::get(path, id, summary).secured_by(Security::Public).tagged(tag);
    vec![
        file("/openapi.json", "document", "This document", "Document")
            .describe("For code generators and API clients.")
            .answers::<OpenApiDocument>(200, "The document.")
            .cacheable(),
        file("/reference", "reference", "This document as a page", "Document")
            .describe("For readers. The page has no scripts and loads nothing.")
            .answers_as("text/html", 200, "The page, compressed as Accept-Encoding allows.")
            .cacheable(),
        file("/console", "consoleWithoutSlash", "The agents' console (same as /console/)", "Console")
            .describe(
                "Browsers resolve the addresses of the page's files against the path with the slash, so the page works \
                 with both.",
            )
            .answers_as("text/html", 200, "The page, compressed as Accept-Encoding allows.")
            .cacheable(),
        file("/console/", "console", "The agents' console", "Console")
            .describe(
                "The page is never cached; its files are cached for a year, because their names contain a hash of \
                 their content.",
            )
            .answers_as("text/html", 200, "The page, compressed as Accept-Encoding allows.")
            .cacheable(),
        file("/console/assets/{file}", "consoleAsset", "A script, style, icon or notice of the console", "Console")
            .describe("The name contains a hash of the content. An unknown name returns 404.")
            .answers_as("text/javascript", 200, CACHED_ASSET)
            .answers_as("text/css", 200, CACHED_ASSET)
            .answers_as("image/svg+xml", 200, CACHED_ASSET)
            .answers_as("application/manifest+json", 200, CACHED_ASSET)
            .answers_as("text/plain", 200, CACHED_ASSET)
            .cacheable()
            .fails(&[Failure::NotFound]),
        file("/widget.js", "widgetLoader", "The script that a page includes", "Widget")
            .describe(
                "A small script that loads the widget when the browser is idle. The script element names the widget in \
                 data-id, or the script's URL in the query parameter id.",
            )
            .answers_as(
                "text/javascript",
                200,
                "The loader, compressed as Accept-Encoding allows. It imports the widget.",
            )
            .cacheable(),
        file("/widget/{widget_id}", "widgetScript", "The script that a page includes, for one widget", "Widget")
            .describe(
                "The script of /widget.js with the widget's id, and with whether agents are online, so that the page \
                 knows it as soon as the script has run. Clients may keep it for one minute.",
            )
            .answers_as("text/javascript", 200, LOADER_OF_WIDGET)
            .cacheable(),
        file(
            "/script/widget/{widget_id}",
            "widgetScriptOfOtherProduct",
            "The same script, at the path that pages and packages of another product request",
            "Widget",
        )
        .describe("See /widget/{widget_id}.")
        .answers_as("text/javascript", 200, LOADER_OF_WIDGET)
        .cacheable(),
        file("/widget/assets/{file}", "widgetAsset", "A script or language file of the widget", "Widget")
            .describe("The name contains a hash of the content. An unknown name returns 404.")
            .answers_as("text/javascript", 200, CACHED_ASSET)
            .cacheable()
            .fails(&[Failure::NotFound]),
    ]
}

#[derive(Serialize, JsonSchema)]
#[schemars(extend("additionalProperties" = true))]
pub struct OpenApiDocument {
    openapi: String,
    paths: AnyObject,
}
