"""Writes templates as CloudFormation gets them.

transform.py FOLDER TEMPLATE...
"""

import json
import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "template"))

from check_transformed import transformed

for path in sys.argv[2:]:
    (pathlib.Path(sys.argv[1]) / pathlib.Path(path).with_suffix(".json").name).write_text(json.dumps(transformed(path)))
