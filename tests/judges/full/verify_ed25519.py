"""Reads requests from standard input. Writes for each one why no signature `v1a` of it is right, or null."""

import base64
import json
import sys

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey


def rejection(case):
    headers = case["headers"]
    key = Ed25519PublicKey.from_public_bytes(base64.b64decode(case["secret"].removeprefix("whpk_")))
    content = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.{case['body']}".encode()
    signatures = [signature.split(",", 1) for signature in headers["webhook-signature"].split()]
    for value in (value for version, value in signatures if version == "v1a"):
        try:
            key.verify(base64.b64decode(value), content)
            return None
        except InvalidSignature:
            continue
    return f"no signature is right: {[version for version, _ in signatures]}"


print(json.dumps([rejection(case) for case in json.load(sys.stdin)]))
