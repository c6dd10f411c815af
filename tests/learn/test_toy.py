"""The small decoder of the lessons: its attention, its planted mistakes, training, decoding."""

import subprocess
import sys
from functools import partial

import pytest
import torch

from softlookup.attention import attention
from softlookup.conformance import check_fn, check_model
from softlookup.errors import UsageError
from softlookup.learn.toy import (
    MISTAKES,
    PLACES,
    ToyDecoder,
    attend,
    attention_weights,
    checked,
    clauses,
    decoded_loss,
    generate,
    repeated,
    train,
)
from softlookup.learn.toy.decoder import ToyShape
from softlookup.learn.toy.training import entropy_per_layer

NAMED = {
    "right": "",
    "no scale": "scale.missing",
    "divide by d": "scale.div_d",
    "wrong triangle": "causal.triangle",
    "no mask": "causal.not_applied",
    "mask after softmax": "mask.after_softmax",
    "hides the own token": "causal.excludes_self",
    "shows the next token": "causal.leak_future",
    "aligned top left": "causal.align",
}
DECODED = {
    "right": "",
    "one too far": "decode.position=+1",
    "restarts at 0": "decode.position=restart",
    "always 0": "decode.position=0",
    "counts twice": "decode.position=?",
}


def _inputs(q_length=4, kv_length=6, seed=0):
    draw = torch.Generator().manual_seed(seed)
    key, value = torch.randn(2, 2, 3, kv_length, 8, generator=draw, dtype=torch.float64)
    return torch.randn(2, 3, q_length, 8, generator=draw, dtype=torch.float64), key, value


def test_the_package_and_its_texts_load_without_torch():
    code = "import sys, softlookup.learn.toy as t; t.clauses('zh'); assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(("language", "word"), [("en", "Termination"), ("zh", "第三条 责任")])
def test_both_texts_have_fourteen_clauses(language, word):
    assert clauses(language).count("\n") == 14
    assert word in clauses(language)


def test_another_language_is_refused():
    with pytest.raises(UsageError, match="en, zh"):
        clauses("fr")


@pytest.mark.parametrize("q_length", [1, 4, 6])
def test_the_right_attention_is_the_packages_own(q_length):
    query, key, value = _inputs(q_length)
    own = attention(query, key, value, causal=True, impl="reference").output
    assert torch.allclose(attend(query, key, value), own, atol=1e-12)


@pytest.mark.parametrize("name", ["no scale", "divide by d"])
def test_a_wrong_scale_is_the_packages_attention_with_that_scale(name):
    query, key, value = _inputs()
    own = attention(query, key, value, causal=True, scale=MISTAKES[name].scale(8), impl="reference").output
    assert torch.allclose(attend(query, key, value, mistake=MISTAKES[name]), own, atol=1e-12)
    assert not torch.allclose(attend(query, key, value), own, atol=1e-3)


def test_a_row_without_keys_is_zero_and_has_a_gradient():
    query, key, value = (each.requires_grad_() for each in _inputs(6))
    weights = attention_weights(query, key, mistake=MISTAKES["hides the own token"])
    assert weights[:, :, 0].abs().max() == 0
    attend(query, key, value, mistake=MISTAKES["hides the own token"]).sum().backward()
    assert torch.isfinite(query.grad).all()


def test_sums_of_rows_fall_below_one_only_where_the_mask_comes_late():
    query, key, _ = _inputs(6)
    for name in ("right", "wrong triangle", "no mask", "shows the next token"):
        assert torch.allclose(attention_weights(query, key, mistake=MISTAKES[name]).sum(-1), torch.ones(1).double())
    sums = attention_weights(query, key, mistake=MISTAKES["mask after softmax"]).sum(-1)
    assert (sums[:, :, :-1] < 1).all()
    assert torch.allclose(sums[:, :, -1], torch.ones(1).double())


@pytest.mark.parametrize("name", sorted(MISTAKES))
def test_the_check_names_every_mistake_and_passes_the_right_one(name):
    findings = check_fn(partial(attend, mistake=MISTAKES[name])).findings
    assert [finding.key for finding in findings] == ([NAMED[name]] if NAMED[name] else [])


@pytest.mark.parametrize("places", sorted(PLACES))
def test_the_check_names_every_wrong_count_of_positions(places):
    findings = check_model(checked(train("right", steps=20), places)).findings
    assert [finding.code for finding in findings] == ([DECODED[places]] if DECODED[places] else [])


def test_decoding_through_a_cache_gives_the_loss_of_one_pass():
    run = train("right", steps=20)
    rows = run.encode(run.text[:81])
    logits = run.model(rows[:, :-1])[:, 32:]
    whole = torch.nn.functional.cross_entropy(logits[0], rows[0, 33:], reduction="none")
    assert torch.allclose(decoded_loss(run, rows=1), whole, atol=1e-9)
    assert not torch.allclose(decoded_loss(run, rows=1, places="always 0"), whole, atol=1e-2)


def test_what_sees_the_future_has_a_lower_loss_in_training_and_a_higher_one_in_decoding():
    right, wrong = train("right", steps=40), train("wrong triangle", steps=40)
    assert wrong.loss[-1] < 0.7 * right.loss[-1]
    assert float(decoded_loss(wrong).mean()) > float(decoded_loss(right).mean())
    # a model that does not see it has one loss, up to the rows it is read on
    assert abs(float(decoded_loss(right).mean()) - right.loss[-1]) < 0.4


def test_with_the_wrong_triangle_decoding_depends_on_the_last_character_alone():
    wrong, right = train("wrong triangle", steps=40), train("right", steps=40)
    prompts = ("The Buyer shall test the", "Late sums bear the")
    assert generate(wrong, prompts[0], 12) == generate(wrong, prompts[1], 12)
    tokens = [right.encode(prompt) for prompt in prompts]
    logits = [right.model(each)[0, -1] for each in tokens]
    assert (logits[0] - logits[1]).abs().max() > 0.1


def test_training_starts_from_the_same_weights_and_rows_whatever_is_wrong():
    right, wrong = train("right", steps=20), train("no mask", steps=20)
    assert right.steps == wrong.steps == (0, 20)
    fresh = ToyDecoder(ToyShape(len(right.characters)), seed=0)
    assert all(torch.equal(one, two) for one, two in zip(
        fresh.parameters(), ToyDecoder(ToyShape(len(right.characters)), MISTAKES["no mask"], seed=0).parameters(),
        strict=True,
    ))  # fmt: skip
    again = train.__wrapped__("right", steps=20)
    assert again.loss == pytest.approx(right.loss, abs=1e-9)
    assert train("right", steps=20, seed=1).loss != right.loss


@pytest.mark.parametrize(("name", "wider"), [("no scale", False), ("divide by d", True)])
def test_entropy_before_training_shows_the_scale(name, wider):
    found = []
    for each in ("right", name):
        model = ToyDecoder(ToyShape(30, head_dim=64), MISTAKES[each])
        model(torch.arange(60)[None] % 30)
        found.append(min(entropy_per_layer(model)))
    assert (found[1] > found[0] + 0.3) if wider else (found[1] < found[0] - 1)


def test_repeated_pieces_are_counted():
    assert repeated("abcdefghijklmnop") == 0
    assert repeated("x" * 30) > 0.9
