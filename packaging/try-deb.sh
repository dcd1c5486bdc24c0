#!/bin/bash
# `make deb-check`, as root: the .deb of dist-package in a clean Debian root. It is installed, serves, is upgraded with its data and its
# changed configuration, removed and purged. Needs debootstrap. SUITE=bookworm or trixie; ROOT=folder uses one that debootstrap has made.
set -euo pipefail
SUITE=${SUITE:-bookworm}
deb=$(realpath "$(ls dist-package/tessera_*.deb | head -1)")
work=$(mktemp -d)
root=${ROOT:-$work/root}
trap 'umount "$root/proc" 2> /dev/null || true; rm -rf "$work"' EXIT

[ -d "$root/usr" ] || debootstrap --variant=minbase "$SUITE" "$root" > "$work/debootstrap.log"
mountpoint -q "$root/proc" || mount -t proc proc "$root/proc"
inside() { chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive "$@"; }
apt() { inside apt-get -qq -y --no-install-recommends "$@" > "$work/apt.log" 2>&1 || { cat "$work/apt.log"; exit 1; }; }
step() { echo "ok - $1"; }
fail() { echo "not ok - $1"; exit 1; }

# The program as the unit starts it, with a statement while it runs: serve STATEMENT EXPECTED
serve() {
  chroot "$root" /usr/bin/setpriv --reuid tessera --regid tessera --clear-groups env -i PATH=/usr/bin:/bin HOME=/nonexistent \
    TESSERA_DATA_DIR=/var/lib/tessera/data TESSERA_CONFIG=/etc/tessera/tessera.toml TESSERA_ADMIN_PASSWORD=correct-horse \
    TESSERA_PORT=18777 /usr/bin/tessera serve > "$work/serve.log" 2>&1 &
  local job=$!
  for _ in $(seq 300); do
    if grep -q '^listening on http' "$work/serve.log" || ! kill -0 "$job" 2> /dev/null; then break; fi
    sleep 0.2
  done
  local url answer
  url=$(sed -n 's/^listening on \(http.*\)/\1/p' "$work/serve.log")
  answer=$(inside env TESSERA_CLIENT_URL="$url" TESSERA_CLIENT_USERNAME=admin TESSERA_CLIENT_PASSWORD=correct-horse TESSERA_HISTORY= \
    tessera sql --format csv "$1" 2>&1) || true
  kill "$job" || true
  wait "$job" || true
  [[ $answer == *"$2"* ]] || { cat "$work/serve.log"; fail "$1: $answer"; }
}

echo "$(basename "$deb") in $(. "$root/etc/os-release"; echo "$PRETTY_NAME")"
apt update
cp "$deb" "$root/tmp/first.deb"
# The next version: the same program, a higher number.
dpkg-deb -R "$deb" "$work/next"
sed -i 's/^Version: .*/&+next/' "$work/next/DEBIAN/control"
dpkg-deb -Znone --root-owner-group -b "$work/next" "$root/tmp/next.deb" > /dev/null

apt install /tmp/first.deb
[ "$(inside stat -c '%U %a' /var/lib/tessera)" = "tessera 700" ] || fail "the data's folder is the user's alone"
inside tessera doctor | tail -1 | grep -q 'can run here' || { inside tessera doctor; fail "doctor"; }
[ "$(inside bash -c 'source /usr/share/bash-completion/completions/tessera; complete -p tessera')" != "" ] || fail "completion"
step "installed: user, folders, completion; doctor finds nothing"
serve "CREATE TABLE kept AS SELECT 42 AS answer" ""
serve "SELECT answer FROM kept" 42
step "served as the user tessera, and again on the same data"

echo '# mine' >> "$root/etc/tessera/tessera.toml"
apt install /tmp/next.deb
inside dpkg -s tessera | grep -q '^Version: .*+next' || fail "upgraded"
grep -q '# mine' "$root/etc/tessera/tessera.toml" || fail "the changed configuration stayed"
serve "SELECT answer FROM kept" 42
step "upgraded: data and the changed configuration are there"

apt remove tessera
[ ! -e "$root/usr/bin/tessera" ] && [ ! -e "$root/usr/lib/tessera" ] || fail "the program is gone"
[ -d "$root/var/lib/tessera/data" ] && [ -f "$root/etc/tessera/tessera.toml" ] || fail "data and configuration stay"
step "removed: the program is gone, data and configuration stay"
apt install /tmp/next.deb
serve "SELECT answer FROM kept" 42
step "installed again: the data is there"

apt purge tessera
for path in /var/lib/tessera /etc/tessera /usr/lib/tessera; do [ ! -e "$root$path" ] || fail "$path is gone"; done
! inside getent passwd tessera > /dev/null || fail "the user is gone"
step "purged: nothing is left"
