"""Names in Chinese, Japanese and Korean text.

What stands out is found, and no clause is taken for a name.
"""

from __future__ import annotations

import pytest

import clew
from clew.graph.phrases import phrases
from clew.text.names.extraction import extract_entities
from tests.growth import check_linear

# Sentences of our own. What stands apart by script, marks or an address is found; a name that only
# a dictionary could tell is not.
SENTENCES = {
    "我们用PostgreSQL和Redis搭建了新的后台。": ["PostgreSQL", "Redis"],
    "他昨天看了《流浪地球》，觉得很好。": ["流浪地球"],
    "“长征五号”火箭昨天发射成功。": ["长征五号"],
    "「鬼滅の刃」を昨日見ました。": ["鬼滅の刃"],
    "田中さんはトヨタで働いています。": ["田中", "トヨタ"],
    "マイクロソフトがGitHubを買収した。": ["GitHub", "マイクロソフト"],
    "昨日はスターバックスでコーヒーを飲んだ。": ["スターバックス"],
    "東京タワーの近くにGoogleのオフィスがある。": ["Google"],
    "『吾輩は猫である』は夏目漱石の小説です。": ["吾輩は猫である"],
    "デプロイはKubernetesで行い、ログはGrafana Lokiに送る。": ["Grafana Loki", "Kubernetes"],
    "请把README.md发给Anna Keller。": ["Anna Keller", "README.md"],
    "小红在『阿里巴巴』实习，用的是TensorFlow 2。": ["TensorFlow 2", "阿里巴巴"],
    "彼女はレオナルド・ダ・ヴィンチの絵が好きだ。": ["レオナルド・ダ・ヴィンチ"],
    "服务器的地址是10.0.0.5，端口5433。": ["10.0.0.5"],
    "今天天气很好，我们去公园。": [],
    "李华说：“我明天不来。”": [],
    "「はい、そうです」と答えた。": [],
    "皆様、会議は三時からです。": [],
    "서울에 갔다 왔다.": [],
    "Wang Fang (王芳) and 李明 met in Beijing.": ["Beijing", "Wang Fang", "李明", "王芳"],
}


@pytest.mark.parametrize("sentence", SENTENCES)
def test_what_stands_out_is_a_name_and_nothing_else_is(sentence: str) -> None:
    found = extract_entities(sentence)
    assert sorted(entity.name for entity in found) == sorted(SENTENCES[sentence])
    assert all(sentence[entity.start : entity.end] == entity.name for entity in found)


@pytest.mark.parametrize(
    "piece", ["汉", "汉a", "アイ・", "「", "「汉", "田中さん", "《", "ー", "가"]
)
def test_long_and_hostile_text_costs_no_more_than_it_is_long(piece: str) -> None:
    def read(times: int) -> None:
        extract_entities(piece * times)
        phrases(piece * times)

    check_linear(read, 2_500)


def test_a_title_inside_unspaced_text_is_a_phrase_of_it() -> None:
    keys = {phrase.key for phrase in phrases("昨日東京タワーの近くで会議があった")}
    assert {"東京タワー", "会議"} <= keys
    assert max(len(key) for key in keys) <= 24


def test_a_memory_is_linked_to_the_one_whose_title_its_unspaced_text_holds() -> None:
    with clew.open(":memory:", model={"embedder": "none"}) as memory:
        tower = str(
            memory.remember(
                "高さは三百三十三メートルで、赤と白に塗られている。", title="東京タワー"
            ).id
        )
        visit = str(memory.remember("昨日、田中さんと東京タワーの近くで会った。", near=False).id)
        assert memory.recall("東京タワー", track=False).hits[0].id == tower
        hits = memory.recall("田中さんと会った場所の高さは？", track=False).hits
        (reached,) = [hit for hit in hits if hit.id == tower]
        assert [(hop.source, hop.target) for hop in reached.path] == [(visit, tower)]
