"""Starts the endpoint once, with keys of several rights."""

import os
import subprocess
import uuid

import boto3
import pytest
from botocore.config import Config

SECRETS = {
    "ADMINADMINADMIN00001": ("root-secret-0123456789", "admin", "create"),
    "READERREADERREADER01": ("read-secret-0123456789", "reader", "*=r"),
    "WRITERWRITERWRITER01": ("write-secret-012345678", "writer", "shared-bucket=rw"),
}
ADMIN, READER, WRITER = SECRETS


class Endpoint:
    def __init__(self, address, data):
        self.address = address
        self.data = data
        self.url = "http://" + address

    def client(self, key=ADMIN, **config):
        return boto3.client(
            "s3",
            endpoint_url=self.url,
            aws_access_key_id=key,
            aws_secret_access_key=SECRETS[key][0],
            region_name="us-east-1",
            config=Config(s3={"addressing_style": "path"}, retries={"max_attempts": 1}, **config),
        )


def start(data):
    keys = [":".join((key, secret, user, rights)) for key, (secret, user, rights) in SECRETS.items()]
    process = subprocess.Popen(
        [os.environ["AFTERBAY_S3_ENDPOINT"], str(data)] + keys,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    return process, Endpoint(process.stdout.readline().strip(), data)


@pytest.fixture(scope="session")
def endpoint(tmp_path_factory):
    process, endpoint = start(tmp_path_factory.mktemp("data"))
    yield endpoint
    process.stdin.close()
    assert process.wait(timeout=30) == 0


@pytest.fixture
def s3(endpoint):
    return endpoint.client()


@pytest.fixture
def bucket(s3):
    name = "b-" + uuid.uuid4().hex[:12]
    s3.create_bucket(Bucket=name)
    yield name
    while True:
        listed = s3.list_object_versions(Bucket=name).get("Versions", [])
        if not listed:
            break
        s3.delete_objects(Bucket=name, Delete={"Objects": [{"Key": v["Key"]} for v in listed]})
    s3.delete_bucket(Bucket=name)


@pytest.fixture
def environment(endpoint, tmp_path):
    """What the command line clients read."""
    # Certificates of the machine mean nothing to an endpoint without TLS, and rclone stumbles over them.
    inherited = {name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL") if name in os.environ}
    return dict(
        inherited,
        HOME=str(tmp_path),
        AWS_ACCESS_KEY_ID=ADMIN,
        AWS_SECRET_ACCESS_KEY=SECRETS[ADMIN][0],
        AWS_DEFAULT_REGION="us-east-1",
        AWS_ENDPOINT_URL=endpoint.url,
    )
