"""AWS's own SDK. It uses the local host's S3 with the access keys of functions, as the functions use it, and computes
the signature of the service's form for an upload."""

import functools
import json

import host
from judge import FULL_PYTHON_PROGRAMS, HERE, Finding, Judge, ask

# The functions that prepare uploads and take them over.
UPLOADER, SENDER = "AgentCreateUpload", "AgentSendMessage"


@functools.cache
def form():
    """Returns the fields of the form that an agent gets for a file."""
    account = host.Account()
    chat = account.open_chat(account.add_channel())
    account.call("POST", f"/agent/chats/{chat}/accept")
    file = {"file_name": "a.png", "type": "image/png", "file_size": 4}
    return account.call("POST", f"/agent/chats/{chat}/uploads", file)["file"]["fields"]


def credentials(function):
    variables = host.ready()["functions"][function]
    names = {"id": "AWS_ACCESS_KEY_ID", "secret": "AWS_SECRET_ACCESS_KEY", "region": "AWS_REGION"}
    return {name: variables[variable] for name, variable in names.items()}


def read():
    sender = host.ready()["functions"][SENDER]
    question = {
        "endpoint": sender["AWS_ENDPOINT_URL_S3"],
        "bucket": sender["FILES_BUCKET"],
        "uploader": credentials(UPLOADER),
        "sender": credentials(SENDER),
        "form": form(),
    }
    command = FULL_PYTHON_PROGRAMS / "python", HERE / "full" / "use_s3.py"
    wrong, failures = ask("boto3", *command, question=question)
    return failures or [Finding("unexpected", place, message) for place, message in wrong]


JUDGES = [Judge("boto3", "pypi:boto3", read, is_full=True)]
