"""Starts the program once, and makes keys of several rights."""

import os
import uuid

import boto3
import pytest
from botocore.config import Config

from program import PATIENCE, Program

RIGHTS = {
    "admin": ["--create-buckets"],
    "reader": ["--bucket", "*=read"],
    "writer": ["--bucket", "shared-bucket=read,write"],
}
ADMIN, READER, WRITER = RIGHTS


class Endpoint:
    """The program's S3 endpoint. `keys` are those of an earlier start on the same directory."""

    def __init__(self, data, keys=None, *options):
        self.program = Program(os.environ["AFTERBAY_BLOB_PROGRAM"], data, *options)
        self.data, self.url, self.address = data, self.program.url, self.program.address
        self.keys = keys or {user: self.program.key(user, *rights) for user, rights in RIGHTS.items()}

    def client(self, user=ADMIN, **config):
        access, secret = self.keys[user]
        return boto3.client(
            "s3",
            endpoint_url=self.url,
            aws_access_key_id=access,
            aws_secret_access_key=secret,
            region_name="us-east-1",
            config=Config(
                s3={"addressing_style": "path"},
                retries={"max_attempts": 1},
                connect_timeout=PATIENCE,
                read_timeout=PATIENCE,
                **config,
            ),
        )


@pytest.fixture(scope="session")
def endpoint(tmp_path_factory):
    endpoint = Endpoint(tmp_path_factory.mktemp("server") / "data")
    yield endpoint
    endpoint.program.stop()


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
        AWS_ACCESS_KEY_ID=endpoint.keys[ADMIN][0],
        AWS_SECRET_ACCESS_KEY=endpoint.keys[ADMIN][1],
        AWS_DEFAULT_REGION="us-east-1",
        AWS_ENDPOINT_URL=endpoint.url,
    )
