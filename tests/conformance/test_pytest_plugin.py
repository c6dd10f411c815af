"""The pytest plugin: ids before calls, one check per function, baselines, and nothing loaded until it is used."""

import json
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import torch  # noqa: F401 - a pytest inside this one forgets what it imports, and torch cannot be imported twice

from conformance import functions
from softlookup.conformance import Adapter, check_fn
from softlookup.conformance.reporting import Baseline
from softlookup.conformance.reporting.marked import marked_check
from softlookup.errors import UsageError

pytest_plugins = ["pytester"]
ROOT = Path(__file__).resolve().parents[2]

TESTS = """
import pytest
from conformance import functions

{mark}
def test_attend(attention_property):
    attention_property.check()
"""
ATTEND = """
from torch.nn.functional import scaled_dot_product_attention

def attend(query, key, value, attn_mask=None, is_causal=False, scale=None):
    return scaled_dot_product_attention(query, key, value, attn_mask, is_causal=is_causal, scale=scale)
"""
MARK = "@pytest.mark.attention_conformance(function=functions.{name}{more})"


@pytest.fixture
def suite(pytester, monkeypatch):
    """Runs a test file in a pytest of its own, with this plugin and no other that is installed."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.syspath_prepend(str(ROOT / "src"))
    monkeypatch.syspath_prepend(str(ROOT / "tests"))

    def run(name, more="", *arguments, mark=MARK):
        pytester.makepyfile(TESTS.format(mark=mark.format(name=name, more=more)))
        return pytester.runpytest("-p", "_softlookup_pytest", "--strict-markers", "-rA", *arguments)

    return run


def test_a_right_function_passes_one_test_per_property(suite):
    result = suite("right")
    outcomes = result.parseoutcomes()
    assert outcomes["passed"] > 30
    assert "failed" not in outcomes
    result.stdout.fnmatch_lines(["*test_attend[[]causal.rect[]]*"])


def test_a_mistake_fails_its_properties_with_numbers_and_script(suite):
    result = suite("top_left")
    failed = {line.split("[")[1].split("]")[0] for line in result.stdout.lines if line.startswith("FAILED")}
    assert failed == {"causal.rect", "causal.decode", "causal.rect_long", "mask.with_causal_rect"}
    result.stdout.fnmatch_lines(["WRONG  causal.align=top_left(want=bottom_right)*", "*got    [[]1, 0[]]*",
                                 "*from conformance.functions import top_left as fn"])  # fmt: skip


def test_the_check_runs_once_for_all_properties(suite, monkeypatch):
    calls = []

    def counted(*arguments, **options):
        calls.append(arguments)
        return check_fn(*arguments, **options)

    monkeypatch.setattr("softlookup.conformance.reporting.marked.check_fn", counted)
    assert suite("right").parseoutcomes()["passed"] > 30
    assert len(calls) == 1


def test_collecting_calls_nothing(suite, monkeypatch):
    monkeypatch.setattr("softlookup.conformance.reporting.marked.check_fn", None)
    result = suite("right", "", "--collect-only", "-q")
    assert result.ret == 0
    assert len([line for line in result.stdout.lines if "test_attend[" in line]) > 30


def test_one_property_can_be_chosen(suite):
    assert suite("top_left", "", "-k", "causal.square").parseoutcomes()["passed"] == 1


def test_what_the_baseline_accepts_does_not_fail_and_what_is_gone_is_told(suite, pytester):
    from softlookup.cli.escape import json_text

    found = Baseline().with_report(check_fn(functions.top_left))
    pytester.path.joinpath("accepted.json").write_text(json_text(found.to_dict()), "utf-8")
    outcomes = suite("top_left", ', baseline="accepted.json"').parseoutcomes()
    assert outcomes["xfailed"] == 4
    assert "failed" not in outcomes
    text = json_text(found.to_dict()).replace("functions:top_left", "functions:right")
    pytester.path.joinpath("accepted.json").write_text(text, "utf-8")
    result = suite("right", ', baseline="accepted.json"')
    assert result.ret == 0
    result.stdout.fnmatch_lines(["*no longer found*", "*functions:right: causal.align=top_left"])


def test_what_cannot_be_called_fails_once(suite):
    outcomes = suite("broken").parseoutcomes()
    assert outcomes["failed"] == 1
    assert "passed" not in outcomes


@pytest.mark.parametrize(
    ("mark", "said"),
    [
        ("", "needs @pytest.mark.attention_conformance"),
        ("@pytest.mark.attention_conformance()", "needs function="),
        ('@pytest.mark.attention_conformance(function="nocolon")', "module:function"),
        ('@pytest.mark.attention_conformance(function="no_such_module:f")', "No module named"),
        ('@pytest.mark.attention_conformance(function=functions.right, contract="nothing")', "no contract"),
        ("@pytest.mark.attention_conformance(function=functions.right, contrakt=1)", "contrakt"),
    ],
)
def test_a_wrong_marker_is_told(suite, mark, said):
    result = suite("", mark=mark)
    assert result.ret != 0
    assert said in result.stdout.str() + result.stderr.str()


def test_the_example_of_the_documentation_runs(pytester, monkeypatch):
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.syspath_prepend(str(ROOT / "src"))
    (block,) = re.findall(r"```py\n(.*?)```", (ROOT / "docs" / "conformance.md").read_text("utf-8"), re.DOTALL)
    pytester.makepyfile(block)
    pytester.makepyfile(**{"mypackage/__init__": "", "mypackage/attention": ATTEND})
    pytester.path.joinpath("accepted.json").write_text(json.dumps(Baseline().to_dict()), "utf-8")
    monkeypatch.syspath_prepend(str(pytester.path))
    outcomes = pytester.runpytest("-p", "_softlookup_pytest", "--strict-markers").parseoutcomes()
    assert outcomes["passed"] > 15
    assert "failed" not in outcomes


def keyworded(q, k, v, *, causal=False, mask=None, bias=None, scale=None, softcap=None, sinks=None, window=None,
              alibi=False, kv_len=None, segments=None, dropout=None, training=False):  # fmt: skip
    return functions.right(q, k, v, causal, mask, bias=bias, scale=scale, softcap=softcap, window=window)


@pytest.mark.parametrize(
    ("function", "contract"),
    [(keyworded, "standard"), (functions.right, "standard"), (functions.top_left, "onnx_attention"),
     (keyworded, "softlookup")],
)  # fmt: skip
def test_every_property_that_is_asked_has_an_id_beforehand(function, contract):
    """A probe that is added must not be lost between the ids and the report."""
    adapter = Adapter(framework="numpy")
    marked = marked_check(function, contract, adapter=adapter)
    asked = {probe.id for probe in marked.verdict.report.probes if probe.status in ("pass", "finding")}
    assert asked <= set(marked.ids)
    assert len(asked) > 30


def test_a_finding_without_an_id_is_told_under_call():
    marked = marked_check(functions.top_left)
    marked.__dict__["ids"] = ("call", "causal.square")
    assert marked.property_of("call").status == "fail"
    assert marked.property_of("call").findings[0].code.startswith("causal.align")


def test_a_marker_without_a_function_is_refused():
    with pytest.raises(UsageError, match="function="):
        marked_check()


LIGHT = """
import sys, pytest
code = pytest.main(["-p", "_softlookup_pytest", "-q", "-p", "no:cacheprovider", "test_plain.py"])
assert code == 0, code
print("LOADED", [name for name in sys.modules if name.split(".")[0] in ("softlookup", "torch", "numpy")])
"""


def fresh(code, folder, monkeypatch):
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "src"))
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=folder)


def test_the_plugin_loads_nothing_for_tests_that_do_not_use_it(tmp_path, monkeypatch):
    (tmp_path / "test_plain.py").write_text("def test_x():\n    assert True\n", "utf-8")
    assert "LOADED []" in fresh(LIGHT, tmp_path, monkeypatch).stdout
    (tmp_path / "test_plain.py").write_text("import softlookup\ndef test_x():\n    assert softlookup\n", "utf-8")
    assert "'softlookup'" in fresh(LIGHT, tmp_path, monkeypatch).stdout  # the same test sees one that does load it


def test_loading_the_plugin_takes_less_than_50_ms_of_a_processor(tmp_path, monkeypatch):
    code = "import pytest, time; t = time.process_time(); import _softlookup_pytest; print(time.process_time() - t)"
    times = [float(fresh(code, tmp_path, monkeypatch).stdout) for _ in range(3)]
    assert min(times) < 0.05


def test_a_wheel_registers_it(tmp_path, monkeypatch):
    """Unpacked as pip would install it, pytest finds the plugin by its entry point."""
    pytest.importorskip("hatchling", reason="builds the wheel")
    site = tmp_path / "site"
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, check=True, capture_output=True, cwd=ROOT)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    (tmp_path / "test_plain.py").write_text("def test_x():\n    assert True\n", "utf-8")
    monkeypatch.delenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", raising=False)
    monkeypatch.setenv("PYTHONPATH", str(site))
    code = "import sys; sys.exit(__import__('pytest').main(['--markers', '--trace-config', '-p', 'no:cacheprovider']))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert "@pytest.mark.attention_conformance(function" in result.stdout
