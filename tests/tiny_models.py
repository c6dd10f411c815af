"""Tiny models with random weights, built offline: a byte-level tokenizer, ChatML and 3 layers; no assertions here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

CONTROL = ("<|im_start|>", "<|im_end|>")
CHATML = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
WINDOW = 4096
VOCABULARY = 1024  # rows of the embedding; the tokenizer has 1000 tokens, and some model types add one
LAYERS, HEADS, KV_HEADS, HEAD_DIM = 3, 4, 2, 8
KINDS = ("llama", "mistral", "qwen2", "gemma3")
# further kinds whose attention is observed: query norm, softcap, learned sinks, fused projections
OBSERVED_KINDS = (*KINDS, "qwen3", "gemma2", "gpt_oss", "phi3")
SLIDING_WINDOW = 24
SOFTCAP = 3.0

CONTRACT = """MOORING AGREEMENT

This Agreement is made between Otter Quay Limited ("Owner") and Brenda Finch ("Keeper").

1. Definitions. In this Agreement "Barge" means the vessel Grey Heron and "Mooring Fee" means 310 a month.

2. Payment
2.1 The Keeper shall pay the Mooring Fee on the first day of each month.
2.2 Late payment bears interest at six per cent a year, subject to clause 4.1.

3. Repairs. The Owner shall repair the jetty within thirty days after a written notice of the Keeper.

4. Termination
4.1 Either party may end this Agreement by notice of ninety days.
4.2 The Owner may end it at once where the Keeper fails to pay under clause 2.1 for two months.

5. Law. The laws of Ireland govern this Agreement and its Barge.

6. Insurance. The Keeper insures the Barge against fire and sinking for at least 40,000.
"""

CONTRACT_ZH = """仓库租赁合同

甲方：松涛物流有限公司
乙方：秦小满

第一条 定义：本合同所称“仓库”，是指河西路八号的库房。

第二条 租金
（一）乙方每月五日前支付租金人民币九千元。
（二）逾期支付的，每日按照千分之三支付违约金。

第三条 甲方应当在收到通知后三十日内修理屋顶。

第四条 任何一方可以提前九十日书面通知解除合同。

第五条 本合同适用中华人民共和国法律，由杭州仲裁委员会仲裁。
"""


def build_tokenizer(*, template: str | None = CHATML, extra: int = 0) -> Any:
    """A fast byte-level BPE tokenizer; ``extra`` adds that many further tokens."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    from softlookup.evidence.question_bank import question_bank

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=1000,
        special_tokens=list(CONTROL),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    corpus = [CONTRACT, CONTRACT_ZH, *question_bank("en").questions, *question_bank("zh").questions]
    tokenizer.train_from_iterator(corpus, trainer)
    if extra:
        tokenizer.add_tokens([f"<extra{number}>" for number in range(extra)])
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, eos_token="<|im_end|>", bos_token="<|im_start|>", pad_token="<|im_end|>"
    )
    fast.chat_template = template
    return fast


def build_model(kind: str, vocabulary: int, *, window: int = WINDOW, seed: int = 7, **changes: Any) -> Any:
    """A model of ``kind`` with 3 layers, 4 heads, 2 key/value heads of 8, and weights far from uniform attention.

    ``changes``: further entries of its configuration.
    """
    import torch
    import transformers as hf

    config = _config(kind, vocabulary, window, changes)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = hf.AutoModelForCausalLM.from_config(config)
    return model.eval()


def _config(kind: str, vocabulary: int, window: int, changes: dict[str, Any]) -> Any:
    import transformers as hf

    shape: dict[str, Any] = {
        "vocab_size": vocabulary, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": LAYERS,
        "num_attention_heads": HEADS, "num_key_value_heads": KV_HEADS, "head_dim": HEAD_DIM,
        "max_position_embeddings": window, "initializer_range": 0.25, "tie_word_embeddings": False,
        "bos_token_id": 0, "eos_token_id": 1, "pad_token_id": 1,
    }  # fmt: skip
    layers = ["sliding_attention", "full_attention", "sliding_attention"]
    hybrid = {"sliding_window": SLIDING_WINDOW, "layer_types": layers}
    if kind == "llama":
        return hf.LlamaConfig(**shape | changes)
    if kind == "mistral":
        return hf.MistralConfig(**shape | {"sliding_window": SLIDING_WINDOW} | changes)
    if kind == "qwen2":
        local = {"sliding_window": SLIDING_WINDOW, "use_sliding_window": True, "max_window_layers": 1}
        return hf.Qwen2Config(**shape | local | changes)
    if kind == "qwen3":
        return hf.Qwen3Config(**shape | changes)
    if kind == "gemma2":
        gemma = {"query_pre_attn_scalar": HEAD_DIM, "attn_logit_softcapping": SOFTCAP}
        return hf.Gemma2Config(**shape | hybrid | gemma | changes)
    if kind == "gemma3":
        return hf.Gemma3TextConfig(**shape | hybrid | {"query_pre_attn_scalar": HEAD_DIM} | changes)
    if kind == "gpt_oss":
        rope = {"rope_type": "default", "rope_theta": 10000.0}
        experts = {"num_local_experts": 2, "num_experts_per_tok": 1}
        return hf.GptOssConfig(**shape | hybrid | experts | {"rope_parameters": rope} | changes)
    if kind == "phi3":
        return hf.Phi3Config(**shape | {"sliding_window": SLIDING_WINDOW} | changes)
    raise ValueError(f"unknown kind {kind}")


def save_folder(
    path: Path,
    kind: str = "llama",
    *,
    window: int = WINDOW,
    template: str | None = CHATML,
    extra: int = 0,
    seed: int = 7,
) -> Path:
    """A Hugging Face folder with safetensors, configuration and tokenizer."""
    from softlookup.runtime.quiet import quiet_transformers

    with quiet_transformers():
        tokenizer = build_tokenizer(template=template, extra=extra)
        model = build_model(kind, VOCABULARY, window=window, seed=seed)
        model.save_pretrained(path)
        tokenizer.save_pretrained(path)
    return path


def edit_config(folder: Path, **changes: Any) -> None:
    """Change entries of ``config.json``; None removes one."""
    path = folder / "config.json"
    config = json.loads(path.read_text("utf-8"))
    config.update(changes)
    path.write_text(json.dumps({key: value for key, value in config.items() if value is not None}), "utf-8")


def edit_weights(folder: Path, change: Any) -> None:
    """Rewrite ``model.safetensors``: ``change`` takes and returns the dictionary of tensors."""
    from safetensors.torch import load_file, save_file

    path = folder / "model.safetensors"
    tensors = {name: tensor.clone() for name, tensor in load_file(path).items()}
    save_file(change(tensors), path, metadata={"format": "pt"})


def write_gguf(path: Path, *, seed: int = 3) -> Path:
    """A GGUF file of a two-layer Llama with random fp32 tensors and the tokenizer of :func:`build_tokenizer`."""
    import gguf
    import numpy as np

    tokenizer = build_tokenizer()
    state = json.loads(tokenizer.backend_tokenizer.to_str())["model"]
    # transformers adds this one to every tokenizer of this type that lacks it
    tokens = [*sorted(state["vocab"], key=state["vocab"].get), "<|endoftext|>"]
    merges = [pair if isinstance(pair, str) else " ".join(pair) for pair in state["merges"]]
    writer = gguf.GGUFWriter(str(path), "llama")
    writer.add_context_length(512)
    writer.add_embedding_length(32)
    writer.add_block_count(2)
    writer.add_feed_forward_length(48)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KV_HEADS)
    writer.add_rope_dimension_count(HEAD_DIM)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_vocab_size(len(tokens))
    writer.add_tokenizer_model("gpt2")
    writer.add_token_list(tokens)
    writer.add_token_types([3 if token in (*CONTROL, "<|endoftext|>") else 1 for token in tokens])
    writer.add_token_merges(merges)
    writer.add_bos_token_id(0)
    writer.add_eos_token_id(1)
    writer.add_chat_template(CHATML)
    random = np.random.default_rng(seed)
    shapes = {"token_embd": (len(tokens), 32), "output_norm": (32,), "output": (len(tokens), 32)}
    for block in range(2):
        for name, shape in (
            ("attn_norm", (32,)), ("attn_q", (32, 32)), ("attn_k", (16, 32)), ("attn_v", (16, 32)),
            ("attn_output", (32, 32)), ("ffn_norm", (32,)), ("ffn_gate", (48, 32)), ("ffn_up", (48, 32)),
            ("ffn_down", (32, 48)),
        ):  # fmt: skip
            shapes[f"blk.{block}.{name}"] = shape
    for name, shape in shapes.items():
        writer.add_tensor(f"{name}.weight", random.normal(0, 0.25, shape).astype(np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path
