#!/usr/bin/env bash
# The Debian package: what it has, lintian, its unit, and its installation into a root directory of its own.
#
#   tests/package/check.sh           a package around the development build; nothing else is compiled
#   tests/package/check.sh FILE.deb  a finished package
#
# Needs cargo-deb, which the first run without FILE.deb puts into target/tools; lintian, strace and systemd's programs.
set -euo pipefail
cd "$(dirname "$0")/../.."
export LC_ALL=C.UTF-8 PATH="$PATH:/usr/sbin:/sbin"

CARGO_DEB=3.8.0
# Of 100; systemd-analyze shows a tenth of it.
EXPOSURE_MAX=20

fail() {
    echo "$*" >&2
    exit 1
}

# cargo-deb takes the program from the directory of the profile.
build() {
    [[ $(target/tools/bin/cargo-deb --version 2>/dev/null) == "$CARGO_DEB" ]] ||
        cargo install --locked --quiet cargo-deb --version "$CARGO_DEB" --no-default-features --root target/tools
    cargo build --locked --features cassandra
    mkdir -p target/package/dist
    cp target/debug/tempmail target/package/dist/
    CARGO_TARGET_DIR=target/package PATH="$PWD/target/tools/bin:$PATH" \
        cargo deb --locked --no-build --fast --output target/package/tempmail.deb
}

check_contents() {
    dpkg-deb --contents "$deb" | awk '$1 !~ /^d/ { print $1, $2, substr($6, 2) }' |
        sed 's|/man1/tempmail-.*\.1\.gz|/man1/tempmail-COMMAND.1.gz|' | sort -u >"$scratch/contents"
    diff -u tests/package/contents.txt "$scratch/contents" || fail 'the files of the package are not those of contents.txt'
    local pages=(man/*.1)
    [[ $(dpkg-deb --contents "$deb" | grep -c '/man1/tempmail.*\.1\.gz$') == "${#pages[@]}" ]] ||
        fail 'a manual page is missing'
    [[ $(dpkg-deb --field "$deb" Version) == "$version"-* ]] || fail 'the version of the package is not that of Cargo.toml'
}

# Installs, removes and purges in a namespace where root is the caller and no systemd runs, so nothing of this machine changes.
install_and_remove() {
    mkdir -p "$root"/{etc,var/lib/dpkg}
    touch "$root/var/lib/dpkg/status"
    unshare --map-root-user --mount bash -euo pipefail -s "$deb" "$root" <<'EOF'
deb=$1 root=$2
fail() {
    echo "$*" >&2
    exit 1
}
mount -t tmpfs none /run
# The dependencies are those of a whole system; the scripts work on DPKG_ROOT instead of changing their root.
dpkg=(dpkg --root="$root" --log=/dev/null --force-depends --force-script-chrootless)
settings=$root/etc/tempmail/config.toml
unit=$root/etc/systemd/system/multi-user.target.wants/tempmail.service

"${dpkg[@]}" --install "$deb"
grep -q '^tempmail:.*:/var/lib/tempmail:.*nologin$' "$root/etc/passwd" || fail 'there is no user'
[[ -L $unit ]] || fail 'the service is not enabled'
cp -a "$root" "$root.installed"

echo '# changed' >>"$settings"
"${dpkg[@]}" --install "$deb"
grep -qx '# changed' "$settings" || fail 'an update overwrote the settings'

# Files of an earlier format: their program makes a backup, or nothing is replaced.
data=$root/var/lib/tempmail
mkdir -p "$data"
touch "$data/index.redb"
printf '#!/bin/sh\n[ "$*" = --version ]\n' >"$root/usr/bin/tempmail"
if "${dpkg[@]}" --install "$deb" >/dev/null 2>&1; then
    fail 'an upgrade went on without its backup'
fi
printf '#!/bin/sh\nfor word; do case $word in *.backup) touch "$word" ;; esac; done\n' >"$root/usr/bin/tempmail"
"${dpkg[@]}" --install "$deb" >"$root.said"
backup=$(find "$data" -name 'upgrade-*.backup')
[[ $backup ]] || fail 'an upgrade made no backup'
grep -q "db restore $backup --with-events" "$root.said" || fail 'an upgrade does not say how to go on'
rm -r "$data"

"${dpkg[@]}" --remove tempmail
[[ -e $settings && ! -e $root/usr/bin/tempmail ]] || fail 'not the settings alone are left after the removal'
"${dpkg[@]}" --purge tempmail
left=$(find "$root" -path "$root/var/lib/dpkg" -prune -o ! -type d -name '*tempmail*' -print)
[[ ! -e $settings && ! -L $unit && -z $left ]] || fail "left after the purge: $left"
EOF
}

check_unit() {
    local unit=$scratch/tempmail.service
    sed "s|=/usr/bin/tempmail|=$root.installed/usr/bin/tempmail|" "$root.installed/usr/lib/systemd/system/tempmail.service" >"$unit"
    systemd-analyze verify --man=no --recursive-errors=no "$unit"
    systemd-analyze security --no-pager --offline=true --threshold="$EXPOSURE_MAX" "$unit" >"$scratch/security" || {
        cat "$scratch/security"
        fail 'the unit is too open'
    }
    tail -n 1 "$scratch/security"
}

# The system calls that these names and groups of systemd stand for.
system_calls() {
    local name
    for name; do
        if [[ $name == @* ]]; then
            # shellcheck disable=SC2046
            system_calls $(systemd-analyze syscall-filter "$name" 2>/dev/null | awk '!/^@/ && $1 !~ /^#/ { print $1 }')
        else
            echo "$name"
        fi
    done
}

# The system calls that the unit permits: each line of its filter adds to them, or with ~ takes from them.
permitted() {
    local line permitted=
    while read -r line; do
        # shellcheck disable=SC2086
        if [[ $line == '~'* ]]; then
            permitted=$(comm -23 <(echo "$permitted") <(system_calls ${line#'~'} | sort -u))
        else
            permitted=$({ echo "$permitted" && system_calls $line; } | sort -u)
        fi
    done < <(sed -n 's/^SystemCallFilter=//p' "$1")
    echo "$permitted"
}

# The daemon runs with the installed settings, takes a mail, is reloaded and stops. None of its system calls may be one that
# the unit refuses.
check_system_calls() {
    local program=$root.installed/usr/bin/tempmail data=$scratch/data begun=$SECONDS
    local trace=$scratch/trace outside
    export TEMPMAIL_DATA_DIR=$data TEMPMAIL_CONFIG=$root.installed/etc/tempmail/config.toml
    [[ $("$program" --version) == "tempmail $version"* ]] || fail 'the program has another version'
    strace -f -qq -o "$trace" "$program" serve --smtp-listen 127.0.0.1:0 --http-listen 127.0.0.1:0 2>"$scratch/log" &
    daemon=$!
    until "$program" --quiet status >"$scratch/status" 2>&1; do
        ((SECONDS < begun + 60)) || { cat "$scratch/log" && fail 'the daemon does not start'; }
        sleep 0.2
    done
    "$program" --quiet send-test package@example.test >"$scratch/sent"
    "$program" inbox package@example.test | grep -q . || fail 'the mail did not arrive'
    pkill -HUP -P "$daemon"
    pkill -TERM -P "$daemon"
    wait "$daemon" || fail 'the daemon did not stop in order'
    daemon=

    sed -nE 's/^[0-9]+ +([a-z0-9_]+)\(.*/\1/p' "$trace" | sort -u >"$scratch/called"
    (($(wc -l <"$scratch/called") > 30)) || fail 'the trace is empty'
    outside=$(comm -23 "$scratch/called" <(permitted "$scratch/tempmail.service"))
    [[ -z $outside ]] || fail "the unit refuses system calls that the daemon makes: $outside"
}

deb=$(realpath -m "${1:-target/package/tempmail.deb}")
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
scratch=$(mktemp -d)
daemon=
# The daemon is strace's child.
trap '[[ -z $daemon ]] || pkill -TERM -P "$daemon" || true; rm -rf "$scratch"' EXIT
root=$scratch/root
(($# > 0)) || build
check_contents
lintian --fail-on error --suppress-tags initial-upload-closes-no-bugs --allow-root "$deb"
install_and_remove
check_unit
check_system_calls
echo "$deb: $(stat -c %s "$deb") octets"
