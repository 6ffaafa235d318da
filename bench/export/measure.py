"""How long exporting and importing a site takes, and how much memory it needs.

scripts/with-postgres python3 bench/export/measure.py --program target/release/gatehouse --items 200000

Makes a site with decided items by SQL, downloads its archive from `gatehouse api` with `gatehouse export`, goes on with a
file that was cut in half, and imports it into a second database, once more to see that nothing is new. Prints JSON. The
memory is the most that a process held (VmHWM, or ru_maxrss of a command that ended).
"""

import argparse
import json
import os
import pathlib
import re
import shlex
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

ITEMS = """
with given as (select s.id as site, s.team_id as team, g.live_version_id as version
               from sites s join rule_groups g on g.id = s.default_rule_group_id limit 1),
added as (
    insert into media (id, team_id, site_id, status, content_type, app_media_id, author, body, metadata, group_versions,
                       verdict, created_at)
    select (lpad(to_hex(1700000000000 + n * 1000), 12, '0') || '7' || lpad(to_hex(n % 4096), 3, '0') || '8'
            || substr(md5(n::text), 1, 15))::uuid,
           team, site, case when n % 10 = 0 then 'rejected' else 'approved' end, 'text', 'item-' || n, 'author-' || n % 5000,
           left(repeat(md5(n::text) || ' ', 40), (300 + (n::bigint * 7919) % 900)::integer),
           json_build_object('author', 'author-' || n % 5000, 'page', n), array[version], 1,
           to_timestamp(1700000000 + n)
    from given, generate_series(:first, :last) n
    returning id, status, created_at
),
judged as (
    insert into verdicts (media_id, number, status, previous_status, moderation_type, details, trace, moderated_at)
    select id, 1, status, 'pending', 'ai',
           json_build_object('reason', 'by the rules', 'flagged_categories', '[]'::json, 'ai_analysis',
               json_build_object('adult', 0.01, 'violence', 0.02, 'hate', 0.003, 'self_harm', 0.001), 'rule_violations', '[]'::json,
               'processing_time_ms', 41),
           json_build_object('groups', json_build_array(json_build_object('rule_group_id', id, 'version_id', id,
               'number', 1, 'rules', 12)), 'decision', status, 'note', repeat('t', 400)),
           created_at + interval '40 milliseconds'
    from added
)
insert into analyses (media_id, scores, providers, unchecked, created_at)
select id, '{"adult":0.01,"violence":0.02,"hate":0.003,"self_harm":0.001}',
       json_build_array(json_build_object('provider', 'builtin', 'scores',
           json_build_object('adult', 0.01, 'violence', 0.02, 'hate', 0.003), 'duration_ms', 3)), '[]', created_at
from added;
"""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--items", type=int, default=200_000)
    options = parser.parse_args()
    url = os.environ["DATABASE_URL"]
    programs = [word for word in shlex.split(os.environ["PG_CTL"]) if word.endswith("pg_ctl")]
    psql = str(pathlib.Path(programs[0]).with_name("psql")) if programs else "psql"
    place = pathlib.Path(tempfile.mkdtemp(prefix="gatehouse-export."))

    def database(name):
        sql(url, f"create database {name}")
        return re.sub(r"(postgres(?:ql)?://[^/]*/)[^?]*", rf"\g<1>{name}", url)

    def sql(database_url, statement, **values):
        settings = [f"--set={name}={value}" for name, value in values.items()]
        command = [psql, database_url, "--no-psqlrc", "--quiet", "--tuples-only", "--set=ON_ERROR_STOP=1", *settings]
        done = subprocess.run(command, input=statement, text=True, stdout=subprocess.PIPE)
        if done.returncode != 0:
            raise SystemExit("psql failed")
        return done.stdout.strip()

    def environment(database_url):
        return {
            "PATH": os.environ["PATH"],
            "DATABASE_URL": database_url,
            "GATEHOUSE_MASTER_KEY": "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",
            "GATEHOUSE_NO_CONSOLE": "true",
        }

    def run(database_url, *arguments):
        """What a command prints, its seconds, and the most memory that it held, in MiB."""
        began = time.monotonic()
        with open(place / "out", "w+") as out, open(place / "err", "w+") as err:
            child = subprocess.Popen([options.program, *arguments], env=environment(database_url), stdout=out, stderr=err)
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = 0
            out.seek(0)
            err.seek(0)
            if status != 0:
                raise SystemExit(f"{arguments}: {err.read()}")
            return out.read(), round(time.monotonic() - began, 1), round(usage.ru_maxrss / 1024, 1)

    def admin(database_url, *arguments):
        return json.loads(run(database_url, "admin", "--json", *arguments)[0])

    source, copy = database("source"), database("copy")
    run(source, "migrate")
    team = admin(source, "create-team", "--name", "a")["team_id"]
    site = admin(source, "create-site", "--team", team, "--name", "s")["site_id"]
    token = admin(source, "create-token", "--name", "t", "--team", team, "--scopes", "all")["management_token"]
    for first in range(1, options.items + 1, 50_000):
        sql(source, ITEMS, first=first, last=min(first + 49_999, options.items))
    sql(source, "vacuum analyze")
    (place / "token").write_text(token)

    ports = []
    for _ in range(2):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            ports.append(free.getsockname()[1])
    api = subprocess.Popen(
        [options.program, "api", "--listen", f"127.0.0.1:{ports[0]}", "--metrics-listen", f"127.0.0.1:{ports[1]}"],
        env=environment(source), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )
    try:
        for _ in range(300):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{ports[0]}/readyz").read()
                break
            except OSError:
                time.sleep(0.1)

        def memory():
            status = pathlib.Path(f"/proc/{api.pid}/status").read_text()
            return round(int(re.search(r"VmHWM:\s+(\d+)", status)[1]) / 1024, 1)

        file = place / "site.tar"
        export = ["export", "--json", "--url", f"http://127.0.0.1:{ports[0]}", "--token-file", str(place / "token"),
                  "--site", site, "--to", str(file)]
        before = memory()
        told, seconds, client = run(source, *export)
        report = {
            "items": options.items,
            "load": os.getloadavg()[0],
            "export": {"seconds": seconds, "mib": round(file.stat().st_size / 2**20, 1), "client_mib": client,
                       "server_mib_before": before, "server_mib": memory()},
        }
        print(json.dumps(report), file=sys.stderr)
        whole = json.loads(told)
        os.truncate(file, file.stat().st_size // 2)
        told, seconds, client = run(source, *export)
        assert json.loads(told) == whole, told
        report["second_half"] = {"seconds": seconds, "client_mib": client, "server_mib": memory()}
    finally:
        api.terminate()
        api.wait()

    run(copy, "migrate")
    team = admin(copy, "create-team", "--name", "b")["team_id"]
    for name in ["import", "import_again"]:
        told, seconds, client = run(copy, "import", "--json", "--file", str(file), "--team", team)
        report[name] = {"seconds": seconds, "mib": client, "new_items": json.loads(told)["new_items"]}
        print(json.dumps(report), file=sys.stderr)
    assert report["import"]["new_items"] == options.items, report
    assert report["import_again"]["new_items"] == 0, report
    print(json.dumps(report, indent=1))
    for left in place.iterdir():
        left.unlink()
    place.rmdir()


if __name__ == "__main__":
    main()
