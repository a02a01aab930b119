#!/usr/bin/env bash
# Gradescope runs this once, when it builds the autograder's image (an Ubuntu 24.04 base image). The upload is
# a zip of this file, run_autograder, the key's folder as `key`, and the lab as `kernel-lab`.
set -euo pipefail
apt-get update
apt-get install -y bubblewrap g++ cmake ninja-build git util-linux
cd /autograder/source/kernel-lab
export LAB_PRESET=emulator
./lab build
