"""Chat exports in the zip they arrive in: ChatGPT, Claude, Slack, Discord, WhatsApp, Telegram."""

from __future__ import annotations

import csv
import io
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any

from clew.documents.readers import chat_exports as roles
from clew.documents.readers import transcript
from clew.documents.readers.chat_exports import read_json
from clew.documents.readers.containers import Container
from clew.documents.readers.conversation import Conversation, Turn, documents, moment, told  # noqa: F401
from clew.documents.readers.document import Document, UnreadableError, decoded
from clew.documents.readers.telegram import read_telegram
from clew.errors import ClewError
from clew.parsing import ParseError, parse_json

_WHAT = "a chat export"
_DAY = re.compile(r"\d{4}-\d\d-\d\d\.json")
_ID_FOLDER = re.compile(r"c?\d{5,25}")
WAY_OUT = "Unpack it and import the folder, or import the files inside that you want."


def read_chat_archive(data: bytes) -> tuple[Document, ...]:
    """Return the conversations of a zip that one of the known programs exports.

    Another zip is unreadable.
    """
    archive = Container(data, what=_WHAT)
    names = [name for name in archive.names if not name.endswith("/") and "__MACOSX/" not in name]
    for read in (_assistants, _slack, _discord, _telegram, _whatsapp):
        if found := read(archive, names):
            return found
    raise UnreadableError("it is an archive, and no chat export that is known", WAY_OUT)


def _assistants(archive: Container, names: Sequence[str]) -> tuple[Document, ...]:
    """Return what ChatGPT and Claude export.

    Conversations.json, in newer exports in several parts.
    """
    wanted = [
        name
        for name in names
        if re.fullmatch(r"conversations(?:-\d{1,4})?\.json", PurePosixPath(name).name)
    ]
    found: list[Document] = []
    for name in sorted(wanted):
        text, notes = decoded(archive.read(name))
        try:
            made = read_json(text, notes)
        except UnreadableError:
            continue
        found += [each for each in made if each.format == "conversation"]
    return tuple(_keyed(found))


def _slack(archive: Container, names: Sequence[str]) -> tuple[Document, ...]:
    """Return the channels of a Slack export: a folder each, with a file for each day."""
    days: dict[str, list[str]] = defaultdict(list)
    for name in names:
        path = PurePosixPath(name)
        if _DAY.fullmatch(path.name) and len(path.parts) > 1:
            days[path.parts[-2]].append(name)
    base = {PurePosixPath(name).name for name in names}
    if not days or not base & {"channels.json", "users.json", "groups.json", "dms.json"}:
        return ()
    users = _slack_users(archive, names)
    return documents(
        found
        for channel, files in sorted(days.items())
        if (found := _slack_channel(archive, channel, files, users))
    )


def _slack_users(archive: Container, names: Sequence[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for name in names:
        if PurePosixPath(name).name == "users.json":
            for user in _listed(_json(archive, name)):
                profile = user.get("profile")
                called = (
                    [profile.get("display_name"), profile.get("real_name")]
                    if isinstance(profile, dict)
                    else []
                )
                called += [user.get("real_name"), user.get("name")]
                shown = next((each for each in called if isinstance(each, str) and each), "")
                if shown and isinstance(user.get("id"), str):
                    found[user["id"]] = shown
    return found


def _slack_channel(
    archive: Container, channel: str, files: Sequence[str], users: Mapping[str, str]
) -> Conversation | None:
    entries = [
        _with_names(each, users) for name in sorted(files) for each in _listed(_json(archive, name))
    ]
    found = (
        roles.conversation(entries, about={"name": f"#{channel}", "id": channel})
        if entries
        else None
    )
    return (
        None
        if found is None
        else replace(found, metadata={"original_format": "slack", "channel": channel})
    )


def _with_names(entry: Mapping[str, Any], users: Mapping[str, str]) -> dict[str, Any]:
    """Return a message with its people's names for their ids, also where they are mentioned."""
    made = dict(entry)
    name = users.get(_text(made.get("user")))
    if name and not isinstance(made.get("user_profile"), dict):
        made["user_profile"] = {"display_name": name}
    if isinstance(made.get("text"), str):
        made["text"] = re.sub(
            r"<@(\w{1,30})>",
            lambda found: f"@{users[found[1]]}" if found[1] in users else found[0],
            made["text"],
        )
    return made


def _discord(archive: Container, names: Sequence[str]) -> tuple[Document, ...]:
    """Return the channels of Discord's package, which holds only what its owner wrote.

    Or a chat of DiscordChatExporter.
    """
    found: list[Conversation] = []
    for name in names:
        path = PurePosixPath(name)
        if (
            path.name in ("messages.json", "messages.csv")
            and len(path.parts) > 1
            and _ID_FOLDER.fullmatch(path.parts[-2])
        ):
            rows = (
                _listed(_json(archive, name))
                if path.suffix == ".json"
                else _csv_rows(archive, name)
            )
            found.append(_discord_channel(archive, path, rows))
    return documents(found)


def _discord_channel(
    archive: Container, path: PurePosixPath, rows: Sequence[Mapping[str, Any]]
) -> Conversation:
    about = _json(archive, str(path.parent / "channel.json"))
    about = about if isinstance(about, dict) else {}
    guild = about.get("guild")
    server = _text(guild.get("name")) if isinstance(guild, dict) else ""
    title = " · ".join(filter(None, (server, _text(about.get("name"))))) or path.parts[-2]
    turns = [Turn("me", _text(row.get("Contents")), moment(row.get("Timestamp"))) for row in rows]
    ordered = sorted(turns, key=lambda turn: turn.time.timestamp() if turn.time else 0.0)
    return Conversation(
        turns=ordered, title=title, key=path.parts[-2], metadata={"original_format": "discord"}
    )


def _csv_rows(archive: Container, name: str) -> list[dict[str, Any]]:
    try:
        text, _ = decoded(archive.read(name))
        return [
            {str(key): value for key, value in row.items()}
            for row in csv.DictReader(io.StringIO(text))
        ]
    except (csv.Error, UnreadableError):
        return []


def _telegram(archive: Container, names: Sequence[str]) -> tuple[Document, ...]:
    found: list[Conversation] = []
    for name in names:
        value = _json(archive, name) if PurePosixPath(name).name == "result.json" else None
        found += read_telegram(value) if isinstance(value, dict) else ()
    return documents(found)


def _whatsapp(archive: Container, names: Sequence[str]) -> tuple[Document, ...]:
    """Return the transcript inside a WhatsApp export, named after the other person or the group."""
    texts = [name for name in names if name.lower().endswith(".txt")]
    found = []
    for name in texts:
        path = PurePosixPath(name)
        if path.name != "_chat.txt" and not path.name.startswith("WhatsApp"):
            continue
        text, notes = decoded(archive.read(name))
        talk = transcript.conversation(text.replace("\u200e", ""))
        if talk:
            title = path.stem.removeprefix("WhatsApp Chat with ").removeprefix("WhatsApp Chat - ")
            title = "" if path.name == "_chat.txt" else title
            found.append(
                replace(
                    talk,
                    title=title or talk.title,
                    metadata={"original_format": "whatsapp"},
                    notes=(*notes, *talk.notes),
                )
            )
    media = len(names) - len(texts)
    if found and media:
        found[0] = replace(found[0], left_out={**found[0].left_out, "pictures and files": media})
    return documents(found)


def _json(archive: Container, name: str) -> Any:
    data = archive.read(name)
    if not data:
        return None
    try:
        return parse_json(decoded(data)[0])
    except (ParseError, ClewError):
        return None


def _listed(value: object) -> list[dict[str, Any]]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _keyed(found: Sequence[Document]) -> Iterator[Document]:
    """Yield documents whose keys differ, also of several parts."""
    seen: set[str] = set()
    for number, each in enumerate(found, start=1):
        key = each.key if each.key and each.key not in seen else f"{each.key or ''}#{number}"
        seen.add(key)
        yield replace(each, key=key) if len(found) > 1 else each
