"""Chats: exports, lists of messages and transcripts become conversations whose messages know their place."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.documents.readers.document import Document, UnreadableError
from clew.documents.readers.reading import read

FIXTURES = Path(__file__).parent / "fixtures" / "reading"


def spoken(document: Document) -> list[tuple[str, str]]:
    """Each message as speaker and words, taken from the text by its offsets."""
    found = []
    for message in document.messages:
        speaker, words = message.speaker, document.text[message.start : message.end]
        assert words.startswith(f"{speaker}: ")
        found.append((speaker, words.removeprefix(f"{speaker}: ")))
    assert (
        "\n\n".join(document.text[message.start : message.end] for message in document.messages)
        == document.text
    )
    return found


def of(value: object, name: str = "chat.json") -> tuple[Document, ...]:
    return read(Path(name), data=json.dumps(value).encode())


def at(hour: int, minute: int = 0, second: int = 0, *, day: int = 1) -> datetime:
    return datetime(2024, 3, day, hour, minute, second, tzinfo=UTC)


def test_chatgpt_follows_the_branch_that_was_last_seen() -> None:
    first, second = read(FIXTURES / "chatgpt.json")
    assert spoken(first) == [
        ("user", "Which pressure does this tyre need?"),
        ("assistant", "2.4 bar in front,\n2.6 bar behind."),
    ]
    assert (first.title, first.key, first.format) == ("Tyre pressure", "c-1", "conversation")
    assert first.time == first.messages[0].time == at(10, 0, 1)
    assert first.notes == (
        "1 pictures, files and calls left out",
        "3 system, tool and hidden messages left out",
        "1 conversations without text left out",
    )
    assert first.metadata == {"original_format": "chatgpt"}
    assert (second.key, second.title) == (
        "c-2",
        "Remind me to water the ferns on the balcony every…",
    )
    assert [speaker for speaker, _ in spoken(second)] == ["user", "assistant"]


def test_a_chatgpt_tree_that_bites_its_tail_ends() -> None:
    said = {"author": {"role": "user"}, "content": {"parts": ["round and round"]}}
    (document,) = of(
        [
            {
                "title": "Loop",
                "current_node": "a",
                "mapping": {"a": {"parent": "b", "message": said}, "b": {"parent": "a"}},
            }
        ]
    )
    assert spoken(document) == [("user", "round and round")]


def test_claude_takes_text_blocks_and_counts_what_it_leaves() -> None:
    (document,) = read(FIXTURES / "claude.json")
    assert spoken(document) == [
        ("human", "How long should the dough rest?"),
        ("assistant", "Twelve hours.\n\nIn the fridge."),
        ("human", "Thank you, that helps"),
    ]
    assert (document.title, document.key, document.time) == ("Bread plans", "9a-1", at(10, 0, 1))
    assert document.notes == ("1 attached files left out", "2 pictures, files and calls left out")


def test_slack_shows_names_links_and_signs_as_people_saw_them() -> None:
    (document,) = read(FIXTURES / "slack.json")
    assert spoken(document) == [
        ("ada", "The deploy is at run 77 (https://ci.example/77) & green"),
        ("Bob", "Thanks @ada, see #releases"),
    ]
    assert document.time == datetime(2024, 3, 1, 10, 0, 0, 200, tzinfo=UTC)
    assert document.metadata == {"original_format": "slack"}


def test_lines_of_messages_survive_a_torn_last_line() -> None:
    (document,) = read(FIXTURES / "messages.jsonl")
    assert spoken(document) == [
        ("user", "My sister moved to Lyon."),
        ("assistant", "When did she move?"),
    ]
    assert [message.time for message in document.messages] == [at(9, 0, 1), at(9, 0, 2)]
    assert document.notes == (
        "1 system, tool and hidden messages left out",
        "1 lines that are not JSON left out",
    )
    assert document.title == "My sister moved to Lyon."


@pytest.mark.parametrize("speaker", ["role", "speaker", "author", "sender", "from", "name"])
@pytest.mark.parametrize("content", ["content", "text", "message", "body"])
def test_every_usual_pair_of_keys_is_a_message(speaker: str, content: str) -> None:
    (document,) = of(
        [{speaker: "Ada", content: "Hello there"}, {speaker: "Bob", content: ["Good", "day"]}]
    )
    assert spoken(document) == [("Ada", "Hello there"), ("Bob", "Good\n\nday")]


@pytest.mark.parametrize("key", ["timestamp", "time", "created_at", "date", "ts"])
@pytest.mark.parametrize(
    "value",
    ["2024-03-01T10:00:00Z", "2024-03-01 11:00+01:00", 1709287200, "1709287200.0", 1709287200000],
)
def test_every_usual_time_is_read(key: str, value: object) -> None:
    (document,) = of([{"role": "user", "content": "Now", key: value}])
    assert document.messages[0].time == document.time == at(10)


@pytest.mark.parametrize(
    "value", ["soon", 17, -5, None, True, [1], 1e300, float("nan"), "9" * 100, 10**400]
)
def test_a_time_that_is_none_is_nothing(value: object) -> None:
    (document,) = of([{"role": "user", "content": "Now", "time": value}])
    assert document.messages[0].time is None


def test_messages_may_lie_in_envelopes_and_in_named_conversations() -> None:
    (logged,) = of(
        [
            {
                "type": "user",
                "timestamp": "2024-03-01T10:00:00Z",
                "message": {"role": "user", "content": "In an envelope"},
            }
        ]
    )
    assert (spoken(logged), logged.time) == ([("user", "In an envelope")], at(10))
    (named,) = of({"title": "Named", "id": "7", "messages": [{"role": "user", "content": "Hello"}]})
    assert (named.title, named.key) == ("Named", "7")
    pair = of(
        [
            {"id": "x", "conversations": [{"from": "human", "value": text}]}
            for text in ("One", "Two")
        ]
    )
    assert [(each.key, each.title) for each in pair] == [("x", "One"), ("x#2", "Two")]
    wrapped = of(
        {
            "conversations": [
                {"messages": [{"role": "user", "content": text}]} for text in ("One", "Two")
            ]
        }
    )
    assert [(each.key, each.title) for each in wrapped] == [("1", "One"), ("2", "Two")]


def test_a_text_with_links_in_it_stays_one_sentence() -> None:
    (document,) = of(
        {
            "name": "T",
            "messages": [
                {"from": "Ada", "text": ["see ", {"type": "link", "text": "a.example"}, " now"]}
            ],
        }
    )
    assert spoken(document) == [("Ada", "see a.example now")]


def test_lists_of_other_things_stay_data() -> None:
    others: tuple[object, ...] = (
        [{"id": 1, "price": 2}],
        [1, 2],
        {"name": "package", "version": "1"},
        [{"role": "admin"}],
        [[]],
        {},
        [],
        "text",
        5,
    )
    for value in others:
        (document,) = of(value)
        assert (document.format, document.text) == ("json", json.dumps(value))


def test_an_export_without_words_is_unreadable_and_a_torn_one_says_so() -> None:
    with pytest.raises(UnreadableError, match="no text"):
        of([{"title": "Empty", "mapping": {}}])
    whole = (FIXTURES / "claude.json").read_bytes()
    (torn,) = read(Path("conversations.json"), data=whole[:-20])
    assert torn.format == "json"
    assert torn.notes[0].startswith("not valid JSON")


def test_a_conversation_that_was_asked_for_must_be_one() -> None:
    with pytest.raises(UnreadableError, match="no conversation"):
        read(Path("a.txt"), data=b"Only prose here.", format="conversation")
    (document,) = read(
        Path("a.md"), data=b"**Ada:** Hello\n\n**Bob**: Hi\n\n**Ada:** Well?", format="conversation"
    )
    assert spoken(document) == [("Ada", "Hello"), ("Bob", "Hi"), ("Ada", "Well?")]


def test_whatsapp_keeps_many_lines_odd_names_and_drops_its_own_news() -> None:
    (document,) = read(FIXTURES / "whatsapp.txt")
    assert spoken(document) == [
        ("Ada", "Did you book the train?\nIt leaves at 7: very early."),
        ("+44 7700 900123", "Booked, seats 12 and 13"),
        ("Ada", "<Media omitted>"),
    ]
    assert [message.time for message in document.messages] == [at(10, 0), at(10, 2), at(10, 3)]
    assert document.notes == ("1 lines without a speaker left out",)


@pytest.mark.parametrize(
    ("lines", "first", "note"),
    [
        ("[2024-03-01 10:00] {}: a", at(10), ()),
        ("[2024-03-01T10:00:00Z] {}: a", at(10), ()),
        ("2024-03-01 12:00+02:00 {}: a", at(10), ()),
        ("01.03.24, 10:00 - {}: a", at(10), ()),
        ("\u200e[01/03/2024, 10:00:05] {}: a", at(10, 0, 5), ("dates read as day/month",)),
        ("3/1/24, 10:00\u202fPM - {}: a", at(22), ("dates read as month/day",)),
        ("3/25/24, 12:10 AM - {}: a", at(0, 10, day=25), ()),
        ("(10:00) {}: a", None, ()),
    ],
)
def test_times_of_transcripts_are_read_in_many_forms(
    lines: str, first: datetime | None, note: tuple[str, ...]
) -> None:
    (document,) = read(
        Path("chat.txt"),
        data="\n".join(lines.format(name) for name in ("Ada", "Bob", "Ada", "Bob")).encode(),
    )
    assert spoken(document) == [("Ada", "a"), ("Bob", "a"), ("Ada", "a"), ("Bob", "a")]
    assert (document.messages[0].time, document.notes) == (first, note)


@pytest.mark.parametrize(
    ("dates", "first"),
    [(("10/01", "02/02", "03/03"), (1, 10)), (("01/10", "02/02", "03/03"), (1, 10))],
)
def test_the_order_of_day_and_month_is_the_one_in_which_time_runs_forward(
    dates: tuple[str, ...], first: tuple[int, int]
) -> None:
    text = "\n".join(
        f"{date}/2024, 10:00 - {name}: a"
        for date, name in zip(dates, ("Ada", "Bob", "Ada"), strict=True)
    )
    (document,) = read(Path("chat.txt"), data=text.encode())
    assert document.time == datetime(2024, *first, 10, tzinfo=UTC)
    assert document.notes == ()


def test_a_transcript_by_paragraphs_keeps_asides_with_their_speaker() -> None:
    (document,) = read(FIXTURES / "interview.txt")
    assert [speaker for speaker, _ in spoken(document)] == [
        "Dr. Ada King",
        "Bob",
        "Dr. Ada King",
        "Bob",
    ]
    assert spoken(document)[1][1].endswith("Note: the mayor paid for it himself.")


@pytest.mark.parametrize(
    "text",
    [
        "Name: Ada\nCity: London\nPhone: 12\n",
        "From: Ada\nTo: Bob\nSubject: Bread\n\nDear Bob,\nthe bread is done.\n",
        "Flour: 500 g\nWater: 350 g\nSalt: 10 g\nYeast: 2 g\n",
        "2024-03-01 10:00:00 ERROR: disk full\n2024-03-01 10:00:01 INFO: retry\n",
        "2024-03-01 10:00:00 sshd[12]: accepted\n2024-03-01 10:00:01 sshd[12]: closed\n",
        "10:00 Breakfast: eggs\n12:00 Lunch: soup\n18:00 Dinner: rice\n",
        "He said: nothing.\n\nThen rain fell on the town and the streets filled.\n\nNobody came.\n",
        "Ada: Hello.\n",
        "http://a.example\nhttp://b.example\nhttp://a.example\n",
    ],
)
def test_texts_with_colons_are_not_taken_for_talk(text: str) -> None:
    (document,) = read(Path("a.txt"), data=text.encode())
    assert (document.format, document.text) == ("text", text)


@given(
    st.lists(
        st.tuples(
            st.text(max_size=12),
            st.text(max_size=40),
            st.one_of(st.none(), st.integers(), st.text(max_size=20)),
        ),
        min_size=1,
        max_size=8,
    )
)
def test_offsets_are_exact_whatever_is_said_by_whomever(
    said: list[tuple[str, str, object]],
) -> None:
    value = [{"speaker": speaker, "text": text, "time": time} for speaker, text, time in said]
    try:
        (document,) = of(value)
    except UnreadableError:
        assert not any(
            text.strip()
            for speaker, text, _ in said
            if speaker.casefold() not in ("system", "tool")
        )
        return
    assert len(spoken(document)) == len(document.messages) > 0
    document.text.encode()  # no halves of surrogate pairs


@pytest.mark.parametrize(
    ("head", "time"),
    [
        ("Time: 20240301_10:30", at(10, 30)),
        ("time: 20240301_1030", at(10, 30)),
        ("Date: 2024-03-01T10:30:00Z", at(10, 30)),
        ("Date: 2024-03-01\nTime: 10:30", at(10, 30)),
        ("Date: March 1, 2024", at(0)),
        ("Date: 1 March 2024 10:30", at(10, 30)),
        ("Time: 10:30 am on 1 March, 2024", at(10, 30)),
    ],
)
def test_a_time_above_a_transcript_is_when_it_was_held(head: str, time: datetime) -> None:
    talk = "Ada: Hello there.\nBob: Good day.\nAda: Is it?"
    (document,) = read(Path("a.txt"), data=f"{head}\n\n{talk}".encode())
    assert (document.time, document.notes) == (time, ())
    assert [speaker for speaker, _ in spoken(document)] == ["Ada", "Bob", "Ada"]


def test_a_title_above_a_transcript_is_its_title() -> None:
    (document,) = read(
        Path("a.txt"),
        data=b"Title: Bread\nDate: 2024-03-01\n\nAda: Hello.\nBob: Good day.\nAda: Is it?",
    )
    assert document.title == "Bread"


def test_a_header_with_a_time_of_day_makes_a_single_message_a_conversation() -> None:
    (document,) = read(
        Path("a.txt"), data=b"Time: 20240301_10:30\nAlice: Your bread is here.\nIt is still warm."
    )
    assert (spoken(document), document.time) == (
        [("Alice", "Your bread is here.\nIt is still warm.")],
        at(10, 30),
    )
    (notes,) = read(Path("a.txt"), data=b"Date: 2024-03-01\nAgenda: bread")
    assert notes.format == "text"


def test_two_lines_are_a_conversation_where_one_was_asked_for() -> None:
    (document,) = read(Path("a.txt"), data=b"Ada: Hello.\nBob: Good day.", format="conversation")
    assert spoken(document) == [("Ada", "Hello."), ("Bob", "Good day.")]


def test_records_whose_text_is_a_transcript_are_conversations() -> None:
    records = [
        {
            "file": f"week1/{day}.txt",
            "text": f"Time: 2024030{day}_10:00\nAda: Hello {day}.\nBob: Hi.",
        }
        for day in (1, 2)
    ]
    found = of(records)
    assert [(each.key, each.time) for each in found] == [
        ("week1/1.txt", at(10)),
        ("week1/2.txt", at(10, day=2)),
    ]
    assert spoken(found[1]) == [("Ada", "Hello 2."), ("Bob", "Hi.")]


def test_a_message_has_its_role_beside_the_name_of_its_speaker() -> None:
    said = [
        {"role": "user", "name": "Ada", "content": "Hello"},
        {"role": "assistant", "content": "Hi"},
        {"from": "human", "value": "Well?"},
        {"speaker": "Bob", "text": "Yes"},
        {"role": "tool", "name": "search", "content": "nothing"},
    ]
    (document,) = of(said)
    assert [(each.speaker, each.role) for each in document.messages] == [
        ("Ada", "user"),
        ("assistant", "assistant"),
        ("human", "user"),
        ("Bob", ""),
    ]
    assert "1 system, tool and hidden messages left out" in document.notes
