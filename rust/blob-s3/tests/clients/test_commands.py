"""The command line clients, unmodified: awscli, s3cmd, rclone."""

import os
import shutil
import subprocess

import pytest

from conftest import ADMIN
from program import PATIENCE

MB = 1 << 20


def run(environment, *command):
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "from"
    (folder / "sub dir").mkdir(parents=True)
    (folder / "small.txt").write_bytes(b"hello")
    (folder / "empty").write_bytes(b"")
    (folder / "sub dir" / "ü.bin").write_bytes(os.urandom(11 * MB))
    return folder


def same(one, other):
    def files(folder):
        return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}

    return files(one) == files(other)


def test_awscli(environment, bucket, folder, tmp_path):
    run(environment, "aws", "s3", "sync", str(folder), "s3://%s/x" % bucket)
    listed = run(environment, "aws", "s3", "ls", "--recursive", "s3://" + bucket)
    assert len(listed.splitlines()) == 3
    run(environment, "aws", "s3", "cp", "s3://%s/x/small.txt" % bucket, "s3://%s/y" % bucket)
    run(environment, "aws", "s3", "sync", "s3://%s/x" % bucket, str(tmp_path / "to"))
    assert same(folder, tmp_path / "to")
    assert "DryRun" not in run(environment, "aws", "s3", "sync", str(folder), "s3://%s/x" % bucket)
    run(environment, "aws", "s3", "rm", "--recursive", "s3://" + bucket)
    assert run(environment, "aws", "s3", "ls", "--recursive", "s3://" + bucket) == ""


def test_s3cmd(environment, endpoint, bucket, folder, tmp_path):
    config = tmp_path / "s3cfg"
    config.write_text(
        "[default]\naccess_key=%s\nsecret_key=%s\nhost_base=%s\nhost_bucket=%s\nuse_https=False\n"
        "bucket_location=us-east-1\nmultipart_chunk_size_mb=5\n"
        % (*endpoint.keys[ADMIN], endpoint.address, endpoint.address)
    )
    s3cmd = [shutil.which("s3cmd"), "-c", str(config), "--no-progress"]
    run(environment, *s3cmd, "sync", str(folder) + "/", "s3://%s/x/" % bucket)
    assert "small.txt" in run(environment, *s3cmd, "ls", "-r", "s3://" + bucket)
    run(environment, *s3cmd, "cp", "s3://%s/x/small.txt" % bucket, "s3://%s/y" % bucket)
    (tmp_path / "to").mkdir()
    run(environment, *s3cmd, "sync", "s3://%s/x/" % bucket, str(tmp_path / "to") + "/")
    assert same(folder, tmp_path / "to")
    assert "s3://%s/y" % bucket in run(environment, *s3cmd, "info", "s3://%s/y" % bucket)
    run(environment, *s3cmd, "rm", "-r", "-f", "s3://" + bucket)


@pytest.mark.parametrize("v2_auth", ["false", "true"])
def test_rclone(environment, endpoint, bucket, folder, tmp_path, v2_auth):
    rclone = shutil.which("rclone")
    environment = dict(
        environment,
        RCLONE_CONFIG=str(tmp_path / "rclone.conf"),
        RCLONE_CONFIG_AB_TYPE="s3",
        RCLONE_CONFIG_AB_PROVIDER="Other",
        RCLONE_CONFIG_AB_ENDPOINT=endpoint.url,
        RCLONE_CONFIG_AB_ACCESS_KEY_ID=endpoint.keys[ADMIN][0],
        RCLONE_CONFIG_AB_SECRET_ACCESS_KEY=endpoint.keys[ADMIN][1],
        RCLONE_CONFIG_AB_REGION="us-east-1",
        RCLONE_CONFIG_AB_V2_AUTH=v2_auth,
    )
    options = ["--s3-upload-cutoff", "5M", "--s3-chunk-size", "5M"]
    run(environment, rclone, "sync", *options, str(folder), "ab:%s/x" % bucket)
    run(environment, rclone, "check", "--download", str(folder), "ab:%s/x" % bucket)
    run(environment, rclone, "copyto", "ab:%s/x/small.txt" % bucket, "ab:%s/y" % bucket)
    run(environment, rclone, "sync", "ab:%s/x" % bucket, str(tmp_path / "to"))
    assert same(folder, tmp_path / "to")
    assert run(environment, rclone, "cat", "ab:%s/y" % bucket) == "hello"
    run(environment, rclone, "delete", "ab:" + bucket)
