"""Names in scripts that write no spaces: what stands out by its script, by its marks, or by how somebody is addressed.

Where one word ends and the next begins, rules cannot tell in Chinese and Japanese. So only that is taken for a name which stands
apart without it: runs of katakana that are no everyday loanword, people with a さん or 氏 behind them, and what is quoted.
Latin names amid such text are found as everywhere, and titles by the title itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from clew.graph.entities.value import EntityType

SCRIPTS = "\u3005\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
"""Chinese characters and both kana, for a class of a regular expression."""

RUN = re.compile(f"[{SCRIPTS}]+")
UNSHAPED = re.compile(f"[{SCRIPTS}\uac00-\ud7af]")
"""What has no capitals and no ends of words to tell a name by; Korean has spaces, but particles at the end of most words."""

MOST_QUOTED = 12  # characters in plain quotation marks: more are something that was said
MOST_TITLE = 40
TITLE, TERM, PERSON, LOANED = 0.85, 0.77, 0.85, 0.77
_KANA = "[\u30a1-\u30fa\u30fc]"
_KATAKANA = re.compile(f"{_KANA}{{1,30}}(?:[・＝]{_KANA}{{1,30}}){{0,5}}")
_ADDRESSED = re.compile(
    f"(?<![\u3400-\u9fff])([\u3400-\u9fff]{{2,4}}?)(?=さん|さま|様|氏|くん|ちゃん|先生)|({_KANA}{{2,20}})(?=さん|さま|様|氏|くん|ちゃん|先生)"
)
_FEWEST = 3  # letters of a run of katakana: shorter ones are mostly words
_SAID = re.compile("[。！？!?、，,…]|^(?:我|你|您|他|她|它|这|那|私|僕|俺|これ|それ|あれ)|(?:です|ます|ました|だ|よ|ね|か|吗|吧|呢|了|啊)$")
_NOBODY = frozenset("皆様 奥様 神様 王様 各位 両氏 同氏 小学 中学 高校 大学 担任".split())
_LOANWORDS = frozenset(
    """
    アイデア アクセス アップ アップデート アドレス アニメ アパート アプリ アルバイト イベント イメージ インストール インターネット
    エラー エレベーター オフィス オンライン カード カメラ カレー ガラス キー キャンセル クラス グループ ケーキ ケース ゲーム コーヒー
    コード コップ コピー コメント コンピュータ コンピューター コスト サーバ サーバー サービス サイズ サイト サッカー サンプル
    システム シャツ シャワー ジュース スーツ スーパー スイッチ スキー スクリプト スケジュール スタート スタッフ ストレス スピード
    スポーツ スマホ セット ソフト ソフトウェア タイトル タイプ タクシー タスク タワー チーム チェック チケット チャンス データ
    データベース テーブル テーマ テキスト テスト テニス デザイン デパート デプロイ テレビ ドア トイレ トラブル ドライブ
    トレーニング ニュース ネット ネットワーク ノート バージョン バイト バグ バス パスワード パソコン バックアップ パーティー ビール
    ビジネス ビデオ ビル ファイル フォルダ プール プラン プログラム プロジェクト プレゼント ページ ベッド ペン ポート ボタン ホテル
    マネージャー ミーティング ミス メール メッセージ メニュー メモ メモリ メンバー モデル ユーザ ユーザー ライブラリ ランチ リスト
    リリース ルール レストラン レビュー レポート レベル ログ ログイン ワイン
    """.split()
)


class Standing(NamedTuple):
    """A name that stands out of such text: where it lies, and what it is."""

    start: int
    end: int
    type: EntityType
    confidence: float


def dominant(text: str) -> bool:
    """Tell whether most letters of a text are of a script whose words cannot be told by their shape: then none is a name for it.

    >>> dominant("I met 王芳 in Lisbon"), dominant("我们在Lisbon见到了她")
    (False, True)
    """
    those = len(UNSHAPED.findall(text))
    return bool(those) and 2 * those > sum(map(str.isalpha, text))


def standing(text: str) -> Iterator[Standing]:
    """Yield the names that stand out by katakana or by an address behind them.

    >>> [text[name.start:name.end] for text in ["田中さんはトヨタでコーヒーを飲んだ"] for name in standing(text)]
    ['田中', 'トヨタ']
    """
    for found in _ADDRESSED.finditer(text):
        start, end = found.span(found.lastindex or 0)
        if text[start:end] not in _NOBODY:
            yield Standing(start, end, EntityType.PERSON, PERSON)
    for found in _KATAKANA.finditer(text):
        name = found[0].strip("ー")
        if len(name) >= _FEWEST and found[0] not in _LOANWORDS:
            person = "・" in name or "＝" in name
            yield Standing(found.start(), found.end(), EntityType.PERSON if person else EntityType.CONCEPT, PERSON if person else LOANED)


def quoted(text: str, start: int, end: int, *, titled: bool) -> Standing | None:
    """Return a quoted term, unless it is something that was said; marks for titles hold titles whatever they say."""
    term = text[start:end]
    if titled:
        return Standing(start, end, EntityType.CONCEPT, TITLE) if len(term) <= MOST_TITLE else None
    if not 2 <= len(term) <= MOST_QUOTED or _SAID.search(term):
        return None
    return Standing(start, end, EntityType.CONCEPT, TERM)
