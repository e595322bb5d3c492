"""Formats docs/openapi.json so that a value that fits into 120 columns is on one line.

With --check, only checks that the file is formatted.
"""

import json
import pathlib
import sys

DOCUMENT = pathlib.Path(__file__).resolve().parents[2] / "docs" / "openapi.json"


def formatted(value, indent=0, used_columns=0):
    """Formats a value. `used_columns` is the width of the text that precedes the value on its first line."""
    line = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, (dict, list)) or indent + used_columns + len(line) < 120:
        return line
    margin = " " * (indent + 2)
    if isinstance(value, dict):
        names = {json.dumps(name): field for name, field in value.items()}
        parts = [f"{name}: {formatted(field, indent + 2, len(name) + 2)}" for name, field in names.items()]
    else:
        parts = [formatted(item, indent + 2) for item in value]
    brackets = "{}" if isinstance(value, dict) else "[]"
    return brackets[0] + "\n" + ",\n".join(margin + part for part in parts) + "\n" + " " * indent + brackets[1]


text = DOCUMENT.read_text()
expected = formatted(json.loads(text)) + "\n"
if "--check" not in sys.argv:
    DOCUMENT.write_text(expected)
elif text != expected:
    sys.exit("docs/openapi.json is not formatted: run tests/openapi/format_document.py")
