"""GGUF headers: what the gguf package writes is read exactly; every lie gives one line and no large allocation."""

from __future__ import annotations

import struct
import tracemalloc
from dataclasses import replace

import gguf
import numpy as np
import pytest

from softlookup.cost.devices import find_device
from softlookup.cost.kv_cache import kv_bytes
from softlookup.cost.model.dtypes import GGML_TYPES, element_bytes
from softlookup.cost.model.gguf_header import SkippedArray, read_gguf_header
from softlookup.cost.model.gguf_shape import shape_from_gguf
from softlookup.cost.model.model_source import find_model
from softlookup.cost.plan.estimate import estimate
from softlookup.cost.plan.request import PlanRequest
from softlookup.errors import ModelError

WIDTH, HEADS, KV, DIM, INNER, VOCABULARY, LAYERS = 64, 4, 2, 16, 96, 128, 4


def write(path, *, architecture="llama", fields=(), drop=(), kv=KV, tensors=None, dtype=np.float16):
    """A small model as a converter writes it."""
    writer = gguf.GGUFWriter(path, architecture)
    numbers = {
        "block_count": LAYERS, "embedding_length": WIDTH, "feed_forward_length": INNER, "context_length": 2048,
        "attention.head_count": HEADS, "attention.head_count_kv": kv, "attention.key_length": DIM,
        "attention.value_length": DIM, **dict(fields),
    }  # fmt: skip
    for name, value in numbers.items():
        if name in drop:
            continue
        key = f"{architecture}.{name}"
        if isinstance(value, list):
            writer.add_array(key, value)
        else:
            writer.add_uint32(key, value)
    writer.add_token_list([f"token {number}" for number in range(VOCABULARY)])
    for name, shape in (block_tensors() if tensors is None else tensors).items():
        writer.add_tensor(name, np.zeros(shape, np.float32 if len(shape) == 1 else dtype))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def block_tensors(*, output=False, experts=0):
    tensors = {"token_embd.weight": (VOCABULARY, WIDTH), "output_norm.weight": (WIDTH,), "rope_freqs.weight": (8,)}
    if output:
        tensors["output.weight"] = (VOCABULARY, WIDTH)
    for layer in range(LAYERS):
        parts = {
            "attn_norm": (WIDTH,), "ffn_norm": (WIDTH,), "attn_q": (HEADS * DIM, WIDTH), "attn_k": (KV * DIM, WIDTH),
            "attn_v": (KV * DIM, WIDTH), "attn_output": (WIDTH, HEADS * DIM),
        }  # fmt: skip
        inner = {"ffn_gate": (INNER, WIDTH), "ffn_up": (INNER, WIDTH), "ffn_down": (WIDTH, INNER)}
        if experts:
            inner = {f"{name}_exps": (experts, *shape) for name, shape in inner.items()}
            inner["ffn_gate_inp"] = (experts, WIDTH)
        for name, shape in (parts | inner).items():
            tensors[f"blk.{layer}.{name}.weight"] = shape
    return tensors


def total(tensors):
    return sum(int(np.prod(shape)) for name, shape in tensors.items() if not name.startswith("rope"))


def test_the_table_of_types_is_that_of_the_package():
    for kind, (block, size) in gguf.GGML_QUANT_SIZES.items():
        if kind.value in GGML_TYPES:
            assert element_bytes(GGML_TYPES[kind.value]) * block == size, kind
    missing = {kind.name for kind in gguf.GGML_QUANT_SIZES if kind.value not in GGML_TYPES}
    assert missing <= {"Q1_0"}, missing


@pytest.mark.parametrize("output", [False, True])
def test_parameters_are_counted_in_the_table(tmp_path, output):
    tensors = block_tensors(output=output)
    shape = shape_from_gguf(read_gguf_header(write(tmp_path / "m.gguf", tensors=tensors)))
    assert shape.parameters == total(tensors)
    assert shape.tied is not output
    assert (shape.context, shape.vocab_size, len(shape.layers)) == (2048, VOCABULARY, LAYERS)
    assert kv_bytes(shape, 100) == LAYERS * 100 * KV * DIM * 4
    # the parts add up too, not only the total
    parts = sum(layer.weights for layer in shape.layers) + shape.other_weights
    assert parts + shape.head_weights * (2 if output else 1) == shape.parameters
    assert shape.layers[0].projection_weights == 2 * WIDTH * HEADS * DIM + 2 * WIDTH * KV * DIM


def test_experts(tmp_path):
    tensors = block_tensors(experts=8)
    path = write(tmp_path / "m.gguf", tensors=tensors, fields={"expert_count": 8, "expert_used_count": 2}.items())
    shape = shape_from_gguf(read_gguf_header(path))
    assert shape.parameters == total(tensors)
    assert shape.parameters - shape.active_parameters == LAYERS * 6 * 3 * INNER * WIDTH
    bad = read_gguf_header(write(tmp_path / "b.gguf", fields={"expert_count": 8, "expert_used_count": 9}.items()))
    with pytest.raises(ModelError, match="uses 9 of 8 experts"):
        shape_from_gguf(bad)


def test_windows_per_layer_and_heads_per_layer(tmp_path):
    pattern = [True, True, False, True]
    fields = {"attention.sliding_window": 32, "attention.sliding_window_pattern": pattern}
    shape = shape_from_gguf(read_gguf_header(write(tmp_path / "m.gguf", fields=fields.items(), kv=[2, 1, 4, 2])))
    assert [layer.window for layer in shape.layers] == [32, 32, None, 32]
    assert [layer.kv_heads for layer in shape.layers] == [2, 1, 4, 2]
    gemma = write(tmp_path / "g.gguf", architecture="gemma2", fields={"attention.sliding_window": 32}.items())
    assert [layer.kind for layer in shape_from_gguf(read_gguf_header(gemma)).layers] == ["window", "full"] * 2
    phi = write(tmp_path / "p.gguf", architecture="phi3", fields={"attention.sliding_window": 32}.items())
    assert {layer.kind for layer in shape_from_gguf(read_gguf_header(phi)).layers} == {"full"}


def test_mla_in_both_spellings(tmp_path):
    newer = {"attention.kv_lora_rank": 512, "rope.dimension_count": 64, "attention.key_length": 576,
             "attention.value_length": 512, "attention.key_length_mla": 192,
             "attention.value_length_mla": 128}  # fmt: skip
    older = {"attention.kv_lora_rank": 512, "rope.dimension_count": 64, "attention.key_length": 192,
             "attention.value_length": 128}  # fmt: skip
    for number, (fields, kv) in enumerate(((newer, 1), (older, HEADS))):
        path = write(tmp_path / f"{number}.gguf", architecture="deepseek2", fields=fields.items(), kv=kv)
        shape = shape_from_gguf(read_gguf_header(path))
        assert (shape.layers[0].kind, shape.layers[0].key_dim, shape.layers[0].value_dim) == ("latent", 192, 128)
        assert kv_bytes(shape, 10) == LAYERS * 10 * 576 * 2


def test_what_is_missing_is_assumed_and_told_or_refused(tmp_path):
    path = write(tmp_path / "m.gguf", drop=["attention.head_count_kv", "context_length", "attention.key_length"])
    shape = shape_from_gguf(read_gguf_header(path))
    assert shape.layers[0].kv_heads == HEADS
    assert {note.split(" ")[0] for note in shape.notes} == {"attention.head_count_kv", "the"}
    for name in ("block_count", "embedding_length", "attention.head_count"):
        with pytest.raises(ModelError, match=rf"does not state llama\.{name}"):
            shape_from_gguf(read_gguf_header(write(tmp_path / "bad.gguf", drop=[name])))


def test_long_arrays_are_skipped(tmp_path):
    header = read_gguf_header(write(tmp_path / "m.gguf"))
    assert header.fields["tokenizer.ggml.tokens"] == SkippedArray(VOCABULARY)


def packed(*, magic=b"GGUF", version=3, tensors=0, fields=0, rest=b""):
    return magic + struct.pack("<IQQ", version, tensors, fields) + rest


def text(value):
    return struct.pack("<Q", len(value)) + value


def tensor(name=b"t", dimensions=(4,), kind=0, offset=0, rank=None):
    shape = struct.pack(f"<{len(dimensions)}Q", *dimensions)
    count = struct.pack("<I", len(dimensions) if rank is None else rank)
    return text(name) + count + shape + struct.pack("<IQ", kind, offset)


HUGE = 1 << 60
LIES = {
    "no gguf": (packed(magic=b"GGML"), "is no GGUF file"),
    "empty": (b"", "ends inside its header"),
    "big endian": (packed(version=3 << 24), "supported are 2 and 3"),
    "version": (packed(version=1), "has GGUF version 1"),
    "tensors": (packed(tensors=HUGE), "claims .* tensors, more than it can hold"),
    "tensors that do not fit": (packed(tensors=1000, rest=b"\0" * 1000), "claims 1,000 tensors"),
    "fields": (packed(fields=HUGE), "claims .* fields"),
    "key": (packed(fields=1, rest=struct.pack("<Q", HUGE) + b"\0" * 20), "bytes of a key"),
    "text": (packed(fields=1, rest=text(b"k") + struct.pack("<IQ", 8, HUGE)), "bytes of text"),
    "no utf-8": (packed(fields=1, rest=text(b"k") + struct.pack("<I", 8) + text(b"\xff\xfe")), "no UTF-8"),
    "array": (packed(fields=1, rest=text(b"k") + struct.pack("<IIQ", 9, 4, HUGE)), "array items"),
    "array of texts": (packed(fields=1, rest=text(b"k") + struct.pack("<IIQ", 9, 8, HUGE)), "claims .* texts"),
    "array of arrays": (packed(fields=1, rest=text(b"k") + struct.pack("<IIQ", 9, 9, 1) + b"\0" * 9), "type 9"),
    "field type": (packed(fields=1, rest=text(b"k") + struct.pack("<IQ", 77, 0)), "unknown field type 77"),
    "twice": (packed(fields=2, rest=(text(b"k") + struct.pack("<IB", 0, 1)) * 2 + b"\0" * 16), "states 'k' twice"),
    "rank": (packed(tensors=1, rest=tensor(rank=9) + b"\0" * 64), "9 dimensions"),
    "size": (packed(tensors=1, rest=tensor(dimensions=(HUGE, HUGE))), "impossible size"),
    "zero": (packed(tensors=1, rest=tensor(dimensions=(0, 4))), "impossible size"),
    "type": (packed(tensors=1, rest=tensor(kind=99)), "unknown type 99"),
    "offset": (packed(tensors=1, rest=tensor(offset=HUGE)), "beyond its end"),
    "data": (packed(tensors=2, rest=tensor(b"a", (16,)) + tensor(b"b", (16,)) + b"\0" * 64), "more tensor data"),
    "same tensor": (packed(tensors=2, rest=tensor() * 2 + b"\0" * 64), "lists a tensor twice"),
}  # fmt: skip


@pytest.mark.parametrize("lie", LIES)
def test_lying_headers(tmp_path, lie):
    data, message = LIES[lie]
    path = tmp_path / "lie.gguf"
    path.write_bytes(data)
    tracemalloc.start()
    with pytest.raises(ModelError, match=message) as caught:
        read_gguf_header(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4 << 20  # nothing of the claimed size is allocated
    assert "\n" not in str(caught.value)
    assert caught.value.remedy


def test_a_part_of_a_split_model_is_refused(tmp_path):
    path = write(tmp_path / "m-00001-of-00003.gguf")
    whole = path.read_bytes()
    for count in (1, 3):
        field = text(b"split.count") + struct.pack("<IH", 2, count)
        fields = struct.unpack_from("<Q", whole, 16)[0] + 1
        path.write_bytes(whole[:16] + struct.pack("<Q", fields) + field + whole[24:])
        if count == 1:
            assert shape_from_gguf(read_gguf_header(path)).parameters > 0
        else:
            with pytest.raises(ModelError, match="one of 3 parts"):
                shape_from_gguf(read_gguf_header(path))


def test_tensors_of_another_model_are_refused(tmp_path):
    """Weights are counted in the table: one that lacks a layer, or has another width, gives a wrong plan."""
    tensors = {name: shape for name, shape in block_tensors().items() if not name.startswith("blk.2.")}
    with pytest.raises(ModelError, match="4 layers and lists no tensor of layer 2"):
        shape_from_gguf(read_gguf_header(write(tmp_path / "a.gguf", tensors=tensors)))
    tensors = block_tensors() | {"token_embd.weight": (WIDTH, VOCABULARY)}
    with pytest.raises(ModelError, match=r"embedding_length = 64, its embeddings are \[128, 64\]"):
        shape_from_gguf(read_gguf_header(write(tmp_path / "b.gguf", tensors=tensors)))


def test_a_number_of_one_layer_is_checked(tmp_path):
    with pytest.raises(ModelError, match="_kv = -2 of a layer, a number from 0 to"):
        shape_from_gguf(read_gguf_header(write(tmp_path / "m.gguf", kv=[2, 2, -2, 2])))


@pytest.mark.parametrize(
    ("own", "shown"), [("A  model\n", "A model"), ("N" * 100_000, "N" * 80), (" ", "m"), (None, "m")]
)
def test_the_name_is_one_short_line(tmp_path, own, shown):
    header = read_gguf_header(write(tmp_path / "m.gguf"))
    assert shape_from_gguf(replace(header, fields={**header.fields, "general.name": own})).name == shown


def test_a_model_without_any_cache_is_planned(tmp_path):
    """Recurrent layers whose state is not stated take no bytes that are known: planted, a division by them."""
    model = find_model(str(write(tmp_path / "m.gguf", kv=0)))
    found = estimate(PlanRequest(model, 1000, find_device("H100")))
    assert found.figures["kv_bytes"].value == 0
    assert found.pool.requests.value == 1_000_000


def test_every_truncation_of_a_file_is_an_error(tmp_path):
    whole = write(tmp_path / "m.gguf").read_bytes()
    path = tmp_path / "cut.gguf"
    for length in (*range(0, 400, 7), *range(400, len(whole) - 64, 997)):
        path.write_bytes(whole[:length])
        with pytest.raises(ModelError):
            read_gguf_header(path)


def test_random_damage_never_gives_another_error(tmp_path, seed):
    random = np.random.default_rng(seed)
    whole = bytearray(write(tmp_path / "m.gguf").read_bytes()[:20_000])
    path = tmp_path / "damaged.gguf"
    told = []
    for _ in range(200):
        damaged = bytearray(whole)
        for position in random.integers(0, 6000, 4):
            damaged[position] = random.integers(256)
        path.write_bytes(damaged)
        try:
            shape_from_gguf(read_gguf_header(path))
        except ModelError as error:
            told.append(str(error))
    assert told
    assert not [line for line in told if "\n" in line or len(line) > 400 + len(str(path))]
