"""Checks the compose file with the types of the Compose Specification, and what its services promise.

python compose.py ../../deploy/compose.yaml
"""

import re
import sys

import yaml
from compose_spec import PyCompose

path = sys.argv[1]
with open(path) as file:
    text = file.read()
# Variables become their defaults, and required ones some value.
text = re.sub(r"\$\{[A-Z_]+(?::-([^}]*)|:\?[^}]*)\}", lambda variable: variable[1] or "secret", text)
document = yaml.safe_load(text)
# What YAML's merge keys stand for, written out.
compose = PyCompose.from_yaml(yaml.dump(document))
services = document["services"]
assert set(compose.service_names()) == set(services) == {"postgres", "migrate", "api", "worker", "console"}
# Postgres writes the values of rows that it refuses to its log, unless it is told not to.
for setting in ("log_error_verbosity=terse", "log_parameter_max_length_on_error=0", "log_parameter_max_length=0"):
    assert f"--{setting}" in services["postgres"].get("command", []), f"postgres: texts of users get into its log without {setting}"
for name, service in services.items():
    if name == "postgres":
        continue
    assert service["read_only"] and service["cap_drop"] == ["ALL"], f"{name}: may change its files, or has rights"
    if name != "migrate":
        assert service["healthcheck"]["test"] == ["CMD", "/usr/bin/gatehouse", "healthcheck"], name
        assert service["depends_on"] == {"migrate": {"condition": "service_completed_successfully"}}, name
    assert set(service["environment"]) >= {"DATABASE_URL", "GATEHOUSE_MASTER_KEY"}, name
    for port in service.get("ports", []):
        assert port.startswith("127.0.0.1:"), f"{name}: {port} is open to the network"
broken = dict(document, services=dict(services, api=dict(services["api"], comand=["api"])))
try:
    PyCompose.from_yaml(yaml.dump(broken))
except Exception:
    pass
else:
    sys.exit("a wrong member is not noticed")
print(f"{len(services)} services are valid")
