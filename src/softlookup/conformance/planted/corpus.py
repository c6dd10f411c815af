"""Every planted bug of a function with its contract and the finding it must lead to; correct variants.

Those of decoders and their caches are in `toy_corpus.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from softlookup.conformance.contract import Contract, find_contract
from softlookup.conformance.planted import correct, infra, masking, rotary, scoring, tiled
from softlookup.conformance.planted.plain import Plain

STANDARD = find_contract("standard")
PLAIN, TILED = Plain(), tiled.Tiled(16)


@dataclass(frozen=True)
class Plant:
    """``expected`` is the finding's ``area.item``; "" must stay silent. ``rope``: a rotary function.

    ``twin``: the correct attention function that the bug was planted in; None for a rotary function.
    """

    id: str
    function: Callable[..., Any]
    expected: str
    contract: Contract | Mapping[str, Any] = STANDARD
    rope: bool = False
    twin: Callable[..., Any] | None = None


def plants() -> Iterator[Plant]:
    """The bugs that a function alone can show."""
    yield from _masking()
    yield from _scoring()
    yield from _others()


def _masking() -> Iterator[Plant]:
    rows = {
        "mask.align_top_left": (masking.AlignTopLeft, "causal.align"),
        "mask.wrong_triangle": (masking.WrongTriangle, "causal.triangle"),
        "mask.excludes_self": (masking.ExcludesSelf, "causal.excludes_self"),
        "mask.leak_plus1": (masking.LeakPlusOne, "causal.leak_future"),
        "mask.causal_skipped": (masking.CausalSkipped, "causal.not_applied"),
        "mask.causal_dropped_rect": (masking.CausalDroppedRect, "causal.dropped_when"),
        "mask.mask_dropped_if_causal": (masking.MaskDroppedIfCausal, "mask.compose"),
        "mask.ignored": (masking.MaskIgnored, "mask.ignored"),
        "mask.polarity": (masking.MaskPolarity, "mask.polarity"),
        "mask.batch_row0": (masking.MaskBatchRow0, "mask.broadcast"),
        "mask.after_softmax": (masking.MaskAfterSoftmax, "mask.after_softmax"),
        "mask.finite_add": (masking.FiniteAdd, "mask.finite"),
        "mask.finite_fill": (masking.FiniteFill, "mask.finite_fill"),
        "mask.nan_dead_row": (masking.NanDeadRow, "dead_row"),
        "mask.poison": (masking.Poison, "masked_value_nan_propagates"),
        "mask.cross_causal": (masking.CrossCausal, "cross_attention.causal"),
        "mask.key_lengths_ignored": (masking.KeyLengthsIgnored, "kv_len.ignored"),
        "window.plus1": (masking.WindowPlus1, "window.size"),
        "window.minus1": (masking.WindowMinus1, "window.size"),
        "window.ignored": (masking.WindowIgnored, "window.ignored"),
        "batch.seg_leak": (masking.SegmentLeak, "packed.leak"),
        "batch.seg_off1": (masking.SegmentOffByOne, "packed.boundary_off_by_one"),
    }
    for name, (kind, expected) in rows.items():
        yield Plant(name, kind(), expected, twin=PLAIN)
    sides = STANDARD.but(window="left_right")
    leaks, right = masking.WindowLeaksFuture(), correct.TwoSided()
    yield Plant("window.sym_leak", leaks, "window.leaks_future", sides, twin=right)


def _scoring() -> Iterator[Plant]:
    rows = {
        "scale.missing": (scoring.ScaleMissing, "scale.missing"),
        "scale.div_d": (scoring.ScaleDivD, "scale.div_d"),
        "scale.padded_dim": (scoring.ScalePaddedDim, "scale.uses_padded_dim"),
        "scale.user_ignored": (scoring.ScaleUserIgnored, "scale.user_ignored"),
        "scale.user_times_default": (scoring.ScaleUserTimesDefault, "scale.user_times_default"),
        "scale.after_softmax": (scoring.ScaleAfterSoftmax, "scale.after_softmax"),
        "scale.bias_scaled": (scoring.BiasScaled, "bias.scaled"),
        "softmax.query_axis": (scoring.QueryAxis, "softmax.axis"),
        "softmax.head_axis": (scoring.HeadAxis, "softmax.axis"),
        "softmax.no_max": (scoring.NoMax, "softmax.no_max_subtraction"),
        "softmax.max_init0": (scoring.MaxInitZero, "softmax.max_init"),
        "softmax.acc_not_rescaled": (tiled.AccumulatorNotRescaled, "online.acc_not_rescaled"),
        "tile.pad_counted": (tiled.PadKeysCounted, "tile.pad_keys_counted"),
        "merge.lse_base2": (tiled.Base2Merge, "merge.lse_base"),
        "gqa.tile": (scoring.GqaTile, "gqa.tile"),
        "gqa.v_tile": (scoring.GqaValueTile, "gqa.k_ok_v_tiled"),
        "gqa.head0": (scoring.GqaHead0, "gqa.single_head"),
        "heads.merge": (scoring.MergeWithoutTranspose, "heads.merge_without_transpose"),
        "softcap.after_mask": (scoring.SoftcapAfterMask, "softcap.after_mask"),
        "softcap.ignored": (scoring.SoftcapIgnored, "softcap.ignored"),
        "softcap.no_division": (scoring.SoftcapNoDivision, "softcap.missing_division"),
        "sink.ignored": (scoring.SinkIgnored, "sink.no_effect"),
        "sink.scaled": (scoring.SinkScaled, "sink.scaled"),
        "alibi.exponent": (scoring.AlibiExponent, "alibi.exponent_off_by_one"),
        "alibi.nonpow2": (scoring.AlibiNonPow2, "alibi.nonpow2_formula"),
        "alibi.sign": (scoring.AlibiSign, "alibi.sign"),
        "batch.row_leak": (scoring.RowLeak, "batch.rows_not_independent"),
    }
    for name, (kind, expected) in rows.items():
        yield Plant(name, kind(), expected, twin=TILED if issubclass(kind, tiled.Tiled) else PLAIN)


def _others() -> Iterator[Plant]:
    functions = {
        "infra.strides": (infra.strides, "input.strides_ignored"),
        "infra.inplace": (infra.inplace, "input.mutated"),
        "infra.dropout_eval": (infra.dropout_eval, "dropout.active_in_eval"),
        "num.fp16_qk": (infra.fp16_qk, "numeric.fp16_overflow_qk"),
        "num.fp16_softmax": (infra.fp16_softmax, "numeric.softmax_fp16"),
        "num.fp16_pv": (infra.fp16_pv, "numeric.pv_accumulate_fp16"),
    }
    for name, (function, expected) in functions.items():
        yield Plant(name, function, expected, twin=infra.attend)
    plain, scaled, partial = rotary.PLAIN_CONFIG, rotary.SCALED_CONFIG, rotary.PARTIAL_CONFIG
    yield Plant("rope.interleaved", rotary.Interleaved(), "rope.pairing", plain, rope=True)
    yield Plant("rope.theta", rotary.Rotary(theta=10000.0), "rope.theta", plain, rope=True)
    yield Plant("rope.scaling_ignored", rotary.Rotary(), "rope.scaling_ignored", scaled, rope=True)
    yield Plant("rope.partial", rotary.Rotary(), "rope.rotary_dim", partial, rope=True)
    yield Plant("rope.direction", rotary.Backwards(), "rope.direction", plain, rope=True)
    yield Plant("rope.low_precision", rotary.HalfAngles(), "rope.low_precision", plain, rope=True)


def controls() -> Iterator[Plant]:
    """Correct variants."""
    uniform = STANDARD.but(dead_row="uniform")
    yield Plant("ok.dense", Plain(), "", twin=PLAIN)
    yield Plant("ok.tiled_online_softmax(16)", tiled.Tiled(16), "", twin=PLAIN)
    yield Plant("ok.tiled_online_softmax(64)", tiled.Tiled(64), "", twin=PLAIN)
    yield Plant("ok.alibi_as_plus_m_times_j", correct.AlibiAsPlus(), "", twin=PLAIN)
    yield Plant("ok.scale_on_q_and_k_4th_root", correct.FourthRoot(), "", twin=PLAIN)
    yield Plant("ok.exp2_with_log2e_folded", correct.Exp2Folded(), "", twin=PLAIN)
    yield Plant("ok.uniform_dead_row", masking.UniformDeadRow(), "", uniform, twin=PLAIN)
    yield Plant("ok.sink_not_in_max", correct.SinkNotInMax(), "", twin=PLAIN)
    yield Plant("ok.batch_1ulp", correct.OneUlp(), "", twin=PLAIN)
    plain, scaled, partial = rotary.PLAIN_CONFIG, rotary.SCALED_CONFIG, rotary.PARTIAL_CONFIG
    yield Plant("ok.rope", rotary.Rotary(), "", plain, rope=True)
    yield Plant("ok.rope_scaled", rotary.Rotary(factor=4.0), "", scaled, rope=True)
    yield Plant("ok.rope_partial", rotary.Rotary(rotated=4), "", partial, rope=True)
