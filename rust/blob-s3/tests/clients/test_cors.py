"""Requests of browsers for other sites: what they ask before, and what answers say."""

import http.client

import pytest
from botocore.exceptions import ClientError

from conftest import WRITER, Endpoint
from program import PATIENCE

SITE = "http://site.example"
ALLOW = "access-control-allow-"
VARY = "Origin, Access-Control-Request-Headers, Access-Control-Request-Method"
NOT_ALLOWED = "CORSResponse: This CORS request is not allowed."
NOT_ENABLED = "CORSResponse: CORS is not enabled for this bucket."
RULES = [
    {
        "ID": "site",
        "AllowedMethods": ["GET", "PUT"],
        "AllowedOrigins": [SITE, "https://*.example"],
        "AllowedHeaders": ["x-amz-*", "Content-Type"],
        "ExposeHeaders": ["ETag", "x-amz-request-id"],
        "MaxAgeSeconds": 60,
    },
    {"AllowedMethods": ["HEAD"], "AllowedOrigins": ["*"]},
]


def put(s3, bucket, *rules):
    s3.put_bucket_cors(Bucket=bucket, CORSConfiguration={"CORSRules": list(rules)})


def get(s3, bucket):
    return s3.get_bucket_cors(Bucket=bucket)["CORSRules"]


def code(call, *arguments, **named):
    with pytest.raises(ClientError) as refusal:
        call(*arguments, **named)
    return refusal.value.response["Error"]["Code"]


class Browser:
    """Asks as one does: without a key. Answers are the status, the headers and the body."""

    def __init__(self, endpoint):
        self.address = endpoint.address

    def __call__(self, method, path, body=None, **headers):
        connection = http.client.HTTPConnection(self.address, timeout=PATIENCE)
        connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
        answer = connection.getresponse()
        found = answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read().decode()
        connection.close()
        return found

    def preflight(self, path, origin, method, *headers):
        named = {"access_control_request_headers": ", ".join(headers)} if headers else {}
        return self("OPTIONS", path, origin=origin, access_control_request_method=method, **named)


@pytest.fixture
def browser(endpoint):
    return Browser(endpoint)


@pytest.fixture
def ruled(s3, bucket):
    put(s3, bucket, *RULES)
    return bucket


def allows(headers):
    return {name: value for name, value in headers.items() if name.startswith("access-control-")}


def test_configurations_are_kept(endpoint, s3, bucket):
    assert code(get, s3, bucket) == "NoSuchCORSConfiguration"
    put(s3, bucket, *RULES)
    assert get(s3, bucket) == RULES
    s3.delete_bucket_cors(Bucket=bucket)
    assert code(get, s3, bucket) == "NoSuchCORSConfiguration"
    s3.delete_bucket_cors(Bucket=bucket)
    writer = endpoint.client(WRITER)
    assert code(put, writer, bucket, *RULES) == "AccessDenied"
    assert code(writer.delete_bucket_cors, Bucket=bucket) == "AccessDenied"
    assert code(put, s3, "no-such-bucket", *RULES) == "NoSuchBucket"


@pytest.mark.parametrize(
    "refused,change",
    [
        ("InvalidRequest", {"AllowedMethods": ["PATCH"]}),
        ("InvalidRequest", {"AllowedOrigins": ["http://*.*.example"]}),
        ("InvalidRequest", {"AllowedHeaders": ["*-*"]}),
        ("InvalidRequest", {"ExposeHeaders": ["x-amz-*"]}),
        ("InvalidRequest", {"ID": "a" * 256}),
        ("InvalidRequest", {"MaxAgeSeconds": -1}),
        ("MalformedXML", {"AllowedMethods": []}),
        ("MalformedXML", {"AllowedOrigins": []}),
        ("MaxMessageLengthExceeded", {"AllowedOrigins": ["http://%s.example" % ("a" * 70000)]}),
    ],
)
def test_configurations_that_are_refused(s3, ruled, refused, change):
    assert code(put, s3, ruled, dict(RULES[0], **change)) == refused
    assert get(s3, ruled) == RULES, "a refused one changes nothing"


def test_so_many_rules(s3, bucket):
    assert code(put, s3, bucket, *[RULES[1]] * 101) == "MalformedXML"
    put(s3, bucket, *[RULES[1]] * 100)
    assert len(get(s3, bucket)) == 100


def test_preflights(browser, ruled):
    for path in ("/%s" % ruled, "/%s/" % ruled, "/%s/a/b?x-id=PutObject" % ruled):
        status, headers, body = browser.preflight(path, SITE, "PUT", "X-Amz-Date", "content-type")
        assert (status, body, headers["vary"]) == (200, "", VARY)
        assert allows(headers) == {
            ALLOW + "origin": SITE,
            ALLOW + "credentials": "true",
            ALLOW + "methods": "GET, PUT",
            ALLOW + "headers": "x-amz-date, content-type",
            "access-control-expose-headers": "ETag, x-amz-request-id",
            "access-control-max-age": "60",
        }
    assert browser.preflight("/" + ruled, "https://a.b.example", "GET")[0] == 200
    status, headers, _ = browser.preflight("/" + ruled, SITE, "HEAD")
    assert (status, allows(headers)) == (200, {ALLOW + "origin": "*", ALLOW + "methods": "HEAD"})


def test_preflights_that_are_refused(s3, browser, ruled):
    for origin, method, *headers in [
        ("http://other.example.org", "GET"),
        ("https://example", "GET"),
        (SITE, "DELETE"),
        (SITE, "get"),
        (SITE, "GET", "x-amz-date", "authorization"),
        (SITE, "HEAD", "x-amz-date"),
        (SITE, "GET", *["x-amz-date"] * 101),
    ]:
        status, found, body = browser.preflight("/%s/k" % ruled, origin, method, *headers)
        assert (status, allows(found), found["vary"]) == (403, {}, VARY)
        assert "<Code>AccessForbidden</Code>" in body and NOT_ALLOWED in body
    for headers in [{}, {"origin": SITE}, {"access_control_request_method": "GET"}]:
        status, found, body = browser("OPTIONS", "/" + ruled, **headers)
        assert (status, allows(found)) == (400, {}) and "<Code>BadRequest</Code>" in body
    # A body is none of a preflight.
    status, _, _ = browser("OPTIONS", "/" + ruled, b"x" * 100000, origin=SITE, access_control_request_method="GET")
    assert status == 200


def test_a_bucket_without_rules_is_as_none(s3, browser, bucket):
    for path in ("/" + bucket, "/no-such-bucket", "/", "/%s/k" % bucket):
        status, headers, body = browser.preflight(path, SITE, "GET")
        assert (status, allows(headers)) == (403, {}) and "vary" not in headers
        assert NOT_ENABLED in body


def test_answers_to_requests(s3, browser, ruled):
    s3.put_object(Bucket=ruled, Key="k", Body=b"content")
    url = s3.generate_presigned_url("get_object", Params={"Bucket": ruled, "Key": "k"}, ExpiresIn=PATIENCE)
    path = url.split(browser.address)[1]
    status, headers, body = browser("GET", path, origin=SITE)
    assert (status, body, headers["vary"], headers[ALLOW + "origin"]) == (200, "content", VARY, SITE)
    assert headers[ALLOW + "credentials"] == "true"
    # Else a cache would give this one to another site.
    status, headers, _ = browser("GET", path)
    assert (status, allows(headers), headers["vary"]) == (200, {}, VARY)
    status, headers, body = browser("GET", path, origin="http://other.example.org")
    assert (status, allows(headers), body) == (200, {}, "content"), "browsers refuse it, not we"
    # Of refusals too: else a script could not see what is wrong.
    for method, target, wanted in [
        ("GET", "/%s/k" % ruled, 403),
        ("PUT", "/%s/k" % ruled, 403),
        ("GET", path.replace("/k?", "/absent?"), 403),
        ("GET", path + "&foo=bar", 501),
    ]:
        status, headers, _ = browser(method, target, origin=SITE)
        assert (status, headers.get(ALLOW + "origin")) == (wanted, SITE), target
    absent = s3.generate_presigned_url("get_object", Params={"Bucket": ruled, "Key": "absent"}, ExpiresIn=PATIENCE)
    status, headers, _ = browser("GET", absent.split(browser.address)[1], origin=SITE)
    assert (status, headers.get(ALLOW + "origin")) == (404, SITE)
    s3.delete_bucket_cors(Bucket=ruled)
    status, headers, _ = browser("GET", path, origin=SITE)
    assert (status, allows(headers)) == (200, {}) and "vary" not in headers


def test_rules_outlive_the_server(tmp_path):
    first = Endpoint(tmp_path / "data")
    s3 = first.client()
    s3.create_bucket(Bucket="outlives")
    put(s3, "outlives", *RULES)
    first.program.kill()
    again = Endpoint(tmp_path / "data", first.keys)
    assert get(again.client(), "outlives") == RULES
    assert Browser(again).preflight("/outlives", SITE, "GET")[0] == 200
    again.program.stop()
