"""check_rope: the rotation of a config conforms, every other one is named by what was read."""

import numpy as np
import pytest

from softlookup.attention import RotaryEmbedding
from softlookup.conformance import check_rope
from softlookup.conformance.planted.rotary import Backwards, Interleaved, Rotary
from softlookup.errors import UsageError

PLAIN = {"head_dim": 16, "rope_theta": 10000.0}
LINEAR = {**PLAIN, "rope_scaling": {"rope_type": "linear", "factor": 4.0}}
LLAMA3 = {
    **PLAIN,
    "rope_theta": 500000.0,
    "rope_scaling": {
        "rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
        "original_max_position_embeddings": 8192,
    },
}  # fmt: skip
YARN = {**PLAIN, "rope_scaling": {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 8192}}


class Index(Rotary):
    def angles(self, positions, r):
        return super().angles(np.arange(len(positions)), r)


class Later(Rotary):
    def angles(self, positions, r):
        return super().angles(positions + 1, r)


class OtherTable(Rotary):
    def turn(self, x, cos, sin):
        cos, sin = np.repeat(cos, 2, -1), np.repeat(sin, 2, -1)
        left, right = np.split(x, 2, -1)
        return x * cos + np.concatenate([-right, left], -1) * sin


@pytest.mark.parametrize("config", [PLAIN, LINEAR, LLAMA3, YARN, {**PLAIN, "model_type": "gptj"}])
def test_our_own_rotation_conforms(config):
    rotary = RotaryEmbedding.from_config(config)
    report = check_rope(rotary.apply, config)
    assert report.conforms, str(report)


@pytest.mark.parametrize(
    ("function", "config", "code"),
    [
        (Rotary(1e6), PLAIN, "rope.theta=1e+06(want=10000)"),
        (Interleaved(1e4), PLAIN, "rope.pairing=interleaved"),
        (Rotary(1e4), {**PLAIN, "model_type": "gptj"}, "rope.pairing=half"),
        (Backwards(1e4), PLAIN, "rope.direction"),
        (Rotary(5e5), LLAMA3, "rope.scaling_ignored"),
        (Rotary(5e5, factor=8.0), LLAMA3, "rope.scaling=linear"),
        (Rotary(1e4), YARN, "rope.scaling_ignored(attention_factor)"),
        (Rotary(1e4, factor=0.25), LINEAR, "rope.scaling=inverted"),
        (Rotary(1e4, factor=3.0), LINEAR, "rope.scaling_factor=1.33(want=1)"),
        (Rotary(1e4), {**PLAIN, "partial_rotary_factor": 0.25}, "rope.rotary_dim=16(want=4)"),
        (Index(1e4), PLAIN, "rope.position=index"),
        (Later(1e4), PLAIN, "rope.position=+1"),
        (OtherTable(1e4), PLAIN, "rope.table=other_pairing"),
        (lambda x, positions: x, PLAIN, "rope.not_applied"),
        (Interleaved(1e6), PLAIN, "rope.pairing=interleaved+rope.theta=1e+06(want=10000)"),
    ],
)
def test_a_wrong_rotation_is_named(function, config, code):
    (finding,) = check_rope(function, config).findings
    assert finding.code == code
    assert finding.script


def test_a_rotation_without_a_name_is_unknown():
    class Odd(Rotary):
        def angles(self, positions, r):
            return super().angles(positions, r) ** 1.1

    (finding,) = check_rope(Odd(1e4), PLAIN).findings
    assert (finding.code, finding.named) == ("unknown", False)


def test_a_table_that_is_too_short_is_read_as_far_as_it_goes():
    table = Rotary(1e4)

    def short(x, positions):
        if positions.max() >= 512:
            raise IndexError("the table has 512 rows")
        return table(x, positions)

    report = check_rope(short, PLAIN)
    assert report.conforms
    assert "300" in report.probes[0].reason
    assert "4095" not in report.probes[0].reason


def test_a_contract_without_a_rotation_is_refused():
    with pytest.raises(UsageError, match="declares no rotation"):
        check_rope(Rotary(), "standard")
    assert "call.raises" in check_rope(lambda x: x, PLAIN).problem
