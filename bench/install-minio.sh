#!/bin/sh
# Installs MinIO as a peer for `./afterbay bench blob`: built from its sources, at one revision. It is no part of
# Afterbay (its licence is the AGPL); nothing links to it or ships it. Needs Go 1.24 or newer and some minutes.
set -eu
home=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd -P)
# The last revision before the repository was archived: RELEASE tags are no versions for Go.
revision=v0.0.0-20260212201848-7aac2a2c5b7c
command -v go >/dev/null || {
    echo 'install-minio: Go is needed (apt-get install golang, or https://go.dev/dl)' >&2
    exit 1
}
GOBIN=$home/bench/peers
export GOBIN
go install "github.com/minio/minio@$revision"
echo "install-minio: $GOBIN/minio, $revision"
