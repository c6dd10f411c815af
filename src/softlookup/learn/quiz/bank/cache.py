"""Questions about the KV cache and about decoding: bytes, bandwidth, and that results do not change."""

from __future__ import annotations

from softlookup.learn.quiz.question import Draw, Question, Sheet, Text, false_because, true_because
from softlookup.learn.quiz.topics import CACHE

_KV = "from softlookup.cost.kv_cache import kv_bytes\nfrom softlookup.learn.quiz.shapes import decoder\n"


def _per_token(draw: Draw) -> Sheet:
    layers, kv_heads, width = draw.choice((24, 30, 32, 48)), draw.choice((2, 3, 4, 8)), draw.choice((64, 128))
    return Sheet(
        Text(
            f"{layers} layers, {kv_heads} key/value heads, d_k = {width}, bf16: how many bytes of cache does one "
            "token take?",
            f"{layers} 层，{kv_heads} 个 key/value 头，d_k = {width}，bf16：一个 token 占多少字节缓存？",
        ),
        "from softlookup.cost.kv_cache import kv_bytes_per_token\nfrom softlookup.learn.quiz.shapes import decoder\n"
        f"answer = kv_bytes_per_token(decoder({layers}, {kv_heads * 4}, {kv_heads}, {width}))",
        Text(
            "Keys and values: 2 L Hkv d_k numbers of 2 bytes, {answer}.",
            "key 加 value：2 L Hkv d_k 个数，各 2 字节，共 {answer}。",
        ),
        right=2 * layers * kv_heads * width * 2,
        tolerance=0.01,
        counts="bytes",
    )


def _whole(draw: Draw) -> Sheet:
    layers, heads, tokens = draw.choice((24, 32)), draw.choice((16, 32)), draw.choice((16_384, 65_536, 131_072))
    kv_heads = draw.choice((heads, heads // 4))
    return Sheet(
        Text(
            f"{layers} layers, {heads} query heads, {kv_heads} key/value heads, d_k = 128, bf16, {tokens:,} tokens: "
            "how large is the cache? (bytes; GB and GiB are read too)",
            f"{layers} 层，{heads} 个 query 头，{kv_heads} 个 key/value 头，d_k = 128，bf16，{tokens:,} 个 token："
            "缓存有多大？（字节，也可写 GB 或 GiB）",
        ),
        f"{_KV}answer = kv_bytes(decoder({layers}, {heads}, {kv_heads}, 128), {tokens})",
        Text("2 L Hkv d_k T numbers of 2 bytes: {answer} bytes.", "2 L Hkv d_k T 个数，各 2 字节：{answer} 字节。"),
        right=4 * layers * kv_heads * 128 * tokens,
        tolerance=0.01,
        counts="bytes",
    )


def _shrink(draw: Draw) -> Sheet:
    group, storage, size = draw.choice((2, 4, 8)), *draw.choice((("bf16", 2), ("fp8", 1)))
    return Sheet(
        Text(
            f"A model of 32 query heads goes from 32 key/value heads in bf16 to {32 // group} in {storage}. By what "
            "factor does its cache shrink?",
            f"一个有 32 个 query 头的模型，从 32 个 key/value 头、bf16 改为 {32 // group} 个、{storage}。"
            "缓存缩小为原来的几分之一（答缩小的倍数）？",
        ),
        f"from softlookup.cost.kv_cache import KVDtypes\n{_KV}before = kv_bytes(decoder(24, 32, 32, 128), 1024)\n"
        f"after = kv_bytes(decoder(24, 32, {32 // group}, 128), 1024, KVDtypes({storage!r}, {storage!r}))\n"
        "answer = before / after",
        Text(
            "Heads and bytes per number multiply: {answer} times smaller.",
            "头数与每个数的字节数相乘：缩小 {answer} 倍。",
        ),
        right=group * 2.0 / size,
    )


def _milliseconds(draw: Draw) -> Sheet:
    weights, cache, rate = draw.choice((2, 8, 12, 16)), draw.choice((5, 13, 26, 50)), draw.choice((1, 2, 4))
    return Sheet(
        Text(
            f"A decoded token reads {weights} GB of weights and a cache of {cache} GB at {rate} TB/s. How many "
            "milliseconds at least?",
            f"解码一个 token 要读 {weights} GB 权重和 {cache} GB 缓存，带宽 {rate} TB/s。至少多少毫秒？",
        ),
        "from softlookup.cost.seconds import DecodeTraffic\n"
        f"traffic = DecodeTraffic(weights={weights}_000_000_000, kv={cache}_000_000_000)\n"
        f"answer = 1e3 * traffic.total / {rate}e12",
        Text(
            "Both are read in full for every token: {answer} ms. Counting the cache alone is the usual mistake.",
            "每个 token 两者都要整个读一遍：{answer} 毫秒。只算缓存是常见的错误。",
        ),
        right=(weights + cache) / rate,
        counts="ms",
    )


def _intensity(draw: Draw) -> Sheet:
    kv_heads, group, tokens = draw.choice((2, 4, 8)), draw.choice((1, 2, 4, 8)), draw.choice((4096, 32_768))
    return Sheet(
        Text(
            f"{kv_heads * group} query heads, {kv_heads} key/value heads, bf16 cache of {tokens:,} tokens: how many "
            "FLOPs does the attention of one decoded token do per byte of cache?",
            f"{kv_heads * group} 个 query 头，{kv_heads} 个 key/value 头，bf16 缓存 {tokens:,} 个 token：解码一个 "
            "token，注意力对缓存的每个字节做多少 FLOPs？",
        ),
        f"from softlookup.cost.flops import attention_flops\n{_KV}shape = decoder(1, {kv_heads * group}, "
        f"{kv_heads}, 128)\n"
        f"answer = attention_flops(shape.layers[0], 1, {tokens - 1}) / kv_bytes(shape, {tokens})",
        Text(
            "4 FLOPs per query head and pair of 2-byte numbers (key, value): H / Hkv = {answer}. Accelerators need "
            "hundreds.",
            "每个 query 头对一对（key、value）各 2 字节的数做 4 FLOPs：H / Hkv = {answer}。加速器要几百才能吃满算力。",
        ),
        right=float(group),
    )


def _same_result(draw: Draw) -> Sheet:
    tokens = draw.randint(5, 12)
    return Sheet(
        Text(
            f"Claim: reading {tokens} tokens one by one through a KV cache gives other outputs than reading them at "
            "once.",
            f"判断：用 KV 缓存把 {tokens} 个 token 逐个读入，得到的输出与一次读完不同。",
        ),
        "import torch\nfrom softlookup.attention import KVCache, attention\nfrom softlookup.learn.quiz.small "
        "import draw\n"
        f"query, key, value = (draw(1, 2, {tokens}, 8, seed=seed) for seed in range(3))\n"
        "cache, rows = KVCache(1), []\n"
        f"for at in range({tokens}):\n"
        "    new = slice(at, at + 1)\n"
        "    seen = cache.append(0, key[:, :, new], value[:, :, new])\n"
        "    rows.append(attention(query[:, :, new], seen.key, seen.value, causal=True, "
        "q_offset=seen.q_offset).output)\n"
        "whole = attention(query, key, value, causal=True).output\n"
        "answer = bool((torch.cat(rows, dim=2) - whole).abs().max() > 1e-9)",
        Text(
            "The claim is {answer}: keys and values of earlier tokens do not depend on later ones, so they can be "
            "kept.",
            "这个说法是{answer}：前面 token 的 key 和 value 不依赖后面的 token，所以可以留着用。",
        ),
        right=False,
        options=(
            false_because("causal rows never depend on later tokens", "因果注意力的每一行都不依赖后面的 token"),
            false_because("the cache stores the outputs themselves", "缓存里存的就是输出本身"),
            true_because("a cache keeps the latest keys only", "缓存只保留最近的 key"),
            true_because("softmax was normalised over fewer keys", "softmax 归一化时的 key 更少"),
        ),
    )


QUESTIONS = (
    Question("cache-token", CACHE, "number", _per_token),
    Question("cache-bytes", CACHE, "number", _whole),
    Question("cache-shrink", CACHE, "number", _shrink),
    Question("cache-milliseconds", CACHE, "number", _milliseconds),
    Question("cache-intensity", CACHE, "number", _intensity),
    Question("cache-same", CACHE, "truth", _same_result),
)
