"""JUnit XML and SARIF: valid, one test per property, numbers and counterexample in them, hostile text harmless."""

import json
import os
import stat
from pathlib import Path

import pytest
from lxml import etree

from conformance import functions
from softlookup.cli.escape import json_text
from softlookup.conformance import Finding, Report, check_fn
from softlookup.conformance.report import ProbeResult
from softlookup.conformance.reporting import Baseline, junit_xml, properties_of, sarif, verdict_of
from softlookup.conformance.reporting.files import target, write_whole
from softlookup.errors import SoftlookupError, UsageError

HOSTILE = "<b>&\"' ]]> \x1b[31m \x00 \u202e \ud800 \uffff [click](http://x) 第三条"

# the dialect of Jenkins' JUnit plugin and of pytest, as far as it is used
XSD = """<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
<xs:element name="testsuites"><xs:complexType><xs:sequence>
 <xs:element name="testsuite" maxOccurs="unbounded"><xs:complexType><xs:sequence>
  <xs:element name="properties" minOccurs="0"><xs:complexType><xs:sequence>
   <xs:element name="property" minOccurs="0" maxOccurs="unbounded"><xs:complexType>
    <xs:attribute name="name" use="required"/><xs:attribute name="value" use="required"/></xs:complexType></xs:element>
  </xs:sequence></xs:complexType></xs:element>
  <xs:element name="testcase" minOccurs="0" maxOccurs="unbounded"><xs:complexType><xs:choice minOccurs="0">
   <xs:element name="skipped"><xs:complexType><xs:attribute name="message"/></xs:complexType></xs:element>
   <xs:element name="error" type="told"/><xs:element name="failure" type="told"/>
   <xs:element name="system-out" type="xs:string"/></xs:choice>
   <xs:attribute name="classname" use="required"/><xs:attribute name="name" use="required"/>
   <xs:attribute name="time" type="xs:decimal"/></xs:complexType></xs:element>
  <xs:element name="system-out" type="xs:string" minOccurs="0"/>
 </xs:sequence><xs:attributeGroup ref="counts"/></xs:complexType></xs:element>
</xs:sequence><xs:attributeGroup ref="counts"/></xs:complexType></xs:element>
<xs:complexType name="told"><xs:simpleContent><xs:extension base="xs:string">
 <xs:attribute name="type"/><xs:attribute name="message"/></xs:extension></xs:simpleContent></xs:complexType>
<xs:attributeGroup name="counts"><xs:attribute name="name" use="required"/>
 <xs:attribute name="tests" type="xs:nonNegativeInteger" use="required"/>
 <xs:attribute name="failures" type="xs:nonNegativeInteger" use="required"/>
 <xs:attribute name="errors" type="xs:nonNegativeInteger" use="required"/>
 <xs:attribute name="skipped" type="xs:nonNegativeInteger"/><xs:attribute name="time" type="xs:decimal"/>
</xs:attributeGroup></xs:schema>"""


def parsed(verdict):
    root = etree.fromstring(junit_xml(verdict).encode("utf-8"))
    etree.XMLSchema(etree.fromstring(XSD)).assertValid(root)
    cases = root.findall(".//testcase")
    for attribute, tags in (("failures", ("failure",)), ("errors", ("error",)), ("skipped", ("skipped",))):
        assert int(root.get(attribute)) == sum(len(case.findall(tag)) for case in cases for tag in tags)
    assert int(root.get("tests")) == len(cases)
    return {case.get("name"): case for case in cases}


def log(verdict, function=None):
    """The SARIF as it is written, held to the rules of the standard that it touches."""
    found = json.loads(json_text(sarif(verdict, function)))
    assert found["version"] == "2.1.0"
    (run,) = found["runs"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert len(rules) == len(set(rules))
    for result in run["results"]:
        assert rules[result["ruleIndex"]] == result["ruleId"]
        assert result["kind"] in ("pass", "fail", "notApplicable", "review")
        assert (result["level"] == "none") == (result["kind"] != "fail")  # 3.27.10: a level is for failures
        assert result["message"]["text"]
        for place in result["locations"]:
            assert place["logicalLocations"][0]["fullyQualifiedName"]
    return run


@pytest.fixture(scope="module")
def wrong():
    return check_fn(functions.top_left, name="mine:top_left")


def test_one_case_per_property_and_each_once(wrong):
    cases = parsed(verdict_of(wrong))
    assert set(cases) == {"call", *(probe.id for probe in wrong.probes)}
    failed = {name for name, case in cases.items() if case.find("failure") is not None}
    assert failed == {"causal.rect", "causal.decode", "causal.rect_long", "mask.with_causal_rect"}
    assert len([case for case in cases.values() if case.find("skipped") is not None]) > 5


def test_a_failure_tells_numbers_and_the_counterexample_once(wrong):
    failures = [case.find("failure") for case in parsed(verdict_of(wrong)).values() if case.find("failure") is not None]
    for failure in failures:
        assert failure.get("type") == "wrong"
        assert failure.get("message") == "causal.align=top_left(want=bottom_right)"
        assert "[1, 0]" in failure.text
        assert "[0.5, 0.5]" in failure.text
    assert ["from mine import top_left as fn" in failure.text for failure in failures].count(True) == 1


def test_accepted_deviations_do_not_fail(wrong):
    verdict = verdict_of(wrong, Baseline().with_report(wrong))
    cases = parsed(verdict)
    assert not [case for case in cases.values() if case.find("failure") is not None]
    assert cases["causal.rect"].find("skipped").get("message").startswith("accepted: causal.align")
    suppressed = [result for result in log(verdict)["results"] if result["kind"] == "fail"]
    assert [result["suppressions"][0]["kind"] for result in suppressed if result["level"] == "error"] == ["external"]


def test_sarif_holds_the_finding_with_its_numbers(wrong):
    run = log(verdict_of(wrong))
    (result,) = [result for result in run["results"] if result["level"] == "error"]
    assert result["ruleId"] == "causal.align"
    assert "measured [1, 0]" in result["message"]["text"]
    facts = result["properties"]
    assert (facts["severity"], facts["wanted"]) == ("wrong", "[0.5, 0.5]")
    assert facts["counterexample"]["key"] == [1, 1, 2, 1]
    assert "fn(q, k, v, causal=True)" in facts["script"]
    assert "causal.decode" in facts["tests"]
    passed = {result["ruleId"] for result in run["results"] if result["kind"] == "pass"}
    assert passed == {entry.id for entry in properties_of(verdict_of(wrong)) if entry.status == "pass"} - {"call"}


def test_sarif_points_into_the_working_folder(wrong, monkeypatch):
    monkeypatch.chdir(Path(functions.__file__).parent)
    place = log(verdict_of(wrong), functions.top_left)["results"][0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "functions.py", "uriBaseId": "%SRCROOT%"}
    line = Path(functions.__file__).read_text("utf-8").splitlines()[place["region"]["startLine"] - 1]
    assert line.startswith("def top_left")
    monkeypatch.chdir(Path(json.__file__).parent)
    assert "physicalLocation" not in log(verdict_of(wrong), functions.top_left)["results"][0]["locations"][0]


def test_a_fingerprint_does_not_depend_on_numbers(wrong):
    def prints(code):
        report = Report("m:f", "standard", (Finding(code, "wrong", "x", "1", "2"),))
        return log(verdict_of(report))["results"][0]["partialFingerprints"]

    assert prints("mask.finite(value~-1e4)") == prints("mask.finite(value~-9998)")
    assert prints("mask.finite(value~-1e4)") != prints("mask.polarity=inverted")


def test_what_could_not_be_tested_is_an_error():
    verdict = verdict_of(check_fn(functions.broken))
    cases = parsed(verdict)
    assert list(cases) == ["call"]
    assert "no GPU <&> ]]>" in cases["call"].find("error").get("message")
    run = log(verdict)
    assert run["invocations"][0]["executionSuccessful"] is False
    assert "no GPU" in run["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"]


def test_findings_without_a_probe_are_told_under_call():
    found = Report("m:f", "standard", (Finding("call.nan", "unsafe", "0/0", "NaN", "numbers"),))
    assert parsed(verdict_of(found))["call"].find("failure").get("type") == "unsafe"


def test_properties_behind_a_mistake_that_changes_every_call():
    probes = (ProbeResult("plain.square", "finding"), ProbeResult("mask.rect", "finding"))
    found = Report(
        "m:f", "standard", (Finding("scale.missing", "wrong", "x", "1", "2", probes=("plain.square",)),), probes
    )
    hidden = {entry.id: entry for entry in properties_of(verdict_of(found))}["mask.rect"]
    assert hidden.status == "fail"
    assert "scale.missing" in hidden.reason
    kinds = {result["ruleId"]: result["kind"] for result in log(verdict_of(found))["results"]}
    assert kinds == {"scale.missing": "fail", "mask.rect": "review"}
    accepted = {entry.id: entry for entry in properties_of(verdict_of(found, Baseline().with_report(found)))}
    assert accepted["mask.rect"].status == "skipped"


def test_hostile_text_is_escaped():
    finding = Finding(f"unknown({HOSTILE})", "leak", HOSTILE, HOSTILE, HOSTILE, script=HOSTILE, probes=("a.b",))
    probes = (ProbeResult("a.b", "finding"), ProbeResult(HOSTILE, "skipped", HOSTILE))
    found = Report(HOSTILE, HOSTILE, (finding,), probes, {HOSTILE: HOSTILE}, {HOSTILE: HOSTILE})
    verdict = verdict_of(found)
    text = junit_xml(verdict)
    parsed(verdict)
    for bad in "\x1b\x00\u202e\ud800\uffff":
        assert bad not in text
    assert "第三条" in text
    assert "<b>" not in text
    written = json_text(sarif(verdict))
    assert "\u202e" not in written
    assert "\x1b" not in written
    messages = [result["message"]["text"] for result in log(verdict)["results"]]
    assert not [text for text in messages if "](" in text]  # it would be a link


def test_files_are_whole_or_absent(tmp_path, monkeypatch):
    path = tmp_path / "report.xml"
    path.write_text("old", "utf-8")

    def fails(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fails)
    with pytest.raises(SoftlookupError, match="No space left"):
        write_whole(path, "new" * 1000)
    assert path.read_text("utf-8") == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["report.xml"]
    monkeypatch.undo()
    write_whole(path, "new")
    assert path.read_text("utf-8") == "new"


@pytest.mark.skipif(os.name == "nt", reason="rights of POSIX")
def test_other_users_may_read_a_report(tmp_path):
    write_whole(tmp_path / "new.xml", "x")
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE((tmp_path / "new.xml").stat().st_mode) == 0o666 & ~mask


def test_targets_that_cannot_be_written_are_told_at_once(tmp_path):
    with pytest.raises(UsageError, match="is a folder"):
        target("--junit", str(tmp_path))
    with pytest.raises(UsageError, match="does not"):
        target("--junit", str(tmp_path / "missing" / "x.xml"))
