"""The container engine, and the image in which the functions run."""

import os
import pathlib
import re
import shutil
import subprocess
import tarfile
import tempfile
import time
from contextlib import contextmanager

START_SECONDS = 60
END_SECONDS = 60
# The image that SAM uses by itself. Debug binaries run in it if they were linked with at most its version of glibc.
AWS_IMAGE = "public.ecr.aws/lambda/provided:al2023-x86_64"
OWN_IMAGE = "switchboard-provided:x86_64"
# What the functions need, and what SAM needs to add its Runtime Interface Emulator to an image.
PROGRAMS = ["sh", "mv", "chmod"]
CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt"


class NoEngine(Exception):
    """The message says why there is no engine, and what to install."""


def is_running():
    return shutil.which("docker") is not None and is_successful(["docker", "info"])


@contextmanager
def engine(folder):
    """Uses the engine of this machine if it is running. Otherwise starts one until the context ends, with its images in
    a folder."""
    if is_running():
        yield
        return
    install(folder)
    # The paths of its sockets are short, because the length of a socket's path is limited.
    with tempfile.TemporaryDirectory(prefix="dockerd-") as state:
        os.environ["DOCKER_HOST"] = f"unix://{state}/docker.sock"
        options = ["--host", os.environ["DOCKER_HOST"], "--exec-root", f"{state}/exec", "--pidfile", f"{state}/pid"]
        command = ["dockerd", *options, "--data-root", folder / "docker"]
        with open(folder / "dockerd.log", "wb") as log:
            daemon = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)
        try:
            wait_until_running(daemon, folder)
            yield
        finally:
            end(daemon)


def end(process):
    """Ends a program. Kills it, and fails, if that takes too long."""
    # Not Ctrl-C's signal, which a shell makes its background programs ignore.
    process.terminate()
    try:
        process.wait(END_SECONDS)
    finally:
        process.kill()


def install(folder):
    if shutil.which("docker") and shutil.which("dockerd") and os.geteuid() == 0:
        return
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        raise NoEngine("no container engine is running; start Docker")
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    with open(folder / "apt-get.log", "wb") as log:
        options = {"env": environment, "stdout": log, "stderr": log, "check": False}
        for arguments in (["update"], ["install", "--yes", "--no-install-recommends", "docker.io"]):
            if subprocess.run(["apt-get", *arguments], **options).returncode != 0:
                raise NoEngine(f"apt-get cannot install docker.io, see {log.name}; start Docker on this machine")


def wait_until_running(daemon, folder):
    deadline = time.monotonic() + START_SECONDS
    while not is_running():
        if daemon.poll() is not None or time.monotonic() > deadline:
            raise NoEngine(f"dockerd does not start, see {folder}/dockerd.log; start Docker on this machine")
        time.sleep(0.1)


def image(binary):
    """Returns the image of AWS if it can be had and the binary starts in it, and otherwise an image of our own."""
    inspect = ["docker", "image", "inspect", AWS_IMAGE]
    if any(is_successful(command) for command in (inspect, ["docker", "pull", "--quiet", AWS_IMAGE])):
        volume = f"{binary}:/var/task/bootstrap:ro"
        run = ["docker", "run", "--rm", "--volume", volume, "--entrypoint", "/var/task/bootstrap", AWS_IMAGE]
        # Without the variables of Lambda, a function fails after the loader has found all libraries.
        done = subprocess.run(run, capture_output=True, text=True, check=False)
        if not re.search(r"GLIBC_\S+' not found", done.stderr):
            return AWS_IMAGE
    import_own_image(binary)
    return OWN_IMAGE


def is_successful(command):
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def import_own_image(binary):
    """Imports an image of the libraries that this machine has linked the binary with, and of a shell."""
    programs = [shutil.which(program) for program in PROGRAMS]
    files = {CERTIFICATES, *programs, *(library for program in [*programs, binary] for library in libraries(program))}
    changes = ["ENV LAMBDA_TASK_ROOT=/var/task", "ENV LAMBDA_RUNTIME_DIR=/var/runtime", "WORKDIR /var/task"]
    options = [option for change in changes for option in ("--change", change)]
    command = ["docker", "import", *options, "-", OWN_IMAGE]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as process:
        with tarfile.open(fileobj=process.stdin, mode="w|", dereference=True) as archive:
            # On many systems, these are links to folders in /usr.
            for folder in filter(os.path.islink, ("/bin", "/lib", "/lib64")):
                add_entry(archive, folder, tarfile.SYMTYPE, os.readlink(folder))
            for folder in ("/tmp", "/var/task", "/var/runtime", "/opt"):
                add_entry(archive, folder, tarfile.DIRTYPE)
            for file in sorted(map(pathlib.Path, files)):
                archive.add(file.parent.resolve() / file.name)
    if process.returncode != 0:
        raise RuntimeError(f"{' '.join(command)} failed")


def add_entry(archive, path, kind, target=""):
    entry = tarfile.TarInfo(path.lstrip("/"))
    entry.type, entry.linkname, entry.mode = kind, target, 0o777
    archive.addfile(entry)


def libraries(program):
    output = subprocess.run(["ldd", program], check=True, capture_output=True, text=True).stdout
    return re.findall(r"(/\S+) \(0x", output)
