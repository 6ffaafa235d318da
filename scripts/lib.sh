# Shared by the scripts in this directory, which source it: where things are, and how to say what went wrong.

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
cd "$root" || exit 1

# Cargo's tools that the checks need are installed here once, away from everyone's own ~/.cargo/bin.
tools=${GATEHOUSE_TOOLS:-${XDG_CACHE_HOME:-$HOME/.cache}/gatehouse-tools}
PATH=$tools/bin:$PATH
export PATH

# Ends the script with one line.
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
