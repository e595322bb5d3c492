"""A minimal runtime for Lambda's Runtime API: passes each event to the handler. The runtime that AWS ships does more
before the first event."""

import http.client
import json
import os

from channel_receive_message import handler

PATH = "/2018-06-01/runtime/invocation"


def main() -> None:
    connection = http.client.HTTPConnection(os.environ["AWS_LAMBDA_RUNTIME_API"])

    def request(method: str, path: str, body: bytes | None = None) -> tuple[str | None, bytes]:
        connection.request(method, f"{PATH}/{path}", body)
        answer = connection.getresponse()
        return answer.getheader("lambda-runtime-aws-request-id"), answer.read()

    while True:
        request_id, event = request("GET", "next")
        try:
            request("POST", f"{request_id}/response", json.dumps(handler(json.loads(event))).encode())
        except Exception as error:
            body = {"errorType": type(error).__name__, "errorMessage": str(error)}
            request("POST", f"{request_id}/error", json.dumps(body).encode())


main()
