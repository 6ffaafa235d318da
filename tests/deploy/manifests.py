"""Checks manifests that `kubectl kustomize` printed: each against its schema, and together against what Gatehouse needs.

python manifests.py overlay.yaml --custom objects.json     writes objects of custom kinds there, for types.mjs
"""

import json
import re
import sys
from pathlib import Path

import kubernetes_validate
import yaml

VERSION = "1.37"
MAX_CONNECTIONS = 200
# Superusers, operators and backups, `migrate`.
RESERVED = 3 + 7 + 16
# Every queue of the program, so that no new one is forgotten in a manifest.
JOBS = Path(__file__).parents[2] / "crates/store/src/jobs.rs"
QUEUES = set(re.findall(r'QueueName::new\("([a-z-]+)"\)', JOBS.read_text()))


def containers(document):
    template = document.get("spec", {}).get("template", {}).get("spec", {})
    return template, template.get("containers", [])


def check_pod(name, document):
    """The standard `restricted`, and a root that nobody can write."""
    pod, all_of_it = containers(document)
    security = pod["securityContext"]
    assert security["runAsNonRoot"] and security["runAsUser"] == 65532, f"{name}: runs as root"
    assert security["seccompProfile"]["type"] == "RuntimeDefault", f"{name}: no seccomp profile"
    assert pod["automountServiceAccountToken"] is False, f"{name}: has a token of the cluster"
    for container in all_of_it:
        own = container["securityContext"]
        assert own["allowPrivilegeEscalation"] is False and own["readOnlyRootFilesystem"] is True, name
        assert own["capabilities"]["drop"] == ["ALL"], f"{name}: keeps capabilities"
        assert "memory" in container["resources"]["limits"], f"{name}: no limit of memory"
        assert re.fullmatch(r".+:[0-9][^:]*", container["image"]), f"{name}: the image has no version"
        for variable in container.get("env", []):
            assert "value" not in variable or "KEY" not in variable["name"], f"{name}: a secret in the manifest"
    if document["kind"] == "Deployment":
        assert pod["terminationGracePeriodSeconds"] >= 50, f"{name}: is killed before it has stopped"
        for container in all_of_it:
            assert container["readinessProbe"]["httpGet"]["path"] == "/readyz", name
            assert container["livenessProbe"]["httpGet"]["path"] == "/healthz", name


def queues_of(document):
    for container in containers(document)[1]:
        if "worker" in container["args"]:
            named = [arg.removeprefix("--queues=") for arg in container["args"] if arg.startswith("--queues=")]
            yield from named[0].split(",") if named else QUEUES


def check_connections(deployments, scaled, settings):
    """The largest number of connections that all processes may open is one that Postgres allows."""
    pool = int(settings["GATEHOUSE_DATABASE_CONNECTIONS"])
    wanted = RESERVED
    for name, document in deployments.items():
        surge = document["spec"]["strategy"]["rollingUpdate"]["maxSurge"]
        replicas = scaled[name] if name in scaled else document["spec"]["replicas"]
        wanted += (replicas + surge) * (pool + (5 if "worker" in name else 10))
    assert wanted <= MAX_CONNECTIONS, f"all processes may open {wanted} connections, more than {MAX_CONNECTIONS}"
    return wanted


def check_scaling(deployments, scaled_objects):
    """Nothing but KEDA sets the number of what it scales, and it stops no workers without an answer."""
    for document in scaled_objects:
        name, spec = document["metadata"]["name"], document["spec"]
        target = spec["scaleTargetRef"]["name"]
        assert target in deployments, f"{name}: scales {target}, which does not exist"
        assert "replicas" not in deployments[target]["spec"], f"{target}: each `kubectl apply` sets its scaled workers back"
        assert spec["fallback"]["behavior"] == "currentReplicasIfHigher", f"{name}: stops workers without an answer"
        for trigger in spec["triggers"]:
            assert trigger["metadata"]["ignoreNullValues"] == "false", f"{name}: takes an empty answer for 0"


def check_network(documents):
    denied = [d for d in documents if d["kind"] == "NetworkPolicy" and not d["spec"].get("egress") and not d["spec"].get("ingress")]
    assert len(denied) == 1 and set(denied[0]["spec"]["policyTypes"]) == {"Ingress", "Egress"}, "not everything is denied first"
    for document in documents:
        for rule in document["spec"].get("egress", []) if document["kind"] == "NetworkPolicy" else []:
            assert rule.get("to") and rule.get("ports"), f"{document['metadata']['name']}: opens everything"
            for block in (to["ipBlock"] for to in rule["to"] if "ipBlock" in to):
                if block["cidr"] == "0.0.0.0/0":
                    assert "169.254.0.0/16" in block["except"], "the metadata of clouds is open"


def main(path, custom):
    with open(path) as file:
        documents = [document for document in yaml.safe_load_all(file) if document]
    own = []
    for document in documents:
        name = f"{document['kind']} {document['metadata']['name']}"
        assert document["kind"] != "Secret", f"{name}: secrets do not belong into the repository"
        if document["apiVersion"].split("/")[0] in ("keda.sh", "monitoring.coreos.com"):
            own.append(document)
        else:
            kubernetes_validate.validate(document, VERSION, strict=True)
        if document["kind"] in ("Deployment", "Job"):
            check_pod(name, document)
    deployments = {d["metadata"]["name"]: d for d in documents if d["kind"] == "Deployment"}
    worked_on = sorted(queue for document in deployments.values() for queue in queues_of(document))
    assert worked_on == sorted(QUEUES), f"the workers work on {worked_on}"
    scaled_objects = [d for d in own if d["kind"] == "ScaledObject"]
    check_scaling(deployments, scaled_objects)
    scaled = {d["spec"]["scaleTargetRef"]["name"]: d["spec"]["maxReplicaCount"] for d in scaled_objects}
    settings = next(d["data"] for d in documents if d["kind"] == "ConfigMap")
    wanted = check_connections(deployments, scaled, settings)
    check_network(documents)
    with open(custom, "w") as file:
        json.dump(own, file)
    print(f"{len(documents)} objects are valid; {wanted} connections at most")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[3])
