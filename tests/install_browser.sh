#!/usr/bin/env bash
# Install what the tests of the page need beside the Python packages: a browser without a screen, from Debian. Run as root.
set -euo pipefail
if command -v chromium-headless-shell >/dev/null; then
    exit 0
fi
export DEBIAN_FRONTEND=noninteractive
apt-get -o DPkg::Lock::Timeout=600 update -qq
apt-get -o DPkg::Lock::Timeout=600 install -y -qq --no-install-recommends chromium-headless-shell fonts-dejavu-core
