"""What is told: as JSON for programs, or as Slack and those like it take it."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

#: Names that a message lists.
_NAMED = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message about one alert.

    Attributes:
        id: the same for each attempt to tell it.
        alert: the name of the rule.
        state: `firing`, `recovered`, or `test`.
        kind: of the rule.
        text: what is the case, in a sentence.
        names: the queues or groups that it is about, the worst first.
        since: since when, epoch seconds.
        console: the environment's label, or the application's name; then that of the server, where
            the console shows several.

    """

    id: str
    alert: str
    state: str
    kind: str
    text: str
    names: tuple[str, ...] = ()
    since: float = 0.0
    console: str = "qless"

    def body(self, shape: str) -> bytes:
        """Write it down.

        >>> Message(id="1", alert="a", state="test", kind="x", text="<!channel>").body("slack")
        b'{"text": "[qless] a: test. &lt;!channel&gt;"}'
        """
        told = {**asdict(self), "names": list(self.names[:_NAMED])}
        if shape == "slack":
            names = ", ".join(self.names[:_NAMED])
            text = f"[{self.console}] {self.alert}: {self.state}. {self.text}"
            told = {"text": _escaped(f"{text} ({names})" if names else text)}
        return json.dumps(told).encode()


def _escaped(text: str) -> str:
    """Escape what Slack would take for a mention or a link."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
