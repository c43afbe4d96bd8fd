"""What is shipped: small, under a strict policy, from elsewhere only what the manifest names.

No browser is needed.
"""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from starlette.testclient import TestClient

import clew
from clew.surface.http.app import make_app
from clew.surface.ui import assets
from clew.surface.ui.signin import PageKey
from tests.ui import vendor

MOST_BYTES = 300_000
FILES = sorted(path for path in assets.FOLDER.rglob("*") if path.is_file())
OWN = [
    path
    for path in FILES
    if path.parent.name != "vendor" and path.suffix in (".html", ".js", ".css")
]
LICENCES = {"MIT", "ISC", "Apache-2.0"}


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("files")
    with (
        clew.open(folder / "memory.clew", model={"embedder": "none"}) as memory,
        TestClient(make_app(memory), base_url="http://127.0.0.1") as made,
    ):
        yield made


def test_the_whole_page_is_at_most_300_kilobytes() -> None:
    assert sum(path.stat().st_size for path in FILES) <= MOST_BYTES


def test_every_vendored_file_is_in_the_manifest_with_its_hash_and_licence() -> None:
    entries = {
        entry["file"]: entry
        for entry in json.loads(vendor.MANIFEST.read_text(encoding="utf-8"))["files"]
    }
    assert (
        set(entries)
        == {path.name for path in vendor.FOLDER.glob("*.js")}
        == {each.name for each in vendor.LIBRARIES}
    )
    for library in vendor.LIBRARIES:
        entry = entries[library.name]
        assert (entry["package"], entry["version"], entry["licence"]) == (
            library.package,
            library.version,
            library.licence,
        )
        assert entry["sha256"] == vendor.sha256((vendor.FOLDER / library.name).read_bytes())
        assert len(entry["package_sha256"]) == 64
        assert entry["licence"] in LICENCES
        assert (vendor.FOLDER / entry["licence_file"]).stat().st_size > 200


@pytest.mark.parametrize(
    "path",
    ["/ui/", "/ui/time", "/ui/m/01m7/around", "/docs", "/ui/static/app.js", "/ui/static/page.css"],
)
def test_every_file_comes_under_the_policy(client: TestClient, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 200
    assert answer.headers["content-security-policy"] == assets.POLICY
    assert "unsafe" not in assets.POLICY
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "no-referrer"


def test_what_has_not_changed_is_not_sent_again(client: TestClient) -> None:
    first = client.get("/ui/static/page.css")
    again = client.get("/ui/static/page.css", headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


@pytest.mark.parametrize(
    "name",
    [
        "../assets.py",
        "..%2fassets.py",
        "vendor/manifest.json",
        "no-such.js",
        "%2e%2e/%2e%2e/pyproject.toml",
    ],
)
def test_nothing_but_the_page_is_served(client: TestClient, name: str) -> None:
    answer = client.get(f"/ui/static/{name}")
    assert answer.status_code in (200, 404)
    assert (
        "def " not in answer.text
        and "build-system" not in answer.text
        and "sha256" not in answer.text
    )


def test_the_root_leads_to_the_page(client: TestClient) -> None:
    answer = client.get("/", follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (307, "/ui/")


@pytest.mark.parametrize("path", OWN, ids=lambda path: path.name)
def test_no_file_has_what_the_policy_forbids_or_an_address_elsewhere(path: Any) -> None:
    text = path.read_text(encoding="utf-8")
    assert not re.search(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|dangerouslySetInnerHTML|\beval\(|new Function",
        text,
    )
    assert not re.search(r"\b(?:https?:)?//(?!www\.w3\.org/)[a-z0-9-]+\.[a-z]", text), (
        "an address of another machine"
    )
    if path.suffix == ".html":
        assert not re.search(r"<style|\sstyle=|\son[a-z]+=|<script(?![^>]*\ssrc=)", text)


def test_every_module_that_is_loaded_first_is_preloaded() -> None:
    index = (assets.FOLDER / "index.html").read_text(encoding="utf-8")
    preloaded = set(re.findall(r'modulepreload" href="/ui/static/([^"]+)"', index))
    waiting, needed = ["app.js"], set()
    while waiting:
        source = (assets.FOLDER / (name := waiting.pop())).read_text(encoding="utf-8")
        folder = f"{name.rpartition('/')[0]}/" if "/" in name else ""
        for found in re.findall(r'from\s*"\./([^"]+)"', source):
            if folder + found not in needed:
                needed.add(folder + found)
                waiting.append(folder + found)
    assert needed == preloaded


def test_a_link_is_exchanged_once_and_only_for_its_own_secret() -> None:
    key = PageKey()
    assert key.grant("") is None
    assert key.exchange("another") is None
    secret = key.exchange(key.once)
    assert secret is not None
    assert key.exchange(key.once) is None
    assert key.grant(secret) is not None
    assert key.grant(key.once) is None
