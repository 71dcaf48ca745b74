"""Keys that are made while the server runs, with boto3."""

import json
import os

import pytest
from botocore.exceptions import ClientError

from conftest import key_of
from program import PATIENCE


def refusal(call, **arguments):
    with pytest.raises(ClientError) as raised:
        call(**arguments)
    return raised.value.response["Error"]["Code"]


@pytest.fixture(scope="module")
def buckets(server):
    root = server.s3()
    for bucket in ("shared-papers", "other-papers"):
        root.create_bucket(Bucket=bucket)
        root.put_object(Bucket=bucket, Key="a", Body=b"content")
    return root


def test_a_read_only_key(server, buckets, tmp_path):
    out = tmp_path / "reader.key"
    server.blob("key", "create", "reader", "--bucket", "shared-papers=read", "--out", str(out))
    s3 = server.s3(key_of(out.read_text()))
    assert s3.get_object(Bucket="shared-papers", Key="a")["Body"].read() == b"content"
    assert [b["Name"] for b in s3.list_buckets()["Buckets"]] == ["shared-papers"]
    assert refusal(s3.put_object, Bucket="shared-papers", Key="b", Body=b"") == "AccessDenied"
    assert refusal(s3.delete_object, Bucket="shared-papers", Key="a") == "AccessDenied"
    assert refusal(s3.get_object, Bucket="other-papers", Key="a") == "AccessDenied"
    assert refusal(s3.create_bucket, Bucket="another-one") == "AccessDenied"
    # The same key by the native protocol.
    assert server.blob("get", "shared-papers/a", "-", key_file=out) == "content"
    assert "right" in server.blob("get", "other-papers/a", "-", key_file=out, code=1)


def test_a_deleted_key(server, buckets):
    made = json.loads(server.blob("key", "create", "writer", "--bucket", "shared-papers=read,write", "--json"))
    s3 = server.s3((made["access_key"], made["secret_key"]))
    s3.put_object(Bucket="shared-papers", Key="by-writer", Body=os.urandom(1000))
    url = s3.generate_presigned_url("get_object", {"Bucket": "shared-papers", "Key": "by-writer"})
    server.blob("key", "delete", "writer")
    # The connection is the same one.
    assert refusal(s3.get_object, Bucket="shared-papers", Key="by-writer") == "InvalidAccessKeyId"
    import requests

    assert requests.get(url, verify=server.certificate, timeout=PATIENCE).status_code == 403
    assert buckets.head_object(Bucket="shared-papers", Key="by-writer")["ContentLength"] == 1000


def test_secrets_are_not_logged(server, buckets, tmp_path):
    out = tmp_path / "logged.key"
    server.blob("key", "create", "logged", "--bucket", "shared-papers=read", "--out", str(out))
    key = key_of(out.read_text())
    s3 = server.s3(key)
    s3.get_object(Bucket="shared-papers", Key="a")
    assert refusal(server.s3((key[0], "wrong")).list_buckets) == "SignatureDoesNotMatch"
    log = server.log.read_text()
    assert key[0] in log
    for secret in (key[1], server.root[1]):
        assert secret not in log
