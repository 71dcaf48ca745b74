"""S3 on a file system that is read-only, in a mount namespace of the server's own."""

import os
import subprocess

import pytest
from botocore.exceptions import ClientError

from conftest import Server

READ_ONLY = ["unshare", "-rm", "sh", "-c", 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"']


def test_gets_are_served_and_writes_refused(tmp_path):
    if subprocess.run(["unshare", "-rm", "true"], capture_output=True).returncode != 0:
        assert "CI" not in os.environ
        pytest.skip("no mount namespaces here")
    server = Server(tmp_path)
    s3 = server.s3()
    s3.create_bucket(Bucket="kept")
    s3.put_object(Bucket="kept", Key="a", Body=b"content")
    server.process.kill()
    server.process.wait()
    server = Server(tmp_path, READ_ONLY + [str(tmp_path / "data")])
    s3 = server.s3()
    assert s3.get_object(Bucket="kept", Key="a")["Body"].read() == b"content"
    assert [o["Key"] for o in s3.list_objects_v2(Bucket="kept")["Contents"]] == ["a"]
    for call, arguments in [
        (s3.put_object, {"Bucket": "kept", "Key": "b", "Body": b"x"}),
        (s3.delete_object, {"Bucket": "kept", "Key": "a"}),
        (s3.create_bucket, {"Bucket": "another"}),
        (s3.create_multipart_upload, {"Bucket": "kept", "Key": "c"}),
    ]:
        with pytest.raises(ClientError, match="read-only") as raised:
            call(**arguments)
        assert raised.value.response["ResponseMetadata"]["HTTPStatusCode"] == 507
    assert s3.get_object(Bucket="kept", Key="a")["Body"].read() == b"content"
    server.stop()
