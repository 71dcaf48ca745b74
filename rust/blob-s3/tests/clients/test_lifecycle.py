"""Life cycles of buckets: what is kept as a rule, what expires and when, what stays."""

import datetime
import time

import pytest
from botocore.exceptions import ClientError

from conftest import WRITER, Endpoint
from program import PATIENCE

SHORT = ["--lifecycle-interval", "50ms", "--lifecycle-day", "2s"]
PAST = datetime.datetime(2020, 1, 1)
FUTURE = datetime.datetime(2100, 1, 1)


def rule(ID="r", Filter={}, Status="Enabled", **actions):
    return dict(actions, ID=ID, Filter=Filter, Status=Status)


def days(count, **more):
    return rule(Expiration={"Days": count}, **more)


def put(s3, bucket, *rules):
    s3.put_bucket_lifecycle_configuration(Bucket=bucket, LifecycleConfiguration={"Rules": list(rules)})


def get(s3, bucket):
    return s3.get_bucket_lifecycle_configuration(Bucket=bucket)["Rules"]


def keys(s3, bucket):
    return [listed["Key"] for listed in s3.list_objects_v2(Bucket=bucket).get("Contents", [])]


def code(call, *arguments, **named):
    with pytest.raises(ClientError) as refusal:
        call(*arguments, **named)
    return refusal.value.response["Error"]["Code"]


def date_of(answer):
    """When the server answered."""
    date = answer["ResponseMetadata"]["HTTPHeaders"]["date"]
    return datetime.datetime.strptime(date, "%a, %d %b %Y %H:%M:%S GMT")


def expiry(answer):
    """When an object expires, and by which rule."""
    date, rule_id = answer["Expiration"].split(", rule-id=")
    return datetime.datetime.strptime(date, 'expiry-date="%a, %d %b %Y %H:%M:%S GMT"'), rule_id.strip('"')


def until(is_so):
    end = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.fixture(scope="module")
def short(tmp_path_factory):
    """A server whose days are short."""
    endpoint = Endpoint(tmp_path_factory.mktemp("short") / "data", None, *SHORT)
    yield endpoint
    endpoint.program.stop()


def test_configurations_are_kept(s3, bucket):
    assert code(get, s3, bucket) == "NoSuchLifecycleConfiguration"
    wanted = [
        days(30, ID="logs & <more>", Filter={"Prefix": " logs/ä\r"}),
        days(1, ID="sized", Filter={"And": {"Prefix": "", "ObjectSizeGreaterThan": 5, "ObjectSizeLessThan": 10}}),
        days(2, ID="tagged", Status="Disabled", Filter={"Tag": {"Key": "a", "Value": "b"}}),
        rule("uploads", AbortIncompleteMultipartUpload={"DaysAfterInitiation": 3}),
    ]
    put(s3, bucket, *wanted)
    assert get(s3, bucket) == wanted
    old = {"Prefix": "old/", "Status": "Enabled", "Expiration": {"Days": 1}}
    put(s3, bucket, old, dict(old, Prefix="older/"))
    assert [dict(r, ID=None) for r in get(s3, bucket)] == [dict(old, ID=None), dict(old, Prefix="older/", ID=None)]
    assert len({r["ID"] for r in get(s3, bucket)}) == 2
    s3.delete_bucket_lifecycle(Bucket=bucket)
    assert code(get, s3, bucket) == "NoSuchLifecycleConfiguration"
    s3.delete_bucket_lifecycle(Bucket=bucket)


@pytest.mark.parametrize(
    "refused,rules",
    [
        ("MalformedXML", []),
        ("MalformedXML", [days(1, Status="enabled")]),
        ("InvalidRequest", [rule()]),
        ("InvalidArgument", [days(0)]),
        ("InvalidArgument", [days(1), days(2, Filter={"Prefix": "x"})]),
        ("InvalidArgument", [days(1, ID="a" * 256)]),
        ("InvalidArgument", [rule(Expiration={"Date": PAST + datetime.timedelta(hours=1)})]),
        ("MalformedXML", [rule(Expiration={"Date": PAST, "Days": 1})]),
        ("MalformedXML", [days(1, Filter={"Prefix": "a", "Tag": {"Key": "a", "Value": "b"}})]),
        ("MalformedXML", [{"ID": "r", "Status": "Enabled", "Expiration": {"Days": 1}}]),
        ("InvalidRequest", [days(1), {"Prefix": "a", "Status": "Enabled", "Expiration": {"Days": 1}}]),
        (
            "InvalidRequest",
            [rule(Filter={"Tag": {"Key": "a", "Value": "b"}}, AbortIncompleteMultipartUpload={"DaysAfterInitiation": 1})],
        ),
        ("InvalidArgument", [rule(AbortIncompleteMultipartUpload={"DaysAfterInitiation": 0})]),
        ("NotImplemented", [rule(Expiration={"ExpiredObjectDeleteMarker": True})]),
        ("NotImplemented", [days(1, Transitions=[{"Days": 1, "StorageClass": "GLACIER"}])]),
        ("NotImplemented", [rule(NoncurrentVersionExpiration={"NoncurrentDays": 1})]),
        (
            "NotImplemented",
            [rule(NoncurrentVersionTransitions=[{"NoncurrentDays": 1, "StorageClass": "GLACIER"}])],
        ),
        ("MalformedXML", [days(1, ID="r%d" % number) for number in range(1001)]),
    ],
)
def test_configurations_that_are_refused(s3, bucket, refused, rules):
    kept = days(9, ID="kept")
    put(s3, bucket, kept)
    assert code(put, s3, bucket, *rules) == refused
    assert get(s3, bucket) == [kept], "a refused one changes nothing"


def test_who_may(endpoint, s3):
    for name in ("shared-bucket", "admins-bucket"):
        s3.create_bucket(Bucket=name)
        put(s3, name, days(1))
        writer = endpoint.client(WRITER)
        assert code(put, writer, name, days(2)) == "AccessDenied"
        assert code(writer.delete_bucket_lifecycle, Bucket=name) == "AccessDenied"
        assert get(s3, name) == [days(1)]
        s3.delete_bucket(Bucket=name)
    assert code(put, s3, "no-such-bucket", days(1)) == "NoSuchBucket"


def test_answers_say_when_an_object_expires(s3, bucket):
    put(s3, bucket, days(3, ID="a rule", Filter={"Prefix": "old/"}), days(9, ID="later"))

    def said(answer, rule_id, count):
        date, found = expiry(answer)
        assert (found, date.hour, date.minute, date.second) == (rule_id, 0, 0, 0)
        # An answer may come on the other side of midnight.
        least, most = datetime.timedelta(days=count, seconds=-PATIENCE), datetime.timedelta(days=count + 1)
        return least <= date - date_of(answer) <= most

    assert said(s3.put_object(Bucket=bucket, Key="old/k", Body=b"x"), "a%20rule", 3)
    assert said(s3.head_object(Bucket=bucket, Key="old/k"), "a%20rule", 3)
    assert said(s3.get_object(Bucket=bucket, Key="old/k"), "a%20rule", 3)
    assert said(s3.put_object(Bucket=bucket, Key="k", Body=b"x"), "later", 9)
    copied = s3.copy_object(Bucket=bucket, Key="old/copy", CopySource={"Bucket": bucket, "Key": "k"})
    assert said(copied, "a%20rule", 3)
    put(s3, bucket, rule("abort", {"Prefix": "old/"}, AbortIncompleteMultipartUpload={"DaysAfterInitiation": 2}))
    assert "Expiration" not in s3.head_object(Bucket=bucket, Key="old/k")
    begun = s3.create_multipart_upload(Bucket=bucket, Key="old/parts")
    assert begun["AbortRuleId"] == "abort" and begun["AbortDate"].hour == 0
    other = s3.create_multipart_upload(Bucket=bucket, Key="parts")
    assert "AbortDate" not in other
    for upload in (begun, other):
        listed = s3.list_parts(Bucket=bucket, Key=upload["Key"], UploadId=upload["UploadId"])
        assert listed.get("AbortDate") == upload.get("AbortDate")
        s3.abort_multipart_upload(Bucket=bucket, Key=upload["Key"], UploadId=upload["UploadId"])


def test_what_has_expired_is_deleted(short):
    s3 = short.client()
    s3.create_bucket(Bucket="expires")
    put(
        s3,
        "expires",
        days(1, ID="old", Filter={"Prefix": "old/"}),
        days(1, ID="tag", Filter={"Tag": {"Key": "for", "Value": "now"}}),
        days(1, ID="size", Filter={"And": {"Prefix": "sized/", "ObjectSizeGreaterThan": 5}}),
        days(1, ID="off", Status="Disabled"),
        days(10000, ID="some day", Filter={"Prefix": "later/"}),
        rule("past", {"Prefix": "past/"}, Expiration={"Date": PAST}),
        rule("future", {"Prefix": "future/"}, Expiration={"Date": FUTURE}),
    )
    kept = ["future/k", "later/k", "other", "sized/5", "tagged-else"]
    for key in [*kept, "old/1", "old/2", "past/k", "sized/6", "tagged"]:
        tagging = {"tagged": "for=now", "tagged-else": "for=ever"}.get(key, "")
        body = b"x" * (6 if key == "sized/6" else 5)
        s3.put_object(Bucket="expires", Key=key, Body=body, **({"Tagging": tagging} if tagging else {}))
    until(lambda: len(keys(s3, "expires")) <= len(kept))
    assert keys(s3, "expires") == kept


def test_what_is_written_again_is_there_for_its_own_time(short):
    s3 = short.client()
    s3.create_bucket(Bucket="again")
    put(s3, "again", days(1))
    rounds, end = 0, time.monotonic() + PATIENCE
    # On a slow disk a day may be over after one round: then the next one begins with another object.
    while rounds < 2:
        assert time.monotonic() < end
        rounds = rounds_while_another_is_there(s3, end)
    until(lambda: not keys(s3, "again"))


def rounds_while_another_is_there(s3, end):
    """As long as an object is written anew, only the other one expires. How often it was."""
    s3.put_object(Bucket="again", Key="other", Body=b"x")
    rounds = 0
    while "other" in keys(s3, "again"):
        assert time.monotonic() < end
        rounds += 1
        body = b"%d" % rounds
        written = s3.put_object(Bucket="again", Key="k", Body=body)
        try:
            found = s3.get_object(Bucket="again", Key="k")
            assert (found["Body"].read(), found["Expiration"]) == (body, written["Expiration"])
        except ClientError as error:
            # This machine was slower than a day is long.
            assert error.response["Error"]["Code"] == "NoSuchKey"
            assert date_of(error.response) >= expiry(written)[0]
    return rounds


def test_uploads_are_aborted(short):
    s3 = short.client()
    s3.create_bucket(Bucket="uploads")
    for key in ("old/k", "new/k"):
        upload = s3.create_multipart_upload(Bucket="uploads", Key=key)["UploadId"]
        s3.upload_part(Bucket="uploads", Key=key, UploadId=upload, PartNumber=1, Body=b"x")
    s3.put_object(Bucket="uploads", Key="old/whole", Body=b"x")
    put(s3, "uploads", rule(Filter={"Prefix": "old/"}, AbortIncompleteMultipartUpload={"DaysAfterInitiation": 1}))
    listed = lambda: [upload["Key"] for upload in s3.list_multipart_uploads(Bucket="uploads").get("Uploads", [])]
    until(lambda: listed() == ["new/k"])
    assert keys(s3, "uploads") == ["old/whole"]


def test_rules_outlive_the_server(tmp_path):
    first = Endpoint(tmp_path / "data")
    s3 = first.client()
    s3.create_bucket(Bucket="outlives")
    wanted = [days(1, ID="kept", Filter={"Prefix": "old/"})]
    put(s3, "outlives", *wanted)
    s3.put_object(Bucket="outlives", Key="old/k", Body=b"x")
    s3.put_object(Bucket="outlives", Key="new/k", Body=b"x")
    first.program.kill()
    again = Endpoint(tmp_path / "data", first.keys, *SHORT)
    s3 = again.client()
    assert get(s3, "outlives") == wanted
    until(lambda: keys(s3, "outlives") == ["new/k"])
    again.program.stop()
