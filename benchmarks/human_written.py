"""Attention functions as people write them: courses, small GPTs, tutorials, notebooks; written for this benchmark.

Not a model to copy from: most of them hold one mistake, which ``human_functions.py`` alone names.
"""

from __future__ import annotations

import math

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


def softmax(x):
    e_x = np.exp(x - np.max(x))
    return e_x / e_x.sum(axis=0)


def scaled_dot_product(Q, K, V):
    """Q: (T, d_k), K: (T, d_k), V: (T, d_v)"""
    d_k = Q.shape[-1]
    scores = np.dot(Q, K.T) / np.sqrt(d_k)
    weights = softmax(scores)
    return np.dot(weights, V)


class CausalSelfAttention(nn.Module):
    def __init__(self, n_embd=64, n_head=4, block_size=1024, dropout=0.0):
        super().__init__()
        assert n_embd % n_head == 0
        self.c_attn = nn.Linear(n_embd, 3 * n_embd)
        self.c_proj = nn.Linear(n_embd, n_embd)
        self.attn_dropout = nn.Dropout(dropout)
        self.n_head = n_head
        self.n_embd = n_embd
        self.register_buffer("bias", torch.tril(torch.ones(block_size, block_size)).view(1, 1, block_size, block_size))

    def forward(self, x):
        B, T, C = x.size()
        q, k, v = self.c_attn(x).split(self.n_embd, dim=2)
        q = q.contiguous().view(B, self.n_head, T, C // self.n_head)
        k = k.contiguous().view(B, self.n_head, T, C // self.n_head)
        v = v.contiguous().view(B, self.n_head, T, C // self.n_head)
        att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
        att = att.masked_fill(self.bias[:, :, :T, :T] == 0, float("-inf"))
        att = F.softmax(att, dim=-1)
        att = self.attn_dropout(att)
        y = att @ v
        y = y.transpose(1, 2).contiguous().view(B, T, C)
        return self.c_proj(y)


class SelfAttention(nn.Module):
    def __init__(self, embed_size, heads):
        super().__init__()
        self.embed_size = embed_size
        self.heads = heads
        self.head_dim = embed_size // heads
        self.fc_out = nn.Linear(embed_size, embed_size)

    def forward(self, values, keys, query, mask=None):
        N = query.shape[0]
        value_len, key_len, query_len = values.shape[1], keys.shape[1], query.shape[1]
        values = values.reshape(N, value_len, self.heads, self.head_dim)
        keys = keys.reshape(N, key_len, self.heads, self.head_dim)
        queries = query.reshape(N, query_len, self.heads, self.head_dim)

        energy = torch.einsum("nqhd,nkhd->nhqk", [queries, keys])
        if mask is not None:
            energy = energy.masked_fill(mask == 0, float("-1e20"))
        attention = torch.softmax(energy / (self.embed_size ** (1 / 2)), dim=3)
        out = torch.einsum("nhql,nlhd->nqhd", [attention, values]).reshape(N, query_len, self.heads * self.head_dim)
        return self.fc_out(out)


def rotate_half(x):
    x1, x2 = x.chunk(2, dim=-1)
    return torch.cat((-x2, x1), dim=-1)


def rotary(x, positions, base=10000.0):
    d = x.shape[-1]
    inv_freq = 1.0 / (base ** (torch.arange(0, d, 2).float() / d))
    freqs = torch.outer(positions.float(), inv_freq)
    emb = torch.cat((freqs, freqs), dim=-1)
    return x * emb.cos() + rotate_half(x) * emb.sin()


class CachedAttention:
    """One layer of a chat model: feed the prompt, then one token at a time. q, k, v: [B, H, T, D]"""

    def __init__(self):
        self.k_cache = None
        self.v_cache = None

    def __call__(self, q, k, v):
        past = 0 if self.k_cache is None else self.k_cache.shape[2]
        T = q.shape[2]
        if past:
            keys = torch.cat([self.k_cache, k], dim=2)
            values = torch.cat([self.v_cache, v], dim=2)
        else:
            keys, values = k, v
        self.k_cache, self.v_cache = keys, values

        pos = torch.arange(past, past + T)
        q = rotary(q, pos)
        k = rotary(k, pos)
        keys = torch.cat([keys[:, :, :past], k], dim=2)
        scores = q @ keys.transpose(2, 3) / math.sqrt(q.shape[-1])
        mask = torch.ones(T, past + T, dtype=torch.bool).tril(diagonal=past)
        scores = scores.masked_fill(~mask, float("-inf"))
        return torch.softmax(scores, dim=-1) @ values


class RotaryDecoder(nn.Module):
    def __init__(self, head_dim, max_len=2048):
        super().__init__()
        inv = 10000 ** -(torch.arange(0, head_dim, 2) / head_dim)
        angles = torch.arange(max_len)[:, None] * inv[None, :]
        self.register_buffer("cos", angles.cos().repeat(1, 2))
        self.register_buffer("sin", angles.sin().repeat(1, 2))
        self.cache = []

    def apply_rope(self, x, start):
        end = start + x.size(-2)
        return x * self.cos[start:end] + rotate_half(x) * self.sin[start:end]

    def forward(self, q, k, v):
        n_cached = self.cache[0].size(2) if self.cache else 0
        start = n_cached + 1 if self.cache else 0
        q, k = self.apply_rope(q, start), self.apply_rope(k, start)
        if self.cache:
            k = torch.cat((self.cache[0], k), 2)
            v = torch.cat((self.cache[1], v), 2)
        self.cache = [k, v]
        n, m = q.size(2), k.size(2)
        causal = torch.full((n, m), float("-inf")).triu(m - n + 1)
        att = q @ k.mT / q.size(-1) ** 0.5 + causal
        return att.softmax(-1) @ v


def gqa_attention(q, k, v, is_causal=True, n_rep=None):
    # q: (bs, n_heads, len, head_dim)  k, v: (bs, n_kv_heads, len, head_dim)
    bs, n_heads, q_len, head_dim = q.shape
    n_kv_heads, kv_len = k.shape[1], k.shape[2]
    n_rep = n_heads // n_kv_heads
    if n_rep > 1:
        k = k.repeat(1, n_rep, 1, 1)
        v = v.repeat(1, n_rep, 1, 1)
    scores = torch.matmul(q, k.transpose(2, 3)) / math.sqrt(head_dim)
    if is_causal:
        i = torch.arange(q_len)[:, None] + kv_len - q_len
        j = torch.arange(kv_len)[None, :]
        scores = scores.masked_fill(j > i, float("-inf"))
    probs = F.softmax(scores.float(), dim=-1).type_as(q)
    return torch.matmul(probs, v)


def local_attention(q, k, v, window_size=None):
    """Causal attention where every token sees itself and the window_size - 1 tokens before it."""
    T, S = q.size(-2), k.size(-2)
    att = torch.einsum("bhid,bhjd->bhij", q, k) * q.size(-1) ** -0.5
    i = torch.arange(S - T, S, device=q.device).unsqueeze(1)
    j = torch.arange(S, device=q.device).unsqueeze(0)
    allowed = j <= i
    if window_size is not None:
        allowed = allowed & (i - j <= window_size)
    att = att.masked_fill(~allowed, -torch.inf)
    return torch.einsum("bhij,bhjd->bhid", att.softmax(dim=-1), v)


def attention_with_padding(query, key, value, pad_mask=None):
    """pad_mask: [batch, key_len], True for real tokens, False for <pad>"""
    attn = torch.bmm(query.flatten(0, 1), key.flatten(0, 1).transpose(1, 2))
    attn = attn.view(*query.shape[:3], key.shape[2]) / query.shape[-1] ** 0.5
    if pad_mask is not None:
        attn = attn.masked_fill(pad_mask[:, None, None, :], float("-inf"))
    attn = torch.softmax(attn, dim=-1)
    return attn @ value


def masked_attention(q, k, v, mask=None):
    dk = q.shape[-1]
    logits = np.matmul(q, np.swapaxes(k, -1, -2)) / np.sqrt(dk)
    if mask is not None:
        logits = np.where(mask == 0, 1e-9, logits)
    logits = logits - logits.max(axis=-1, keepdims=True)
    w = np.exp(logits)
    w = w / w.sum(axis=-1, keepdims=True)
    return np.matmul(w, v)


def half_attention(q, k, v, attention_mask=None):
    """BERT style, runs in half precision. attention_mask: 1 = token, 0 = padding"""
    scores = torch.matmul(q / math.sqrt(q.size(-1)), k.transpose(-1, -2))
    if attention_mask is not None:
        extended = (1.0 - attention_mask.to(scores.dtype)) * -10000.0
        scores = scores + extended
    probs = nn.functional.softmax(scores.float(), dim=-1).to(q.dtype)
    return torch.matmul(probs, v)


def loop_attention(x_q, x_k, x_v, mask=None):
    """One head at a time, so that I can see what happens."""
    out = np.zeros(x_q.shape[:3] + (x_v.shape[-1],), dtype=x_q.dtype)
    for b in range(x_q.shape[0]):
        for h in range(x_q.shape[1]):
            s = x_q[b, h] @ x_k[b, h].T / np.sqrt(x_q.shape[-1])
            if mask is not None:
                m = np.broadcast_to(mask, (x_q.shape[0], x_q.shape[1]) + s.shape)[b, h]
                s = np.where(m, s, -np.inf)
            for t in range(s.shape[0]):
                row = s[t]
                if np.all(np.isneginf(row)):
                    continue
                p = np.exp(row - row.max())
                p /= p.sum()
                keep = p > 0
                out[b, h, t] = p[keep] @ x_v[b, h][keep]
    return out


def attention(query, key, value, mask=None, dropout=None):
    "Compute 'Scaled Dot Product Attention'"
    d_k = query.size(-1)
    scores = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(d_k)
    if mask is not None:
        scores = scores.masked_fill(mask == 0, -1e9)
    p_attn = scores.softmax(dim=-1)
    if dropout is not None:
        p_attn = dropout(p_attn)
    return torch.matmul(p_attn, value), p_attn


def bthd_attention(q, k, v, causal=False):
    """q: [B, T, H, D]; k and v hold the cache as well: [B, S, H, D]"""
    T, S = q.shape[1], k.shape[1]
    scores = torch.einsum("bthd,bshd->bhts", q, k) / q.shape[-1] ** 0.5
    if causal:
        keep = torch.tril(torch.ones(T, S, dtype=torch.bool))
        scores.masked_fill_(~keep, float("-inf"))
    return torch.einsum("bhts,bshd->bthd", scores.softmax(-1), v)


def duotou_zhuyili(q, k, v, mask=None):
    # 缩放点积注意力 q, k, v 的形状 (batch, heads, seq_len, d_k)
    d_k = q.size(-1)
    # 计算注意力得分
    scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(d_k)
    # 归一化得到权重
    attn = torch.softmax(scores, dim=-1)
    # 把看不到的位置置零
    if mask is not None:
        attn = attn.masked_fill(mask == 0, 0.0)
    # 加权求和
    return torch.matmul(attn, v)


class Head(nn.Module):
    """one head of self-attention"""

    def __init__(self, n_embd, head_size, block_size=256):
        super().__init__()
        self.key = nn.Linear(n_embd, head_size, bias=False)
        self.query = nn.Linear(n_embd, head_size, bias=False)
        self.value = nn.Linear(n_embd, head_size, bias=False)
        self.register_buffer("tril", torch.tril(torch.ones(block_size, block_size)))

    def forward(self, x):
        B, T, C = x.shape
        k, q, v = self.key(x), self.query(x), self.value(x)
        wei = q @ k.transpose(-2, -1) * k.shape[-1] ** -0.5
        wei = wei.masked_fill(self.tril[:T, :T] == 0, float("-inf"))
        wei = F.softmax(wei, dim=-1)
        return wei @ v


def encoder_attention(q, k, v, src_mask=None):
    """src_mask: [B, S], 1 where there is a word"""
    scores = q @ k.transpose(-1, -2)
    scores = scores / math.sqrt(k.shape[-1])
    if src_mask is not None:
        src_mask = src_mask.unsqueeze(1).unsqueeze(-1)
        scores = scores.masked_fill(src_mask == 0, -1e9)
    return scores.softmax(-1) @ v


def causal_attention(q, k, v):
    n = q.shape[-2]
    s = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    mask = np.tril(np.ones((n, n)), k=-1).astype(bool)
    s = np.where(mask, -np.inf, s)
    s = s - s.max(-1, keepdims=True)
    p = np.exp(s) / np.exp(s).sum(-1, keepdims=True)
    return p @ v


class GroupedCache(nn.Module):
    """Llama-like block: grouped keys, rotary, a cache of fixed room."""

    def __init__(self, n_heads, n_kv_heads, head_dim, batch, room=1024):
        super().__init__()
        self.groups = n_heads // n_kv_heads
        self.k = torch.zeros(batch, n_kv_heads, room, head_dim)
        self.v = torch.zeros(batch, n_kv_heads, room, head_dim)
        self.filled = 0

    def forward(self, q, k, v):
        T, start = q.shape[2], self.filled
        pos = torch.arange(start, start + T)
        self.k[:, :, start : start + T] = rotary(k, pos)
        self.v[:, :, start : start + T] = v
        self.filled += T
        keys = self.k[:, :, : self.filled].repeat_interleave(self.groups, dim=1)
        values = self.v[:, :, : self.filled].repeat_interleave(self.groups, dim=1)
        mask = torch.arange(self.filled) <= pos[:, None]
        return F.scaled_dot_product_attention(rotary(q, pos), keys, values, attn_mask=mask)
