"""Numbers on the page that claim nothing, each with its reason; every other number belongs to a row."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Reason(Enum):
    """Why a number is no claim, in both languages."""

    NUMBER = ("number of a section, lesson or file", "节、课或文件的编号")
    ASTRAY = (
        "a reference that leads astray: the variance is explained in 3.1, not in 8",
        "指错了地方：方差在3.1节解释，不在第8节",
    )
    SCENARIO = ("given by the story or the question", "场景或题目给定")
    FORMULA = ("part of a formula or of its notation", "公式或记号的一部分")
    CODE = ("an argument in the listing", "代码中的参数")
    CITATION = ("year or identifier of a paper", "论文的年份或编号")
    PAGE = ("study time, difficulty, place in the quiz", "学习时间、难度、测验序号")

    @property
    def en(self) -> str:
        """In English."""
        return self.value[0]

    @property
    def zh(self) -> str:
        """In Chinese."""
        return self.value[1]


@dataclass(frozen=True, slots=True)
class NotClaim:
    """``numerals`` of section ``where``, each as often as it occurs for this reason."""

    where: str
    numerals: str
    reason: Reason


_HEADINGS = (
    "0", "1", "1.1", "2", "2.1", "2.2", "2.3", "2.4", "3", "3.1", "4", "4.1", "4.2", "4.3", "4.4", "4.5", "5", "5.1",
    "5.2", "5.3", "5.4", "6", "7", "8", "9", "10", "11",
)  # fmt: skip

NOT_CLAIMS: tuple[NotClaim, ...] = (
    NotClaim("head", "11 11 11.3 1.3 11.2", Reason.NUMBER),
    NotClaim("head", "45 45", Reason.PAGE),
    *(NotClaim(where, where, Reason.NUMBER) for where in _HEADINGS),
    NotClaim("0", "200 3 3 11 2 13", Reason.SCENARIO),
    NotClaim("2.2", "8", Reason.ASTRAY),
    NotClaim("2.4", "1", Reason.FORMULA),
    NotClaim("2.4", "11.4", Reason.NUMBER),
    NotClaim("3.1", "0 2 2", Reason.FORMULA),
    NotClaim("4.4", "11.5", Reason.NUMBER),
    NotClaim("5.2", "1", Reason.FORMULA),
    NotClaim("5.3", "2 2 0 0 1 1 1 1 1 3 3", Reason.CODE),
    NotClaim("5.4", "13 1 131072 4096 32 128 24", Reason.SCENARIO),
    NotClaim("7", "1.3 11.2 11.4 11.7 11.5", Reason.NUMBER),
    NotClaim("8", "11.7", Reason.NUMBER),
    NotClaim("9", "5.1", Reason.NUMBER),
    NotClaim("10", "2 2 1", Reason.FORMULA),
    NotClaim("11", "2017 1706.03762 2014 1409.0473 2015 1508.04025 2022 2205.14135", Reason.CITATION),
    NotClaim("11", "2", Reason.FORMULA),
    NotClaim("11", "11 3 4.3 11.4", Reason.NUMBER),
    NotClaim("quiz", "5 5 1 1", Reason.PAGE),
    NotClaim("quiz", "11 03", Reason.NUMBER),
)
