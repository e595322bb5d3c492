#!/usr/bin/env python3
"""Checks templates as CloudFormation gets them: after the SAM transform. `sam validate` sees only what comes before it.

    tests/template/check_transformed.py TEMPLATE...

Fails if a template has too many resources, if its resources depend on each other in a cycle, which CloudFormation
rejects, or if cfn-lint finds an error. The transform adds roles, permissions, versions, aliases and deployment groups,
and makes an alias depend on its rollback alarms.
"""

import json
import logging
import os
import re
import subprocess
import sys
import tempfile
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from samtranslator.translator.transform import transform
from samtranslator.yaml_helper import yaml_parse

# CloudFormation accepts 500 resources. The remaining ones are for an alarm or a queue that cannot wait for a smaller
# template.
MAX_RESOURCES = 490


class NoPolicies:
    """An empty list of managed policies. SAM loads the list, but the template does not use any of them."""

    def load(self):
        return {}


def transformed(path):
    """Returns the template after the SAM transform."""
    template = yaml_parse(Path(path).read_text())
    for resource in template["Resources"].values():
        if resource["Type"] == "AWS::Serverless::Function":
            # `sam deploy` also replaces the local path with an S3 URL.
            resource["Properties"]["CodeUri"] = "s3://bucket/key"
    return transform(template, {}, NoPolicies())


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


def check_cycles(resources):
    dependencies = {name: resources.keys() & set(referenced_names(resource)) - {name} for name, resource in resources.items()}
    try:
        TopologicalSorter(dependencies).prepare()
    except CycleError as error:
        sys.exit(f"dependency cycle: {' -> '.join(reversed(error.args[1]))}")


def lint(template):
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(template, file, indent=1)
        file.flush()
        if subprocess.run([Path(sys.executable).parent / "cfn-lint", file.name]).returncode != 0:
            sys.exit("cfn-lint failed")


def check(path):
    template = transformed(path)
    resources = template["Resources"]
    print(f"{path}: {len(resources)} resources after the SAM transform", flush=True)
    if len(resources) > MAX_RESOURCES:
        sys.exit(f"more than {MAX_RESOURCES} resources")
    check_cycles(resources)
    lint(template)


logging.disable()
# The transform needs a region to choose the partition of ARNs.
os.environ.setdefault("AWS_DEFAULT_REGION", "us-east-1")
if __name__ == "__main__":
    for path in sys.argv[1:]:
        check(path)
