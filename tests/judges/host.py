"""The local host with an account, and a server that receives what the service sends."""

import contextlib
import functools
import http.server
import json
import signal
import subprocess
import threading
import time
import urllib.request
import uuid

from judge import ROOT, TARGET

READY_FILE = TARGET / "ready.json"
START_SECONDS = 180
WAIT_SECONDS = 30
PASSWORD = "tulips in the spring rain"
SITE = "https://shop.example"


@contextlib.contextmanager
def running(*options):
    """Runs the local host from binaries that have been built before."""
    READY_FILE.unlink(missing_ok=True)
    command = [ROOT / "target" / "debug" / "switchboard", "--no-build", "--memory", "--port", "0"]
    with open(TARGET / "host.log", "wb") as log:
        host = subprocess.Popen([*command, *options, "--ready-file", READY_FILE], cwd=ROOT, stdout=log, stderr=log)
    try:
        deadline = time.monotonic() + START_SECONDS
        while not READY_FILE.exists():
            if host.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"the local host does not start, see {TARGET}/host.log")
            time.sleep(0.1)
        yield
    finally:
        host.send_signal(signal.SIGINT)
        try:
            host.wait(30)
        finally:
            host.kill()


@functools.cache
def ready():
    return json.loads(READY_FILE.read_text())


class NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}), NoRedirects)


def send(method, path, body=None, headers=None):
    """Sends a request. Returns the status, the headers and the body of the response."""
    url = path if path.startswith("http") else ready()["base_url"] + path
    data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
    headers = {"content-type": "application/json"} | (headers or {})
    try:
        with OPENER.open(urllib.request.Request(url, data, headers, method=method), timeout=30) as response:
            return response.status, response.headers, response.read()
    except urllib.error.HTTPError as error:
        return error.code, error.headers, error.read()


def call(method, path, body=None, token=None, headers=None):
    """Sends a request that must succeed. Returns the JSON of the response."""
    headers = (headers or {}) | ({"authorization": f"Bearer {token}"} if token else {})
    status, _, text = send(method, path, body, headers)
    if status >= 300:
        raise RuntimeError(f"{method} {path}: {status} {text.decode()}")
    return json.loads(text)


def wait_for(what, find):
    """Calls `find` until it returns something."""
    deadline = time.monotonic() + WAIT_SECONDS
    while not (found := find()):
        if time.monotonic() > deadline:
            raise RuntimeError(f"waited too long for {what}")
        time.sleep(0.05)
    return found


def serve(handle):
    """Starts a server that accepts every request after `handle` has got its path, its headers as pairs and its body.
    Returns the server's URL."""

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            handle(self.path, self.headers.items(), self.rfile.read(int(self.headers["content-length"])))
            answer = b'{"result":"ok"}'
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}"


class Receiver:
    """A server that accepts and records every request."""

    def __init__(self):
        self.requests = []
        self.url = serve(self.record)

    def record(self, path, headers, body):
        headers = {name.lower(): value for name, value in headers}
        self.requests.append({"path": path, "headers": headers, "body": body.decode()})

    def wait_for(self, path, after=0):
        """Returns the first request below a path, leaving out this number of requests."""
        found = lambda: [request for request in self.requests[after:] if request["path"].startswith(path)]
        return wait_for(f"a request to {path}", found)[0]


class Account:
    """An account with an agent who is online. Its channels, bots and webhooks send to one receiver."""

    def __init__(self):
        self.receiver = Receiver()
        admin = {"name": "Grace", "email": f"{uuid.uuid4()}@judges.example", "password": PASSWORD}
        account = {"name": "Judged", "admin": admin}
        self.id = call("POST", "/operator/accounts", account, ready()["operator_key"])["account_id"]
        self.token = call("POST", "/agent/login", admin)["token"]
        self.call("PUT", "/agent/presence", {"status": "online"})

    def call(self, method, path, body=None):
        return call(method, path, body, self.token)

    def add_channel(self, **fields):
        fields = {"name": "Shop", "integrator_url": f"{self.receiver.url}/channel"} | fields
        return self.call("POST", "/admin/channels", fields)

    def add_webhook(self, path="/webhook", **fields):
        return self.call("POST", "/admin/settings/webhooks", {"url": self.receiver.url + path} | fields)

    def add_bot(self, channel_id):
        """Returns the bot, with the path to which it sends its events."""
        provider = {"name": "Bots", "endpoint": f"{self.receiver.url}/bot"}
        provider_id = call("POST", "/operator/providers", provider, ready()["operator_key"])["provider_id"]
        fields = {"provider_id": provider_id, "channel_ids": [channel_id], "answer_within": None}
        bot = self.call("POST", "/admin/bots", fields)
        return bot | {"path": f"/bot/webhooks/{provider_id}/{bot['token']}"}

    def set_telephony(self, **fields):
        """Returns the URL to which the provider reports incoming calls."""
        fields = {"number": "+31201234567", "ring_seconds": 15} | fields
        return self.call("PATCH", "/admin/telephony", fields)["incoming_url"]

    def start_call(self):
        """Calls a new visitor."""
        path = f"/operator/accounts/{self.id}/call-balance"
        call("POST", path, {"minutes": 60, "reference": "payment"}, ready()["operator_key"])
        self.call("PATCH", "/admin/agents/1", {"phone": "+31611111111"})
        chat = self.open_chat(self.add_channel())
        self.call("POST", f"/agent/chats/{chat}/accept")
        self.call("POST", f"/agent/chats/{chat}/call", {"phone": "+31622222222"})

    def open_chat(self, channel):
        """Returns the number of the chat of a new visitor."""
        message = {"sender": {"id": str(uuid.uuid4())}, "message": {"type": "text", "text": "Hello"}}
        call("POST", channel["endpoint"], message)
        return self.call("GET", "/agent/chats?state=open&limit=1")["chats"][0]["chat_id"]
