"""Encodings: every one gives the same text, none that is not known is read as another one in silence."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from softlookup.documents.readers.encodings import decode, known_codec
from softlookup.documents.readers.text import read_text
from softlookup.errors import DocumentError, UsageError

from .builders import LEASE_EN, SERVICE_ZH

CHINESE = SERVICE_ZH * 4
TRADITIONAL = "甲方應當按照本合約的規定，在本月三十日以前支付價款。對於違約責任，乙方不得主張免除。\n" * 12
CURLY = LEASE_EN.replace("'", "’").replace('"', "“") + "\nThe “Lessee” pays a fee of 5 % — see § 3.\n"
UNICODE = (
    "utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be", "gb18030",
)  # fmt: skip


@pytest.mark.parametrize("codec", [*UNICODE, "gbk", "gb2312", "cp936"])
def test_a_chinese_contract_is_the_same_in_every_encoding(codec):
    assert decode(CHINESE.encode(codec))[0] == CHINESE


@pytest.mark.parametrize("codec", [*UNICODE, "cp1252"])
def test_an_english_contract_is_the_same_in_every_encoding(codec):
    assert decode(LEASE_EN.encode(codec))[0] == LEASE_EN
    assert decode(CURLY.encode(codec))[0] == CURLY


@pytest.mark.parametrize("codec", [*UNICODE, "big5", "big5hkscs", "cp950"])
def test_a_traditional_contract_is_the_same_in_every_encoding(codec):
    assert decode(TRADITIONAL.encode(codec))[0] == TRADITIONAL


def test_utf16_without_mark_letters_and_line_ends_is_known_by_its_characters():
    plain = {ord(c): None for c in map(chr, range(128))}
    text = CHINESE.translate({**plain, ord("一"): "二"})  # U+4E00 has a zero byte
    for codec in ("utf-16-le", "utf-16-be"):
        data = text.encode(codec)
        assert b"\0" not in data
        found, notes = decode(data)
        assert (found, notes[0].split()[1]) == (text, codec)


def test_the_mark_of_utf32_is_not_taken_for_that_of_utf16():
    found = decode(b"\xff\xfe\x00\x00" + "Lease".encode("utf-32-le"))
    assert found == ("Lease", ("encoding utf-32-le (byte order mark)",))


def test_a_mark_that_lies_is_refused():
    with pytest.raises(DocumentError, match="byte order mark"):
        decode(b"\xff\xfeabc")
    with pytest.raises(DocumentError, match="byte order mark"):
        decode(b"\xef\xbb\xbf\xff\xff")


def test_the_note_names_codec_evidence_margin_and_rival():
    _, notes = decode(CHINESE.encode("gb18030"))
    assert notes[0].startswith("encoding gb18030 (by its characters: ")
    assert "% of the Chinese characters are common ones; margin" in notes[0]
    _, notes = decode(TRADITIONAL.encode("big5"))
    assert notes[0].startswith("encoding big5hkscs (by its characters: ")


FOREIGN = [
    ("Договор аренды. Арендодатель передает, а Арендатор принимает помещение. ", ("cp1251", "koi8-r", "iso8859-5")),
    ("本契約の当事者は、次の条項に従い、誠実にこれを履行するものとする。カタカナ ", ("shift_jis", "euc-jp")),
    ("계약서 제1조 갑과 을은 다음과 같이 임대차 계약을 체결한다. ", ("euc-kr",)),
    ("Σύμβαση μίσθωσης. Ο εκμισθωτής παραδίδει στον μισθωτή το ακίνητο. ", ("cp1253",)),
    ("חוזה שכירות. המשכיר מוסר לשוכר את הדירה. ", ("cp1255",)),
    ("عقد إيجار بين المؤجر والمستأجر على الشقة. ", ("cp1256",)),
    ("Umowa najmu. Wynajmujący oddaje najemcy do używania lokal, źle ćwiczy. ", ("cp1250", "iso8859-2")),
]


@pytest.mark.parametrize(("text", "codec"), [(text * 5, codec) for text, codecs in FOREIGN for codec in codecs])
def test_other_encodings_are_never_read_as_a_known_one(text, codec):
    data = text.encode(codec)
    with pytest.raises(DocumentError, match="encoding") as raised:
        decode(data)
    assert "--encoding" in raised.value.remedy
    assert decode(data, encoding=codec)[0] == text


@pytest.mark.parametrize(
    "text", ["Der Vermieter überläßt dem Mieter größere Räume. ", "Le loyer, « déjà » dû à l’été. "]
)
def test_western_letters_are_windows_1252(text):
    found, notes = decode((text * 4).encode("cp1252"))
    assert found == text * 4
    assert "cp1252" in notes[0]


def test_the_encoding_that_is_asked_for_wins_and_must_fit():
    assert decode("é".encode("cp1252"), encoding="cp1252")[0] == "é"
    assert decode(CHINESE.encode("gb18030"), encoding="GB18030")[1] == ("encoding gb18030 (as asked)",)
    with pytest.raises(DocumentError, match="does not decode"):
        decode(b"\xff\xfe\xfd", encoding="utf-8")
    with pytest.raises(DocumentError, match="NUL"):
        decode("Lease".encode("utf-16-le"), encoding="latin-1")


@pytest.mark.parametrize("text", ["甲方支付价款", "The tenant’s “rent” – ten", "Le loyer déjà dû à l’été"])
def test_utf8_with_many_broken_bytes_is_asked_for_and_never_read_as_another_encoding(text):
    for broken in (b"\xff", b"\xff\xff", b"\xe7\x94"):
        data = b"".join(text.encode() + b"\n" + broken + b" x\n" for _ in range(9))
        with pytest.raises(DocumentError, match="looks like UTF-8 with many broken bytes") as raised:
            decode(data)
        assert "--encoding" in raised.value.remedy
        found, notes = decode(data, encoding="utf-8")
        assert found.count(text) == 9
        assert found.count("\ufffd") >= 9
        assert "broken places" in notes[0]


def test_few_broken_bytes_are_told_and_marked():
    found, notes = decode(CHINESE.encode() + b"\xff\xff\n")
    assert found == CHINESE + "\ufffd\ufffd\n"
    assert notes == ("encoding utf-8 with 2 broken places, shown as U+FFFD",)


@pytest.mark.parametrize("name", ["no-such-codec", "hex", "rot13", "utf-7", "unicode_escape", "punycode", "idna", ""])
def test_what_is_no_encoding_of_texts_is_a_usage_error(name):
    assert known_codec(name) is None
    with pytest.raises(UsageError, match="known codec"):
        decode(b"x", encoding=name)


@pytest.mark.parametrize(
    ("data", "asked"),
    [
        (LEASE_EN[: len(LEASE_EN) // 2 * 2].encode(), "utf-16"),
        (LEASE_EN[: len(LEASE_EN) // 2 * 2].encode(), "utf-16-be"),
        (CHINESE.encode("gb18030"), "latin-1"),
    ],
    ids=["ascii as utf-16", "ascii as utf-16-be", "gb18030 as latin-1"],
)
def test_nonsense_is_refused_even_when_asked_for(data, asked):
    with pytest.raises(DocumentError, match="jumble of rare characters, while it reads as"):
        decode(data, encoding=asked)


def test_what_the_file_declares_is_taken_when_it_is_true():
    data = CHINESE.encode("gbk")
    assert decode(data, declared="gb2312") == (CHINESE, ("encoding gb18030 (declared by the file)",))
    russian = FOREIGN[0][0].encode("cp1251")
    assert decode(russian, declared="windows-1251") == (FOREIGN[0][0], ("encoding cp1251 (declared by the file)",))


@pytest.mark.parametrize("declared", ["iso-8859-1", "us-ascii", "windows-1252", "utf-16", "big5", "no-such"])
def test_a_declaration_that_lies_is_not_followed(declared):
    assert decode(CHINESE.encode(), declared=declared)[0] == CHINESE


def test_a_false_latin_declaration_does_not_hide_chinese():
    found, notes = decode(CHINESE.encode("gb18030"), declared="iso-8859-1")
    assert found == CHINESE
    assert "by its characters" in notes[0]


def test_nul_characters_are_never_accepted():
    with pytest.raises(DocumentError, match="binary"):
        decode(b"abc\x00def\x01\x02" * 7)


def test_bytes_that_fit_no_encoding_ask_for_one():
    with pytest.raises(DocumentError, match="--encoding"):
        decode(bytes(range(0x80, 0x100)) * 3)
    with pytest.raises(DocumentError, match=r"--encoding|binary"):
        decode(random.Random(4).randbytes(4000))


SENTENCES_EN = st.lists(
    st.sampled_from([s.strip() + "." for s in LEASE_EN.replace("\n", " ").split(".") if len(s.strip()) > 20]),
    min_size=4, max_size=30,
)  # fmt: skip
SENTENCES_ZH = st.lists(
    st.sampled_from([s.strip() + "。" for s in SERVICE_ZH.replace("\n", "").split("。") if len(s.strip()) > 8]),
    min_size=4, max_size=30,
)  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(SENTENCES_ZH, st.sampled_from([*UNICODE, "gbk"]), st.sampled_from(["\n", "\r\n", ""]))
def test_any_chinese_sentences_survive_any_encoding(sentences, codec, ending):
    text = ending.join(sentences)
    assert decode(text.encode(codec))[0] == text


@settings(max_examples=60, deadline=None)
@given(SENTENCES_EN, st.sampled_from([*UNICODE, "cp1252"]), st.sampled_from(["’s", "é", " — ", " § 4 ", "“x”", ""]))
def test_any_english_sentences_survive_any_encoding(sentences, codec, sign):
    text = "\n".join(sentence.replace(" ", sign + " ", 1) for sentence in sentences)
    assert decode(text.encode(codec))[0] == text


@settings(max_examples=200, deadline=None)
@given(st.binary(min_size=1, max_size=400))
def test_any_bytes_give_a_text_without_nul_or_an_error(data):
    try:
        text, notes = decode(data)
    except DocumentError:
        return
    assert "\0" not in text
    assert all(note.startswith("encoding ") for note in notes)


def test_a_few_broken_bytes_in_utf8_are_told_and_marked():
    data = CHINESE.encode()
    cut = data[:300] + b"\xff" + data[300:]
    text, notes = decode(cut)
    assert notes == ("encoding utf-8 with 1 broken places, shown as U+FFFD",)
    assert text.replace("\ufffd", "") == CHINESE
    result = read_text(cut)
    assert [(m.flag, m.detail) for m in result.marks if m.flag == "garbled"] == [("garbled", "unreadable character")]
    assert decode("naïve".encode("cp1252") + LEASE_EN.encode())[1][0].startswith("encoding cp1252")
