import base64
import hashlib
import os
import threading
import zlib

import pytest
import requests
from botocore.auth import S3SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from botocore.exceptions import ClientError, MissingDependencyException
from boto3.s3.transfer import TransferConfig

from conftest import ADMIN, READER, WRITER

MB = 1 << 20


def code(error):
    return error.value.response["Error"]["Code"]


def status(error):
    return error.value.response["ResponseMetadata"]["HTTPStatusCode"]


def test_put_get_head_delete(s3, bucket):
    body = os.urandom(100_000)
    put = s3.put_object(
        Bucket=bucket, Key="a b/ü+%.bin", Body=body, ContentType="image/png", Metadata={"colour": "red"}
    )
    assert put["ETag"] == '"%s"' % hashlib.md5(body).hexdigest()
    got = s3.get_object(Bucket=bucket, Key="a b/ü+%.bin")
    assert got["Body"].read() == body
    assert (got["ContentType"], got["Metadata"]) == ("image/png", {"colour": "red"})
    head = s3.head_object(Bucket=bucket, Key="a b/ü+%.bin")
    assert (head["ContentLength"], head["ETag"]) == (len(body), put["ETag"])
    s3.delete_object(Bucket=bucket, Key="a b/ü+%.bin")
    with pytest.raises(ClientError) as error:
        s3.get_object(Bucket=bucket, Key="a b/ü+%.bin")
    assert code(error) == "NoSuchKey"


@pytest.mark.parametrize("size", [0, 1, 16 * 1024, 16 * 1024 + 1, 4 * MB, 4 * MB + 1, 13 * MB])
def test_sizes_and_ranges(s3, bucket, size):
    body = os.urandom(size)
    s3.put_object(Bucket=bucket, Key="k", Body=body)
    assert s3.get_object(Bucket=bucket, Key="k")["Body"].read() == body
    if size > 10:
        for first, last in [(0, 0), (3, 9), (size // 2, size - 1), (size - 3, size + 100)]:
            got = s3.get_object(Bucket=bucket, Key="k", Range="bytes=%d-%d" % (first, last))
            assert got["ResponseMetadata"]["HTTPStatusCode"] == 206
            assert got["Body"].read() == body[first : last + 1]
        assert s3.get_object(Bucket=bucket, Key="k", Range="bytes=-5")["Body"].read() == body[-5:]
    with pytest.raises(ClientError) as error:
        s3.get_object(Bucket=bucket, Key="k", Range="bytes=%d-" % size)
    assert status(error) == 416


@pytest.mark.parametrize("algorithm", ["CRC32", "CRC32C", "CRC64NVME", "SHA1", "SHA256"])
def test_checksums(s3, bucket, algorithm):
    field = "Checksum" + algorithm
    try:
        put = s3.put_object(Bucket=bucket, Key="k", Body=b"hello", ChecksumAlgorithm=algorithm)
    except MissingDependencyException:
        pytest.skip("not run: boto3 needs botocore[crt] for " + algorithm)
    head = s3.head_object(Bucket=bucket, Key="k", ChecksumMode="ENABLED")
    assert put[field] and head[field] == put[field]
    with pytest.raises(ClientError) as error:
        s3.put_object(Bucket=bucket, Key="k", Body=b"other", **{field: put[field]})
    assert code(error) == "BadDigest"
    assert s3.get_object(Bucket=bucket, Key="k")["Body"].read() == b"hello"


def test_a_wrong_md5_stores_nothing(s3, bucket):
    wrong = base64.b64encode(hashlib.md5(b"other").digest()).decode()
    with pytest.raises(ClientError) as error:
        s3.put_object(Bucket=bucket, Key="k", Body=b"hello", ContentMD5=wrong)
    assert code(error) == "BadDigest"
    assert "Contents" not in s3.list_objects_v2(Bucket=bucket)


def test_conditional_writes(s3, bucket):
    first = s3.put_object(Bucket=bucket, Key="k", Body=b"1", IfNoneMatch="*")
    with pytest.raises(ClientError) as error:
        s3.put_object(Bucket=bucket, Key="k", Body=b"2", IfNoneMatch="*")
    assert status(error) == 412
    s3.put_object(Bucket=bucket, Key="k", Body=b"3", IfMatch=first["ETag"])
    with pytest.raises(ClientError) as error:
        s3.put_object(Bucket=bucket, Key="k", Body=b"4", IfMatch=first["ETag"])
    assert code(error) == "PreconditionFailed"
    assert s3.get_object(Bucket=bucket, Key="k")["Body"].read() == b"3"


def test_only_one_of_many_creates(endpoint, bucket):
    created = []

    def create(number):
        try:
            endpoint.client().put_object(Bucket=bucket, Key="lock", Body=b"%d" % number, IfNoneMatch="*")
            created.append(number)
        except ClientError as error:
            assert error.response["Error"]["Code"] in ("PreconditionFailed", "ConditionalRequestConflict")

    threads = [threading.Thread(target=create, args=(n,)) for n in range(8)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert len(created) == 1


def test_multipart_upload_and_parts(s3, bucket):
    body = os.urandom(23 * MB)
    config = TransferConfig(multipart_threshold=5 * MB, multipart_chunksize=6 * MB, max_concurrency=3)
    path = "/dev/shm/afterbay-s3-%d" % os.getpid()
    try:
        with open(path, "wb") as file:
            file.write(body)
        s3.upload_file(path, bucket, "big", Config=config, ExtraArgs={"Metadata": {"a": "b"}})
        s3.download_file(bucket, "big", path, Config=config)
        with open(path, "rb") as file:
            assert file.read() == body
    finally:
        os.remove(path)
    md5s = [hashlib.md5(body[at : at + 6 * MB]).digest() for at in range(0, len(body), 6 * MB)]
    head = s3.head_object(Bucket=bucket, Key="big", PartNumber=2)
    assert head["ETag"] == '"%s-4"' % hashlib.md5(b"".join(md5s)).hexdigest()
    assert (head["ContentLength"], head["PartsCount"], head["Metadata"]) == (6 * MB, 4, {"a": "b"})
    assert s3.get_object(Bucket=bucket, Key="big", PartNumber=4)["Body"].read() == body[18 * MB :]
    across = s3.get_object(Bucket=bucket, Key="big", Range="bytes=%d-%d" % (6 * MB - 2, 12 * MB + 1))
    assert across["Body"].read() == body[6 * MB - 2 : 12 * MB + 2]


def test_aborted_uploads_are_gone(s3, bucket):
    upload = s3.create_multipart_upload(Bucket=bucket, Key="k")["UploadId"]
    part = s3.upload_part(Bucket=bucket, Key="k", UploadId=upload, PartNumber=1, Body=b"x")
    listed = s3.list_parts(Bucket=bucket, Key="k", UploadId=upload)["Parts"]
    assert [(p["PartNumber"], p["ETag"]) for p in listed] == [(1, part["ETag"])]
    assert [u["UploadId"] for u in s3.list_multipart_uploads(Bucket=bucket)["Uploads"]] == [upload]
    s3.abort_multipart_upload(Bucket=bucket, Key="k", UploadId=upload)
    assert "Uploads" not in s3.list_multipart_uploads(Bucket=bucket)
    with pytest.raises(ClientError) as error:
        s3.list_parts(Bucket=bucket, Key="k", UploadId=upload)
    assert code(error) == "NoSuchUpload"


def test_small_parts_and_wrong_ones_are_refused(s3, bucket):
    upload = s3.create_multipart_upload(Bucket=bucket, Key="k")["UploadId"]
    parts = [
        {"PartNumber": n, "ETag": s3.upload_part(Bucket=bucket, Key="k", UploadId=upload, PartNumber=n, Body=b"x")["ETag"]}
        for n in (1, 2)
    ]

    def complete(parts):
        with pytest.raises(ClientError) as error:
            s3.complete_multipart_upload(Bucket=bucket, Key="k", UploadId=upload, MultipartUpload={"Parts": parts})
        return code(error)

    assert complete(parts) == "EntityTooSmall"
    assert complete(parts[::-1]) == "InvalidPartOrder"
    assert complete([dict(parts[0], ETag='"%s"' % ("0" * 32))]) == "InvalidPart"
    s3.complete_multipart_upload(Bucket=bucket, Key="k", UploadId=upload, MultipartUpload={"Parts": parts[:1]})
    # Who did not hear the answer asks again.
    s3.complete_multipart_upload(Bucket=bucket, Key="k", UploadId=upload, MultipartUpload={"Parts": parts[:1]})


def test_listing(s3, bucket):
    keys = ["a", "b/1", "b/2", "c d", "e/ü"]
    for key in keys:
        s3.put_object(Bucket=bucket, Key=key, Body=b"")
    pages = s3.get_paginator("list_objects_v2").paginate(Bucket=bucket, PaginationConfig={"PageSize": 2})
    assert [o["Key"] for page in pages for o in page["Contents"]] == keys
    pages = list(s3.get_paginator("list_objects").paginate(Bucket=bucket, Delimiter="/", PaginationConfig={"PageSize": 1}))
    assert [o["Key"] for page in pages for o in page.get("Contents", [])] == ["a", "c d"]
    assert [p["Prefix"] for page in pages for p in page.get("CommonPrefixes", [])] == ["b/", "e/"]
    listed = s3.list_objects_v2(Bucket=bucket, Prefix="e/", EncodingType="url")
    assert [o["Key"] for o in listed["Contents"]] == ["e/%C3%BC"]
    assert len(s3.list_object_versions(Bucket=bucket)["Versions"]) == 5


def test_copies(s3, bucket):
    body = os.urandom(5 * MB + 7)
    s3.put_object(Bucket=bucket, Key="from ü", Body=body, ContentType="text/x", Metadata={"a": "1"})
    source = {"Bucket": bucket, "Key": "from ü"}
    s3.copy_object(Bucket=bucket, Key="to", CopySource=source)
    got = s3.get_object(Bucket=bucket, Key="to")
    assert (got["Body"].read(), got["ContentType"], got["Metadata"]) == (body, "text/x", {"a": "1"})
    s3.copy_object(
        Bucket=bucket, Key="to", CopySource={"Bucket": bucket, "Key": "to"}, MetadataDirective="REPLACE", Metadata={"b": "2"}
    )
    assert s3.head_object(Bucket=bucket, Key="to")["Metadata"] == {"b": "2"}
    with pytest.raises(ClientError) as error:
        s3.copy_object(Bucket=bucket, Key="to", CopySource={"Bucket": bucket, "Key": "to"})
    assert code(error) == "InvalidRequest"
    upload = s3.create_multipart_upload(Bucket=bucket, Key="parts")["UploadId"]
    part = s3.upload_part_copy(
        Bucket=bucket, Key="parts", UploadId=upload, PartNumber=1, CopySource=source, CopySourceRange="bytes=1-100"
    )
    s3.complete_multipart_upload(
        Bucket=bucket,
        Key="parts",
        UploadId=upload,
        MultipartUpload={"Parts": [{"PartNumber": 1, "ETag": part["CopyPartResult"]["ETag"]}]},
    )
    assert s3.get_object(Bucket=bucket, Key="parts")["Body"].read() == body[1:101]


def test_copies_with_conditions_on_their_target(s3, bucket):
    s3.put_object(Bucket=bucket, Key="from", Body=b"x")
    copy = {"Bucket": bucket, "Key": "to", "CopySource": {"Bucket": bucket, "Key": "from"}}
    s3.copy_object(IfNoneMatch="*", **copy)
    etag = s3.head_object(Bucket=bucket, Key="to")["ETag"]
    in_place = {"Bucket": bucket, "Key": "to", "CopySource": {"Bucket": bucket, "Key": "to"}, "MetadataDirective": "REPLACE"}
    for refused in [{"IfNoneMatch": "*"}, {"IfMatch": '"0123456789abcdef0123456789abcdef"'}]:
        for arguments in [copy, in_place]:
            with pytest.raises(ClientError) as error:
                s3.copy_object(**refused, **arguments)
            assert (status(error), code(error)) == (412, "PreconditionFailed")
    s3.copy_object(IfMatch=etag, **copy)
    s3.copy_object(IfMatch=etag, Metadata={"a": "1"}, **in_place)
    assert s3.head_object(Bucket=bucket, Key="to")["Metadata"] == {"a": "1"}


def forged(url):
    """The same URL with another first character in its signature."""
    before, signature = url.split("Signature=", 1)
    return before + "Signature=" + ("1" if signature[0] == "0" else "0") + signature[1:]


@pytest.mark.parametrize("version", ["s3v4", "s3"])
def test_presigned_urls(endpoint, bucket, version):
    s3 = endpoint.client(signature_version=version)
    url = s3.generate_presigned_url("put_object", Params={"Bucket": bucket, "Key": "k"}, ExpiresIn=60)
    assert requests.put(url, data=b"hello").status_code == 200
    url = s3.generate_presigned_url("get_object", Params={"Bucket": bucket, "Key": "k"}, ExpiresIn=60)
    assert requests.get(url).content == b"hello"
    assert requests.get(forged(url)).status_code == 403
    assert requests.get(url.replace("/k?", "/other?")).status_code == 403
    assert requests.get("%s/%s/k" % (endpoint.url, bucket)).status_code == 403


def test_a_presigned_put_is_no_copy(endpoint, s3, bucket):
    """With the rights of whoever signed it, who holds the URL could read what they please."""
    s3.put_object(Bucket=bucket, Key="secret", Body=b"secret")
    for version in ["s3v4", "s3"]:
        client = endpoint.client(signature_version=version)
        put = client.generate_presigned_url("put_object", Params={"Bucket": bucket, "Key": "k"}, ExpiresIn=60)
        for url in [put, put.replace("X-Amz", "%58-Amz")]:
            got = requests.put(url, headers={"x-amz-copy-source": "/%s/secret" % bucket})
            assert got.status_code == 403, got.text
    signed = s3.generate_presigned_url(
        "copy_object", Params={"Bucket": bucket, "Key": "k", "CopySource": {"Bucket": bucket, "Key": "secret"}}, ExpiresIn=60
    )
    assert requests.put(signed, headers={"x-amz-copy-source": "%s/secret" % bucket}).status_code == 200


class StreamingAuth(S3SigV4Auth):
    """Signs a request whose body comes in chunks of its own."""

    def __init__(self, endpoint, kind):
        super().__init__(Credentials(*endpoint.keys[ADMIN]), "s3", "us-east-1")
        self.kind = kind

    def payload(self, request):
        return self.kind


def put_chunked(endpoint, bucket, kind, length, data, **headers):
    url = "%s/%s/chunked" % (endpoint.url, bucket)
    headers = {"content-encoding": "aws-chunked", "x-amz-decoded-content-length": str(length), **headers}
    request = AWSRequest("PUT", url, headers=headers)
    StreamingAuth(endpoint, kind).add_auth(request)
    return requests.put(url, data=data, headers=dict(request.headers))


def test_one_long_chunk(endpoint, s3, bucket):
    """As clients in Go send them: without signatures, the whole object is one."""
    body = os.urandom(20 * MB + 7)
    checksum = base64.b64encode(zlib.crc32(body).to_bytes(4, "big"))
    for trailer, expected in [(checksum, 200), (b"AAAAAA==", 400)]:
        data = b"%x\r\n%s\r\n0\r\nx-amz-checksum-crc32:%s\r\n\r\n" % (len(body), body, trailer)
        trailers = {"x-amz-trailer": "x-amz-checksum-crc32"}
        put = put_chunked(endpoint, bucket, "STREAMING-UNSIGNED-PAYLOAD-TRAILER", len(body), data, **trailers)
        assert put.status_code == expected, put.text
    assert s3.get_object(Bucket=bucket, Key="chunked")["Body"].read() == body
    # A signature is that of a whole chunk, which has to be kept.
    data = b"%x;chunk-signature=%064d\r\n%s" % (9 * MB, 0, b"x" * 100)
    put = put_chunked(endpoint, bucket, "STREAMING-AWS4-HMAC-SHA256-PAYLOAD", 9 * MB, data)
    assert put.status_code == 400 and "more than 8388608 bytes" in put.text, put.text


def test_rights(endpoint, s3, bucket):
    s3.put_object(Bucket=bucket, Key="k", Body=b"x")
    reader, writer = endpoint.client(READER), endpoint.client(WRITER)
    assert reader.get_object(Bucket=bucket, Key="k")["Body"].read() == b"x"

    def denied(call, **arguments):
        with pytest.raises(ClientError) as error:
            call(**arguments)
        assert status(error) == 403

    denied(reader.put_object, Bucket=bucket, Key="k", Body=b"y")
    denied(reader.delete_object, Bucket=bucket, Key="k")
    denied(reader.delete_bucket, Bucket=bucket)
    denied(reader.create_bucket, Bucket="another-bucket")
    denied(writer.get_object, Bucket=bucket, Key="k")
    denied(writer.list_objects_v2, Bucket=bucket)
    s3.create_bucket(Bucket="shared-bucket")
    writer.put_object(Bucket="shared-bucket", Key="k", Body=b"y")
    # The source of a copy needs rights of its own.
    denied(writer.copy_object, Bucket="shared-bucket", Key="c", CopySource={"Bucket": bucket, "Key": "k"})
    denied(writer.delete_bucket, Bucket="shared-bucket")
    assert [b["Name"] for b in writer.list_buckets()["Buckets"]] == ["shared-bucket"]
    writer.delete_object(Bucket="shared-bucket", Key="k")
    s3.delete_bucket(Bucket="shared-bucket")


def test_what_is_not_there_says_so(s3, bucket):
    with pytest.raises(ClientError) as error:
        s3.put_bucket_versioning(Bucket=bucket, VersioningConfiguration={"Status": "Enabled"})
    assert code(error) == "NotImplemented"
    with pytest.raises(ClientError) as error:
        s3.put_object(Bucket=bucket, Key="k", Body=b"", ServerSideEncryption="AES256")
    assert code(error) == "NotImplemented"
    with pytest.raises(ClientError) as error:
        s3.get_bucket_policy(Bucket=bucket)
    assert code(error) == "NoSuchBucketPolicy"


def test_tags(s3, bucket):
    s3.put_object(Bucket=bucket, Key="k", Body=b"", Tagging="a=1&b=2")
    tags = s3.get_object_tagging(Bucket=bucket, Key="k")["TagSet"]
    assert {t["Key"]: t["Value"] for t in tags} == {"a": "1", "b": "2"}
    s3.put_object_tagging(Bucket=bucket, Key="k", Tagging={"TagSet": [{"Key": "c", "Value": "3"}]})
    assert s3.get_object_tagging(Bucket=bucket, Key="k")["TagSet"] == [{"Key": "c", "Value": "3"}]


def test_batch_delete(s3, bucket):
    for n in range(5):
        s3.put_object(Bucket=bucket, Key="k%d" % n, Body=b"x")
    deleted = s3.delete_objects(Bucket=bucket, Delete={"Objects": [{"Key": "k%d" % n} for n in range(6)]})
    assert len(deleted["Deleted"]) == 6
    assert "Contents" not in s3.list_objects_v2(Bucket=bucket)
