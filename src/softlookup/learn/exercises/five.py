"""The five exercises, in the order of the page."""

from __future__ import annotations

from softlookup.learn.exercises.counts import count_scores, longer_query
from softlookup.learn.exercises.exercise import Exercise
from softlookup.learn.exercises.reasons import low_rank, mask_first, three_projections
from softlookup.learn.quiz.question import Text

EXERCISES = (
    Exercise(1, Text("Three projections", "三个投影"), three_projections),
    Exercise(2, Text("Count the scores", "数一数分数"), count_scores),
    Exercise(3, Text("A longer query", "把 query 放大"), longer_query),
    Exercise(4, Text("Mask first", "先掩码"), mask_first),
    Exercise(5, Text("Low rank", "低秩"), low_rank),
)
