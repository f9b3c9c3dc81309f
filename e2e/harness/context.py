"""Finds the context in a request by its fence."""

HEADING = "## User's Relevant Context"


def message_texts(body: dict) -> list[tuple[str, str]]:
    """(role, text) of every message in a request of either dialect; instructions have the role `instructions`."""
    out = []
    if isinstance(body.get("instructions"), str):
        out.append(("instructions", body["instructions"]))
    items = body.get("messages", body.get("input"))
    if isinstance(items, str):
        items = [{"role": "user", "content": items}]
    for item in items or []:
        content = item.get("content")
        if isinstance(content, list):
            content = "\n".join(part.get("text") or "" for part in content)
        out.append((item.get("role") or item.get("type"), content or ""))
    return out


def context_of(body: dict) -> str | None:
    """The context with its fence lines; None when the request has none."""
    for _, text in message_texts(body):
        if HEADING in text:
            lines = text.split("\n")
            heading = lines.index(HEADING)
            end = next(i for i in range(heading + 2, len(lines)) if not lines[i].startswith("- "))
            return "\n".join(lines[heading - 2 : end + 1])
    return None


def inserted(sent: bytes, received: bytes) -> bytes | None:
    """The bytes inserted at one place into `sent` to give `received`; None when more was changed."""
    start = 0
    while start < len(sent) and start < len(received) and sent[start] == received[start]:
        start += 1
    rest = len(sent) - start
    if len(received) < len(sent) or (rest and received[-rest:] != sent[start:]):
        return None
    return received[start : len(received) - rest]
