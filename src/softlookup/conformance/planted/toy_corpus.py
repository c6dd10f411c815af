"""Every planted mistake of a decoder with the finding it must lead to; correct decoders that must stay silent."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from softlookup.conformance.planted import toy_bugs as bugs
from softlookup.conformance.planted.toy import Toy


@dataclass(frozen=True)
class ToyPlant:
    """``expected`` is the finding's ``area.item`` and ``code`` all of it; "" must stay silent."""

    id: str
    decoder: Toy
    code: str

    @property
    def right(self) -> Toy:
        """The same decoder without the mistake."""
        return Toy(window=self.decoder.window, absolute=self.decoder.absolute)

    @property
    def expected(self) -> str:
        """``area.item``."""
        return self.code.split("(")[0].split("=")[0]


def toy_plants() -> Iterator[ToyPlant]:
    """Mistakes that need layers, a cache or several passes."""
    yield ToyPlant("window.chunk_prefix_full", bugs.WindowChunkPrefixFull(window=3), "window.chunk_over_attention")
    yield ToyPlant("rope.k_missing", bugs.KeyNotRotated(), "rope.k_not_rotated")
    yield ToyPlant("cache.decode_pos0", bugs.DecodePositionZero(), "decode.position=0")
    yield ToyPlant("cache.decode_plus1", bugs.DecodePositionPlusOne(), "decode.position=+1")
    yield ToyPlant("cache.seen_early", bugs.SeenEarly(), "decode.position=+1@layer>=1")
    yield ToyPlant("cache.leftpad_pos", bugs.PadsMovePositions(absolute=True), "leftpad.position")
    yield ToyPlant("cache.padmask_ignored", bugs.PadsAttended(), "leftpad.mask_ignored")
    yield ToyPlant("cache.write_off1", bugs.WriteOneEarly(), "cache.write_position=-1")
    yield ToyPlant("cache.v_stale", bugs.ValueNotWritten(), "cache.v_not_updated(cache=static)")
    yield ToyPlant("cache.static_zeros", bugs.UnfilledAttended(), "cache.unfilled_attended")
    yield ToyPlant("cache.ring_scrambled", bugs.RingScrambled(window=4), "cache.ring_order")
    yield ToyPlant("cache.crop_count", bugs.CropKeepsCount(), "cache.crop_position")
    yield ToyPlant("cache.shared", bugs.SharedCache(), "cache.aliased")
    yield ToyPlant("cache.prefill_unmasked", bugs.PrefillUnmasked(), "prefill_with_cache.causal_not_applied")
    yield ToyPlant("cache.chunk_mask", bugs.ChunkMaskWithoutPrefix(), "chunk.mask_without_prefix")
    yield ToyPlant("quant.scale", bugs.QuantScaleOfOtherHead(), "kv_quant.scale_axis")
    yield ToyPlant("packed.pos_only", bugs.PackedPositionsOnly(), "packed.leak(position_reset_only)")


def toy_controls() -> Iterator[ToyPlant]:
    """Correct decoders."""
    yield ToyPlant("ok.rope_leftpad_consistent_shift", bugs.PadsMovePositions(), "")
    yield ToyPlant("ok.pos_shift_all_rows", bugs.AllPositionsShifted(), "")
    yield ToyPlant("ok.decoder", Toy(), "")  # and beyond the published ones
    yield ToyPlant("ok.decoder_window", Toy(window=4), "")
    yield ToyPlant("ok.decoder_absolute", Toy(absolute=True), "")
