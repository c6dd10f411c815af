"""Clause trees by indentation for tests of references, so that they do not depend on the reader; sample contracts."""

import re

from softlookup.documents.definitions.find import find_definitions
from softlookup.documents.model import Clause, Span
from softlookup.documents.references.resolve import find_references

_LABEL = re.compile(
    r"\s*((?:Section|ARTICLE|Schedule|Exhibit|Annex)\s[\w.]+|第[一二三四五六七八九十百]+[编章节条]|附件\S|\d+(?:\.\d+)*|"
    r"\([a-z]+\)|（[一二三四五六七八九十]+）)"
)


def outline(text, *, paragraphs=False):
    """One clause for each line that starts with a label; two spaces of indentation make a level.

    With ``paragraphs`` a line without label is a clause without number.
    """
    rows = []
    for line in re.finditer(r"[^\n]*\n?", text):
        label = _LABEL.match(line.group())
        if paragraphs and not label and line.group().strip():
            rows.append((line.start(), (len(line.group()) - len(line.group().lstrip(" "))) // 2, ""))
        if label:
            rows.append((line.start(), (len(label.group()) - len(label.group().lstrip(" "))) // 2, label.group(1)))
    clauses, stack = [], []
    for index, (start, level, number) in enumerate(rows):
        end = next((s for s, other, _ in rows[index + 1 :] if other <= level), len(text))
        stack = stack[:level]
        clauses.append(Clause(index, number, "", Span(start, end), stack[-1] if stack else None, level, number))
        stack.append(index)
    return tuple(clauses)


def references(text):
    clauses = outline(text)
    found = find_references(text, clauses, find_definitions(text, clauses))
    return [
        (text[r.span.start : r.span.end], [clauses[t].number for t in r.targets], r.status, r.effect) for r in found
    ]


def only(text):
    (reference,) = references(text)
    return reference


def paths(text):
    """Printed words, targets as joined labels, status and effect of every reference."""
    clauses = outline(text)

    def address(clause):
        above = address(clauses[clause.parent]) + "/" if clause.parent is not None else ""
        return above + clause.number

    found = find_references(text, clauses, find_definitions(text, clauses))
    return [
        (text[r.span.start : r.span.end], [address(clauses[t]) for t in r.targets], r.status, r.effect) for r in found
    ]


EN = """1 Price. {0}
2 Term.
  2.1 Start.
  2.2 End.
    (a) by notice;
    (b) by breach.
3 Liability.
  3.1 Cap.
Schedule 2 Services
  1 Scope. {1}
  2 Staff.
"""


ZH = """第一章 总则
  第一条 定义。{0}
  第二条 期限。
    （一）开始；
    （二）结束。
第二章 责任
  第三条 上限。{1}
  第四条 违约。
附件一 服务
"""


# brackets are 款 and bare numbers are 项: the usual outline of Chinese contracts
CONTRACT_ZH = """第一条 租金
  （一）租金为每月九百元。
  （二）有下列情形之一的，租金减半：
    1 屋顶漏水；
    2 电梯停运。
  （三）{0}
第二条 押金
  （一）押金为一个月租金。
  （二）{1}
第三条 其他
  （一）本条以书面为准。
附件一 房屋清单
  1 房间。
    （一）朝南；
  2 车位。
"""
