#!/usr/bin/env python3
"""Fails when resources of a template need each other in a circle, which CloudFormation refuses.

    tests/template/circles.py TEMPLATE...

Looks at what SAM makes of the template, where an alias needs the alarms that may roll it back. cfn-lint looks for circles
too, but not through what SAM has yet to transform.
"""

import logging
import re
import sys
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from samtranslator.translator.transform import transform
from samtranslator.yaml_helper import yaml_parse


class NoPolicies:
    """SAM asks for the managed policies of the account; their names are all that matters here."""

    def load(self):
        return {}


def named(value):
    """The names that a part of a template refers to."""
    if isinstance(value, list):
        for inner in value:
            yield from named(inner)
    elif isinstance(value, dict):
        for key, inner in value.items():
            if key in ("Ref", "DependsOn"):
                yield from [inner] if isinstance(inner, str) else inner
            elif key == "Fn::GetAtt":
                yield inner.split(".")[0] if isinstance(inner, str) else inner[0]
            elif key == "Fn::Sub":
                text = inner if isinstance(inner, str) else inner[0]
                yield from (name.split(".")[0] for name in re.findall(r"\$\{([^!}]+)\}", text))
            yield from named(inner)


def check(path):
    """How many resources SAM makes of the template; exits when some of them need each other."""
    template = yaml_parse(Path(path).read_text())
    for resource in template["Resources"].values():
        if resource["Type"] == "AWS::Serverless::Function":
            # As after the upload of `sam deploy`.
            resource["Properties"]["CodeUri"] = "s3://bucket/key"
    resources = transform(template, {}, NoPolicies())["Resources"]
    needs = {name: resources.keys() & set(named(resource)) - {name} for name, resource in resources.items()}
    try:
        TopologicalSorter(needs).prepare()
    except CycleError as circle:
        sys.exit(f"{path}: these need each other: {' -> '.join(reversed(circle.args[1]))}")
    return len(resources)


logging.disable()
for path in sys.argv[1:]:
    print(f"{path}: {check(path)} resources, no circle")
