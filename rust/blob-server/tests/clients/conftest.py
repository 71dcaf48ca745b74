"""Starts the program, with TLS, once."""

import os
import subprocess

import boto3
import pytest
from botocore.config import Config

from program import PATIENCE

PROGRAM = os.environ["AFTERBAY_BLOB_PROGRAM"]


def run_server(command, folder):
    """A server's process, and what it says when it is ready, by name. All of its log is in `folder`."""
    process = subprocess.Popen(
        command,
        env={"RUST_LOG": "trace", "PATH": os.environ["PATH"]},
        stdout=subprocess.PIPE,
        stderr=(folder / "log").open("w"),
        text=True,
    )
    said = {}
    for line in process.stdout:
        if line == "ready\n":
            break
        name, value = line.rsplit("  ", 1)
        said[name.strip()] = value.strip()
    return process, said


class Server:
    """A server that runs, and how to reach it."""

    def __init__(self, folder, before=()):
        """`before` is a command that becomes another one."""
        subprocess.run([os.environ["AFTERBAY_BLOB_CERTIFICATE"], str(folder)], check=True)
        self.folder = folder
        self.certificate = str(folder / "server.pem")
        self.log = folder / "log"
        self.process, said = run_server(
            [*before, PROGRAM, "serve", "--data", str(folder / "data"), "--admin", "127.0.0.1:0"]
            + ["--listen", "127.0.0.1:0", "--s3", "127.0.0.1:0"]
            + ["--tls-cert", self.certificate, "--tls-key", str(folder / "server-key.pem")],
            folder,
        )
        self.url = said["S3"]
        self.metrics = said["metrics"]
        self.port = self.url.rsplit(":", 1)[1]
        self.native = said["native protocol"].split()[0]
        self.root = key_of((folder / "data" / "root-key").read_text())

    def stop(self):
        self.process.terminate()
        assert self.process.wait(timeout=PATIENCE) == 0

    def blob(self, *arguments, key_file=None, code=0, **options):
        """A command of the program; its standard output, or its standard error if it is to fail."""
        environment = {
            "AFTERBAY_BLOB_SERVER": self.native,
            "AFTERBAY_BLOB_TLS_ROOTS": self.certificate,
            "AFTERBAY_BLOB_KEY_FILE": str(key_file or self.folder / "data" / "root-key"),
        }
        done = subprocess.run([PROGRAM, *arguments], env=environment, capture_output=True, text=True, timeout=PATIENCE, **options)
        assert done.returncode == code, done.stdout + done.stderr
        return done.stderr if code else done.stdout

    def s3(self, key=None, url=None, **config):
        access, secret = key or self.root
        return boto3.client(
            "s3",
            endpoint_url=url or "https://localhost:" + self.port,
            aws_access_key_id=access,
            aws_secret_access_key=secret,
            region_name="us-east-1",
            verify=self.certificate,
            config=Config(
                s3={"addressing_style": "path"},
                retries={"max_attempts": 0},
                connect_timeout=PATIENCE,
                read_timeout=PATIENCE,
                **config,
            ),
        )


def key_of(text):
    """The parts of a file with a key."""
    fields = dict(line.split(" = ") for line in text.splitlines())
    return fields["access-key"], fields["secret-key"]


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    server = Server(tmp_path_factory.mktemp("server"))
    yield server
    server.stop()
