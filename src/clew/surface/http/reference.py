"""The page docs/http.md, made from the routes themselves; a test keeps it true."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from typing import Any

INTRODUCTION = """\
# HTTP

<!-- Generated: python -m clew.surface.http.reference > docs/http.md; a test keeps it true. -->

`clew serve` answers over HTTP with the same documents as the command line with `--json` ([json.md](json.md)). It needs the extra:
`pip install 'clew[serve]'`. The OpenAPI document is at `/openapi.json`. Settings are under [serve](settings.md#serve).

```sh
clew serve --port 7411
curl -s localhost:7411/v1/memories -H 'content-type: application/json' -d '{"text": "The staging database listens on port 5433"}'
curl -s localhost:7411/v1/recall -H 'content-type: application/json' -d '{"query": "which port does staging use"}'
```

## Who may call

- It listens on this machine only. To listen elsewhere (`--host`) the store must have a token: `clew token create NAME --all-spaces`.
- As soon as the store has a token, or with `serve.require_token`, every route but `/health…` and `/openapi.json` needs
  `Authorization: Bearer TOKEN`. A revoked or expired token ends at once. Before that everybody on this machine is the owner.
- A token is bound to spaces and rights. Without a named space a request is about the token's only space, or `store.space`. A space
  that is not
  granted is refused (403) whether it exists or not; a memory there is as unknown (404) as one that never was.
- The header `Host` must be one of `serve.allowed_hosts`, so that no web page can reach the server under a name of its own (421). A web page
  of another origin is refused (403) unless it is in `serve.allowed_origins`; without any, no CORS header is sent.
- Texts that come back were written by others: they are data with their `source` and `space`, not instructions.
- It speaks plain HTTP. Beyond this machine put a proxy with TLS in front of it; headers of proxies (`X-Forwarded-…`) are not trusted.

## What a request may cost

| limit | setting | refused with |
|---|---|---|
| time until the head of a request is there | `serve.receive_seconds` | the connection ends |
| size of a body, counted as it arrives | `serve.max_request_mb` | 413 |
| time to arrive | `serve.receive_seconds` | 408 |
| time to answer | `serve.answer_seconds` | 504; a write may still be done: repeat it under the same `idempotency_key` |
| requests a second, for each token or address | `serve.requests_per_second`, `serve.burst` | 429 with `Retry-After` |
| requests at work and waiting | `serve.threads`, `serve.queue` | 503 with `Retry-After` |
| memories or messages in one request | `serve.max_batch` | 422 |

An acknowledged write survives `kill -9`. SIGTERM lets what has begun finish within `serve.drain_seconds`; then it exits with 0.

## Errors

An error is a problem document (RFC 9457) of the type `application/problem+json`:

```json
{"type": "urn:clew:problem:refused.not_found", "title": "Not Found", "status": 404, "detail": "No memory 01m7. …",
 "code": "refused.not_found", "request_id": "b2d1c9e0", "id": "01m7"}
```

`code` is as in [json.md](json.md#errors), `detail` is for people, further keys are the facts. Every answer has `X-Request-ID`: the
one that came with
the request, if it is 1 to 64 letters, digits, dots, dashes and underscores, else a new one. It is in the log; texts, questions and
paths are not.
What a failing store or model says of its machine is told only to whoever may administer the whole store.

| status | codes |
|---|---|
"""
MEANWHILE = """
## Imports

`POST /v1/import` takes on a job and answers at once (202) with its `Location`. A path is opened only if it lies, with all links
followed, below a folder of
`serve.import_roots`; there is none by default. A job is kept in the store: when the server dies or is stopped, the next one goes on
with it, and what is
imported already is left as it is. A job that was cut off three times is given up. `state` is `waiting`, `running`, `done` (with the
`report` of
`clew import`) or `failed` (with an `error`).

## Lists

`GET /v1/memories` gives `{"memories": […], "cursor": …}`; ask again with `cursor` for the next page, until it is `null`. What is
written meanwhile neither repeats
nor hides a memory.

## Health and numbers

`/health/live` says that the process lives, `/health/ready` and `/health` that it takes requests: not while it drains, nor while its
store cannot be read.
`/metrics` has counts and durations by method, route and status in the format of Prometheus, and no name of a space, no id and no
text. Where tokens are asked
for it needs the right admin over the whole store.

## Routes
"""
RIGHTS = {"get": "read", "post": "write", "patch": "write", "delete": "write"}
READING = frozenset(
    {"/v1/recall", "/v1/search/hybrid", "/v1/search/agent", "/v1/why", "/v1/why-not", "/v1/replay"}
)
ADMINISTERING = frozenset(
    {"/v1/export", "/metrics", "/v1/settings", "/v1/recalls", "/v1/verify", "/v1/backup"}
)


def reference_markdown() -> str:
    """Return the page."""
    import clew  # noqa: PLC0415 - the engine, for a page only
    from clew.surface.http.app import make_app  # noqa: PLC0415

    with clew.open(":memory:", model={"embedder": "none"}) as empty:
        document = make_app(empty).openapi()
    routes = [
        _section(path, method, told, document)
        for path, methods in document["paths"].items()
        for method, told in methods.items()
    ]
    told = [*(line for section in routes for line in section), *_objects(document)]
    return INTRODUCTION + "\n".join(_codes()) + "\n" + MEANWHILE + "\n" + "\n".join(told)


def _objects(document: Mapping[str, Any]) -> Iterator[str]:
    """Yield what stands inside bodies; the fields of an offer are those of POST /v1/memories."""
    yield from ("## Objects", "")
    for name in ("Where", "Weights"):
        schema = document["components"]["schemas"][name]
        yield from (
            f"### {name}",
            "",
            schema["description"],
            "",
            "| field | takes | what it is |",
            "|---|---|---|",
            *_rows(schema),
            "",
        )


def _codes() -> Iterator[str]:
    from clew import errors  # noqa: PLC0415 - as above
    from clew.surface.http import problems  # noqa: PLC0415

    found: dict[int, list[str]] = {}
    for module in (errors, problems):
        for each in vars(module).values():
            if (
                isinstance(each, type)
                and issubclass(each, errors.ClewError)
                and each.__module__ == module.__name__
                and "." in each.code
            ):
                found.setdefault(problems.status_of(each.code), []).append(each.code)
    found[problems.INTERNAL] = ["bug"]
    hidden = {errors.ClewError.code, problems.HttpError.code, errors.SettingError.code}
    yield from (
        f"| {status} | {', '.join(f'`{code}`' for code in sorted(set(found[status]) - hidden))} |"
        for status in sorted(found)
    )


def right_of(path: str, method: str) -> str:
    """Return the right that a route needs, or what it needs instead.

    >>> right_of("/v1/recall", "post"), right_of("/v1/export", "get"), right_of("/health", "get")
    ('read', 'admin', 'none')
    """
    if path.startswith("/health"):
        return "none"
    if path in ADMINISTERING:
        return "admin"
    return "read" if path in READING else RIGHTS[method]


def _section(
    path: str, method: str, told: Mapping[str, Any], document: Mapping[str, Any]
) -> Iterator[str]:
    yield from (
        f"### {method.upper()} {path}",
        "",
        f"{told['description']} Right: {right_of(path, method)}.",
        "",
    )
    rows = [*_parameters(path, told), *_fields(told, document)]
    if rows:
        yield from ("| field | takes | what it is |", "|---|---|---|", *rows, "")
    done = [
        f"{status} {each['description'].rstrip('.')}"
        for status, each in told["responses"].items()
        if int(status) < 400
    ]
    refused = [status for status in told["responses"] if int(status) >= 400]
    yield from (f"Answers: {'; '.join(done)}. Refusals: {', '.join(sorted(refused))}.", "")


def _parameters(path: str, told: Mapping[str, Any]) -> Iterator[str]:
    for each in told.get("parameters", ()):
        where = "path" if each["in"] == "path" else "query"
        about = (
            ("The job." if "jobs" in path else "The memory.")
            if where == "path"
            else each.get("description") or _about(each["schema"])
        )
        yield f"| `{each['name']}` ({where}) | {_type(each['schema'])} | {about} |"


def _fields(told: Mapping[str, Any], document: Mapping[str, Any]) -> Iterator[str]:
    body = told.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
    if body is None:
        return
    named = next(each["$ref"] for each in body.get("anyOf", [body]) if "$ref" in each).rpartition(
        "/"
    )[2]
    yield from _rows(document["components"]["schemas"][named])


def _rows(schema: Mapping[str, Any]) -> Iterator[str]:
    for name, field in schema["properties"].items():
        needed = ", required" if name in schema.get("required", ()) else ""
        yield f"| `{name}` | {_type(field)}{needed} | {_about(field)} |"


def _about(field: Mapping[str, Any]) -> str:
    inner = next(
        (each["description"] for each in field.get("anyOf", ()) if "description" in each), ""
    )
    return str(field.get("description", inner)).replace("|", "\\|")


def _type(schema: Mapping[str, Any]) -> str:
    """Return what a field takes, in a few words.

    >>> _type({"anyOf": [{"type": "string"}, {"type": "null"}]}), _type({"type": "array", "items": {"type": "integer"}})
    ('text', 'list of whole number')
    """
    if "enum" in schema:
        return " or ".join(f"`{each}`" for each in schema["enum"])
    if "$ref" in schema:
        return f"an object: {schema['$ref'].rpartition('/')[2]}"
    if "anyOf" in schema:
        return " or ".join(_type(each) for each in schema["anyOf"] if each.get("type") != "null")
    if schema.get("type") == "array":
        return f"list of {_type(schema['items'])}"
    return NAMES.get(str(schema.get("type")), "anything")


NAMES = {
    "string": "text",
    "integer": "whole number",
    "number": "number",
    "boolean": "true or false",
    "object": "an object",
}


if __name__ == "__main__":
    sys.stdout.write(reference_markdown())
