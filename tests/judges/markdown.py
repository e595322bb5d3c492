"""The examples of CommonMark's specification, in the Markdown of the widget and the console."""

import shutil

from judge import HERE, NODE_PROGRAMS, ROOT, TARGET, Finding, Judge, ask, failure, run

PARSER = ROOT / "functions" / "www" / "widget" / "chat" / "markdown.ts"


def commonmark():
    folder = TARGET / "markdown"
    options = ["--target", "es2022", "--module", "commonjs", "--moduleResolution", "node10", "--outDir", folder]
    status, output, errors = run(NODE_PROGRAMS / "tsc", PARSER, *options)
    if status:
        return [failure("tsc", status, output, errors)]
    # The program finds the examples beside it.
    script = TARGET / "node" / "render_markdown.mjs"
    shutil.copy(HERE / "render_markdown.mjs", script)
    examples, failures = ask("render_markdown.mjs", "node", script, folder / "markdown.js", folder=TARGET)
    return failures or [
        Finding(each["rule"], f"example {each['number']}", f"\n  ours:   {each['ours']}\n  theirs: {each['theirs']}")
        for each in examples
    ]


JUDGES = [Judge("commonmark-spec", "npm:commonmark-spec", commonmark)]
