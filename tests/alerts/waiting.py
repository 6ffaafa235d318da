"""Waits for what Prometheus and Alertmanager must show."""

import time


def wait_for(condition, patience):
    """Seconds until the condition held, or None."""
    begun = time.monotonic()
    while time.monotonic() - begun < patience:
        if condition():
            return time.monotonic() - begun
        time.sleep(0.5)
    return None


def is_settled(stack):
    """No alert fires, also none that Alertmanager has not sent yet. Tickets about three days rightly stay for hours."""
    try:
        return not stack.query('ALERTS{alertstate="firing",window!="3d"}') and not stack.pager.names()
    except OSError:
        return False


def settle(stack, patience):
    """No alert for five seconds."""
    begun, quiet = time.monotonic(), None
    while time.monotonic() - begun < patience:
        if not is_settled(stack):
            quiet = None
        elif quiet is None:
            quiet = time.monotonic()
        elif time.monotonic() - quiet > 5:
            return quiet - begun
        time.sleep(0.5)
    return None


def runs(stack):
    """Waits until Prometheus reads all processes, and no alert fires: those before everything runs do not count."""
    if wait_for(lambda: len(stack.query_quietly("up == 1")) == 3, 60) is None:
        raise RuntimeError(f"the service does not start: {stack.directory}")
    if settle(stack, 120) is None:
        raise RuntimeError(f"alerts fire in a service that has just started: {stack.pager.names()}")
