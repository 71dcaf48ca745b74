"""The server's program, started and given keys as its guide says (docs/blob.md)."""

import json
import os
import subprocess

# What comes is waited for so long, in seconds: no machine is so busy that it needs more.
PATIENCE = 240


class Program:
    """A server that runs: names and blobs in files, durability `durable`, on ports of its own."""

    def __init__(self, path, data, *options):
        self.path, self.data = path, data
        addresses = ["--listen", "127.0.0.1:0", "--s3", "127.0.0.1:0", "--admin", "none"]
        self.process = subprocess.Popen(
            # Segments are reserved on the disk when they are made: less than a server of a whole disk does.
            [path, "serve", "--data", str(data), "--partition-size", "1GiB", "--segment-size", "64MiB", *addresses, *options],
            env={"PATH": os.environ["PATH"]},
            stdout=subprocess.PIPE,
            stderr=(data.parent / "log").open("a"),
            text=True,
        )
        said = {}
        for line in self.process.stdout:
            if line == "ready\n":
                break
            name, value = line.rsplit("  ", 1)
            said[name.strip()] = value.strip()
        self.url = said["S3"]
        self.address = self.url.split("//")[1]
        self.native = said["native protocol"].split()[0]

    def key(self, name, *rights):
        """Makes a key; the access key id and the secret access key."""
        environment = {
            "AFTERBAY_BLOB_SERVER": self.native,
            "AFTERBAY_BLOB_KEY_FILE": str(self.data / "root-key"),
        }
        command = [self.path, "key", "create", name, "--json", *rights]
        made = json.loads(subprocess.run(command, env=environment, check=True, capture_output=True, timeout=PATIENCE).stdout)
        return made["access_key"], made["secret_key"]

    def stop(self):
        self.process.terminate()
        assert self.process.wait(timeout=PATIENCE) == 0

    def kill(self):
        self.process.kill()
        self.process.wait()
