"""Compares Gatehouse's requests to providers, and what it reads from their answers, with the providers' official SDKs.

A server for each case answers with what the SDK's own models write. The service is asked to look at something with each of these
providers. Its requests are then read by the SDK's models and published schemas, and compared with what the SDK's client sends to
the same server, which must read the answer as it was meant. The service's scores must be those of the answer.
"""

import json
import os
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path

from fake import Fake
from kinds import (
    KEY,
    TEXT,
    aws,
    azure_sdk,
    google_sdk,
    hive_described,
    llama_cpp,
    mistral_sdk,
    near,
    openai_sdk,
    recipes,
    sightengine_sdk,
)

HERE = Path(__file__).parent
KINDS = [openai_sdk, mistral_sdk, azure_sdk, google_sdk, aws, sightengine_sdk, hive_described, llama_cpp, recipes]
CASES = [case for kind in KINDS for case in kind.CASES]


def entry(case, fake):
    return f'[[provider]]\nname = "{case.name}"\nurl = "{fake.url}{case.base}"\nkey_env = "THEIR_KEY"\n{case.members}\n'


def serve(fakes):
    """The service's results for all items that it was given."""
    with tempfile.TemporaryDirectory() as directory:
        # The service may run as another user.
        os.chmod(directory, 0o755)
        files = Path(directory)
        (files / "policy.txt").write_text("Insults of a group are hate. Advertisements are spam.")
        (files / "providers.toml").write_text("\n".join(entry(case, fakes[case.name]) for case in CASES))
        told = [
            {"name": case.name, "modality": case.modality, "text": TEXT, "categories": list(case.scores)}
            for case in CASES
        ]
        (files / "cases.json").write_text(json.dumps(told))
        environment = {**os.environ, "GATEHOUSE_PROVIDERS_FILE": str(files / "providers.toml"), "THEIR_KEY": KEY}
        command = ["scripts/with-gatehouse", sys.executable, str(HERE / "ask.py"), str(files / "cases.json")]
        done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=False)
        if done.returncode != 0:
            sys.exit(done.returncode)
        return json.loads(done.stdout)


def judge(case, fake, said):
    """Raises an error if something is wrong with a case."""
    assert fake.requests, "the service did not ask"
    ours = fake.requests[0]
    case.check(ours)
    assert ours.headers.get("user-agent", "").startswith("Gatehouse/"), "the requests do not say who asks"
    [analysis] = said["analyses"]
    [answer] = analysis["providers"]
    assert answer["provider"] == case.name and answer["modality"] == case.modality
    assert answer["failure"] is None, f"the service could not use the answer: {answer['failure']}"
    assert len(fake.requests) == 1, f"the service asked {len(fake.requests)} times"
    assert near(answer["scores"], case.scores), f"the service reads {answer['scores']}"
    if case.ask is not None:
        case.ask(fake.url, ours)
        [_, theirs] = fake.requests
        case.compare(ours, theirs)


def result(case, fake, said):
    try:
        judge(case, fake, said)
    except Exception as error:
        if os.environ.get("TRACEBACK"):
            traceback.print_exc()
        return f"{type(error).__name__}: {error}"
    return None


def table(rows):
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows)


def main():
    # The fake providers are on this machine.
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        os.environ.pop(name, None)
        os.environ.pop(name.upper(), None)
    fakes = {case.name: Fake(case.answer) for case in CASES}
    said = serve(fakes)
    mistakes = {case.name: result(case, fakes[case.name], said[case.name]) for case in CASES}
    rows = [("provider", "looks at", "request valid by", "answer parsed by", "result")]
    for case in CASES:
        outcome = "ok" if mistakes[case.name] is None else "WRONG"
        rows.append((case.name, case.modality, case.request_valid_by, case.answer_parsed_by, outcome))
    print(table(rows))
    wrong = {name: mistake for name, mistake in mistakes.items() if mistake is not None}
    for name, mistake in wrong.items():
        print(f"\n{name}: {mistake}", file=sys.stderr)
    sys.exit(1 if wrong else 0)


main()
