"""A whole installation for injections: Postgres, Gatehouse (an API and two workers), load, Prometheus, Alertmanager."""

import contextlib
import http.client
import json
import os
import pwd
import secrets
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

from rules import scaled
from servers import Pager, Provider, Receiver, free_port

ROOT = Path(__file__).resolve().parents[2]
CATEGORIES = ["adult", "violence", "hate", "self_harm", "harassment", "sexual_minors", "illicit", "spam"]
TEXTS = ["The train to the coast leaves at nine, bring your swimming things."] * 8 + [
    "Nobody should ever read this blockedword here.",
    "Please have a look at review-2024 when you find the time.",
]


def postgres_programs():
    for major in (18, 17, 16, 15):
        for directory in (f"/usr/lib/postgresql/{major}/bin", f"/usr/pgsql-{major}/bin"):
            if os.path.exists(f"{directory}/initdb"):
                return directory
    raise SystemExit("error: no Postgres server found: run scripts/setup test")


class Postgres:
    """A server of its own, which injections may kill."""

    def __init__(self, directory):
        self.programs, self.data, self.port = postgres_programs(), directory / "data", free_port()
        self.password, self.as_user = secrets.token_hex(16), []
        password = directory / "password"
        password.write_text(self.password)
        if os.getuid() == 0:
            # Postgres refuses to run as root.
            user = pwd.getpwnam("postgres")
            self.as_user = ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups", "--"]
            for path in (directory, password):
                os.chown(path, user.pw_uid, user.pw_gid)
        self.log = directory / "postgres.log"
        self.run("initdb", "-D", self.data, "-U", "postgres", "--auth=password", f"--pwfile={password}", "--encoding=UTF8",
                 "--locale=C.UTF-8", "--no-sync", "--no-instructions")
        with open(self.data / "postgresql.conf", "a") as settings:
            settings.write(f"port = {self.port}\nlisten_addresses = '127.0.0.1'\nunix_socket_directories = ''\nmax_connections = 120\n"
                           "fsync = off\nsynchronous_commit = off\nfull_page_writes = off\njit = off\n"
                           "archive_mode = on\narchive_command = '/bin/true'\n")
        self.start()
        self.url = f"postgres://postgres:{self.password}@127.0.0.1:{self.port}/postgres"

    def run(self, program, *arguments):
        subprocess.run([*self.as_user, f"{self.programs}/{program}", *map(str, arguments)], cwd="/", check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def start(self):
        self.run("pg_ctl", "-D", self.data, "-w", "-l", self.log, "start")

    def stop(self, mode="immediate"):
        self.run("pg_ctl", "-D", self.data, "-w", "-m", mode, "stop")

    def sql(self, text):
        done = subprocess.run([f"{self.programs}/psql", self.url, "-AtqX", "-v", "ON_ERROR_STOP=1", "-c", text], check=True, text=True,
                              capture_output=True)
        return done.stdout.strip()

    @contextlib.contextmanager
    def session(self, text):
        """A session that has run `text` and stays open, in its transaction if it began one."""
        psql = subprocess.Popen([f"{self.programs}/psql", self.url, "-AtqX"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True)
        psql.stdin.write(text + "\n\\echo ready\n")
        psql.stdin.flush()
        try:
            for line in psql.stdout:
                if line.strip() == "ready":
                    break
            yield
        finally:
            psql.kill()
            psql.wait()


class Process:
    """A process of the service that can be stopped and started again on the same ports."""

    def __init__(self, stack, name, command, before=()):
        self.stack, self.name, self.command, self.before = stack, name, command, before
        self.metrics, self.child = free_port(), None

    def start(self, *extra, before=None):
        log = open(self.stack.directory / f"{self.name}.log", "a")
        self.child = subprocess.Popen(
            [*(self.before if before is None else before), self.stack.program, *self.command, "--metrics-listen", f"127.0.0.1:{self.metrics}", *extra],
            env=self.stack.environment, stdout=log, stderr=log)

    def send(self, number):
        self.child.send_signal(number)

    def stop(self, number=signal.SIGTERM):
        if self.child and self.child.poll() is None:
            self.child.send_signal(number)
            self.child.wait()


class Stack:
    def __init__(self, name, program, scale, rewrites=()):
        self.name, self.program, self.scale = name, str(program), scale
        self.directory = Path(tempfile.mkdtemp(prefix=f"gatehouse-alerts-{name}."))
        self.directory.chmod(0o755)
        self.extra_targets, self.children, self.threads, self.stopping = [], [], [], threading.Event()
        self.rate, self.statuses, self.content_url, self.counted = 8.0, {}, None, threading.Lock()
        # Ids of all items that were answered with 200; and whether new ones are sent no more.
        self.accepted, self.quiet = [], threading.Event()
        self.receiver, self.provider, self.pager = Receiver(), Provider(), Pager()
        home = self.directory / "postgres"
        home.mkdir()
        self.postgres = Postgres(home)
        self.set_up_service()
        self.set_up_monitoring(rewrites)
        for work in (self.submit, self.ask):
            threading.Thread(target=work, daemon=True).start()

    def set_up_service(self):
        key = self.directory / "master.key"
        key.write_text(subprocess.run(["base64"], input=os.urandom(32), check=True, capture_output=True).stdout.decode())
        key.chmod(0o600)
        providers = self.directory / "providers.toml"
        providers.write_text(f'[[provider]]\nname = "ours"\nkind = "http"\nurl = "http://127.0.0.1:{self.provider.port}/score"\n'
                             f"categories = {json.dumps(CATEGORIES)}\n")
        kept = {name: value for name, value in os.environ.items() if not name.startswith("GATEHOUSE_") and name != "DATABASE_URL"}
        self.environment = kept | {
            "DATABASE_URL": self.postgres.url, "GATEHOUSE_MASTER_KEY_FILE": str(key), "GATEHOUSE_PROVIDERS_FILE": str(providers),
            "GATEHOUSE_EGRESS_ALLOW": f"127.0.0.1:{self.receiver.port}",
        }
        self.admin_run("migrate")
        plan = self.admin("create-plan", "--name", "Alerts", "--submissions-per-minute", "100000", "--status-queries-per-minute", "100000")
        self.plan = plan["plan_id"]
        self.sites = self.team("Alerts", [str(number) for number in range(5)])
        self.port = free_port()
        self.api = Process(self, "api", ["api", "--listen", f"127.0.0.1:{self.port}", "--no-console", "--drain-seconds", "0"])
        self.workers = [Process(self, f"worker-{number}", ["worker"]) for number in (1, 2)]
        for process in self.processes():
            process.start()

    def team(self, name, paths):
        """A team with a site for each path. Its webhooks go to that path of the receiver. Returns the sites' keys."""
        team, keys = self.admin("create-team", "--name", name, "--plan", self.plan), []
        for path in paths:
            site = self.admin("create-site", "--team", team["team_id"], "--name", f"Site {path}")["site_id"]
            self.admin("create-endpoint", "--site", site, "--url", f"http://127.0.0.1:{self.receiver.port}/{path}")
            created = self.admin("create-key", "--site", site)
            keys.append(next(value for value in created.values() if str(value).startswith("site_")))
        return keys

    def admin_run(self, *arguments):
        done = subprocess.run([self.program, *arguments], env=self.environment, text=True, capture_output=True)
        if done.returncode:
            raise RuntimeError(f"gatehouse {' '.join(arguments)}: {done.stderr.strip()[-400:]}")
        return done.stdout

    def admin(self, *arguments):
        return json.loads(self.admin_run("admin", "--json", *arguments))

    def processes(self):
        return [self.api, *self.workers]

    def set_up_monitoring(self, rewrites):
        shipped = (ROOT / "deploy/alerts/gatehouse.rules.yml").read_text()
        (self.directory / "rules.yml").write_text(scaled(shipped, self.scale, rewrites))
        self.targets = self.directory / "targets.json"
        self.scrape([])
        manager, self.prometheus = free_port(), free_port()
        interval = f"{round(15000 / self.scale)}ms"
        (self.directory / "prometheus.yml").write_text(
            f"global: {{scrape_interval: {interval}, scrape_timeout: {interval}, evaluation_interval: {interval}}}\n"
            f"rule_files: [{self.directory}/rules.yml]\n"
            f"alerting: {{alertmanagers: [{{static_configs: [{{targets: ['127.0.0.1:{manager}']}}]}}]}}\n"
            f"scrape_configs: [{{job_name: gatehouse, file_sd_configs: [{{files: ['{self.targets}'], refresh_interval: 1s}}]}}]\n")
        (self.directory / "alertmanager.yml").write_text(
            "route: {receiver: pager, group_by: ['...'], group_wait: 0s, group_interval: 1s, repeat_interval: 24h}\n"
            f"receivers: [{{name: pager, webhook_configs: [{{url: 'http://127.0.0.1:{self.pager.port}/', send_resolved: true}}]}}]\n")
        program = shutil.which("prometheus-alertmanager") or shutil.which("alertmanager")
        log = open(self.directory / "monitoring.log", "a")
        for command in (
            [program, f"--config.file={self.directory}/alertmanager.yml", f"--storage.path={self.directory}/alertmanager",
             f"--web.listen-address=127.0.0.1:{manager}", "--cluster.listen-address="],
            ["prometheus", f"--config.file={self.directory}/prometheus.yml", f"--storage.tsdb.path={self.directory}/prometheus",
             f"--web.listen-address=127.0.0.1:{self.prometheus}", "--rules.alert.resend-delay=1s"],
        ):
            self.children.append(subprocess.Popen(command, stdout=log, stderr=log))

    def scrape(self, extra):
        """Prometheus scrapes our processes, by name, and these ports."""
        entries = [{"targets": [f"127.0.0.1:{process.metrics}"], "labels": {"instance": process.name}} for process in self.processes()]
        text = json.dumps([*entries, {"targets": [f"127.0.0.1:{port}" for port in extra]}])
        fresh = self.targets.with_suffix(".new")
        fresh.write_text(text)
        fresh.rename(self.targets)

    def query(self, expression):
        """The samples of an expression: a list of (labels, value)."""
        address = f"http://127.0.0.1:{self.prometheus}/api/v1/query?" + urllib.parse.urlencode({"query": expression})
        with urllib.request.urlopen(address, timeout=10) as answer:
            return [(sample["metric"], float(sample["value"][1])) for sample in json.load(answer)["data"]["result"]]

    def query_quietly(self, expression):
        """The same, or nothing while Prometheus starts."""
        try:
            return self.query(expression)
        except OSError:
            return []

    def submit(self):
        number = 0
        while not self.stopping.is_set() and not self.quiet.is_set():
            begun = time.monotonic()
            body = {"api_key": self.sites[number % len(self.sites)], "body": f"{TEXTS[number % len(TEXTS)]} ({number})"}
            if self.content_url:
                body["content_url"] = self.content_url
            threading.Thread(target=self.post, args=("submit-media", body), daemon=True).start()
            number += 1
            time.sleep(max(0.0, 1 / self.rate - (time.monotonic() - begun)))

    def ask(self):
        while not self.stopping.wait(0.5):
            if last := self.statuses.get("last"):
                self.post("get-media-status", {"api_key": last[0], "media_id": last[1]})

    def post(self, operation, body):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request("POST", f"/functions/v1/{operation}", json.dumps(body), {"Content-Type": "application/json"})
            answer = connection.getresponse()
            text, status = answer.read(), answer.status
            if operation == "submit-media" and status == 200:
                self.statuses["last"] = (body["api_key"], json.loads(text)["id"])
                self.accepted.append(self.statuses["last"][1])
        except OSError:
            status = "none"
        finally:
            connection.close()
        with self.counted:
            self.statuses[operation, status] = self.statuses.get((operation, status), 0) + 1

    def answers(self):
        with self.counted:
            return {f"{key[0]} {key[1]}": count for key, count in self.statuses.items() if isinstance(key, tuple)}

    def close(self, keep):
        self.stopping.set()
        for process in self.processes():
            process.stop(signal.SIGKILL)
        for child in self.children:
            child.terminate()
            child.wait()
        with contextlib.suppress(subprocess.CalledProcessError):
            self.postgres.stop()
        for server in (self.receiver, self.provider, self.pager):
            server.close()
        if not keep:
            shutil.rmtree(self.directory, ignore_errors=True)
