"""Words that say nothing of what is asked: grammar, and words that only frame a question about a contract.

Shared by the lexical index and by the choice of question rows that are read as evidence.
"""

from __future__ import annotations

_STOP_WORDS_TEXT = """
a an and any are as at be been being but by can could did do does for from had has have he her hers
him his how i if in into is it its may me might more most must my no nor not of on or other our ours
out over own shall she should so some such than that the their theirs them then there thereby
therein thereof thereto these they this those to under until up upon was we were what when where
whether which while who whom whose why will with within would you your yours hereby herein hereof
hereto hereunder including include includes also about
"""
STOP_WORDS = frozenset(_STOP_WORDS_TEXT.split())
# grammatical characters: bigrams that hold one say little, alone they say nothing
FUNCTION_CHARACTERS = frozenset(
    "的了是在和与及或等也之其以于由对将并而即若则吗呢么吧有为被把向从所该此這这那哪些个應应什"
)
# words of the question that name the document or a place in it, not what is asked; stems and bigrams
_FRAME_TERMS_TEXT = """
agreement claus contract counterparty document paragraph party provision question section
合同 协议 本合 本协 条款 当事 事人 双方 约定 规定 请问 是否 什么 多少 如何 怎么 怎样 何时 哪些 哪个
"""
FRAME_TERMS = frozenset(_FRAME_TERMS_TEXT.split())
