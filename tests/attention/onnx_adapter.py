"""The ONNX operator Attention (opsets 23 to 25) on our ``attention``: a node's inputs in, its outputs out."""

import torch
from torch.nn.functional import pad

from softlookup.attention import StatsRequest

_KEYS = 24  # width of a one-hot key, one for all lengths: a kernel is compiled per head dimension


def run_node(attributes, inputs, wanted, attend):
    """Outputs by name, and what had to be rewritten since ``attend`` has no argument for it."""
    query = _heads(inputs["Q"], attributes.get("q_num_heads"))
    key, value = (_heads(inputs[name], attributes.get("kv_num_heads")) for name in ("K", "V"))
    past = inputs["past_key"].shape[2] if "past_key" in inputs else 0
    if past:
        key, value = torch.cat([inputs["past_key"], key], 2), torch.cat([inputs["past_value"], value], 2)
    mask, bias = _mask_and_bias(inputs["attn_mask"], query, key) if "attn_mask" in inputs else (None, None)
    parts = [(slice(None), key.shape[2], past)]
    if "nonpad_kv_seqlen" in inputs:  # keys beyond a row's own length do not exist, and its last query sees the last
        parts = [(slice(b, b + 1), n, n - query.shape[2]) for b, n in enumerate(inputs["nonpad_kv_seqlen"].tolist())]
    results = []
    for rows, n, offset in parts:
        cut = [None if part is None else part[rows, ..., :n] for part in (mask, bias)]
        tensors = query[rows], key[rows, :, :n], value[rows, :, :n]
        results.append(_attend(attend, attributes, *tensors, *cut, offset).output)
    outputs = {"Y": torch.cat(results), "present_key": key, "present_value": value}
    outputs["Y"] = outputs["Y"].transpose(1, 2).flatten(2) if inputs["Q"].dim() == 3 else outputs["Y"]
    rewritten = {"additive bias"} if bias is not None else set()
    rewritten |= {"right window"} if attributes.get("right_window_size", -1) >= 0 else set()
    if "qk_matmul_output" in wanted:
        rewritten.add("scores read out")
        outputs["qk_matmul_output"] = _read_out(attend, attributes, query, key, mask, bias, past)
    return outputs, rewritten


def _attend(attend, attributes, query, key, value, mask, bias, offset, **stats):
    left, right = (attributes.get(f"{side}_window_size", -1) for side in ("left", "right"))
    scale, softcap = attributes.get("scale", query.shape[-1] ** -0.5), attributes.get("softcap") or None
    if bias is not None and softcap is not None:
        raise NotImplementedError("bias after a softcap")
    if bias is not None:  # scale * (q.k + bias / scale): every key gets a coordinate of its own, which meets its bias
        coordinates = pad(bias / scale, (0, _KEYS - bias.shape[-1]))
        query, key = torch.cat([query, coordinates], -1), torch.cat([key, _one_hot(key)], -1)
    if right >= 0:
        near = torch.arange(key.shape[2]) <= torch.arange(query.shape[2])[:, None] + offset + right
        mask = near if mask is None else mask & near
    rules = {"q_offset": offset, "sliding_window": left + 1 if left >= 0 else None, "mask": mask, "scale": scale}
    return attend(query, key, value, causal=attributes.get("is_causal", 0) > 0, softcap=softcap, **rules, **stats)


def _read_out(attend, attributes, query, key, mask, bias, offset):
    """With one-hot values the output is the weights; ln of a weight + lse is its score."""
    # 0: scaled products, 1: capped, 2: with bias and masks, 3: weights
    mode = attributes.get("qk_matmul_output_mode", 0)
    if mode < 2:
        mask, bias, kept = None, None, ("scale", "softcap")[: mode + 1]
        attributes = {name: attributes[name] for name in kept if name in attributes}
    stats = StatsRequest(entropy=False, max_weight=False, argmax=False, sink_mass=None)
    got = _attend(attend, attributes, query, key, _one_hot(key), mask, bias, offset, stats=stats)
    weights = got.output[..., : key.shape[2]]
    return weights if mode == 3 else got.stats.lse[..., None] + weights.log()


def _one_hot(key):
    return torch.eye(key.shape[2], _KEYS, dtype=key.dtype).expand(*key.shape[:2], -1, -1)


def _heads(x, heads):
    return x if x.dim() == 4 else x.unflatten(2, (heads, -1)).transpose(1, 2)


def _mask_and_bias(given, query, key):
    """Bool mask [B, Hq, Tq, Tk] and what a float mask adds besides; a mask shorter than the keys drops the rest."""
    given = pad(given, (0, key.shape[2] - given.shape[-1]), value=-torch.inf if given.is_floating_point() else False)
    given = given.expand(*query.shape[:3], key.shape[2])
    if given.dtype == torch.bool:
        return given, None
    bias = torch.where(given > -torch.inf, given, 0.0)
    return given > -torch.inf, bias if bias.any() else None
