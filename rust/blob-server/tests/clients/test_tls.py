"""S3 over TLS with boto3 and awscli, and clients that do it wrong."""

import os
import shutil
import subprocess

import pytest
from botocore.exceptions import ClientError, SSLError

from program import PATIENCE


def test_boto3(server):
    s3 = server.s3()
    s3.create_bucket(Bucket="by-boto3")
    body = os.urandom(7 << 20)
    s3.put_object(Bucket="by-boto3", Key="large", Body=body)
    assert s3.get_object(Bucket="by-boto3", Key="large")["Body"].read() == body
    part = s3.get_object(Bucket="by-boto3", Key="large", Range="bytes=5000000-5000009")
    assert part["Body"].read() == body[5000000:5000010]


def test_awscli_with_a_bundle_of_certificates(server, tmp_path):
    access, secret = server.root
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "AWS_ACCESS_KEY_ID": access,
        "AWS_SECRET_ACCESS_KEY": secret,
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ENDPOINT_URL": "https://localhost:" + server.port,
    }

    def aws(*arguments, **more):
        command = [shutil.which("aws"), *arguments]
        return subprocess.run(command, env={**environment, **more}, capture_output=True, text=True, timeout=PATIENCE)

    (tmp_path / "file").write_bytes(os.urandom(20 << 20))
    bundle = {"AWS_CA_BUNDLE": server.certificate}
    for arguments in [
        ("s3", "mb", "s3://by-awscli"),
        ("s3", "cp", str(tmp_path / "file"), "s3://by-awscli/file"),
        ("s3", "cp", "s3://by-awscli/file", str(tmp_path / "copy")),
    ]:
        done = aws(*arguments, **bundle)
        assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "copy").read_bytes() == (tmp_path / "file").read_bytes()
    unknown = aws("s3", "ls")
    assert unknown.returncode != 0 and "CERTIFICATE_VERIFY_FAILED" in unknown.stderr, unknown.stderr


def test_without_tls_the_client_is_told(server):
    with pytest.raises(ClientError, match="https://"):
        server.s3(url="http://localhost:" + server.port).list_buckets()


def test_with_other_roots_the_client_refuses(server):
    import boto3

    s3 = boto3.client("s3", endpoint_url="https://localhost:" + server.port, aws_access_key_id="x",
                      aws_secret_access_key="y", region_name="us-east-1")
    with pytest.raises(SSLError):
        s3.list_buckets()
