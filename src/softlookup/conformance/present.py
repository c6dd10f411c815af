"""Turns explanations into findings: code, numbers beside the wanted ones, the smallest call that shows it, a script."""

from __future__ import annotations

import numpy as np

from softlookup.conformance.assumptions import assumed, heads_read
from softlookup.conformance.behaviour import Behaviour
from softlookup.conformance.case import Array, Case
from softlookup.conformance.evidence import Evidence, agrees, tolerance_of
from softlookup.conformance.explain import Explanation
from softlookup.conformance.oracle import attend
from softlookup.conformance.read_off import differing, fitting, rows_apart
from softlookup.conformance.report import Finding
from softlookup.conformance.reports import reports_of
from softlookup.conformance.script import demonstration, script
from softlookup.conformance.shrink import shrunk
from softlookup.conformance.sizes import Sizes
from softlookup.conformance.subject import Subject
from softlookup.conformance.variant import Variant
from softlookup.conformance.visibility import visible

# what is ignored on one path only is dropped there
_DROPPED = {"causal.not_applied": "causal.dropped_when", "mask.ignored": "mask.dropped_when",
            "window.ignored": "window.dropped_when"}  # fmt: skip


class Presenter:
    """Findings of one subject."""

    def __init__(
        self, subject: Subject, sizes: Sizes, right: Variant, evidence: Evidence, name: str, adapter_name: str = ""
    ) -> None:
        self.subject, self.sizes, self.right, self.evidence, self.name = subject, sizes, right, evidence, name
        self.adapter_name = adapter_name

    def explained(self, found: Explanation) -> Finding:
        """A named mistake."""
        plain = [index for index in found.explains if self._is_plain(self.evidence.seen[index].case, found.variant)]
        case = self._smallest(plain or found.explains)
        case = shrunk(
            case,
            lambda small: self._shows(small, found.variant) and (not plain or self._is_plain(small, found.variant)),
        )
        code = found.hypothesis.code
        if found.when and code in _DROPPED:
            code = f"{_DROPPED[code]}({found.when})"
        elif found.when:
            code = f"{code[:-1]},when {found.when})" if code.endswith(")") else f"{code}(when {found.when})"
        return self._finding(case, code, found.hypothesis.severity, found.hypothesis.likely,
                             probes=self._probes(found.explains), variant=found.variant,
                             also=tuple(dict.fromkeys(other.code for other in found.also))[:4])  # fmt: skip

    def unknown(self, left: list[int], after: list[str]) -> Finding:
        """Wrong numbers that no known mistake gives."""
        case = shrunk(self._smallest(left), lambda small: self._shows(small, None))
        leak = any(self._leaks(index) for index in left)
        likely = "no known mistake gives these numbers" + (f", also together with {', '.join(after)}" if after else "")
        return self._finding(
            case, "unknown", "leak" if leak else "wrong", likely, probes=self._probes(left), named=False
        )

    def behaved(self, found: Behaviour) -> Finding:
        """Something besides the numbers."""
        case = found.case
        text, shown = "", {}
        if case is not None:
            case = fitting(case, self.subject, None, self.right)
            text, shown = self._script(case, attend(case, self.right), None), case.describe()
            more = demonstration(found.probe, self.subject.framework)
            text += f"{more}\n" if more else ""
        return Finding(found.code, found.severity, found.likely, found.measured, found.expected, input=shown,
                       script=text, probes=(found.probe,), reports=reports_of(found.code.split("(")[0]))  # fmt: skip

    def odd(self, named: list[Explanation]) -> list[Finding]:
        """Tuples and other dtypes, once each: information. ``named``: a wrong shape may follow from these."""
        found = {}
        for case, seen in self.evidence.odd:
            if seen.form and seen.output is None and any(
                entry.hypothesis.needs and entry.hypothesis.needs <= case.features for entry in named
            ):  # fmt: skip
                continue
            if seen.form and seen.output is not None:
                found["call.returns"] = Finding(f"call.returns={seen.form.replace(' ', '_')}", "info",
                                                "only the first part is looked at", seen.form, "an array")  # fmt: skip
            elif seen.form:
                shape = seen.form.split(", wanted")[0].removeprefix("shape ").replace(" ", "")
                found["call.shape"] = Finding(f"call.shape={shape}", "wrong", "the output's shape", seen.form,
                                              "the query's shape, with Dv")  # fmt: skip
            dtype = self.subject.adapter.dtype or self.sizes.dtype
            if seen.dtype and seen.dtype != dtype and seen.output is not None:
                found["call.dtype"] = Finding(f"call.dtype={seen.dtype}(want={dtype})", "info",
                                              "the output is not of the query's dtype", seen.dtype, dtype)  # fmt: skip
        return list(found.values())

    def _finding(
        self, case: Case, code: str, severity: str, likely: str, *, probes: tuple[str, ...], named: bool = True,
        also: tuple[str, ...] = (), variant: Variant | None = None,
    ) -> Finding:  # fmt: skip
        case = fitting(case, self.subject, self.subject.run(case).output, self.right)
        want, got = attend(case, self.right), self.subject.run(case).output
        measured, expected = rows_apart(got, want) if got is not None else ("refused", "an answer")
        rows = heads_read(case, self.right, variant) if variant is not None else []
        rows += differing(got, want) if got is not None else []
        subject = self.subject
        return Finding(code, severity, likely, measured, expected, named, case.describe(),
                       self._script(case, want, got), also, probes,
                       reports_of(code.split("(", maxsplit=1)[0].split("=", maxsplit=1)[0]),
                       assumed(case, code, subject.contract, subject.adapter, subject.arguments.layout),
                       tuple(rows))  # fmt: skip

    def _script(self, case: Case, want: Array, got: Array | None) -> str:
        return script(self.subject, self.name, case, want, got=got, adapter_name=self.adapter_name,
                      rotation=self.right.rotary)  # fmt: skip

    def _smallest(self, indexes: list[int]) -> Case:
        return min((self.evidence.seen[index].case for index in indexes),
                   key=lambda case: case.query.size + case.key.size + case.value.size)  # fmt: skip

    def _shows(self, case: Case, variant: Variant | None) -> bool:
        if self.right.rotary is not None and case.head_dim != self.right.rotary.dim:
            return False
        found = self.subject.run(case).output
        if found is None:
            return False
        tolerance = max(0.02, tolerance_of(case, self.right, 0.0))
        if agrees(found, attend(case, self.right), tolerance):
            return False
        return variant is None or agrees(found, attend(case, variant), tolerance)

    def _is_plain(self, case: Case, variant: Variant) -> bool:
        """No row without keys, no NaN: the mistake is not to be taken for one about those."""
        if not visible(case, self.right).any(-1).all() or not np.isfinite(case.value).all():
            return False
        return bool(np.isfinite(attend(case, variant)).all())

    def _leaks(self, index: int) -> bool:
        """A key that must be hidden has weight."""
        entry = self.evidence.seen[index]
        if entry.output.shape[-1] != entry.case.kv_length:
            return False
        return bool((np.nan_to_num(entry.output)[~visible(entry.case, self.right)] > 1e-3).any())

    def _probes(self, indexes: list[int]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self.evidence.seen[index].probe.id for index in indexes))
