"""``softlookup plan FILE``: the estimate of a document, what it loses of it, Chinese, priors, exit codes, bad input."""

from __future__ import annotations

import json
import re
import shutil

import pytest

from softlookup.cli import main
from softlookup.cost.plan.document_plan import plan_document
from softlookup.documents.read import read_document
from softlookup.runtime.load import find_model_source
from softlookup.runtime.token_count import TokenCounter
from softlookup.session import plan_source
from tiny_models import CONTRACT_ZH, edit_config

# clauses of which every third refers to the first, about 19,000 tokens of the tiny tokenizer
LONG = "SERVICE AGREEMENT\n\n" + "\n\n".join(
    f"{number}. Duty {number}\n{number}.1 The Contractor shall perform duty {number} within {number} days"
    + (" as described in clause 1.1." if number % 3 == 0 else " and report to the Customer in writing.")
    for number in range(1, 301)
)
FIELDS = ("parameters", "active_parameters", "weight_bytes", "kv_bytes", "kv_bytes_per_token", "score_matrix_bytes",
          "prefill_seconds", "decode_ms_per_token", "max_concurrency")  # fmt: skip


def run(capsys, *arguments):
    try:
        code = main(["plan", *map(str, arguments)])
    except SystemExit as stop:
        code = stop.code
    captured = capsys.readouterr()
    return code, captured.out, captured.err


@pytest.fixture
def long_contract(tmp_path):
    path = tmp_path / "long.txt"
    path.write_text(LONG, "utf-8")
    return path


@pytest.fixture
def embedded_tokenizer(tiny_folder, monkeypatch):
    """The tiny model's files in the place of the embedded model's."""
    source = find_model_source(tiny_folder)
    monkeypatch.setattr(
        plan_source, "find_model_source", lambda model: source if model is None else find_model_source(model)
    )
    return source


def test_a_document_is_one_table(capsys, long_contract, tiny_folder):
    code, out, err = run(capsys, long_contract, "--model", tiny_folder, "--device", "H100", "--questions", 7)
    tokens = TokenCounter(find_model_source(tiny_folder))(read_document(long_contract).text)
    assert code == 0
    for piece in (f"{tokens:,} tokens counted with the model's tokenizer", "H100", "weights", "KV cache", "prefill",
                  "[exact]", "[prior]", "full context", "clauses unread", "hybrid windows *", "=> hybrid: ",
                  "7 questions take", "would help most: "):  # fmt: skip
        assert piece in " ".join(out.split()), piece
    table = " ".join(out.split())
    assert re.search(r"about \d+ of \d+ clauses unread; (about \d+|no cross reference) of", table)
    assert re.search(r"\d+ of 100 cross references join clauses that none of the \d+ windows holds together", table)
    assert err.startswith("note: ")
    assert max(map(len, out.splitlines())) <= 120


def test_json_holds_the_plan_and_the_fields_of_before(capsys, long_contract, tiny_folder):
    code, out, _ = run(capsys, long_contract, "--model", tiny_folder, "--json")
    found = json.loads(out)
    assert code == 0
    assert all(isinstance(found[name], int | float) for name in FIELDS)
    assert set(found["flops"]) == {"projections", "attention", "ffn", "lm_head", "total"}
    plan, chosen = found["plan"], found["decision"]["strategy"]
    assert (plan["strategy"], plan["reason"]) == (chosen, found["decision"]["reason"])
    row = next(row for row in found["strategies"] if row["name"] == chosen)
    assert plan["context_tokens"] == row["tokens_fed"] < plan["document_tokens"] == found["tokens"]
    assert plan["window"] == found["model"]["context"] == 4096
    assert (found["model"]["name"], plan["counted_by"]) == ("tiny-llama", "tiny-llama")
    assert len(found["model"]["sha256"]) == 64
    assert found["figures"]["kv_bytes"]["kind"] == "exact"
    assert found["coverage"]["complete"] is True
    assert found["document"]["clauses"] == len(read_document(long_contract).clauses)


def test_losses_are_counted_in_this_document(capsys, long_contract, tiny_folder):
    """Every third of 300 clauses refers to clause 1.1: those in later windows are cut, whatever windows there are."""
    _, out, _ = run(capsys, long_contract, "--model", tiny_folder, "--json")
    rows = {row["name"]: row for row in json.loads(out)["strategies"]}
    hybrid, retrieval = rows["hybrid"], rows["retrieval"]
    document = read_document(long_contract)
    count = TokenCounter(find_model_source(tiny_folder))
    beyond = [reference for reference in document.references
              if count(document.text[: reference.span.start]) >= hybrid["window_tokens"]]  # fmt: skip
    assert len(document.references) == 100
    assert hybrid["loss"]["references"] == 100
    assert abs(hybrid["loss"]["cut_references"] - len(beyond)) <= 1  # positions inside a clause are interpolated
    share = 1 - retrieval["tokens_fed"] / json.loads(out)["tokens"]
    unread = retrieval["loss"]["unread_clauses"] / retrieval["loss"]["clauses"]
    assert abs(unread - share) < 0.2
    assert 0 <= retrieval["loss"]["cut_references"] <= retrieval["loss"]["references"] <= 100


def test_a_short_document_fits(capsys, contract, tiny_folder):
    code, out, err = run(capsys, contract, "--model", tiny_folder)
    assert (code, err) == (0, "")
    assert "=> full_context: " in out
    assert "and nothing is lost" in out


def test_chinese_documents_are_planned_in_chinese(capsys, tmp_path, tiny_folder):
    path = tmp_path / "zulin.txt"
    path.write_text(
        CONTRACT_ZH + "".join(f"\n第{n}条 第{n}项义务由承租人按照第二条履行。" for n in range(20, 400)), "utf-8"
    )
    code, out, err = run(capsys, path, "--model", tiny_folder, "--questions", 3)
    assert code == 0
    for piece in ("个词元", "权重", "可能丢失", "窗口混合", "最有用的改动", "[精确]", "[先验]", "条款"):
        assert piece in out, piece
    words = re.sub(r"[\w./-]*(zulin|tiny-llama)[\w./-]*|this CPU \(\d+ cores\)|H\d+", "", out + err)
    assert not re.search(r"\b(the|tokens|questions|possible|answer|strategy|weights)\b", words)


def test_a_model_without_a_tokenizer_is_counted_by_another(capsys, contract, embedded_tokenizer, tmp_path):
    (tmp_path / "shape.json").write_text((embedded_tokenizer.folder / "config.json").read_text("utf-8"), "utf-8")
    for model in ("Llama-3.1-8B", tmp_path / "shape.json"):
        code, out, err = run(capsys, contract, "--model", model, "--device", "H100", "--json")
        found = json.loads(out)
        assert code == 0
        figure = found["figures"]["tokens"]
        assert figure["kind"] == "prior"
        assert figure["low"] < found["tokens"] < figure["high"]
        assert found["figures"]["kv_bytes"]["kind"] == "prior"
        assert found["figures"]["kv_bytes"]["low"] < found["kv_bytes"] < found["figures"]["kv_bytes"]["high"]
        assert found["figures"]["parameters"]["kind"] == "exact"
        assert "embedded model's tokenizer" in err
        assert found["model"]["sha256"] is None
        assert found["plan"]["counted_by"] == "tiny-llama"
    _, out, _ = run(capsys, contract, "--model", "Llama-3.1-8B")
    assert re.search(r"about [\d,]+ tokens \([\d,]+ to [\d,]+\)", out)


def test_without_the_embedded_tokenizer_a_preset_cannot_be_counted(capsys, contract):
    code, out, err = run(capsys, contract, "--model", "Llama-3.1-8B")
    assert (code, out) == (5, "")
    assert "softlookup model pull" in err


def test_a_configuration_beside_its_tokenizer_is_counted_by_it(capsys, contract, tiny_folder):
    _, out, _ = run(capsys, contract, "--model", tiny_folder / "config.json", "--json")
    assert "tokens" not in json.loads(out)["figures"]


def test_a_limit_on_the_context_leaves_retrieval(capsys, contract, tiny_folder):
    code, out, err = run(capsys, contract, "--model", tiny_folder, "--max-context-tokens", 256, "--json")
    found = json.loads(out)
    assert code == 0
    assert (found["plan"]["strategy"], found["plan"]["context_tokens"]) == ("retrieval", 256)
    assert "exceed the limit of 256 context tokens" in found["decision"]["reason"]
    assert err.startswith("note: ")


def test_a_partly_read_document_is_planned_and_told(capsys, tmp_path, tiny_folder, monkeypatch):
    from dataclasses import replace

    from softlookup.documents import read
    from softlookup.documents.model import CoverageRow

    path = tmp_path / "c.txt"
    path.write_text(LONG, "utf-8")
    whole = read_document(path)
    partly = replace(
        whole, coverage=replace(whole.coverage, rows=(*whole.coverage.rows, CoverageRow("page 3", "scanned", 0)))
    )
    monkeypatch.setattr(read, "read_document", lambda *_, **__: partly)
    code, out, _ = run(capsys, path, "--model", tiny_folder)
    assert code == 4
    assert "part of the document could not be read" in out
    assert run(capsys, path, "--model", tiny_folder, "--json")[0] == 4


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("--device", "Z9"), 2, "the device 'Z9' is not in the table"),
        (("--engine", "vLLLM"), 2, "the engine 'vLLLM' is not known"),
        (("--kv-dtype", "q7"), 2, "the storage type 'q7' is not known"),
        (("--weight-dtype", "q7"), 2, "the storage type 'q7' is not known"),
        (("--questions", "0"), 2, "--questions must lie"),
        (("--questions", "-3"), 2, "--questions must lie"),
        (("--answer-tokens", "9" * 20), 2, "--answer-tokens must lie"),
        (("--concurrency", "-1"), 2, "--concurrency must lie"),
        (("--max-seconds", "-1"), 2, "--max-seconds must lie"),
        (("--max-seconds", "nan"), 2, "--max-seconds must lie"),
        (("--max-context-tokens", "5"), 2, "--max-context-tokens must be at least 256"),
        (("--max-context-tokens", "-5"), 2, "--max-context-tokens must"),
        (("--model", "no-such-model"), 5, "neither a file, a folder nor a known name"),
        (("--model", "./no.gguf"), 5, "there is no file or folder"),
        (("--model", "{bad}/config.json"), 5, "does not state num_hidden_layers"),
        (("--model", "{bad}/lying.gguf"), 5, "more than it can hold"),
        (("--model", "{bad}"), 5, "does not state num_hidden_layers"),
    ],
)  # fmt: skip
def test_wrong_calls_are_one_line(capsys, contract, tmp_path, arguments, code, message):
    bad = tmp_path / "bad"
    bad.mkdir()
    (bad / "config.json").write_text('{"model_type": "llama", "hidden_size": 64}', "utf-8")
    (bad / "lying.gguf").write_bytes(b"GGUF\x03\0\0\0" + b"\xff" * 40)
    found, out, err = run(capsys, contract, *(text.format(bad=bad) for text in arguments))
    assert (found, out) == (code, "")
    assert message in err
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize(
    ("window", "code", "message"),
    [(None, 5, "does not state its trained window"), (500, 6, "leaves no room beside 768 reserved tokens")],
)
def test_windows_that_cannot_be_planned(capsys, contract, tiny_folder, tmp_path, window, code, message):
    folder = shutil.copytree(tiny_folder, tmp_path / "model")
    edit_config(folder, max_position_embeddings=window)
    found, out, err = run(capsys, contract, "--model", folder)
    assert (found, out) == (code, "")
    assert message in err
    assert len(err.splitlines()) == 1


def test_hostile_files_and_models_are_escaped(capsys, tmp_path, tiny_folder):
    folder = shutil.copytree(tiny_folder, tmp_path / "evil\x1b[31m")
    path = tmp_path / "doc\x1b]0;x\x07.txt"
    path.write_text("1. {0} %s {tokens}\x1b[2J\n" * 900, "utf-8")
    for extra in ((), ("--json",)):
        code, out, err = run(capsys, path, "--model", folder, *extra)
        assert code == 0
        assert not {"\x1b", "\x07"} & set(out + err)


def test_a_document_without_words_is_no_crash(capsys, tmp_path, tiny_folder, monkeypatch):
    """A scanned file has no text: its plan says so, and the exit code is that of the reader."""
    from dataclasses import replace

    from softlookup.documents import read
    from softlookup.documents.model import CoverageRow

    path = tmp_path / "c.txt"
    path.write_text(LONG, "utf-8")
    whole = read_document(path)
    rows = (CoverageRow("page 1", "scanned", 0),)
    empty = replace(whole, text="", clauses=(), blocks=(), references=(), terms=(),
                    coverage=replace(whole.coverage, rows=rows))  # fmt: skip
    monkeypatch.setattr(read, "read_document", lambda *_, **__: empty)
    code, out, err = run(capsys, path, "--model", tiny_folder, "--json")
    assert code == 4
    assert json.loads(out)["plan"]["document_tokens"] == json.loads(out)["tokens"] == 0
    assert "no text could be read" in err


def test_an_outline_that_forgets_references_is_found(capsys, long_contract, tiny_folder, monkeypatch):
    """Planted fault: without the document's outline the losses are the same words for every document."""
    from softlookup.cost.plan import document_plan

    monkeypatch.setattr(document_plan, "plan_document", lambda request, *_, **__: plan_document(request))
    _, out, _ = run(capsys, long_contract, "--model", tiny_folder, "--json")
    assert all(row["loss"] is None for row in json.loads(out)["strategies"])


def write_gguf(path):
    """A GGUF file of an embedding and one norm a layer."""
    import gguf
    import numpy as np

    writer = gguf.GGUFWriter(path, "llama")
    for name, value in {"block_count": 2, "embedding_length": 64, "feed_forward_length": 96, "context_length": 2048,
                        "attention.head_count": 4, "attention.head_count_kv": 2}.items():  # fmt: skip
        writer.add_uint32(f"llama.{name}", value)
    writer.add_token_list([f"token {number}" for number in range(128)])
    writer.add_tensor("token_embd.weight", np.zeros((128, 64), np.float16))
    for layer in range(2):
        writer.add_tensor(f"blk.{layer}.attn_norm.weight", np.zeros(64, np.float16))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def test_a_gguf_file_is_not_converted_to_be_planned(capsys, contract, embedded_tokenizer, tmp_path, monkeypatch):
    """Never converted: another tokenizer counts. Converted before: its own counts, the costs stay those of the file."""
    path = write_gguf(tmp_path / "small.gguf")
    code, out, err = run(capsys, contract, "--model", path, "--json")
    before = json.loads(out)
    assert (code, before["weight_bytes"]) == (0, 130 * 64 * 2)
    assert before["figures"]["tokens"]["kind"] == "prior"
    assert "embedded model's tokenizer" in err
    monkeypatch.setattr(plan_source.store, "find_model", lambda digest: embedded_tokenizer.folder)
    code, out, err = run(capsys, contract, "--model", path, "--json")
    after = json.loads(out)
    assert (code, err) == (0, "")
    assert "tokens" not in after["figures"]
    assert (after["weight_bytes"], after["model"]["origin"]) == (130 * 64 * 2, "gguf")
    assert after["figures"]["kv_bytes"]["kind"] == "exact"


def test_a_program_plans_without_the_command_line(long_contract, tiny_folder):
    from softlookup.cost.devices import find_device
    from softlookup.cost.plan.request import PlanRequest
    from softlookup.errors import CapacityError
    from softlookup.session import Session
    from softlookup.session.plan_source import document_request, find_plan_model

    document = Session(tiny_folder).open(long_contract)
    planned = find_plan_model(str(tiny_folder))
    text, count = document.document.text, document.session.count_tokens
    request = document_request(planned, PlanRequest(planned.cost, 1, find_device("H100")), text, count)
    assert (request.kv.key, request.tokens) == ("f32", count(text))
    assert request.evidence_layers == planned.evidence_layers
    assert plan_document(request, document.outline).decision.strategy == "hybrid"
    assert plan_document(request, document.outline, strategy="retrieval").chosen.name == "retrieval"
    with pytest.raises(CapacityError, match="full_context is not possible"):
        plan_document(request, strategy="full_context")


def test_the_bank_is_counted_in_the_language_of_the_document(tiny_folder):
    from softlookup.cost.plan.request import PlanRequest
    from softlookup.evidence.question_bank import question_bank
    from softlookup.session.plan_source import document_request, find_plan_model

    planned = find_plan_model(str(tiny_folder))
    count = TokenCounter(planned.source)
    for language, text in (("en", LONG), ("zh", CONTRACT_ZH)):
        request = document_request(planned, PlanRequest(planned.cost, 1), text, count)
        assert request.language == language
        assert request.bank_tokens == sum(map(count, question_bank(language).questions))
        assert request.bank_questions == 55
