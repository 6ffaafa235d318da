# Sourced by the scripts in this directory: where things are, and how errors are printed.

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
cd "$root" || exit 1

# Cargo's tools for the checks are installed here once, not in the user's own ~/.cargo/bin.
tools=${GATEHOUSE_TOOLS:-${XDG_CACHE_HOME:-$HOME/.cache}/gatehouse-tools}
PATH=$tools/bin:$PATH
export PATH

# Ends the script with an error of one line.
die() {
    echo "error: $*" >&2
    exit 1
}

is_root() {
    [ "$(id -u)" = 0 ]
}

# Prints the directory of the newest supported Postgres server's programs; fails if there is none.
postgres_programs() {
    for major in 18 17 16 15; do
        for directory in "/usr/lib/postgresql/$major/bin" "/usr/pgsql-$major/bin"; do
            if [ -x "$directory/initdb" ]; then
                echo "$directory"
                return
            fi
        done
    done
    initdb=$(command -v initdb) && dirname "$(readlink -f "$initdb")"
}

# Prints the Chromium or Chrome that tests use; fails if there is none.
chromium_program() {
    for program in "${CHROMIUM:-}" chromium chromium-browser google-chrome; do
        [ -z "$program" ] || ! command -v "$program" || return 0
    done
    return 1
}

# Prints where cargo puts the program that `cargo build --package gatehouse` makes.
built_program() {
    echo "$(cargo metadata --no-deps --format-version=1 | sed 's/.*"target_directory":"\([^"]*\)".*/\1/')/debug/gatehouse"
}

# Installs the packages that a directory's package-lock.json pins, unless they are installed. The packages' own scripts are not run.
install_node_packages() {
    command -v npm >/dev/null || die "npm is missing; install Node.js"
    [ "$1/node_modules/.package-lock.json" -nt "$1/package-lock.json" ] ||
        npm ci --prefix "$1" --ignore-scripts --no-audit --no-fund --loglevel=error >/dev/null ||
        die "npm ci failed in $1: is there a network?"
}

# Makes a directory's .venv with the packages that its requirements.txt pins, unless it exists.
install_python_packages() {
    [ "$1/.venv/installed" -nt "$1/requirements.txt" ] && return
    rm -rf "$1/.venv"
    python3 -m venv "$1/.venv" || die "Python 3.11 or later with venv is missing (Debian: apt-get install python3-venv)"
    "$1/.venv/bin/pip" install --quiet --disable-pip-version-check --require-hashes --requirement "$1/requirements.txt" ||
        die "pip install failed for $1: is there a network?"
    touch "$1/.venv/installed"
}
