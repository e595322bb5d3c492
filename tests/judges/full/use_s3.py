"""Reads the address and the access keys of an S3 from standard input and uses it as the functions of the service do.
Writes what went otherwise than with AWS, as pairs of a place and a message."""

import datetime
import json
import sys

import boto3
import urllib3
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.config import Config
from botocore.credentials import Credentials
from botocore.exceptions import ClientError

FILE = b"\x89PNG\r\n\x1a\n and more"
PENDING, SENT = "pending/boto3/file", "files/boto3/file"

question = json.load(sys.stdin)
bucket = question["bucket"]
http = urllib3.PoolManager()
wrong = []


def client(key, **changes):
    key = key | changes
    return boto3.client(
        "s3",
        endpoint_url=question["endpoint"],
        region_name=key["region"],
        aws_access_key_id=key["id"],
        aws_secret_access_key=key["secret"],
        config=Config(signature_version="s3v4", s3={"addressing_style": "path"}, retries={"max_attempts": 1}),
    )


def expect(place, found, expected):
    if found != expected:
        wrong.append((place, f"{found!r} instead of {expected!r}"))


def error_of(place, call, code):
    """The call must fail with this error of S3."""
    try:
        wrong.append((place, f"succeeded: {call()!r}"))
    except ClientError as error:
        expect(place, error.response["Error"]["Code"], code)


def post(key, body, content_type="image/png", sent_type="image/png"):
    """Sends a file with a form that permits the size of FILE and `content_type`. Returns the status."""
    fields = {"Content-Type": content_type, "x-amz-meta-name": "a.png"}
    conditions = [["content-length-range", len(FILE), len(FILE)]] + [{name: value} for name, value in fields.items()]
    form = client(key).generate_presigned_post(bucket, PENDING, fields, conditions, ExpiresIn=60)
    sent = form["fields"] | {"Content-Type": sent_type}
    return http.request("POST", form["url"], fields=sent | {"file": ("a.png", body, "image/png")}).status


uploader, sender = question["uploader"], question["sender"]
s3 = client(sender)
expect("form", post(uploader, FILE), 204)
expect("form with a larger file", post(uploader, FILE + b"x"), 400)
expect("form with a smaller file", post(uploader, FILE[:-1]), 400)
expect("form with another type", post(uploader, FILE, sent_type="text/html"), 403)
expect("form of a function that may not store files there", post(sender, FILE), 403)
expect("form with a wrong secret", post(uploader | {"secret": "wrong"}, FILE), 403)

part = s3.get_object(Bucket=bucket, Key=PENDING, Range="bytes=1-3")
expect("part", part["Body"].read(), FILE[1:4])
expect("range of a part", part["ContentRange"], f"bytes 1-3/{len(FILE)}")
expect("type", part["ContentType"], "image/png")
expect("name", part["Metadata"], {"name": "a.png"})

copied = {"Bucket": bucket, "Key": SENT, "CopySource": f"{bucket}/{PENDING}"}
served_as = {"MetadataDirective": "REPLACE", "ContentType": "image/png", "ContentDisposition": "inline"}
other_etag = lambda: s3.copy_object(**copied, CopySourceIfMatch='"0"', **served_as)
error_of("copy of another content", other_etag, "PreconditionFailed")
result = s3.copy_object(**copied, CopySourceIfMatch=part["ETag"], Metadata={"name": "b.png"}, **served_as)
head = s3.head_object(Bucket=bucket, Key=SENT)
expect("etag of the copy", head["ETag"], result["CopyObjectResult"]["ETag"])
expect("copy", (head["ContentLength"], head["ContentDisposition"], head["Metadata"]), (len(FILE), "inline", {"name": "b.png"}))
listed = s3.list_objects_v2(Bucket=bucket, Prefix="files/boto3/")
expect("list", [(item["Key"], item["Size"]) for item in listed["Contents"]], [(SENT, len(FILE))])

url = s3.generate_presigned_url("get_object", {"Bucket": bucket, "Key": SENT}, ExpiresIn=60)
expect("signed URL", http.request("GET", url).data, FILE)
expect("signed URL for another time", http.request("GET", url.replace("Expires=60", "Expires=61")).status, 403)
expect("unsigned URL", http.request("GET", url.split("?")[0]).status, 403)

for key in (PENDING, SENT):
    s3.delete_object(Bucket=bucket, Key=key)
    error_of("deleted file", lambda: s3.get_object(Bucket=bucket, Key=key), "NoSuchKey")
s3.delete_object(Bucket=bucket, Key=SENT)
error_of("function without the permission", lambda: client(uploader).get_object(Bucket=bucket, Key=SENT), "AccessDenied")
forged = client(sender, secret="wrong")
error_of("wrong secret", lambda: forged.get_object(Bucket=bucket, Key=SENT), "SignatureDoesNotMatch")

fields = {name.lower(): value for name, value in question["form"].items()}
request = AWSRequest()
request.context["timestamp"] = fields["x-amz-date"]
auth = SigV4Auth(Credentials(uploader["id"], uploader["secret"]), "s3", uploader["region"])
expect("signature of the service's form", fields["x-amz-signature"], auth.signature(fields["policy"], request))
signed_at = datetime.datetime.strptime(fields["x-amz-date"], "%Y%m%dT%H%M%SZ")
expect("scope", fields["x-amz-credential"], f"{uploader['id']}/{signed_at:%Y%m%d}/{uploader['region']}/s3/aws4_request")

print(json.dumps(wrong))
