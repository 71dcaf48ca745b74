"""What /metrics and the status say about S3 and names."""

import json
import re
import time

import pytest
import requests
from botocore.exceptions import ClientError

from program import PATIENCE


def samples(server):
    """Values by name and labels, these as Prometheus writes them."""
    text = requests.get(server.metrics, timeout=PATIENCE).text
    found = re.findall(r"^([a-z0-9_]+)(\{[^}]*\})? ([0-9.e+-]+)$", text, re.M)
    return {name + labels: float(value) for name, labels, value in found}


def counted(server, before, name, least=1):
    """By how much a counter has grown; what is counted when an answer has been sent takes a moment."""
    end = time.monotonic() + PATIENCE
    while True:
        grown = samples(server).get(name, 0) - before.get(name, 0)
        if grown >= least or time.monotonic() > end:
            return grown
        time.sleep(0.05)


def requests_total(operation, result):
    return 'afterbay_blob_s3_requests_total{operation="%s",result="%s"}' % (operation, result)


def test_s3_requests(server):
    s3 = server.s3()
    s3.create_bucket(Bucket="counted")
    before = samples(server)
    s3.put_object(Bucket="counted", Key="a", Body=b"x" * 100000)
    assert len(s3.get_object(Bucket="counted", Key="a")["Body"].read()) == 100000
    with pytest.raises(ClientError):
        s3.get_object(Bucket="counted", Key="absent")
    with pytest.raises(ClientError):
        server.s3((server.root[0], "wrong")).list_buckets()
    assert counted(server, before, requests_total("PutObject", "ok")) == 1
    assert counted(server, before, requests_total("GetObject", "ok")) == 1
    assert counted(server, before, requests_total("GetObject", "absent")) == 1
    assert counted(server, before, requests_total("none", "refused")) == 1
    assert counted(server, before, "afterbay_blob_s3_unauthorized_total") == 1
    assert counted(server, before, "afterbay_blob_s3_received_bytes_total", 100000) == 100000
    assert counted(server, before, "afterbay_blob_s3_sent_bytes_total", 100000) >= 100000
    assert counted(server, before, 'afterbay_blob_s3_request_seconds_count{operation="GetObject"}', 2) == 2
    assert samples(server)["afterbay_blob_s3_connections"] >= 1


def test_a_body_that_is_not_read_to_its_end(server):
    s3 = server.s3()
    s3.create_bucket(Bucket="broken-off")
    s3.put_object(Bucket="broken-off", Key="a", Body=b"x" * (30 << 20))
    before = samples(server)
    s3.get_object(Bucket="broken-off", Key="a")["Body"].close()
    assert counted(server, before, requests_total("GetObject", "broken")) == 1


def test_names(server):
    s3 = server.s3()
    s3.create_bucket(Bucket="named")
    before = samples(server)
    for key in ("a", "b"):
        s3.put_object(Bucket="named", Key=key, Body=b"x")
    s3.delete_object(Bucket="named", Key="a")
    now = samples(server)
    objects = 'afterbay_blob_names{kind="objects"}'
    assert now[objects] - before[objects] == 1
    assert now["afterbay_blob_names_garbage"] - before["afterbay_blob_names_garbage"] == 1
    assert now["afterbay_blob_names_writable"] == 1
    assert now["afterbay_blob_names_changes_total"] - before["afterbay_blob_names_changes_total"] >= 3
    status = json.loads(server.blob("status", "--json"))
    assert status["s3"]["requests"]["PutObject"] >= 2 and status["name_counts"]["objects"] == now[objects]
    text = server.blob("status", "--interval", "10ms")
    assert "PutObject" in text and "objects" in text


def test_failures_are_logged(server):
    log = server.log.read_text()
    assert "could not prove" in log
