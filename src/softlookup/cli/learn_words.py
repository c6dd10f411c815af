"""Words of ``softlookup learn`` in both languages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from softlookup.learn.quiz.question import Text

if TYPE_CHECKING:
    from softlookup.learn.quiz.question import Language

_WORDS = {
    "lessons": Text("Lessons (`softlookup learn N` runs one)", "课程（`softlookup learn N` 运行第 N 课）"),
    "no_lessons": Text("no lessons are installed", "没有安装任何课程"),
    "done": Text("done", "已完成"),
    "more": Text(
        "Then: `softlookup learn --exercises`, `softlookup learn --quiz`, `softlookup learn --audit`, "
        "`softlookup learn --progress`",
        "之后：`softlookup learn --exercises`、`softlookup learn --quiz`、`softlookup learn --audit`、"
        "`softlookup learn --progress`",
    ),
    "go_on": Text("[Enter: go on, q: stop] ", "[回车：继续，q：停止] "),
    "lesson_done": Text("End of lesson {number}.", "第 {number} 课结束。"),
    "quiz": Text(
        "Questions: {count}, seed {seed}. Empty line: skip, q: stop.", "共 {count} 题，种子 {seed}。空行跳过，q 停止。"
    ),
    "question": Text("Question {place} of {count}, lesson {lesson}", "第 {place} / {count} 题，第 {lesson} 课"),
    "exercise": Text("Exercise {number}. {title}", "练习 {number}：{title}"),
    "exercises": Text("Seed {seed}. Empty line: skip, q: stop.", "种子 {seed}。空行跳过，q 停止。"),
    "answer": Text("your answer: ", "你的答案："),
    "think": Text("[write your answer down, then Enter] ", "[先写下你的答案，再按回车] "),
    "tick": Text("which points did you have? (e.g. 1 3; Enter: none) ", "你答到了哪几点？（如 1 3；回车：没有）"),
    "not_points": Text("give numbers from 1 to {count}", "请给出 1 到 {count} 的数字"),
    "self": Text("by your own judgement {right} of {asked}", "按你自己的判断：{right} / {asked}"),
    "model_answer": Text("A model answer", "参考答案"),
    "check_list": Text("Points", "要点"),
    "right": Text("right", "对"),
    "wrong": Text("wrong", "错"),
    "unreadable": Text("not understood", "没看懂"),
    "unanswered": Text("no answer", "未作答"),
    "open": Text("open: for the reader to judge", "开放题：由读者自评"),
    "right_is": Text("The right answer: {right}", "正确答案：{right}"),
    "score": Text("{right} of {asked} right", "答对 {right} / {asked}"),
    "lesson_score": Text("lesson {number}: {right} of {asked}", "第 {number} 课：{right} / {asked}"),
    "exercise_score": Text("exercise {number}: {share:.0%}", "练习 {number}：{share:.0%}"),
    "progress_lessons": Text("Lessons done: {list}", "已完成的课程：{list}"),
    "progress_quiz": Text(
        "Quiz, lesson {number}: best {best:.0%}, last {last:.0%}",
        "测验，第 {number} 课：最好 {best:.0%}，最近 {last:.0%}",
    ),
    "progress_exercises": Text(
        "Exercise {number}: best {best:.0%}, last {last:.0%}", "练习 {number}：最好 {best:.0%}，最近 {last:.0%}"
    ),
    "progress_wrong": Text(
        "Answered wrongly (`learn --quiz --again` asks them): {list}", "答错的题（`learn --quiz --again` 重做）：{list}"
    ),
    "progress_file": Text(
        "Kept in {file}; `softlookup learn --forget` deletes it", "保存在 {file}；`softlookup learn --forget` 可删除"
    ),
    "none": Text("none", "无"),
    "forgotten": Text("deleted {file}", "已删除 {file}"),
    "nothing": Text("nothing is kept", "没有保存任何内容"),
}


def word(name: str, language: Language, **values: object) -> str:
    """The words called ``name``, with ``values`` filled in."""
    return _WORDS[name].say(language).format(**values)


def words() -> dict[str, Text]:
    """All of them, for the test that compares the languages."""
    return dict(_WORDS)
