#!/usr/bin/env python3
"""Fails if the resources of a template depend on each other in a cycle, because CloudFormation rejects such a template.

    tests/template/dependency_cycles.py TEMPLATE...

Checks the template after the SAM transform, which makes an alias depend on its rollback alarms. cfn-lint checks the
template before the transform and therefore does not find such cycles.
"""

import logging
import re
import sys
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from samtranslator.translator.transform import transform
from samtranslator.yaml_helper import yaml_parse


class NoPolicies:
    """An empty list of managed policies. SAM loads the list, but the policies do not affect dependencies."""

    def load(self):
        return {}


def referenced_names(value):
    """Yields the names of the resources and parameters to which a part of a template refers."""
    if isinstance(value, list):
        for child in value:
            yield from referenced_names(child)
    elif isinstance(value, dict):
        for key, child in value.items():
            if key in ("Ref", "DependsOn"):
                yield from [child] if isinstance(child, str) else child
            elif key == "Fn::GetAtt":
                yield child.split(".")[0] if isinstance(child, str) else child[0]
            elif key == "Fn::Sub":
                text = child if isinstance(child, str) else child[0]
                yield from (name.split(".")[0] for name in re.findall(r"\$\{([^!}]+)\}", text))
            yield from referenced_names(child)


def check(path):
    """Returns the number of resources after the SAM transform. Exits with an error if there is a cycle."""
    template = yaml_parse(Path(path).read_text())
    for resource in template["Resources"].values():
        if resource["Type"] == "AWS::Serverless::Function":
            # `sam deploy` also replaces the local path with an S3 URL.
            resource["Properties"]["CodeUri"] = "s3://bucket/key"
    resources = transform(template, {}, NoPolicies())["Resources"]
    dependencies = {name: resources.keys() & set(referenced_names(resource)) - {name} for name, resource in resources.items()}
    try:
        TopologicalSorter(dependencies).prepare()
    except CycleError as error:
        sys.exit(f"{path}: dependency cycle: {' -> '.join(reversed(error.args[1]))}")
    return len(resources)


logging.disable()
for path in sys.argv[1:]:
    print(f"{path}: {check(path)} resources, no cycle")
