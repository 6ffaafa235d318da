"""Shortens the windows of the shipped rules, so that a live run takes minutes instead of hours.

Durations in ranges, `offset`, `for` and `interval` are divided. Thresholds in seconds stay as they are, because the
service works at its own pace: it reads its queues every 15 seconds, and a lease takes 30.
"""

import re

UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


def shortened(duration, scale):
    """`5m` by 10 is `30000ms`."""
    seconds = sum(int(number) * UNITS[unit] for number, unit in re.findall(r"(\d+)([smhd])", duration))
    return f"{max(1, round(seconds * 1000 / scale))}ms" if seconds else "0s"


def scaled(text, scale, rewrites=()):
    """The rules with all durations divided by `scale`. `rewrites` are (alert, old, new) for single thresholds."""
    duration = r"((?:\d+[smhd])+)"
    for before, after in ((r"\[", r"\]"), (r"offset ", r"\b"), (r"for: ", r"$"), (r"interval: ", r"$")):
        pattern = re.compile(f"({before}){duration}({after})", re.MULTILINE)
        text = pattern.sub(lambda found: found[1] + shortened(found[2], scale) + found[3], text)
    for alert, old, new in rewrites:
        rule = re.compile(rf"(- alert: {alert}\n(?:(?!- alert:).)*?){re.escape(old)}", re.DOTALL)
        text, count = rule.subn(lambda found: found[1] + new, text)
        assert count, f"{alert} has no {old}"
    return text
