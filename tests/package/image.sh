#!/usr/bin/env bash
# The image: its size, what it says of itself, and its main job in its own files alone, which cannot be written.
#
#   tests/package/image.sh            builds the files of a release first, with the profile `release`
#   tests/package/image.sh IMAGE.tar  a finished image
#
# Needs root, skopeo, umoci and jq. It runs without an engine, in namespaces for mounts and for the network.
set -euo pipefail
cd "$(dirname "$0")/../.."
export LC_ALL=C.UTF-8 PATH="$PATH:/usr/sbin:/sbin"

# Of what a registry keeps, for each architecture.
OCTETS_MAX=$((15 * 1000 * 1000))

fail() {
    echo "$*" >&2
    exit 1
}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
if (($# == 0)); then
    PATH="$PWD/target/tools/bin:$PATH" .package/release --profile release --output target/release-files
    set -- target/release-files/tempmail-*-image.tar
fi
(($# == 1)) || fail "one image, not $#"
mkdir "$scratch/layout"
tar -C "$scratch/layout" -xf "$1"

check_layout() {
    local blob size
    for blob in "$scratch"/layout/blobs/sha256/*; do
        [[ $(sha256sum "$blob" | cut -d ' ' -f 1) == "${blob##*/}" ]] || fail "$blob has another hash than its name"
        size=$(stat -c %s "$blob")
        ((size <= OCTETS_MAX)) || fail "$blob has $size octets"
    done
    du -bc "$scratch"/layout/blobs/sha256/* | tail -n 1
}

# The program as the image says it, on files that it cannot write but for its volume and /tmp.
run_image() {
    # It takes the part for this machine.
    skopeo copy --quiet --insecure-policy "oci-archive:$1" "oci:$scratch/one:image"
    umoci unpack --image "$scratch/one:image" "$scratch/bundle" >/dev/null
    unshare --mount --net bash -euo pipefail -s "$scratch/bundle" "$scratch" <<'EOF'
bundle=$1 scratch=$2
fail() {
    echo "$*" >&2
    cat "$scratch/log" >&2
    exit 1
}
said() {
    jq -r "$1" "$bundle/config.json"
}
daemon=
trap '[[ -z $daemon ]] || kill "$daemon"' EXIT
chroot=$(command -v chroot)
ip link set lo up
root=$bundle/rootfs
volume=$(said '.process.env[] | select(startswith("TEMPMAIL_DATA_DIR=")) | split("=")[1]')
user=$(said '"\(.process.user.uid):\(.process.user.gid)"')
mkdir "$scratch/volume"
cp -a "$root$volume/." "$scratch/volume"
chown --reference="$root$volume" "$scratch/volume"
chmod --reference="$root$volume" "$scratch/volume"
# Each engine gives these to a container.
mkdir -p "$root"/{dev,proc}
mount --bind "$root" "$root"
mount --bind "$scratch/volume" "$root$volume"
mount --bind /dev "$root/dev"
mount --bind /proc "$root/proc"
mount -t tmpfs -o mode=1777 none "$root/tmp"
mount -o remount,bind,ro "$root"
mapfile -t environment < <(said '.process.env[] | select(startswith("TERM=") or startswith("HOME=") | not)')
mapfile -t command < <(said '.process.args[]')
inside=(env -i "${environment[@]}" "$chroot" --userspec="$user" "$root")
start() {
    begun=$(date +%s%N)
    "${inside[@]}" "${command[@]}" 2>>"$scratch/log" &
    daemon=$!
    # The greeting of its own port is the first thing that a sender sees.
    until { exec 3<>/dev/tcp/127.0.0.1/2525 && read -r -t 5 -u 3 greeting && [[ $greeting == 220* ]]; } 2>/dev/null; do
        kill -0 "$daemon" 2>/dev/null || fail 'the daemon does not start'
        (($(date +%s%N) - begun < 60000000000)) || fail 'the daemon takes no mail within a minute'
        sleep 0.02
    done
    printf '%s\r\n' 'EHLO a.test' 'MAIL FROM:<a@a.test>' 'RCPT TO:<image@example.test>' DATA >&3
    until read -r -t 5 -u 3 line && [[ $line == 354* ]]; do :; done
    printf '%s\r\n' 'Subject: hello' '' 'hello' . >&3
    read -r -t 5 -u 3 line
    [[ $line == 250* ]] || fail "not 250: $line"
    echo "from the start to the first 250: $((($(date +%s%N) - begun) / 1000000)) ms"
    exec 3>&-
}
stop() {
    kill -TERM "$daemon"
    wait "$daemon" || fail 'the daemon did not stop in order'
    daemon=
}
[[ $("${inside[@]}" tempmail --version) == tempmail* ]] || fail 'it says no version'
if "${inside[@]}" tempmail status >/dev/null 2>&1; then fail 'healthy before it runs'; fi
start
"${inside[@]}" tempmail status >/dev/null || fail 'not healthy while it runs'
"${inside[@]}" tempmail --quiet send-test image@example.test >/dev/null || fail 'no mail by its own client'
[[ $("${inside[@]}" tempmail inbox image@example.test | wc -l) == 2 ]] || fail 'the mails are not there'
[[ $(curl -s http://127.0.0.1:8080/healthz) == '{"status":"ok"}' ]] || fail 'no HTTP on its port'
stop
start
[[ $("${inside[@]}" tempmail inbox image@example.test | wc -l) == 3 ]] || fail 'the volume has not kept the mails'
stop
EOF
}

check_layout
run_image "$1"
echo "$1: $(stat -c %s "$1") octets"
