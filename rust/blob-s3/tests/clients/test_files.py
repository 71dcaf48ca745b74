"""The endpoint that the clients speak to has its blobs and names in files."""

import os

import pytest
from botocore.exceptions import BotoCoreError, ClientError

from conftest import Endpoint

MB = 1 << 20


def test_bodies_are_in_the_data_directory(endpoint, s3, bucket):
    body, absent = os.urandom(2 * MB), os.urandom(64)
    s3.put_object(Bucket=bucket, Key="k", Body=body)
    logs = [path.read_bytes() for path in (endpoint.data / "partitions").rglob("*") if path.is_file()]
    assert any(body[:64] in log for log in logs)
    assert not any(absent in log for log in logs)


def test_what_was_acknowledged_survives_a_kill(tmp_path):
    data = tmp_path / "data"
    endpoint = Endpoint(data)
    s3 = endpoint.client()
    s3.create_bucket(Bucket="kept")
    body = os.urandom(9 * MB)
    s3.put_object(Bucket="kept", Key="k", Body=body)
    upload = s3.create_multipart_upload(Bucket="kept", Key="parts")["UploadId"]
    first = s3.upload_part(Bucket="kept", Key="parts", UploadId=upload, PartNumber=1, Body=body)
    s3.delete_object(Bucket="kept", Key="absent")
    endpoint.program.kill()
    with pytest.raises((BotoCoreError, ClientError)):
        s3.get_object(Bucket="kept", Key="k")

    endpoint = Endpoint(data, endpoint.keys)
    s3 = endpoint.client()
    assert s3.get_object(Bucket="kept", Key="k")["Body"].read() == body
    second = s3.upload_part(Bucket="kept", Key="parts", UploadId=upload, PartNumber=2, Body=b"end")
    parts = [{"PartNumber": n, "ETag": part["ETag"]} for n, part in ((1, first), (2, second))]
    s3.complete_multipart_upload(Bucket="kept", Key="parts", UploadId=upload, MultipartUpload={"Parts": parts})
    assert s3.get_object(Bucket="kept", Key="parts")["Body"].read() == body + b"end"
    endpoint.program.stop()
