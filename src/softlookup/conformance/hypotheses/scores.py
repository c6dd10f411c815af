"""Mistakes about the scores: scale, bias, softcap, ALiBi."""

from __future__ import annotations

from collections.abc import Iterator

from softlookup.conformance.hypotheses.hypothesis import Hypothesis, hypothesis
from softlookup.conformance.scores import ALIBI_KINDS, PADS


def of_scores() -> Iterator[Hypothesis]:
    """Everything between q.k and softmax."""
    yield from _scale()
    yield from _bias()
    yield from _softcap()
    yield from _alibi()


def _scale() -> Iterator[Hypothesis]:
    named = {
        "missing": "softmax(q @ k.T) without / sqrt(d)",
        "div_d": "/ d where / sqrt(d) is meant, or 1/sqrt(d) applied twice",
        "multiplied": "* sqrt(d) where / sqrt(d) is meant",
        "times_d": "* d where / sqrt(d) is meant",
        "fourth_root": "d ** -0.25: applied to q and not to k, or a square root too many",
        "model_dim": "the model's width H * D instead of the head dim",
        "kv_length": "1/sqrt(Tk): the wrong axis of the shape",
        "q_length": "1/sqrt(Tq): the wrong axis of the shape",
        "heads": "1/sqrt(H): the wrong axis of the shape",
        "divided_by_heads": "D / H: the head dim divided by the heads once more",
        "half_dim": "d / 2 instead of d",
        "log2e": "log2(e) folded into the scale, but exp is used",
        "ln2": "exp2 is used without log2(e) in the scale",
    }
    for kind, likely in named.items():
        yield hypothesis(f"scale.{'base2' if kind == 'ln2' else kind}", "wrong", likely, scale=kind)
    for pad in PADS:
        yield hypothesis(f"scale.uses_padded_dim(pad={pad})", "wrong", f"sqrt of the head dim padded to {pad}",
                         scale=f"pad{pad}")  # fmt: skip
    yield hypothesis("scale.uses_padded_dim(pad=power_of_two)", "wrong", "sqrt of the head dim padded to 2^n",
                     scale="pad_pow2")  # fmt: skip
    given = {
        "ignore": ("user_ignored", "the scale argument is accepted and 1/sqrt(d) used"),
        "times_default": ("user_times_default", "scale * q.k / sqrt(d): the default is not replaced"),
        "inverse": ("user_inverted", "q.k / scale"),
        "square": ("user_squared", "scale is multiplied onto q and onto k"),
        "root": ("user_rooted", "sqrt(scale) is multiplied onto one of q and k only"),
        "over_default": ("user_over_default", "scale * sqrt(d)"),
    }
    for kind, (word, likely) in given.items():
        yield hypothesis(f"scale.{word}", "wrong", likely, "scale", scale_given=kind)
    yield hypothesis("scale.after_softmax", "wrong", "softmax(q.k) * scale: the scale is applied to the weights",
                     scale_after=True)  # fmt: skip


def _bias() -> Iterator[Hypothesis]:
    named = {
        "scale": ("scaled", "(q.k + bias) * scale"),
        "off": ("ignored", "the bias never reaches the scores"),
        "negative": ("sign", "scores - bias"),
        "double": ("added_twice", "the bias is added on two paths"),
        "inverse_scale": ("divided_by_scale", "bias / scale"),
        "multiply": ("multiplied", "scores * bias"),
        "after": ("after_softmax", "softmax(scores) + bias"),
        "before_softcap": ("before_softcap", "the bias is added before the softcap"),
        "log2e": ("log2e", "log2(e) is multiplied onto the bias as well, but exp is used"),
        "ln2": ("base2", "exp2 with log2(e) folded into the scale of q.k and not into the bias"),
    }
    for kind, (word, likely) in named.items():
        yield hypothesis(f"bias.{word}", "wrong", likely, "bias", bias=kind)
    sources = {
        "batch0": "bias[:1] is used for every row of the batch", "head0": "bias[:, :1] is used for every head",
        "row0": "bias[:, :, :1] is used for every query", "transposed": "the bias's query and key axes are swapped",
        "reversed": "the bias runs over the keys backwards", "batch_as_head": "[B, Tq, Tk] broadcast as [H, Tq, Tk]",
    }  # fmt: skip
    for kind, likely in sources.items():
        yield hypothesis(f"bias.broadcast={kind}", "wrong", likely, "bias", bias_source=kind)


def _softcap() -> Iterator[Hypothesis]:
    named = {
        "off": ("ignored", "wrong", "softcap is accepted and not applied"),
        "no_division": ("missing_division", "wrong", "cap * tanh(scores) without / cap"),
        "no_multiplication": ("missing_multiplication", "wrong", "tanh(scores / cap) without cap *"),
        "tanh_only": ("cap_unused", "wrong", "tanh(scores): the cap's value is not used"),
        "after_mask": ("after_mask", "leak", "softcap after masking: -inf becomes -cap, a hidden key gets weight"),
        "after_softmax": ("after_softmax", "wrong", "softcap is applied to the weights"),
        "clamp": ("clamp", "wrong", "clamp(scores, -cap, cap) where a tanh is meant"),
        "twice": ("applied_twice", "wrong", "tanh of tanh: the cap is applied on two paths"),
        "before_scale": ("before_scale", "wrong", "cap * tanh(q.k / cap) * scale: the cap comes before the scale"),
        "inverse": ("inverted", "wrong", "tanh(scores * cap) / cap"),
        "squared": ("squared", "wrong", "cap * cap * tanh(scores / cap)"),
        "sigmoid": ("sigmoid", "wrong", "a sigmoid where a tanh is meant"),
    }
    for kind, (word, severity, likely) in named.items():
        yield hypothesis(f"softcap.{word}", severity, likely, "softcap", softcap=kind)
    for cap in (1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 50.0, 100.0):
        yield hypothesis(f"softcap.constant({cap:g})", "wrong", f"the cap is {cap:g} whatever is asked for", "softcap",
                         softcap_value=cap)  # fmt: skip


def _alibi() -> Iterator[Hypothesis]:
    words = {
        "exponent": ("exponent_off_by_one", "2^(-8h/n) with h from 0: head 0 has slope 1"),
        "nonpow2": ("nonpow2_formula", "2^(-8(h+1)/n) also where n is no power of two"),
        "exponent_nonpow2": ("exponent_off_by_one(nonpow2_formula)", "2^(-8h/n) with h from 0, for every n"),
        "sign": ("sign", "+m * distance: far keys gain"),
        "off": ("ignored", "the ALiBi flag is accepted and no bias is added"),
        "reversed": ("head_order", "slopes are given to the heads backwards"),
        "head0": ("broadcast=head0", "slope of head 0 for all heads"),
        "truncated_above": ("nonpow2_truncated", "slopes of the next power of two, cut off"),
    }
    for kind in ALIBI_KINDS:
        word, likely = words.get(kind, (f"slopes={kind}", "the formula of the slopes"))
        yield hypothesis(f"alibi.{word}", "wrong", likely, "alibi", alibi=kind)
    yield hypothesis("alibi.scaled", "wrong", "(q.k + bias) * scale", "alibi", alibi="scaled")
    yield hypothesis("alibi.quadratic", "wrong", "the distance is squared", "alibi", alibi="quadratic")
