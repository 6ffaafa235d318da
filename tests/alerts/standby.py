"""A standby of an installation's Postgres, which takes over its address."""

from stack import Postgres
from servers import free_port


class Standby(Postgres):
    """Copies a running primary, and follows it. From then on, the primary commits nothing before the standby has it."""

    def __init__(self, primary, directory):
        self.programs, self.as_user, self.password, self.url = primary.programs, primary.as_user, primary.password, primary.url
        self.data, self.log, self.port = directory / "standby", directory / "standby.log", primary.port
        port = free_port()
        self.run("pg_basebackup", "-d", f"{primary.url}?application_name=standby", "-D", self.data, "-R", "-X", "stream", "-c", "fast", "--no-sync")
        self.run("pg_ctl", "-D", self.data, "-w", "-l", self.log, "-o", f"-p {port}", "start")
        for setting in ("synchronous_commit = on", "synchronous_standby_names = '*'"):
            primary.sql(f"alter system set {setting}")
        primary.sql("select pg_reload_conf()")

    def take_over(self):
        """Ends recovery, and starts again at the primary's address."""
        self.run("pg_ctl", "-D", self.data, "-w", "promote")
        self.stop("fast")
        self.start()
