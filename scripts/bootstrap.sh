# Sourced by ./qless-web and ./test. `ensure run` or `ensure test` makes the virtual environment on
# first use and installs the pinned packages, again only when requirements/ changed.
#
# QLESS_VENV    where the environment is (default .venv beside this checkout)
# QLESS_PYTHON  which Python makes it (default: the first one found that is new enough)

root=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd -P)
venv=${QLESS_VENV:-$root/.venv}

say() {
    printf '%s\n' "$*" >&2
}

die() {
    say "$@"
    exit 1
}

as_root() {
    if [ "$(id -u)" = 0 ]; then
        "$@"
    elif command -v sudo >/dev/null 2>&1; then
        sudo "$@"
    else
        return 1
    fi
}

# Install packages with apt-get; its lists may be missing or old, so a failure is tried once more.
apt_install() {
    command -v apt-get >/dev/null 2>&1 || return 1
    say "installing with apt-get: $*"
    as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y -q --no-install-recommends "$@" >/dev/null 2>&1 && return
    as_root apt-get update -q >/dev/null 2>&1 &&
        as_root env DEBIAN_FRONTEND=noninteractive \
            apt-get install -y -q --no-install-recommends "$@" >/dev/null
}

is_new_enough() {
    command -v "$1" >/dev/null 2>&1 &&
        "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1
}

find_python() {
    for candidate in ${QLESS_PYTHON:+"$QLESS_PYTHON"} \
        python3 python3.14 python3.13 python3.12 python3.11; do
        if is_new_enough "$candidate"; then
            command -v "$candidate"
            return
        fi
    done
    return 1
}

make_venv() {
    rm -rf -- "$venv"
    python=$(find_python || :)
    if [ -n "$python" ] && "$python" -m venv "$venv" >/dev/null 2>&1; then
        return
    fi
    rm -rf -- "$venv"
    if command -v uv >/dev/null 2>&1; then
        uv venv -q --seed --python '>=3.11' "$venv" && return
    fi
    [ -n "$python" ] || die "Python 3.11 or newer is needed." \
        "Install it (Debian, Ubuntu: python3; macOS: brew install python), or install uv."
    # Debian and Ubuntu keep the venv module in a package of its own.
    apt_install python3-venv && rm -rf -- "$venv" && "$python" -m venv "$venv" && return
    die "$python could not make a virtual environment in $venv: install its venv module, or uv."
}

install() {
    [ "$("$venv/bin/python" -c 'print("works")' 2>/dev/null)" = works ] || make_venv
    say "installing the pinned packages of requirements/$1.txt"
    "$venv/bin/python" -m pip install -q --disable-pip-version-check \
        --require-hashes --only-binary :all: -r "$root/requirements/$1.txt" >&2 ||
        die "The pinned packages could not be installed."
    cp -- "$root/requirements/$1.txt" "$venv/.qless-$1"
}

is_installed() {
    cmp -s -- "$root/requirements/$1.txt" "$venv/.qless-$1" && [ -x "$venv/bin/python" ]
}

# Two first runs at once: one works, the other waits. A lock whose owner is gone is nobody's.
take_lock() {
    lock=$venv.lock
    until mkdir -- "$lock" 2>/dev/null; do
        owner=$(cat "$lock/owner" 2>/dev/null || :)
        if [ -n "$owner" ] && ! kill -0 "$owner" 2>/dev/null; then
            rm -rf -- "$lock"
        else
            sleep 1
        fi
    done
    echo $$ >"$lock/owner"
    trap 'rm -rf -- "$lock"' EXIT
    trap 'exit 130' HUP INT TERM
}

drop_lock() {
    rm -rf -- "$lock"
    trap - EXIT HUP INT TERM
}

ensure() {
    is_installed "$1" && return
    take_lock
    is_installed "$1" || install "$1"
    drop_lock
}
