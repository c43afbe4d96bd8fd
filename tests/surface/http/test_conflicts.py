"""Conflicts over HTTP: the list, what a new memory is told, dismissing, and who may do it."""

from __future__ import annotations

from tests.surface.http.conftest import Served

OLD, NEW = "The gateway listens on port 8443.", "The gateway listens on port 9443."


def test_conflicts_are_listed_and_dismissed(served: Served) -> None:
    first = served.add(OLD)
    outcome = served.post("/v1/memories", {"text": NEW}, status=201)
    assert [each["id"] for each in outcome["conflicts"]] == [first]
    answer = served.get("/v1/conflicts?limit=5&kind=number&kind=value")
    assert set(answer) == {"conflicts", "examined", "notes"}
    (found,) = answer["conflicts"]
    assert set(found) == {"id", "kind", "explanation", "score", "first", "second", "overlap"}
    assert (found["first"]["text"], found["second"]["id"]) == (OLD, outcome["id"])
    assert found["overlap"] == {"from": found["second"]["t_valid"], "to": None}
    assert served.get("/v1/conflicts?kind=state")["conflicts"] == []
    done = served.post(f"/v1/conflicts/{found['id']}/dismiss")
    assert done == {"id": found["id"], "dismissed": True, "first": first, "second": outcome["id"]}
    assert served.get("/v1/conflicts")["conflicts"] == []
    assert served.post("/v1/conflicts/a.b/dismiss", status=404)["code"] == "refused.not_found"
    for wrong in ("limit=0", "kind=vaule", "space="):
        served.get(f"/v1/conflicts?{wrong}", status=422)


def test_a_token_sees_and_dismisses_conflicts_of_its_spaces_alone(served: Served) -> None:
    for space in ("work", "hr"):
        for text in (OLD, NEW):
            served.add(text, space=space)
    ids = {
        space: served.get(f"/v1/conflicts?space={space}")["conflicts"][0]["id"]
        for space in ("work", "hr")
    }
    reader, writer = served.token("read", spaces=("work",)), served.token("write", spaces=("work",))
    assert [each["id"] for each in served.get("/v1/conflicts", token=reader)["conflicts"]] == [
        ids["work"]
    ]
    served.get("/v1/conflicts?space=hr", status=403, token=reader)
    served.post(f"/v1/conflicts/{ids['work']}/dismiss", status=403, token=reader)
    served.post(f"/v1/conflicts/{ids['hr']}/dismiss", status=404, token=writer)
    served.post(f"/v1/conflicts/{ids['work']}/dismiss", token=writer)
    assert served.get("/v1/conflicts", token=reader)["conflicts"] == []
