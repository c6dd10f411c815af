"""Contracts that together use every number format and every trap of automatic DOCX numbering.

The labels that they must print are not computed here: LibreOffice printed them (``golden/docx_numbering.json``);
``python benchmarks/docx_numbering.py --oracle`` writes that file again. Not for other features of DOCX.
"""

from __future__ import annotations

from .numbering_draft import (
    Draft,
    NumberingContract,
    level,
    level_override,
    outline,
    paragraph,
    run,
    start_override,
)
from .numbering_places import places, tracked
from .numbering_walks import wandering_lists

# number format -> the values at which it is tested
_WESTERN = {
    "decimal": (1, 10, 101),
    "decimalZero": (1, 9, 10, 100),
    "decimalFullWidth": (1, 101),
    "decimalFullWidth2": (12,),
    "decimalHalfWidth": (1, 12),
    "lowerLetter": (1, 26, 27, 52, 53),
    "upperLetter": (2, 28, 79),
    "lowerRoman": (1, 4, 9, 14, 40, 90, 400, 999),
    "upperRoman": (5, 49, 1994),
    "ordinal": (1, 2, 3, 4, 11, 12, 13, 21, 22, 23, 101, 111),
    "cardinalText": (1, 10, 13, 21, 40, 100, 101, 342),
    "ordinalText": (1, 2, 3, 5, 8, 9, 12, 20, 21, 30, 45, 100, 112),
    "chicago": (1, 2, 4, 5, 9),
    "hex": (9, 31),
    "numberInDash": (12,),
    "decimalEnclosedCircle": (1, 10, 20, 21),
    "decimalEnclosedFullstop": (1, 20, 21),
    "decimalEnclosedParen": (1, 20, 21),
}
_EASTERN = {
    "chineseCounting": (1, 10, 11, 20, 35, 99, 100, 101),
    "chineseCountingThousand": (1, 10, 11, 20, 21, 100, 101, 110, 111, 999, 1001, 1010),
    "chineseLegalSimplified": (1, 2, 3, 6, 10, 11, 20, 101, 110),
    "ideographLegalTraditional": (1, 2, 3, 6, 10, 11, 20),
    "ideographDigital": (1, 9, 10, 101),
    "ideographTraditional": (1, 5, 10, 11),
    "ideographZodiac": (1, 11, 12, 13),
    "ideographEnclosedCircle": (1, 11),
    "taiwaneseCounting": (1, 10, 12, 20, 101),
    "taiwaneseCountingThousand": (1, 10, 12, 20, 101, 110),
    "taiwaneseDigital": (20,),
    "japaneseCounting": (1, 10, 12, 20, 110),
    "japaneseLegal": (1, 2, 10),
    "japaneseDigitalTenThousand": (10,),
    "decimalEnclosedCircleChinese": (1, 10, 11, 20),
    "koreanDigital": (1, 10),
    "koreanCounting": (2, 12),
    "ganada": (1, 2),
}


def _formats(draft: Draft, formats: dict[str, tuple[int, ...]], text: str, words: str) -> None:
    """One list per value, because a ``w:start`` is the plainest way to a high number."""
    for name, values in formats.items():
        draft.text(name)
        for value in values:
            number = draft.list(level(0, name, text, start=value))
            draft.item(number, 0, words, f"{name} {value}")


def western_formats() -> NumberingContract:
    """Price list of a print shop: Latin formats, words, bullets, ``none`` and custom padding."""
    draft = Draft("western formats")
    _formats(draft, _WESTERN, "%1", "sheets of paper are delivered.")
    padded = draft.list(level(0, "decimalZero", "No. %1", custom="001, 002, 003, ..."))
    for words in ("first crate", "second crate"):
        draft.item(padded, 0, words, "custom 001")
    longer = draft.list(level(0, "decimalZero", "%1", start=42, custom="0001, 0002, 0003, ..."))
    draft.item(longer, 0, "pallet", "custom 0001")
    nothing = draft.list(level(0, "none", "Note %1:"))
    draft.item(nothing, 0, "prices are net.", "none keeps literals")
    empty = draft.list(level(0, "none", ""))
    draft.item(empty, 0, "no label at all.", "none without literals")
    dots = draft.list(level(0, "bullet", "\u2022") + level(1, "bullet", "\u2013"))
    draft.witness = "print"  # the text export prints a bullet of its own for each level
    draft.item(dots, 0, "ink", "bullet")
    draft.item(dots, 1, "black ink", "bullet dash")
    symbol = draft.list(level(0, "bullet", "\uf0b7"))
    draft.item(symbol, 0, "glue", "bullet of a symbol font")
    return draft.finish()


def eastern_formats() -> NumberingContract:
    """Chinese, Taiwanese, Japanese and Korean counting between literals."""
    draft = Draft("eastern formats", language="zh-CN")
    _formats(draft, _EASTERN, "第%1款", "货物按约定交付。")
    return draft.finish()


def services(*, twin: bool = False) -> NumberingContract:
    """Services agreement: Article, legal numbering, letters, romans, and a level that spells its parents out.

    The twin counts articles in decimal, because LibreOffice does not know ``w:isLgl``.
    """
    draft = Draft("services agreement")
    article = draft.list(
        level(0, "decimal" if twin else "upperRoman", "Article %1", suff="space"),
        level(1, "decimalZero", "%1.%2", legal=1),
        level(2, "lowerLetter", "(%3)"),
        level(3, "lowerRoman", "(%4)"),
        level(4, "decimal", "%1.%2(%3)(%4)-%5", suff="nothing"),
        level(5, "upperLetter", "%2.%6"),
    )

    def legal(words: str, case: str) -> None:
        draft.witness = "twin"
        draft.item(article, 1, words, case)
        draft.witness = "text"

    case = "legal outline"
    draft.item(article, 0, "Scope of the work", case)
    for words in ("The Provider repairs the mill.", "The Customer gives access:"):
        legal(words, "isLgl over roman and padded")
    for words in ("on weekdays;", "on holidays:"):
        draft.item(article, 2, words, case)
    for words in ("before noon;", "after noon."):
        draft.item(article, 3, words, case)
    draft.item(article, 4, "Noise is limited.", "five levels, suff nothing")
    draft.item(article, 4, "Dust is limited.", "five levels, suff nothing")
    draft.item(article, 5, "Measuring.", "refers to level 2 alone")
    draft.item(article, 2, "never at night.", "back to a higher level")
    draft.item(article, 3, "with one exception.", "restart after a higher level")
    draft.item(article, 0, "Fees", case)
    legal("Fees are monthly.", "isLgl restarts")
    draft.item(article, 4, "Late fees.", "levels between were never used")
    draft.item(article, 0, "Term", case)
    draft.item(article, 2, "One year.", "level between was never used")
    legal("Renewal.", "level used after a deeper one")
    draft.item(article, 2, "By notice.", "restart after that")
    plain = draft.list(
        level(0, "decimal", "%1."), level(1, "lowerLetter", "%1%2)"), level(2, "decimal", "Rule %3 of %1", suff="space")
    )
    for index, words in ((0, "Keys"), (1, "doors"), (2, "lock"), (2, "bolt"), (0, "Gates"), (2, "hinge"), (1, "posts")):
        draft.item(plain, index, words, "second list counts alone")
    return draft.finish()


def restarts(*, twin: bool = False) -> NumberingContract:
    """Lease: levels that never restart, that restart late, start overrides, shared counters.

    LibreOffice 7.4 ignores ``w:lvlRestart``. The twin puts such a level into a list of its own, which nothing
    restarts, or which an unnumbered first level restarts where it should.
    """
    draft = Draft("lease with restarts")
    _late_restarts(draft, twin=twin)
    _start_overrides(draft)
    return draft.finish()


def _late_restarts(draft: Draft, *, twin: bool) -> None:
    draft.witness = "twin"
    never = draft.list(
        level(0, "decimal", "Part %1"), level(1, "decimal", "%2.", restart=0), level(2, "lowerLetter", "(%3)")
    )
    alone = draft.list(level(0, "decimal", "%1."), level(1, "lowerLetter", "(%2)"))
    for index, words in outline("0 House, 1 walls, 1 roof, 2 slates, 0 Garden, 1 hedge, 2 box, 1 pond"):
        number, place = (alone, index - 1) if twin and index else (never, index)
        draft.item(number, place, words, "lvlRestart 0")
    late = draft.list(
        level(0, "decimal", "%1"), level(1, "decimal", "%1.%2"), level(2, "lowerLetter", "(%3)", restart=1)
    )
    alone = draft.list(level(0, "none", ""), level(1, "lowerLetter", "(%2)"))
    for index, words in outline(
        "0 Rent, 1 amount, 2 cash, 2 bank, 1 date, 2 first day, 0 Deposit, 1 size, 2 three months"
    ):
        if twin and index == 0:
            draft.body.append(paragraph(run("restart"), alone, 0))
        number, place = (alone, 1) if twin and index == 2 else (late, index)
        draft.item(number, place, words, "lvlRestart 1")
    second = draft.list(
        level(0, "decimal", "%1"),
        level(1, "decimal", "%1.%2"),
        level(2, "decimal", "%3)"),
        level(3, "lowerRoman", "(%4)", restart=2),
    )
    alone = draft.list(level(0, "none", ""), level(1, "lowerRoman", "(%2)"))
    for index, words in outline(
        "0 Use, 1 rooms, 2 hall, 3 lamp, 2 loft, 3 beam, 1 cellar, 2 steps, 3 rail, 0 Pets, 3 dog"
    ):
        if twin and index < 2:
            draft.body.append(paragraph(run("restart"), alone, 0))
        number, place = (alone, 1) if twin and index == 3 else (second, index)
        draft.item(number, place, words, "lvlRestart 2 on the fourth level")
    draft.witness = "text"


def _start_overrides(draft: Draft) -> None:
    high = draft.list(level(0, "decimal", "%1"), level(1, "lowerLetter", "%1%2", restart=5))
    for index, words in ((0, "Keys"), (1, "front"), (1, "back"), (0, "Bins"), (1, "paper")):
        draft.item(high, index, words, "lvlRestart above the own level")
    abstract = draft.abstract(level(0, "decimal", "%1."), level(1, "lowerLetter", "%1.%2"))
    first, shared = draft.num(abstract), draft.num(abstract)
    again = draft.num(abstract, start_override(0, 1))
    seven = draft.num(abstract, start_override(0, 7))
    for number, words in ((first, "paint"), (first, "paper"), (shared, "tiles"), (first, "glass")):
        draft.item(number, 0, words, "two nums share the counter")
    for words in ("door", "window"):
        draft.item(again, 0, words, "startOverride 1")
    draft.item(first, 0, "floor", "old num goes on after the override")
    draft.item(again, 0, "stairs", "override is used once")
    draft.item(seven, 0, "fence", "startOverride 7")
    draft.item(seven, 1, "post", "sub-level under an override")
    draft.item(seven, 1, "rail", "sub-level under an override")
    draft.item(shared, 0, "gate", "shared num goes on after 7")
    draft.item(shared, 1, "latch", "sub-level of the shared num")
    deep = draft.abstract(level(0, "decimal", "%1"), level(1, "decimal", "%1.%2"))
    plain, both = draft.num(deep), draft.num(deep, start_override(0, 1), start_override(1, 1))
    for number, index, words in (
        (plain, 0, "A"),
        (plain, 1, "a"),
        (plain, 1, "b"),
        (both, 0, "B"),
        (both, 1, "c"),
        (both, 1, "d"),
        (both, 0, "C"),
        (both, 1, "e"),
        (plain, 1, "f"),
        (plain, 0, "D"),
    ):
        draft.item(number, index, words, "startOverride 1 on every level")
    sub = draft.num(deep, start_override(1, 4))
    for number, index, words in ((sub, 1, "g"), (sub, 1, "h"), (plain, 0, "E"), (plain, 1, "i")):
        draft.item(number, index, words, "startOverride on a sub-level")
    for number, index, words in ((sub, 0, "F"), (sub, 1, "j"), (sub, 0, "G"), (sub, 1, "k")):
        draft.item(number, index, words, "sub-level with an override restarts")
    ahead = draft.num(deep, start_override(0, 20))
    for number, index, words in ((ahead, 1, "l"), (ahead, 0, "H"), (ahead, 1, "m")):
        draft.item(number, index, words, "startOverride of a level that comes later")
    fresh = draft.abstract(level(0, "decimal", "%1"), level(1, "decimal", "%1.%2"))
    early = draft.num(fresh, start_override(0, 30))
    for index, words in ((1, "n"), (0, "I"), (1, "o")):
        draft.item(early, index, words, "skipped level with a startOverride")


def styled() -> NumberingContract:
    """Purchase contract whose numbers come from styles: pStyle, basedOn, numStyleLink, numId 0."""
    draft = Draft("purchase contract by styles")
    heads = draft.abstract(
        level(0, "decimal", "%1.", style="Clause"),
        level(1, "decimal", "%1.%2", style="Subclause"),
        level(2, "lowerLetter", "(%3)", style="Point"),
        level(3, "lowerRoman", "(%4)"),
    )
    number = draft.num(heads)
    draft.style("Clause", f'<w:numPr><w:numId w:val="{number}"/></w:numPr>')
    draft.style("Subclause", '<w:numPr><w:ilvl w:val="1"/></w:numPr>', based_on="Clause")
    draft.style("Point", f'<w:numPr><w:ilvl w:val="2"/><w:numId w:val="{number}"/></w:numPr>')
    draft.style("BoldClause", based_on="Clause")
    draft.style("QuietClause", '<w:numPr><w:numId w:val="0"/></w:numPr>', based_on="Clause")
    for style, words in (
        ("Clause", "Goods"),
        ("Subclause", "Kind"),
        ("Subclause", "Amount"),
        ("Point", "by weight"),
        ("Point", "by count"),
    ):
        draft.item(None, None, words, f"numbered by style {style}", style=style)
    draft.item(None, None, "Price", "style based on a numbered style", style="BoldClause")
    draft.item(None, None, "Not numbered.", "numId 0 in a style", style="QuietClause")
    draft.item(0, None, "Not numbered either.", "numId 0 on the paragraph", style="Clause")
    draft.item(None, None, "Delivery", "goes on after unnumbered ones", style="Clause")
    draft.item(number, 3, "by barge", "direct level beats the style's", style="Point")
    draft.item(number, None, "at the quay", "direct numId without a level", style="Subclause")
    draft.item(None, 2, "on demand", "direct level without a numId", style="Subclause")
    draft.item(None, None, "Risk", "plain again", style="Clause")
    linked = draft.abstract(
        level(0, "upperLetter", "%1."), level(1, "decimal", "%1%2"), head='<w:styleLink w:val="SaleList"/>'
    )
    owner = draft.num(linked)
    draft.style("SaleList", f'<w:numPr><w:numId w:val="{owner}"/></w:numPr>', kind="numbering")
    user = draft.num(draft.abstract(head='<w:numStyleLink w:val="SaleList"/>'))
    for index, words in ((0, "Seller"), (1, "address"), (1, "bank"), (0, "Buyer"), (1, "address")):
        draft.item(user, index, words, "numStyleLink")
    draft.item(owner, 0, "Witness", "the list that owns the linked style")
    other = draft.num(draft.abstract(head='<w:numStyleLink w:val="SaleList"/>'))
    draft.item(other, 0, "Notary", "second list with the same numStyleLink")
    draft.style("Linked", f'<w:numPr><w:numId w:val="{user}"/></w:numPr>')
    draft.item(None, None, "Broker", "style that uses a linked list", style="Linked")
    return draft.finish()


def skipped() -> NumberingContract:
    """Deed that begins and goes on at levels whose parents never occur."""
    draft = Draft("deed with skipped levels")
    first = draft.list(level(0, "decimal", "%1"), level(1, "decimal", "%1.%2"), level(2, "decimal", "%1.%2.%3"))
    for index, words in outline("1 land, 1 water, 0 Title, 1 deed, 2 seal, 0 Costs, 2 stamp, 1 fees"):
        draft.item(first, index, words, "begins at the second level")
    third = draft.list(
        level(0, "upperLetter", "%1"), level(1, "decimal", "%1.%2", start=3), level(2, "lowerRoman", "%1.%2.%3")
    )
    for index, words in ((2, "map"), (2, "plan"), (1, "survey"), (0, "Borders"), (2, "north"), (1, "south")):
        draft.item(third, index, words, "begins at the third level, start 3")
    nine = draft.list(*(level(i, "decimal", ".".join(f"%{j}" for j in range(1, i + 2))) for i in range(9)))
    for index in (0, 4, 8, 8, 2):
        draft.item(nine, index, "parcel", "nine levels")
    bullets = draft.list(
        level(0, "decimal", "%1."),
        level(1, "bullet", "\u2022"),
        level(2, "decimal", "%1.%3"),
        level(3, "decimal", "%1.%2%4"),
    )
    draft.witness = "print"
    for index in (0, 1, 2, 2, 3, 0, 3):
        draft.item(bullets, index, "orchard", "bullet level between numbers")
    return draft.finish()


def odd_definitions() -> NumberingContract:
    """Licence with unusual definitions: overriding levels, missing start, unknown tokens, missing levels."""
    draft = Draft("licence with odd definitions")
    abstract = draft.abstract(level(0, "decimal", "%1."), level(1, "lowerLetter", "(%2)"))
    plain = draft.num(abstract)
    changed = draft.num(abstract, level_override(0, level(0, "upperRoman", "Schedule %1", start=1)))
    inner = level(1, "upperLetter", "%1-%2", start=3)
    deeper = draft.num(abstract, level_override(1, inner))
    for number, index, words in (
        (plain, 0, "Grant"),
        (plain, 1, "use"),
        (changed, 0, "Files"),
        (changed, 1, "list"),
        (plain, 0, "Term"),
        (deeper, 1, "years"),
        (deeper, 1, "months"),
        (plain, 1, "days"),
    ):
        draft.item(number, index, words, "lvlOverride with a whole level")
    missing = draft.list(level(0, "decimal", "%1)", start=None), level(1, "lowerLetter", "%2)", start=None))
    for index, words in ((0, "copy"), (0, "print"), (1, "ink"), (0, "scan")):
        draft.item(missing, index, words, "missing start")
    zero = draft.list(level(0, "decimal", "%1.", start=0), level(1, "decimal", "%1.%2", start=0))
    for index, words in ((0, "Preface"), (1, "aim"), (0, "Terms"), (1, "words")):
        draft.item(zero, index, words, "start 0")
    implied = draft.list(level(0, "", "%1:"))
    draft.item(implied, 0, "keys", "missing numFmt")
    above = draft.list(level(0, "decimal", "%1.%2"), level(1, "decimal", "%1.%2"))
    draft.item(above, 0, "code", "refers to a deeper level")
    draft.item(above, 1, "tests", "level below that")
    few = draft.list(level(0, "decimal", "%1."))
    draft.item(few, 0, "source", "one level defined")
    draft.body.append(paragraph(run("binary"), few, 3))  # what is printed here is not defined
    draft.item(few, 0, "manual", "after a level that is not defined")
    draft.item(99, 0, "nothing", "num that is not defined")
    literal = draft.list(
        level(0, "decimal", "100% of %1"), level(1, "lowerLetter", "Item"), level(2, "decimal", "\u00a7 %3 \u2013")
    )
    for index in (0, 1, 2, 2):
        draft.item(literal, index, "royalty", "literals and a stray percent sign")
    long = draft.list(level(0, "decimal", "Schedule of royalties No. %1 "))
    draft.item(long, 0, "paid yearly", "long literal, 31 characters at most")
    return draft.finish()


def chinese(*, twin: bool = False) -> NumberingContract:
    """采购合同: chapters whose clauses run on, items in brackets, enclosed numbers.

    The twin keeps clauses in a list of their own, because LibreOffice 7.4 restarts them in each chapter.
    """
    draft = Draft("procurement contract zh", language="zh-CN")
    counting = "chineseCountingThousand"
    number = draft.list(
        level(0, counting, "第%1章", suff="space"),
        level(1, counting, "第%2条", suff="space", restart=0),
        level(2, "chineseCounting", "（%3）", suff="nothing"),
        level(3, "decimal", "%4．", suff="nothing"),
        level(4, "decimalEnclosedCircle", "%5", suff="nothing"),
        level(5, "decimal", "%2-%6", legal=1, suff="space"),
    )
    alone = draft.list(
        level(0, counting, "第%1条", suff="space"),
        level(1, "chineseCounting", "（%2）", suff="nothing"),
        level(2, "decimal", "%3．", suff="nothing"),
        level(3, "decimalEnclosedCircle", "%4", suff="nothing"),
        level(4, "decimal", "%1-%5", suff="space"),
    )
    clauses = outline(
        "0 总则, 1 定义, 1 标的, 2 机床, 2 附件, 3 图纸, 3 说明书, 4 中文, 4 英文, 0 价款, 1 单价, 2 含税, 5 税率, "
        "1 支付, 0 交付, 1 地点, 3 仓库"
    )
    draft.witness = "twin"
    for index, words in (*clauses, *((1, "双方另行约定。") for _ in range(6))):
        target, place = (alone, index - 1) if twin and index else (number, index)
        case = "章 and running 条" if index < 5 else "isLgl over 条"
        draft.item(target, place, words, case)
    draft.witness = "text"
    other = draft.list(
        level(0, "chineseCounting", "%1、", suff="nothing"),
        level(1, "decimal", "%2)", suff="nothing"),
        level(2, "lowerLetter", "%3."),
    )
    for index, words in ((0, "清单"), (1, "车床"), (1, "铣床"), (2, "刀具"), (0, "验收"), (1, "期限")):
        draft.item(other, index, words, "、 list beside it")
    roman = draft.list(
        level(0, "japaneseCounting", "第%1节"),
        level(1, "ideographTraditional", "%2、"),
        level(2, "ideographZodiac", "%3."),
    )
    for index in (0, 1, 1, 2, 0, 1):
        draft.item(roman, index, "保密义务。", "节, 甲乙, 子丑")
    return draft.finish()


def build_contracts() -> tuple[NumberingContract, ...]:
    """Every contract, in a fixed order."""
    return (
        western_formats(),
        eastern_formats(),
        services(),
        restarts(),
        styled(),
        skipped(),
        odd_definitions(),
        chinese(),
        places(),
        tracked(),
        wandering_lists(),
    )


def build_twins() -> tuple[NumberingContract, ...]:
    """For the contracts that need one, a twin with the same markers, which LibreOffice 7.4 numbers as Word does."""
    return services(twin=True), restarts(twin=True), chinese(twin=True)
