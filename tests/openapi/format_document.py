"""Writes docs/openapi.json in its form: what fits into 120 columns is on one line. With --check it only looks."""

import json
import pathlib
import sys

DOCUMENT = pathlib.Path(__file__).resolve().parents[2] / "docs" / "openapi.json"


def written(value, indent=0, taken=0):
    """A value, of whose first line so many columns are taken."""
    line = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, (dict, list)) or indent + taken + len(line) < 120:
        return line
    margin = " " * (indent + 2)
    if isinstance(value, dict):
        names = {json.dumps(name): field for name, field in value.items()}
        parts = [f"{name}: {written(field, indent + 2, len(name) + 2)}" for name, field in names.items()]
    else:
        parts = [written(item, indent + 2) for item in value]
    ends = "{}" if isinstance(value, dict) else "[]"
    return ends[0] + "\n" + ",\n".join(margin + part for part in parts) + "\n" + " " * indent + ends[1]


text = DOCUMENT.read_text()
right = written(json.loads(text)) + "\n"
if "--check" not in sys.argv:
    DOCUMENT.write_text(right)
elif text != right:
    sys.exit("docs/openapi.json is not in its form: run tests/openapi/format.py")
