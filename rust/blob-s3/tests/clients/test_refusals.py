"""What is refused before it has any effect, and what a request promises about its body."""

import base64
import hashlib
import re
import zlib
from pathlib import Path

import botocore.session
import pytest
import requests
from botocore import xform_name
from botocore.auth import S3SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from botocore.exceptions import ClientError

from conftest import ADMIN

LOCK = {"x-amz-object-lock-mode": "COMPLIANCE", "x-amz-object-lock-retain-until-date": "2030-01-01T00:00:00Z"}

# What a write may ask for and does not get, however it is written.
REFUSED = [
    LOCK,
    {"x-amz-object-lock-legal-hold": "ON"},
    {"x-amz-server-side-encryption": "AES256"},
    {"x-amz-server-side-encryption": "aws:kms", "x-amz-server-side-encryption-aws-kms-key-id": "k"},
    {"x-amz-server-side-encryption-customer-algorithm": "AES256"},
    {"x-amz-grant-read": 'id="somebody"'},
    {"x-amz-grant-full-control": 'id="somebody"'},
    {"x-amz-acl": "public-read"},
    {"x-amz-write-offset-bytes": "5"},
    {"x-amz-anything-new": "x"},
]


class Auth(S3SigV4Auth):
    """Signs what is said of the body, whatever that is, and all headers that are there."""

    def __init__(self, keys, payload):
        super().__init__(Credentials(*keys), "s3", "us-east-1")
        self.said = payload

    def payload(self, request):
        return self.said


class Raw:
    def __init__(self, endpoint, bucket):
        self.endpoint, self.bucket = endpoint, bucket

    def __call__(self, method, path="", body=b"", query=(), headers=(), payload=None, unsigned=()):
        url = "%s/%s%s" % (self.endpoint.url, self.bucket, path)
        payload = payload or hashlib.sha256(body).hexdigest()
        request = AWSRequest(method, url, headers=dict(headers), params=dict(query))
        Auth(self.endpoint.keys[ADMIN], payload).add_auth(request)
        prepared = request.prepare()
        sent = dict(prepared.headers.items(), **dict(unsigned))
        return requests.request(method, prepared.url, data=body, headers=sent, timeout=240)


@pytest.fixture
def raw(endpoint, bucket):
    return Raw(endpoint, bucket)


def error(answer):
    return answer.text.split("<Code>")[1].split("</Code>")[0] if "<Code>" in answer.text else "none"


def refused(answer, status, code):
    assert (answer.status_code, error(answer)) == (status, code), answer.text


def keys(s3, bucket):
    return [listed["Key"] for listed in s3.list_objects_v2(Bucket=bucket).get("Contents", [])]


def model():
    return botocore.session.get_session().get_service_model("s3")


def text(path):
    return (Path(__file__).parents[4] / path).read_text()


def refused_operations():
    """The operations of botocore's model that a parameter chooses and that are not answered (asks.rs)."""
    answered = set(re.findall(r'^    "(\w+)": \[', text("rust/blob-s3/src/asks.rs"), re.M))
    operations = [model().operation_model(name) for name in sorted(model().operation_names)]
    # The deprecated ones are others in another form.
    return [o for o in operations if o.name not in answered and "?" in o.http["requestUri"] and not o.deprecated]


def least(shape):
    """The smallest value that botocore sends."""
    if shape.type_name == "structure":
        names = list(shape.members)[:1] if getattr(shape, "is_tagged_union", False) else shape.required_members
        return {name: least(shape.members[name]) for name in names}
    if shape.type_name == "list":
        return [least(shape.member)]
    if shape.type_name == "string":
        return shape.enum[0] if shape.enum else "x" * shape.metadata.get("min", 1)
    return {"integer": 1, "long": 1, "boolean": True, "timestamp": 0}[shape.type_name]


@pytest.mark.parametrize("operation", refused_operations(), ids=lambda operation: operation.name)
def test_operations_that_are_refused(s3, raw, bucket, operation):
    s3.put_object(Bucket=bucket, Key="k", Body=b"content")
    arguments = dict(least(operation.input_shape), Bucket=bucket)
    is_object = "Key" in arguments
    if is_object:
        arguments["Key"] = "k"
    with pytest.raises(ClientError) as refusal:
        getattr(s3, xform_name(operation.name))(**arguments)
    said = refusal.value.response
    assert (said["Error"]["Code"], said["ResponseMetadata"]["HTTPStatusCode"]) == ("NotImplemented", 501)
    # Nor with nothing: it is not the plain operation then.
    parts = [part.partition("=") for part in operation.http["requestUri"].split("?")[1].split("&")]
    query = {name: value for name, _, value in parts if name != "x-id"}
    method = operation.http["method"]
    answer = raw(method, "/k" if is_object else "", b"", query)
    assert answer.status_code >= 400 and answer.content != b"content", answer.text
    assert s3.get_object(Bucket=bucket, Key="k")["Body"].read() == b"content"
    if not is_object:
        # Of an empty bucket, DELETE with a parameter that is not known could be all of it.
        s3.delete_object(Bucket=bucket, Key="k")
        raw(method, "", b"", query)
    assert s3.head_bucket(Bucket=bucket)


def test_the_list_of_refused_operations():
    """docs/blob-s3.md has all of them, and no other one."""
    begin, end = "<!-- begin: refused operations -->", "<!-- end: refused operations -->"
    table = text("docs/blob-s3.md").split(begin)[1].split(end)[0]
    shown = re.findall(r"`([A-Z]\w+)`", table)
    assert len(shown) == len(set(shown))
    assert set(shown) - {"PutBucketVersioning"} == {operation.name for operation in refused_operations()}


def test_versions_are_refused(s3, bucket):
    with pytest.raises(ClientError) as refusal:
        s3.put_bucket_versioning(Bucket=bucket, VersioningConfiguration={"Status": "Enabled"})
    assert refusal.value.response["Error"]["Code"] == "NotImplemented"
    s3.put_bucket_versioning(Bucket=bucket, VersioningConfiguration={"Status": "Suspended"})
    assert "Status" not in s3.get_bucket_versioning(Bucket=bucket)


def test_parameters_that_are_not_known(s3, raw, bucket):
    s3.put_object(Bucket=bucket, Key="k", Body=b"content")
    for method, path, name in [
        ("PUT", "/k", "renameObject"),
        ("PUT", "/k", "annotation"),
        ("PUT", "/k", "uploadId"),
        ("DELETE", "/k", "annotation"),
        ("DELETE", "", "metadataConfiguration"),
        ("GET", "/k", "foo"),
        ("GET", "", "allow-unordered"),
        ("GET", "", "x-amz-acl"),
    ]:
        answer = raw(method, path, query={name: "x"})
        refused(answer, 501, "NotImplemented")
        assert name in answer.text
    assert s3.get_object(Bucket=bucket, Key="k")["Body"].read() == b"content"
    refused(raw("HEAD", "/k", query={"foo": "x"}), 501, "none")


@pytest.mark.parametrize("headers", REFUSED, ids=lambda headers: min(headers))
def test_one_list_for_all_writes(s3, raw, bucket, headers):
    s3.put_object(Bucket=bucket, Key="source", Body=b"x")
    copy = dict(headers, **{"x-amz-copy-source": "/%s/source" % bucket})
    upload = s3.create_multipart_upload(Bucket=bucket, Key="parts")["UploadId"]
    part = {"partNumber": "1", "uploadId": upload}
    refused(raw("PUT", "/k", b"x", headers=headers), 501, "NotImplemented")
    refused(raw("PUT", "/k", headers=copy), 501, "NotImplemented")
    refused(raw("POST", "/k", query={"uploads": ""}, headers=headers), 501, "NotImplemented")
    refused(raw("PUT", "/parts", b"x", query=part, headers=headers), 501, "NotImplemented")
    assert keys(s3, bucket) == ["source"]
    uploads = s3.list_multipart_uploads(Bucket=bucket)["Uploads"]
    assert [upload["Key"] for upload in uploads] == ["parts"]
    assert "Parts" not in s3.list_parts(Bucket=bucket, Key="parts", UploadId=upload)
    s3.abort_multipart_upload(Bucket=bucket, Key="parts", UploadId=upload)


def test_whose_bucket_the_source_is(endpoint, s3, bucket):
    s3.put_object(Bucket=bucket, Key="source", Body=b"x" * 10)
    upload = s3.create_multipart_upload(Bucket=bucket, Key="k")["UploadId"]
    copy = {"Bucket": bucket, "Key": "k", "CopySource": {"Bucket": bucket, "Key": "source"}}
    part = dict(copy, UploadId=upload, PartNumber=1)
    for call, arguments in [(s3.copy_object, copy), (s3.upload_part_copy, part)]:
        with pytest.raises(ClientError) as refusal:
            call(ExpectedSourceBucketOwner="nobody", **arguments)
        assert refusal.value.response["Error"]["Code"] == "AccessDenied"
        call(ExpectedSourceBucketOwner=ADMIN, **arguments)
    s3.abort_multipart_upload(Bucket=bucket, Key="k", UploadId=upload)


def test_headers_that_nobody_signed(s3, raw, bucket):
    for unsigned in [{"x-amz-meta-a": "b"}, {"x-amz-tagging": "a=b"}, {"x-amz-acl": "private"}, {"content-type": "text/html"}]:
        refused(raw("PUT", "/k", b"x", unsigned=unsigned), 403, "AccessDenied")
    assert keys(s3, bucket) == []
    assert raw("PUT", "/k", b"x", headers={"content-type": "text/html"}).status_code == 200
    v4 = raw.endpoint.client(signature_version="s3v4")
    url = v4.generate_presigned_url("put_object", Params={"Bucket": bucket, "Key": "k"}, ExpiresIn=60)
    assert requests.put(url, data=b"x", headers={"content-type": "image/png"}).status_code == 200
    assert s3.head_object(Bucket=bucket, Key="k")["ContentType"] == "image/png"
    answer = raw("GET", "/k", headers={"x-amz-security-token": "x"})
    refused(answer, 400, "InvalidToken")


def presigned(endpoint, url, query):
    """As SDKs of JavaScript sign it: headers are written into the query."""
    from botocore.auth import S3SigV4QueryAuth

    request = AWSRequest("PUT", url, params=query)
    S3SigV4QueryAuth(Credentials(*endpoint.keys[ADMIN]), "s3", "us-east-1", expires=60).add_auth(request)
    return request.prepare().url


def test_headers_in_a_presigned_url(endpoint, s3, bucket):
    target = "%s/%s/k" % (endpoint.url, bucket)
    wanted = {"x-amz-meta-colour": "light blue", "x-amz-tagging": "a=b", "x-amz-storage-class": "GLACIER"}
    url = presigned(endpoint, target, wanted)
    put = requests.put(url, data=b"hi")
    assert put.status_code == 200, put.text
    head = s3.head_object(Bucket=bucket, Key="k")
    assert (head["Metadata"], head["StorageClass"]) == ({"colour": "light blue"}, "GLACIER")
    assert s3.get_object_tagging(Bucket=bucket, Key="k")["TagSet"] == [{"Key": "a", "Value": "b"}]
    refused(requests.put(url, data=b"hi", headers={"x-amz-tagging": "c=d"}), 403, "AccessDenied")
    for query, status, code in [
        ({"x-amz-checksum-sha256": base64.b64encode(bytes(32)).decode()}, 400, "BadDigest"),
        ({"x-amz-server-side-encryption": "AES256"}, 501, "NotImplemented"),
        ({"x-amz-object-lock-legal-hold": "ON"}, 501, "NotImplemented"),
        ({"x-amz-acl": "public-read"}, 501, "NotImplemented"),
        ({"x-amz-security-token": "x"}, 400, "InvalidToken"),
    ]:
        refused(requests.put(presigned(endpoint, target + "2", query), data=b"hi"), status, code)
    # Nobody signed these as headers.
    answer = requests.put(url + "&x-amz-meta-evil=1", data=b"hi")
    refused(answer, 403, "SignatureDoesNotMatch")
    assert keys(s3, bucket) == ["k"]


CONTENT = b"dummy data"
CRC32 = base64.b64encode(zlib.crc32(CONTENT).to_bytes(4, "big"))
UNSIGNED = "STREAMING-UNSIGNED-PAYLOAD-TRAILER"
LAST = b"a\r\n%s\r\n0\r\n" % CONTENT


@pytest.mark.parametrize(
    "body,trailer,code",
    [
        (LAST + b"x-amz-checksum-crc32:%s\r\n\r\n" % CRC32, "x-amz-checksum-crc32", None),
        (LAST + b"\r\n", None, "InvalidRequest"),
        (LAST + b"x-amz-checksum-crc32:AAAAAA==\r\n\r\n", "x-amz-checksum-crc32", "BadDigest"),
        (LAST + b"\r\n", "x-amz-checksum-crc32", "IncompleteBody"),
        (LAST, "x-amz-checksum-crc32", "IncompleteBody"),
        (LAST + b"x-amz-checksum-sha1:AAAA\r\n\r\n", "x-amz-checksum-crc32", "IncompleteBody"),
        (LAST + b":M3eFcAZSQlc=\r\n\r\n", "x-amz-checksum-crc32", "IncompleteBody"),
        (LAST + b"x-amz-checksum-foo:AAAA\r\n\r\n", "x-amz-checksum-foo", "InvalidRequest"),
        (b"a\r\n%s\r\n" % CONTENT, "x-amz-checksum-crc32", "IncompleteBody"),
        (b"a\r\n%s" % CONTENT, "x-amz-checksum-crc32", "IncompleteBody"),
        (b"a\r\ndummy", "x-amz-checksum-crc32", "IncompleteBody"),
        (b"a\r\n%s\r\n0" % CONTENT, "x-amz-checksum-crc32", "IncompleteBody"),
        (b"", "x-amz-checksum-crc32", "IncompleteBody"),
    ],
)
def test_chunks_and_trailers(s3, raw, bucket, body, trailer, code):
    headers = {"content-encoding": "aws-chunked", "x-amz-decoded-content-length": str(len(CONTENT))}
    if trailer:
        headers["x-amz-trailer"] = trailer
    put = raw("PUT", "/k", body, headers=headers, payload=UNSIGNED)
    if code is None:
        assert put.status_code == 200, put.text
        assert s3.get_object(Bucket=bucket, Key="k")["Body"].read() == CONTENT
    else:
        refused(put, 400, code)
        assert keys(s3, bucket) == []


@pytest.mark.parametrize(
    "headers,code",
    [
        ({"x-amz-checksum-crc32": "AAAAAA=="}, "BadDigest"),
        ({"x-amz-checksum-crc32": "zz"}, "BadDigest"),
        ({"x-amz-checksum-sha512": base64.b64encode(bytes(64)).decode()}, "InvalidRequest"),
        ({"x-amz-checksum-foo": "AAAA"}, "InvalidRequest"),
        ({"content-md5": ""}, "InvalidDigest"),
        ({"content-md5": "xxx"}, "InvalidDigest"),
        ({"content-md5": base64.b64encode(bytes(16)).decode()}, "BadDigest"),
    ],
)
def test_promised_checksums(s3, raw, bucket, headers, code):
    s3.put_object(Bucket=bucket, Key="there", Body=b"x")
    refused(raw("PUT", "/k", b"abc", headers=headers), 400, code)
    delete = b"<Delete><Object><Key>there</Key></Object></Delete>"
    refused(raw("POST", "", delete, query={"delete": ""}, headers=headers), 400, code)
    tagging = b"<Tagging><TagSet></TagSet></Tagging>"
    refused(raw("PUT", "/there", tagging, query={"tagging": ""}, headers=headers), 400, code)
    assert keys(s3, bucket) == ["there"]


def test_the_body_that_was_signed(s3, raw, bucket):
    s3.put_object(Bucket=bucket, Key="there", Body=b"x")
    other = hashlib.sha256(b"other").hexdigest()
    delete = b"<Delete><Object><Key>there</Key></Object></Delete>"
    assert raw("PUT", "/k", b"abc", payload=other).status_code == 400
    refused(raw("POST", "", delete, query={"delete": ""}, payload=other), 400, "XAmzContentSHA256Mismatch")
    tagging = b"<Tagging><TagSet></TagSet></Tagging>"
    refused(raw("PUT", "/there", tagging, query={"tagging": ""}, payload=other), 400, "XAmzContentSHA256Mismatch")
    assert keys(s3, bucket) == ["there"]


def test_checksums_by_default(endpoint, bucket):
    """Of what comes without one, as S3 does."""
    s3 = endpoint.client(request_checksum_calculation="when_required")
    put = s3.put_object(Bucket=bucket, Key="k", Body=b"123456789")
    # The value that the algorithm's definition gives for these digits.
    wanted = base64.b64encode(0xAE8B14860A799888.to_bytes(8, "big")).decode()
    assert put["ChecksumCRC64NVME"] == wanted
    head = s3.head_object(Bucket=bucket, Key="k", ChecksumMode="ENABLED")
    assert (head["ChecksumCRC64NVME"], head["ChecksumType"]) == (wanted, "FULL_OBJECT")
    upload = s3.create_multipart_upload(Bucket=bucket, Key="parts")["UploadId"]
    part = s3.upload_part(Bucket=bucket, Key="parts", UploadId=upload, PartNumber=1, Body=b"123456789")
    assert part["ChecksumCRC64NVME"] == wanted
    done = s3.complete_multipart_upload(
        Bucket=bucket, Key="parts", UploadId=upload, MultipartUpload={"Parts": [{"PartNumber": 1, "ETag": part["ETag"]}]}
    )
    assert (done["ChecksumCRC64NVME"], done["ChecksumType"]) == (wanted, "FULL_OBJECT")
    for listed in s3.list_objects_v2(Bucket=bucket)["Contents"]:
        assert (listed["ChecksumAlgorithm"], listed["ChecksumType"]) == (["CRC64NVME"], "FULL_OBJECT")


def test_ranges_that_are_none(s3, raw, bucket):
    s3.put_object(Bucket=bucket, Key="k", Body=b"0123456789")
    url = s3.generate_presigned_url("get_object", Params={"Bucket": bucket, "Key": "k"}, ExpiresIn=240)
    for none in ["bytes=abc", "bytes=,", "bytes=0-1,3-4", "bytes=5-2", "chars=0-1", "bytes=-"]:
        got = requests.get(url, headers={"range": none})
        assert (got.status_code, got.content) == (200, b"0123456789"), none
    for wanted, content in [("bytes=0-99999999999999999999999", b"0123456789"), ("BYTES= 0-1", b"01"), ("bytes=-3", b"789")]:
        got = requests.get(url, headers={"range": wanted})
        assert (got.status_code, got.content) == (206, content), wanted
    # To change what is signed would break its signature.
    refused(raw("GET", "/k", headers={"range": "bytes=abc"}), 400, "InvalidArgument")
    for beyond in ["bytes=10-", "bytes=-0", "bytes=99999999999999999999999-"]:
        assert requests.get(url, headers={"range": beyond}).status_code == 416, beyond


def test_settings_that_no_bucket_has(s3, bucket):
    for call, code in [
        (s3.get_bucket_ownership_controls, "OwnershipControlsNotFoundError"),
        (s3.get_bucket_policy_status, "NoSuchBucketPolicy"),
        (s3.get_bucket_replication, "ReplicationConfigurationNotFoundError"),
        (s3.get_bucket_cors, "NoSuchCORSConfiguration"),
        (s3.get_bucket_lifecycle_configuration, "NoSuchLifecycleConfiguration"),
    ]:
        with pytest.raises(ClientError) as refusal:
            call(Bucket=bucket)
        assert refusal.value.response["Error"]["Code"] == code
    assert "Status" not in s3.get_bucket_accelerate_configuration(Bucket=bucket)
    assert "LoggingEnabled" not in s3.get_bucket_logging(Bucket=bucket)
    assert "QueueConfigurations" not in s3.get_bucket_notification_configuration(Bucket=bucket)


def test_keys_with_control_characters(s3, raw, bucket):
    wanted = ["a\rb", "c\x01d", "e\x1ff", "g\nh"]
    for key in wanted:
        s3.put_object(Bucket=bucket, Key=key, Body=b"x")
    # boto3 asks for keys as in URLs.
    assert keys(s3, bucket) == wanted
    listed = raw("GET", "", query={"list-type": "2"}).text
    assert "<Key>a&#xD;b</Key>" in listed and "<Key>c&#x1;d</Key>" in listed and "<Key>g\nh</Key>" in listed
    for key in wanted:
        s3.delete_object(Bucket=bucket, Key=key)
    refused(raw("PUT", "/a%00b", b"x"), 400, "InvalidArgument")
    refused(raw("POST", "/a%00b", query={"uploads": ""}), 400, "InvalidArgument")
    refused(raw("PUT", "/a%00b", headers={"x-amz-copy-source": "/%s/a" % bucket}), 400, "InvalidArgument")


def test_where_an_uploaded_object_is(endpoint, s3, bucket):
    upload = s3.create_multipart_upload(Bucket=bucket, Key="a b")["UploadId"]
    part = s3.upload_part(Bucket=bucket, Key="a b", UploadId=upload, PartNumber=1, Body=b"x")
    done = s3.complete_multipart_upload(
        Bucket=bucket, Key="a b", UploadId=upload, MultipartUpload={"Parts": [{"PartNumber": 1, "ETag": part["ETag"]}]}
    )
    assert done["Location"] == "%s/%s/a%%20b" % (endpoint.url, bucket)


@pytest.mark.parametrize("wrong", [False, True])
def test_the_checksum_of_all_parts(s3, bucket, wrong):
    upload = s3.create_multipart_upload(
        Bucket=bucket, Key="k", ChecksumAlgorithm="CRC32", ChecksumType="FULL_OBJECT"
    )["UploadId"]
    part = s3.upload_part(Bucket=bucket, Key="k", UploadId=upload, PartNumber=1, Body=CONTENT, ChecksumAlgorithm="CRC32")
    parts = {"Parts": [{"PartNumber": 1, "ETag": part["ETag"], "ChecksumCRC32": part["ChecksumCRC32"]}]}
    checksum = "AAAAAA==" if wrong else CRC32.decode()
    complete = {"Bucket": bucket, "Key": "k", "UploadId": upload, "MultipartUpload": parts, "ChecksumCRC32": checksum}
    if wrong:
        with pytest.raises(ClientError) as refusal:
            s3.complete_multipart_upload(**complete)
        assert refusal.value.response["Error"]["Code"] == "BadDigest"
        s3.abort_multipart_upload(Bucket=bucket, Key="k", UploadId=upload)
    else:
        assert s3.complete_multipart_upload(**complete)["ChecksumCRC32"] == checksum
