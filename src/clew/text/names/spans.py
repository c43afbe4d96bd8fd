"""Cut a text into tokens for the detection of names, and find names in scripts without spaces."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum
from functools import cached_property, lru_cache
from itertools import accumulate, count
from operator import add, sub
from typing import NamedTuple

from clew.text.names.identifiers import Identifier, find_identifier
from clew.text.names.keys import EntityType
from clew.text.names.lexicon import FILE_NAMES, PLAIN_TOOLS, TITLES, TOOLS, plain
from clew.text.words import WORD_CACHE_SIZE

MAX_CACHED_CHARACTERS = (
    64  # characters: longer stretches are links and blobs, which do not come again
)
_LEADING_SIGNS = "'’‘¿¡!?:=&%$^+·•"
_TRAILING_SIGNS = ".:!?'’‘=…%"
_POSSESSIVE = re.compile(r"['’]s?$")
_ABBREVIATIONS = frozenset("inc corp ltd bros co jr sr st mt no vs vol ca dept univ".split())
_ABBREVIATIONS_WITH_STOP = frozenset(("inc", "corp", "ltd", "bros", "jr", "sr"))
_PREFIXED = re.compile(r"(?:d|l|de|al|el|an|O|D|L)['’-](?=[^\W\d_a-z])")
_HUMP = re.compile(r"[a-z][A-Z]")
_ACRONYM = re.compile(r"[A-Z][A-Z0-9&]{1,7}s?|[A-Z]\d{1,3}|(?:[A-Z]\.)+[A-Z]|\d{2,4}[A-Z]{1,2}")
_COMPOUND_TAIL = re.compile(r"-[a-z]+$")
_CJK = re.compile("[\u3400-\u9fff\uac00-\ud7af]{2,4}")
_NUMBER = re.compile(r"\d{1,5}")


_LOWERCASE_NAMES = PLAIN_TOOLS | FILE_NAMES  # small words that are names


class Shape(Enum):
    """How a stretch is written."""

    LOWER = 0
    CAPITAL = 1
    ACRONYM = 2
    NUMBER = 3
    CODED = 4
    SIGN = 5


class Token(NamedTuple):
    """A stretch without white space.

    Where its core lies, how it is written, and how it stands in a sentence.
    """

    first: int
    last: int
    word: str
    shape: Shape
    tells: bool = False  # it may be a name, or a part of one
    ends: bool = False
    bound: bool = False  # something stands behind the core, so that no name goes on
    possessive: bool = False
    hump: bool = False
    label: bool = False
    code: Identifier | None = None


LOWERCASE = Token(0, 0, "", Shape.LOWER)
"""Any plain word in small letters, as most are: it is its own word, and no rule finds more in it."""


def tokenize(texts: list[str]) -> list[tuple[int, Token]]:
    """Return what each stretch is, with its place; but for those that are SMALL.

    >>> (_, dr), (_, matts), (place, done), (_, http) = tokenize(["Dr.", "Matt's", "dog", "done.", "HTTP"])
    >>> dr.ends, matts.word, matts.possessive, place, done.ends, http.shape
    (False, 'matt', True, 3, True, <Shape.ACRONYM: 2>)
    """
    return [
        (place, _token_cached(text) if len(text) <= MAX_CACHED_CHARACTERS else _token(text))
        for place, text in enumerate(texts)
        if not (text.isalpha() and text.islower() and text.isascii()) or text in _LOWERCASE_NAMES
    ]


def _token(text: str) -> Token:
    first, last = len(text) - len(text.lstrip(_LEADING_SIGNS)), len(text.rstrip(_TRAILING_SIGNS))
    if first >= last:
        return Token(0, 0, "", Shape.SIGN, ends=text[-1:] in ".!?:", bound=True)
    core, tail = text[first:last], text[last:]
    found = find_identifier(core)
    if found:
        return Token(
            first,
            last,
            core,
            Shape.CODED,
            tells=True,
            ends=_ends_sentence(tail),
            bound=bool(tail),
            label=":" in tail,
            code=found,
        )
    if core.islower() and core.isalpha():
        return _lowercase_token(core, first, last, tail)
    return _capitalised_token(core, first, last, tail)


_token_cached = lru_cache(maxsize=WORD_CACHE_SIZE)(_token)


def _lowercase_token(core: str, first: int, last: int, tail: str) -> Token:
    if core in PLAIN_TOOLS:
        kind = (
            EntityType.SKILL
            if core in ("python", "javascript", "typescript", "golang")
            else EntityType.TOOL
        )
        found = Identifier(0, len(core), kind, 0.8)
        return Token(
            first,
            last,
            core,
            Shape.CODED,
            tells=True,
            ends=_ends_sentence(tail),
            bound=bool(tail),
            code=found,
        )
    word = core if core.isascii() else plain(core)
    return Token(
        first,
        last,
        word,
        Shape.LOWER,
        ends=_ends_sentence(tail),
        bound=bool(tail),
        label=":" in tail,
    )


def _capitalised_token(core: str, first: int, last: int, tail: str) -> Token:
    # as most: a word with a capital, and nothing joined to it
    if core.isascii() and core.isalpha() and core.istitle():
        return _finish_token(core, first, last, tail, Shape.CAPITAL)
    shape = _shape(core)
    owner = _POSSESSIVE.search(core) if shape is not Shape.LOWER else None
    if owner and owner.start() > 0:
        core, last = core[: owner.start()], last - len(owner[0])
        shape = _shape(core)
    elif shape is Shape.CAPITAL and (compound := _COMPOUND_TAIL.search(core)):  # "Berlin-based"
        core, last, owner = core[: compound.start()], last - len(compound[0]), compound
    return _finish_token(
        core, first, last, tail, shape, owned=bool(owner), hump=_HUMP.search(core) is not None
    )


def _finish_token(
    core: str,
    first: int,
    last: int,
    tail: str,
    shape: Shape,
    *,
    owned: bool = False,
    hump: bool = False,
) -> Token:
    """Return a stretch by how it stands before what follows it.

    A stop behind an abbreviation ends nothing.
    """
    word = core.lower() if core.isascii() and core.isalpha() else plain(core)
    stop = tail[:1] == "."
    abbreviated = stop and (
        word in TITLES
        or word in _ABBREVIATIONS
        or len(core) == 1
        or (shape is Shape.ACRONYM and "." in core)
    )
    if stop and (word in _ABBREVIATIONS_WITH_STOP or (shape is Shape.ACRONYM and "." in core)):
        last += 1
    ends = _ends_sentence(tail) and not (abbreviated and len(tail) == 1)
    bound = owned or (bool(tail) and not (abbreviated and len(tail) == 1))
    return Token(
        first,
        last,
        word,
        shape,
        shape in (Shape.CAPITAL, Shape.ACRONYM),
        ends,
        bound,
        owned,
        hump,
        ":" in tail,
    )


def _shape(core: str) -> Shape:
    if _NUMBER.fullmatch(core):
        return Shape.NUMBER
    if _ACRONYM.fullmatch(core):
        return Shape.ACRONYM
    letter = core[_PREFIXED.match(core).end()] if _PREFIXED.match(core) else core[0]  # type: ignore[union-attr]
    # iPhone
    if (
        letter.isupper()
        or letter.istitle()
        or _CJK.fullmatch(core)
        or (not core.islower() and core.lower() in TOOLS)
    ):
        return Shape.CAPITAL
    return Shape.LOWER if any(map(str.isalpha, core)) else Shape.SIGN


def _ends_sentence(tail: str) -> bool:
    return bool(tail) and any(sign in tail for sign in ".!?:…")


# Names in scripts that write no spaces: what stands out by its script, by its marks, or by how
# somebody is addressed.
#
# Where one word ends and the next begins, rules cannot tell in Chinese and Japanese. So only that
# is taken for a name which stands
# apart without it: runs of katakana that are no everyday loanword, people with a さん or 氏 behind
# them, and what is quoted.
# Latin names amid such text are found as everywhere, and titles by the title itself.

SCRIPTS = "\u3005\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
"""Chinese characters and both kana, for a class of a regular expression."""

UNSPACED_RUN = re.compile(f"[{SCRIPTS}]+")
UNSPACED_LETTER = re.compile(f"[{SCRIPTS}\uac00-\ud7af]")
"""What has no capitals and no ends of words to tell a name by; Korean has spaces, but particles at
the end of most words.
"""

MAX_QUOTED_CHARACTERS = 12  # characters in plain quotation marks: more are something that was said
MAX_TITLE_CHARACTERS = 40
TITLE_CONFIDENCE, TERM_CONFIDENCE, PERSON_CONFIDENCE, LOANWORD_CONFIDENCE = 0.85, 0.77, 0.85, 0.77
_KANA = "[\u30a1-\u30fa\u30fc]"
_KATAKANA = re.compile(f"{_KANA}{{1,30}}(?:[・＝]{_KANA}{{1,30}}){{0,5}}")
_PERSON_WITH_HONORIFIC = re.compile(
    f"(?<![\u3400-\u9fff])([\u3400-\u9fff]{{2,4}}?)(?=さん|さま|様|氏|くん|ちゃん|先生)|({_KANA}{{2,20}})(?=さん|さま|様|氏|くん|ちゃん|先生)"
)
_MIN_KATAKANA = 3  # letters of a run of katakana: shorter ones are mostly words
_SPEECH = re.compile(
    "[。！？!?、，,…]|^(?:我|你|您|他|她|它|这|那|私|僕|俺|これ|それ|あれ)|(?:です|ます|ました|だ|よ|ね|か|吗|吧|呢|了|啊)$"
)
_NOT_PERSONS = frozenset("皆様 奥様 神様 王様 各位 両氏 同氏 小学 中学 高校 大学 担任".split())
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


class UnspacedName(NamedTuple):
    """A name that stands out of such text: where it lies, and what it is."""

    start: int
    end: int
    type: EntityType
    confidence: float


def is_mostly_unspaced(text: str) -> bool:
    """Tell whether most letters of a text belong to scripts whose words have no shape to go by.

    >>> is_mostly_unspaced("I met 王芳 in Lisbon"), is_mostly_unspaced("我们在Lisbon见到了她")
    (False, True)
    """
    those = len(UNSPACED_LETTER.findall(text))
    return bool(those) and 2 * those > sum(map(str.isalpha, text))


def find_unspaced_names(text: str) -> Iterator[UnspacedName]:
    """Yield the names that stand out by katakana or by an address behind them.

    >>> [text[name.start:name.end] for text in ["田中さんはトヨタでコーヒーを飲んだ"] for name in find_unspaced_names(text)]
    ['田中', 'トヨタ']
    """
    for found in _PERSON_WITH_HONORIFIC.finditer(text):
        start, end = found.span(found.lastindex or 0)
        if text[start:end] not in _NOT_PERSONS:
            yield UnspacedName(start, end, EntityType.PERSON, PERSON_CONFIDENCE)
    for found in _KATAKANA.finditer(text):
        name = found[0].strip("ー")
        if len(name) >= _MIN_KATAKANA and found[0] not in _LOANWORDS:
            person = "・" in name or "＝" in name
            yield UnspacedName(
                found.start(),
                found.end(),
                EntityType.PERSON if person else EntityType.CONCEPT,
                PERSON_CONFIDENCE if person else LOANWORD_CONFIDENCE,
            )


def read_quotation(text: str, start: int, end: int, *, titled: bool) -> UnspacedName | None:
    """Return a quoted term, unless it is something that was said.

    Marks for titles hold titles whatever they say.
    """
    term = text[start:end]
    if titled:
        return (
            UnspacedName(start, end, EntityType.CONCEPT, TITLE_CONFIDENCE)
            if len(term) <= MAX_TITLE_CHARACTERS
            else None
        )
    if not 2 <= len(term) <= MAX_QUOTED_CHARACTERS or _SPEECH.search(term):
        return None
    return UnspacedName(start, end, EntityType.CONCEPT, TERM_CONFIDENCE)


# Brackets, quotation marks, commas and dashes stand between stretches: a name does not go on behind
# them.
_SEPARATORS = r"\s,;()\[\]{}<>\"“”„«»‹›—–…|`*、。，：；！？「」『』《》（）"
_TOKEN = re.compile(f"[^{_SEPARATORS}]+")
_TOKEN_BY_SCRIPT = re.compile(
    f"[{SCRIPTS}]+|[^{_SEPARATORS}{SCRIPTS}]+"
)  # "用Redis搭建" names Redis
NEIGHBOURS = 4  # stretches around a name that rules look at
# stretches behind one that may name something: a name takes in less, see `clew.text.names.runs`
MAX_LOOKAHEAD = 16
_TAG = re.compile(r"<[^<>]*>")
_ASCII_SEPARATORS = bytes(
    32 if chr(code).isspace() or chr(code) in ',;()[]{}<>"|`*' else code for code in range(128)
).ljust(256)


class TokenizedText:
    """The stretches of a text and those that may name something.

    Where each that a rule may look at lies is found when one does.

    `words` go on with a few empty ones, so that a name's neighbours can be asked for at both ends
    of the text.
    """

    def __init__(self, text: str, spelled: list[str], others: list[tuple[int, Token]]) -> None:
        """Take the stretches as they are spelled, and what those are that are no small words."""
        self.text = text
        self.words, self.stretches = [*spelled, *[""] * NEIGHBOURS], [LOWERCASE] * len(spelled)
        for i, piece in others:
            self.words[i], self.stretches[i] = piece.word, piece
        self.telling = [i for i, piece in others if piece.tells]
        self._spelled = spelled

    @cached_property
    def small(self) -> frozenset[str]:
        """The words that are written small."""
        return (
            _words_outside(self.words[:-NEIGHBOURS], self.telling) if self.telling else frozenset()
        )

    @property
    def starts(self) -> list[int]:
        """Where each stretch begins, up to the last that a rule may look at."""
        return self._places[0]

    @property
    def ends(self) -> list[int]:
        """Where each of them ends."""
        return self._places[1]

    @cached_property
    def _places(self) -> tuple[list[int], list[int]]:
        return _offsets(
            self.text, self._spelled[: self.telling[-1] + MAX_LOOKAHEAD] if self.telling else []
        )

    def begins(self, i: int) -> bool:
        """Tell whether a sentence, line, quotation or list entry starts with this token."""
        if i == 0 or self.stretches[i - 1].ends or self.stretches[i - 1].shape is Shape.SIGN:
            return True
        gap = self.text[self.ends[i - 1] : self.starts[i]]
        return gap != " " and any(sign in gap for sign in '\n"“„«')

    def goes_on(self, i: int) -> bool:
        """Tell whether the next stretch follows this one with nothing but a space between."""
        if i + 1 >= len(self.stretches) or self.stretches[i].bound:
            return False
        return (
            self.starts[i + 1] - self.ends[i] == 1
            and self.text[self.ends[i]] in " \xa0"
            and not self.stretches[i + 1].first
        )


class Run(NamedTuple):
    """Stretches `first` to `last`, both of them included, that make a name.

    `titled` when an office or a Mr stood before it.
    """

    first: int
    last: int
    opening: bool
    titled: bool = False

    def words(self, reading: TokenizedText) -> list[str]:
        """Return the folded words of the name."""
        return reading.words[self.first : self.last + 1]


def tokenize_text(text: str, *, format: str = "text") -> TokenizedText:
    """Take a text apart; the tags of HTML are passed over, offsets stay those of the text as given.

    >>> reading = tokenize_text("<b>Anna</b> saw Rome.", format="html")
    >>> [reading.text[reading.starts[i]:reading.ends[i]] for i in reading.telling]
    ['Anna', 'Rome.']
    """
    plain = _TAG.sub(lambda tag: " " * len(tag[0]), text) if format == "html" else text
    return TokenizedText(plain, *_tokens_of(plain))


def _words_outside(words: list[str], places: list[int]) -> frozenset[str]:
    """Return what stands in all but some places, which are overwritten.

    By white space, which is no word.
    """
    for i in places:
        words[i] = " "
    return frozenset(words) - {" "}


def _tokens_of(text: str) -> tuple[list[str], list[tuple[int, Token]]]:
    """Return the stretches as they are spelled and what the others than small words are.

    A script without spaces is cut from the others.
    """
    if text.isascii():
        spelled = text.encode().translate(_ASCII_SEPARATORS).decode().split()
        return spelled, tokenize(spelled)
    if not UNSPACED_LETTER.search(text):
        spelled = _TOKEN.findall(text)
        return spelled, tokenize(spelled)
    spelled, most = _TOKEN_BY_SCRIPT.findall(text), is_mostly_unspaced(text)
    starts, ends = _offsets(text, spelled)
    return spelled, [
        (
            i,
            piece._replace(tells=False)
            if UNSPACED_LETTER.match(spelled[i])
            and (most or _is_inside_word(text, starts[i], ends[i]))
            else piece,
        )
        for i, piece in tokenize(spelled)
    ]


def _offsets(text: str, spelled: list[str]) -> tuple[list[int], list[int]]:
    """Return where each of the stretches begins and ends.

    They stand in order, and nothing of them stands between two.
    """
    if text.startswith(" ".join(spelled)):  # as of many: with a space between each two
        lengths = [*map(len, spelled)]
        behind = [*map(add, accumulate(lengths), count())]
        return [*map(sub, behind, lengths)], behind
    starts, ends, end = [], [], 0
    for each in spelled:
        start = text.find(each, end)
        end = start + len(each)
        starts.append(start)
        ends.append(end)
    return starts, ends


def _is_inside_word(text: str, start: int, end: int) -> bool:
    """Tell whether a letter stands right before or behind.

    What is cut from other words is a part of a sentence, not a name.
    """
    return any(beside.isalnum() for beside in (text[start - 1 : start], text[end : end + 1]))
